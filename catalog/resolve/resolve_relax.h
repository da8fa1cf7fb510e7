/*
 * resolve_relax: what would have to change so that a version became installable (lifecycle.md 2.5).
 *
 * The changes are found one after the other: resolve, map the first refusal to the smallest change
 * that lifts it, apply it to a copy of the input, resolve again. Then each is left out in turn
 * while the version stays installable. So the set is irreducible, and proved by resolving.
 */
#ifndef CATALOG_RESOLVE_RESOLVE_RELAX_H
#define CATALOG_RESOLVE_RESOLVE_RELAX_H

#include "catalog/resolve/resolve.h"

#define RELAX_CHANGES_MAX 3 /* more are not reported: nobody should do that; waivers count as one */
#define RELAX_WAIVE_NOTE  "clients of that version break"
#define RELAX_TRIED_MAX   64 /* before what is not needed is left out */

enum resolve_change_type {
	CHANGE_TO,          /* spec.upgrade.to names the version */
	CHANGE_BACK,        /* the same, to an older one */
	CHANGE_RANGE,       /* spec.version lets it in too */
	CHANGE_CHANNEL,     /* spec.channel */
	CHANGE_RETRY,       /* a failure is forgotten */
	CHANGE_MIGRATE,     /* stored objects of a version are rewritten */
	CHANGE_WAIVE,       /* ResourceDropped */
	CHANGE_OWNER,       /* of a CRD */
	CHANGE_CRD,         /* a CRD is created */
	CHANGE_REQUIREMENT, /* whatever is required is provided */
	CHANGE_APPROVE,     /* a waiting version of another app */
	CHANGE_RESUME,      /* another app is no longer paused */
	CHANGE_GATE,        /* what the gate's findings ask for */
	CHANGE_UPGRADE,     /* another app goes to a version that does not require it */
};

struct resolve_change {
	enum resolve_change_type type;
	const char *app;     /* whose input changes */
	const char *value;   /* version, range, channel, resource, CRD */
	const char *command; /* what does it: alm, else kubectl */
	const char *note;    /* what that means, or NULL; what comes first stands behind "; " */
	const char
		*kubectl; /* the same with kubectl alone, or NULL; of waivers: resolve_kubectl() */
	const char *const *steps; /* CHANGE_GATE: several lines instead of command and note */
};

struct relaxation {
	bool known;                 /* there is such a candidate */
	bool installable;           /* as it is */
	struct candidate candidate; /* as it is */
	const struct resolve_change **changes;
	size_t n; /* 0 and not installable: no change would help, see stuck */
	const char *stuck;
};

void resolve_relax(const struct resolve_input *in, const char *version, struct arena *a,
		   struct relaxation *ret);
/* status.steps: "alm crd migrate X --to v2 # rewrites 1 object; first ...". */
const char *const *resolve_steps(const struct relaxation *x, struct arena *a, size_t *ret_n);

/* status.kubectl: the same with kubectl alone, as far as it can be said so. */
const char *const *resolve_kubectl(const struct resolve_input *in, const struct relaxation *x,
				   struct arena *a, size_t *ret_n);

/* The input with the changes made. */
const struct resolve_input *resolve_changed(const struct resolve_input *in,
					    const struct resolve_change *const *changes, size_t n,
					    struct arena *a);

/* For the search (resolve_deps.c): the change that lifts the candidate's refusal, or NULL. */
struct resolver;
const struct resolve_change *resolve_change_for(const struct resolver *r, const struct candidate *c,
						const char *app, struct arena *a);
const struct resolve_change *resolve_change_new(enum resolve_change_type type, const char *app,
						const char *value, struct arena *a);

#endif
