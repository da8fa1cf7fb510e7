/*
 * ready: is an object rolled out? By kind, and by status.conditions for all others
 * (charts.md 10.4). Pure; reads one live object.
 */
#ifndef ALM_UNIT_READY_H
#define ALM_UNIT_READY_H

#include "alm/obj/obj.h"

enum readiness { READY, NOT_READY, READY_FAILED };

/* ret_why: arena text of what is missing or wrong; NULL when ready. is_hook: a Job or Pod must have
 * run to its end. */
enum readiness ready_check(const struct obj *live, bool is_hook, struct arena *a,
			   const char **ret_why);

#endif
