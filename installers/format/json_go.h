/*
 * json_go: JSON as Go's encoding/json writes and reads it, on template values. The strict reader of
 * API objects is alm/obj/json.h; this one has Go's messages, takes duplicates (the last wins) and
 * replaces lone surrogates, as Helm does. Values live in the arena.
 */
#ifndef INSTALLERS_FORMAT_JSON_GO_H
#define INSTALLERS_FORMAT_JSON_GO_H

#include "alm/base/strbuf.h"
#include "installers/value/value.h"

#define JSON_GO_BYTES_MAX ((size_t)16 << 20)
#define JSON_GO_DEPTH_MAX 1000

enum json_go_flags {
	JSON_GO_COMPACT = 0,
	JSON_GO_RAW = 1,    /* <, > and & stay */
	JSON_GO_PRETTY = 2, /* indented by two blanks */
};

/* -E_INVALID "json: unsupported value: +Inf", "json: unsupported type: complex128". */
int json_go_encode(struct value v, unsigned flags, struct strbuf *b, struct strbuf *msg);

/* One value and nothing after it. On -E_INVALID a message as json.Unmarshal gives; *ret holds what
 * was decoded if the text is JSON and only a number is out of range (0 for that number alone), else
 * nil. */
int json_go_decode(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* The same with json.Number's accuracy: int64 or uint64 where a double would round. */
int json_go_decode_exact(struct arena *a, struct str text, struct value *ret, struct strbuf *msg);
/* The first value only (json.Decoder); *ret_used is the offset after it. "EOF" for no text. */
int json_go_decode_prefix(struct arena *a, struct str text, struct value *ret, size_t *ret_used,
			  struct strbuf *msg);

/* The fields of a struct, a time, a version or bytes as JSON has them: a map, a list or a scalar.
 * Other values are returned as they are. */
struct value json_go_plain(struct arena *a, struct value v);

#endif
