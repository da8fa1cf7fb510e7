/* api_same: are two values of a built-in type the same to Kubernetes (apimachinery, equality.Semantic)? Amounts are compared as
 * numbers, however they are written, and a list or a map without members is as none. Pure. */
#ifndef ALM_OBJ_SCHEMA_API_SAME_H
#define ALM_OBJ_SCHEMA_API_SAME_H

#include "alm/obj/obj.h"
#include "alm/obj/schema/api_types.h"

/* a and b are structs of type t, or NULL. */
bool api_same(const struct api_type *t, const struct obj *a, const struct obj *b);

#endif
