/* api_scalar: the scalars of built-in kinds that have a form of their own, and which values Go does not write. For api_decode.c. */
#ifndef ALM_OBJ_SCHEMA_API_SCALAR_H
#define ALM_OBJ_SCHEMA_API_SCALAR_H

#include "alm/obj/obj.h"
#include "alm/obj/schema/api_types.h"

/* metav1.Time, or MicroTime, in UTC, of the years 0 to 9999; null of Go's zero, 0001-01-01T00:00:00Z. E_BADREQUEST in the words of
 * Go's time.Parse. Owned. */
int api_time(struct str text, bool micro, struct obj **ret, struct error *err);
/* Base64 without line ends; E_BADREQUEST "illegal base64 data at input byte 3". Owned. */
int api_base64(struct str text, struct obj **ret, struct error *err);
/* Does Go leave the field out, with this value? keeps_empty: not an empty list that it writes as [] or null. */
bool api_is_left_out(const struct api_field *f, const struct obj *v, bool keeps_empty);
/* What stands for a null in a list or map, and for what is always written; NULL: nothing does. Owned. */
struct obj *api_zero(const struct api_field *f);
/* A list or map of a field that has nothing in it. */
bool api_is_emptied(const struct api_field *f, const struct obj *v);
/* Of a field that holds a schema or several: neither, and no null. */
bool api_is_no_schema(const struct api_field *f, const struct obj *v);
/* An integer of more digits than a double holds is the double; ret stays as it is where the value may stay. 0. */
int api_double(const struct obj *v, struct obj **ret);

#endif
