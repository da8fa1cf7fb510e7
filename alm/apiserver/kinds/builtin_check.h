/*
 * builtin_check: what objects of built-in kinds must have, and what their fields may say, as a real
 * 1.36 refuses it: its order, its words (tests/golden/kube-api/required.jsonl). What is not looked
 * at here is taken as it is. Pure.
 */
#ifndef ALM_APISERVER_KINDS_BUILTIN_CHECK_H
#define ALM_APISERVER_KINDS_BUILTIN_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* o is defaulted; before NULL: create. What was stored and is not changed is not judged again: a
 * former release took it. That is so of a whole spec, and of each text in one that is changed elsewhere: an
 * address, a range, the value of a label that stood in a field of the same name (KEP-4858). Not of a field that is
 * missing, nor of what check_forgive() (field_check.h) cannot tell. */
/* ret: up to which number of e stands what came first: what an object has to be, or what may not change; the other one is
 * where e began, or the same where all is judged twice. */
struct check_parts {
	size_t checked, kept;
	size_t changed; /* where what may not change begins of a kind that is checked twice */
};
void builtin_check_parts(const char *group, const char *plural, const struct obj *o,
			 const struct obj *before, struct check_parts *ret, struct field_errors *e);
static inline void builtin_check(const char *group, const char *plural, const struct obj *o,
				 const struct obj *before, struct field_errors *e)
{
	struct check_parts ignored;
	builtin_check_parts(group, plural, o, before, &ignored, e);
}
/* The same of what stands in the status. */
void builtin_check_status(const char *group, const char *plural, const struct obj *o,
			  const struct obj *before, struct field_errors *e);

#endif
