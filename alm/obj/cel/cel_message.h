/*
 * cel_message: the objects that an expression of a MutatingAdmissionPolicy builds, Object.spec{..} and JSONPatch{..}, and the
 * values they are made of, as JSON.
 */
#ifndef ALM_OBJ_CEL_CEL_MESSAGE_H
#define ALM_OBJ_CEL_CEL_MESSAGE_H

#include "alm/obj/cel/cel.h"

/* Its members as a map. */
struct cel_value cel_message_map(const struct cel_value *v);
/* A member; false: it has none of that name. */
bool cel_message_get(const struct cel_value *v, const char *name, struct cel_value *ret);
/* Below Object its members' types are named by the way to them: Object.spec of spec. The first that is not, as upstream
 * words it, of the arena; NULL: all are, or there are more, or they are deeper, than cel_to_obj() takes. */
const char *cel_message_fault(const struct cel_value *v, struct arena *a);
/* Owned. What has no form in JSON is E_INVALID. An expression may name one text a million times: what it needs is taken off
 * *left, about as many bytes as its JSON has; E_TOOLARGE. Deeper than OBJ_DEPTH_MAX is E_INVALID. */
#define CEL_OBJ_BYTES_MAX ((size_t)8 << 20)
int cel_to_obj(const struct cel_value *v, size_t *left, struct obj **ret, struct error *err);

#endif
