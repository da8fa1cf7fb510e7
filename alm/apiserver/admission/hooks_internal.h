/* hooks_internal: one webhook, and how it is asked, for hook_set.c, hooks.c and hooks_mutate.c. */
#ifndef ALM_APISERVER_ADMISSION_HOOKS_INTERNAL_H
#define ALM_APISERVER_ADMISSION_HOOKS_INTERNAL_H

#include "alm/apiserver/admission/asked.h"
#include "alm/apiserver/admission/hooks.h"
#include "alm/apiserver/admission/review.h"

/* Of its configuration, as long as that has this revision. */
struct admission_hook {
	const char *name, *configuration, *uid; /* uid: of the configuration */
	size_t index;                           /* in it */
	const struct obj *client, *match;       /* clientConfig; as admission_match() wants it */
	const struct policy *conditions;        /* NULL: none */
	const char *version;                    /* of the review */
	int64_t timeout_s;
	bool ignores, reinvokes, has_effects;
};

/* All of a stage, in their order; of the request's arena. */
struct hook_list {
	const struct admission_hook **items;
	size_t n, cap;
};
void hooks_list(const struct request *r, enum hook_stage stage, struct hook_list *ret);

/* One webhook and one write. */
struct consult {
	const struct admission_hook *hook;
	struct asked *asked;
	enum hook_stage stage;
	int round;
	size_t index;              /* of all */
	const struct asked_as *as; /* what it was shown; set by hook_consult() */
	struct review_answer answer;
};

/* CONSULT_NONE: it is not asked, or may be done without. CONSULT_OPEN: it was not answered yet.
 * CONSULT_SAID: it allows it, in c->answer. Else it refuses, or failed. */
enum { CONSULT_NONE, CONSULT_OPEN, CONSULT_SAID };
int hook_consult(struct consult *c, struct error *err);
/* "Internal error occurred: WHY". */
int hook_internal_error(struct request *r, const char *why, struct error *err);

#endif
