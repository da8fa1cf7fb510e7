/*
 * protobuf: bodies of built-in kinds as client-go sends them, and answers for who takes nothing else (kube-api.md 5.3).
 *
 * The bytes are "k8s\0" and the message Unknown {typeMeta, raw};
 * the fields of each kind are those of the table of types (alm/obj/schema/api_types.h). Field
 * numbers that it does not have are skipped, as protobuf wants it. Zero values of optional fields
 * are left out, as Go's JSON does it.
 */
#ifndef ALM_APISERVER_WIRE_PROTOBUF_H
#define ALM_APISERVER_WIRE_PROTOBUF_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define PROTOBUF_MAGIC       "k8s\0"
#define PROTOBUF_MAGIC_BYTES ((size_t)4)
#define PROTOBUF_DEPTH_MAX   128
#define PROTOBUF_BYTES_MAX   ((size_t)4 << 20)

/* Owned. E_BADREQUEST for bytes that do not decode, E_MEDIATYPE for a kind without a type,
 * E_TOOLARGE for more than PROTOBUF_BYTES_MAX or OBJ_BODY_NODES_MAX values. */
int protobuf_decode(struct str bytes, struct obj **ret, struct error *err);

/* An object of a built-in kind, a list of them, or a Status, by its apiVersion and kind, as a real server writes it: the same
 * bytes, where no JSON is in them. false: it has no type. Who asks looks at b->over. */
bool protobuf_encode(const struct obj *o, struct strbuf *b);
/* {type, object} of a watch, with its length before it. */
bool protobuf_encode_event(const struct obj *event, struct strbuf *b);

#endif
