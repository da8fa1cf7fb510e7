/* jsonschema_apply: what a schema finds in a value. Private to jsonschema*.c. */
#ifndef INSTALLERS_JSONSCHEMA_JSONSCHEMA_APPLY_H
#define INSTALLERS_JSONSCHEMA_JSONSCHEMA_APPLY_H

#include "installers/jsonschema/jsonschema_tree.h"

struct schema_seen;

/* Faults go to out. Depth and steps are those of the run: JSONSCHEMA_REF_STEPS_MAX and
 * JSONSCHEMA_STEPS_MAX; beyond them it is broken, as by a reference that leads to itself. seen: NULL
 * from outside. */
void schema_apply(struct schema_run *r, struct value schema, struct value v, const struct place *at,
		  struct violation *out, struct schema_seen *seen);

#endif
