/*
 * protobuf: bodies of built-in kinds as client-go sends them (kube-api.md 5.3).
 *
 * Only a decoder: answers are JSON. The bytes are "k8s\0" and the message Unknown {typeMeta, raw};
 * the fields of each kind are those of the table of types (alm/obj/schema/api_types.h). Field
 * numbers that it does not have are skipped, as protobuf wants it. Zero values of optional fields
 * are left out, as Go's JSON does it.
 */
#ifndef ALM_APISERVER_WIRE_PROTOBUF_H
#define ALM_APISERVER_WIRE_PROTOBUF_H

#include "alm/obj/obj.h"

#define PROTOBUF_DEPTH_MAX 128
#define PROTOBUF_BYTES_MAX ((size_t)4 << 20)

/* Owned. E_BADREQUEST for bytes that do not decode, E_MEDIATYPE for a kind without a type,
 * E_TOOLARGE for more than PROTOBUF_BYTES_MAX or OBJ_BODY_NODES_MAX values. */
int protobuf_decode(struct str bytes, struct obj **ret, struct error *err);

#endif
