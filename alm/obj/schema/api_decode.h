/*
 * api_decode: an object under construction -> the object as Kubernetes' decoder of its type leaves
 * it (sigs.k8s.io/json, strict): types are checked, unknown fields go, nulls and empty optional
 * fields go, quantities, times and base64 have their canonical form. The texts are Go's, as clients
 * know them. Pure.
 */
#ifndef ALM_OBJ_SCHEMA_API_DECODE_H
#define ALM_OBJ_SCHEMA_API_DECODE_H

#include "alm/obj/obj.h"
#include "alm/obj/schema/api_types.h"

/* Who reads, and so what an error is told with: the reader of JSON ("json: cannot unmarshal string
 * into Go struct field DeploymentSpec.spec.replicas of type int32"), or the converter of what
 * strategic merge and server-side apply made ("unrecognized type: int32"), which also cuts an
 * integer that is too large to the bits of its type. */
enum api_dialect {
	API_JSON_TEXT,
	API_UNSTRUCTURED,
	API_JSON_SORTED /* the reader of JSON that was written anew, keys sorted: of what a patch made */
};

/* In place; apiVersion and kind of the object itself are not looked at. Each field that
 * its type does not have is told to on_unknown (may be NULL), "spec.template.spec.contaners", and
 * removed. E_BADREQUEST for the first value of a wrong type. */
int api_decode(const struct api_type *t, enum api_dialect dialect, struct obj *o,
	       void (*on_unknown)(void *arg, const char *path), void *arg, struct error *err);
/* The same, but empty lists stay that Go writes as [] or null, as they were given: who sent one has
 * the field. 1: there are some, which a second api_decode() takes away. */
int api_decode_keeping(const struct api_type *t, enum api_dialect dialect, struct obj *o,
		       void (*on_unknown)(void *arg, const char *path), void *arg,
		       struct error *err);
/* The same, but all empty lists and maps stay: as Go has the object in memory, where some of its checks tell an empty one from
 * none. */
int api_decode_as_read(const struct api_type *t, enum api_dialect dialect, struct obj *o,
		       struct error *err);
/* What Go writes always is there, empty where it was not: structs that are no pointers, and in them the fields without
 * omitempty; and what has a default. In place, twice is once; api_decode() has done it at every depth. */
void api_fill(const struct api_type *t, struct obj *o);

#endif
