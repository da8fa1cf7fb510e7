/* decision: what the entry of a Decision says (audit.md 3): the verdict, and the rule that gave it. */
#ifndef ALM_CONTROLLERS_APP_DECISION_H
#define ALM_CONTROLLERS_APP_DECISION_H

#include "alm/obj/obj.h"

/* verdict: "allow", "deny" or "wait". Owned. */
struct obj *decision_body(const char *rule, const char *verdict, const char *detail);

#endif
