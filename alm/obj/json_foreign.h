/*
 * json_foreign: JSON that is no API object: the answers of registries and token services, Docker's
 * configuration. json-c reads it; json.h stays the only reader of what the API server stores, where
 * a second view of the same bytes would be a policy bypass.
 *
 * RFC 8259, UTF-8 only. What json-c takes beyond it stays so: keys in single quotes, and of a
 * member that stands twice the last one.
 */
#ifndef ALM_OBJ_JSON_FOREIGN_H
#define ALM_OBJ_JSON_FOREIGN_H

#include "alm/obj/obj.h"

#define JSON_FOREIGN_DEPTH_MAX 32
/* A value takes up to 800 bytes of json-c while it is read: 40 MiB at the most. */
#define JSON_FOREIGN_VALUES_MAX 50000

/* *ret is owned. E_BADREQUEST with json-c's words and the offset; E_TOOLARGE for more values. */
int json_foreign_parse(struct str text, struct obj **ret, struct error *err);

#endif
