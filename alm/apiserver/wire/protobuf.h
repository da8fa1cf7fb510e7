/*
 * protobuf: bodies that kubectl 1.32 and up sends for typed built-in kinds (kube-api.md 5.3).
 *
 * Only a decoder: answers are JSON. The bytes are "k8s\0" and the message Unknown {typeMeta, raw}.
 * Field tables are in protobuf_tables.c; unknown field numbers are skipped, as protobuf wants it.
 */
#ifndef ALM_APISERVER_WIRE_PROTOBUF_H
#define ALM_APISERVER_WIRE_PROTOBUF_H

#include "alm/obj/obj.h"

#define PROTOBUF_DEPTH_MAX 64

/* One field: its number, JSON name and how its bytes read. */
enum pb_type {
	PB_STRING,
	PB_INT,
	PB_BOOL,
	PB_BYTES,         /* base64 text in JSON */
	PB_MESSAGE,       /* of */
	PB_STRING_MAP,    /* {key=1 string, value=2 string} */
	PB_BYTES_MAP,     /* {key=1 string, value=2 bytes} */
	PB_QUANTITY,      /* {string=1} */
	PB_QUANTITY_MAP,  /* {key=1 string, value=2 {string=1}} */
	PB_TIME,          /* {seconds=1, nanos=2} */
	PB_INT_OR_STRING, /* {type=1, intVal=2, strVal=3} */
};

enum pb_flag {
	PB_REPEATED = 1,
	PB_KEEP = 2, /* a pointer in Go: zero and false are kept */
};

struct pb_message;

struct pb_field {
	unsigned number;
	const char *name; /* NULL ends the table */
	enum pb_type type;
	unsigned flags;
	const struct pb_message *of;
};

struct pb_message {
	const struct pb_field *fields;
};

/* The table of a kind, or NULL. */
const struct pb_message *protobuf_message(const char *group, const char *kind);

/* Owned. E_BADREQUEST for bytes that do not decode, E_MEDIATYPE for a kind without a table. */
int protobuf_decode(struct str bytes, struct obj **ret, struct error *err);

#endif
