/*
 * condition: metav1.Condition lists. Setting keeps lastTransitionTime while status stays the same;
 * messages are cut at 1,024 bytes; nothing time-like belongs into reason or message (a write in
 * every reconcile otherwise).
 */
#ifndef ALM_OBJ_CONDITION_H
#define ALM_OBJ_CONDITION_H

#include "alm/obj/obj.h"

#define CONDITION_MESSAGE_MAX 1024

struct condition {
	const char *type, *status, *reason, *message; /* status: True, False, Unknown */
	int64_t observed_generation;                  /* 0: left out */
};

/* In list.conditions order of first setting. conditions is the list, under construction. True if
 * status, reason or message changed. */
bool condition_set(struct obj *conditions, const struct condition *c, int64_t now_ns);
/* The entry of that type; NULL: there is none. */
const struct obj *condition_find(const struct obj *conditions, const char *type);
bool condition_remove(struct obj *conditions, const char *type);
/* o is the whole object; reads status.conditions. */
bool condition_get(const struct obj *o, const char *type, struct condition *ret);
bool condition_is(const struct obj *o, const char *type, const char *status);
/* RFC 3339 text; NULL if absent. */
const char *condition_since(const struct obj *o, const char *type);

#endif
