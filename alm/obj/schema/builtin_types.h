/*
 * builtin_types: how lists and maps of the built-in kinds merge, as schemas made of the table of
 * api_types.h. What a type declares no list type for merges by default: maps granular, lists
 * atomic.
 *
 * A "value struct" is a field that Go's type always has, as spec or resources: where its parent is,
 * it is, even if JSON leaves it out (schema_node.h). managedFields shows the difference: f:spec of
 * a built-in has no ".". So is a text, a number or a boolean that Go writes always: "", 0 or false where JSON leaves it out.
 */
#ifndef ALM_OBJ_SCHEMA_BUILTIN_TYPES_H
#define ALM_OBJ_SCHEMA_BUILTIN_TYPES_H

#include "alm/obj/schema/schema.h"

/* NULL if the kind is not known. Static, for the life of the process. */
const struct schema *builtin_schema(const char *api_version, const char *kind);
const struct schema *builtin_object_meta(void);

#endif
