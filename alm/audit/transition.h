/*
 * transition: what a Transition record says besides the status itself, made from the status before
 * and the one after it (audit.md 3). Pure: the executor writes it, verify --replay makes it
 * again (replay.h).
 */
#ifndef ALM_AUDIT_TRANSITION_H
#define ALM_AUDIT_TRANSITION_H

#include "alm/obj/obj.h"

/* Sets from, to, turned, version, revision and plan of a body. The statuses may be NULL. fallback:
 * the version of an object whose status has none, or NULL. */
void transition_facts(const struct obj *before, const struct obj *after, const char *reason,
		      const char *fallback, struct obj *body);

#endif
