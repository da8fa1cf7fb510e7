/* asked: one write as admission is asked about it: what it is, and what expressions see of it, in each
 * version that a policy wants to see. */
#ifndef ALM_APISERVER_ADMISSION_ASKED_H
#define ALM_APISERVER_ADMISSION_ASKED_H

#include "alm/apiserver/admission/match.h"
#include "alm/apiserver/admission/policy.h"
#include "alm/apiserver/mutation.h"

/* What policies see of it in one version. */
struct asked_as {
	const char *version;
	struct policy_input in; /* but params */
	/* Its converter (converting.h) waits, or failed: nobody is asked about it; code 0: it is there. */
	struct error wrong;
	struct asked_as *next;
};

struct asked {
	struct request *r;
	struct admission w;
	const char *body_group, *body_version, *body_kind; /* of the object */
	bool dry_run;
	const struct obj *stated; /* DeleteOptions of the body, or NULL */
	struct cel_authz who, about;
	struct asked_as *forms; /* made when they are asked for */
};

/* False: no policy is asked about it (policies themselves, pods/binding and pods/eviction, of which
 * asked_body() tells). */
bool asked_write(struct asked *ret, struct mutation *m);
/* The same, of an object that is not complete yet: m->after is how mutating webhooks see it. */
bool asked_draft(struct asked *ret, struct mutation *m);
bool asked_delete(struct asked *ret, struct mutation *m);
/* The creation of a subresource's own object. */
void asked_body(struct asked *ret, struct request *r, const struct obj *body, const char *group,
		const char *version, const char *kind, bool dry_run);
/* Of the request's arena; look at wrong first. */
const struct asked_as *asked_in(struct asked *a, const char *version);

#endif
