/*
 * json: text <-> obj.
 *
 * Reading is strict (RFC 8259): UTF-8 only, no duplicate member, no lone surrogate, no NaN, nothing
 * after the value, depth <= OBJ_DEPTH_MAX. Another view of a body than the API server's would be a
 * policy bypass, so what Go's decoder refuses is refused here as well.
 */
#ifndef ALM_OBJ_JSON_H
#define ALM_OBJ_JSON_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define JSON_DUPLICATES_MAX 64

/* Paths of duplicate members ("spec.size"), for fieldValidation. */
struct json_duplicates {
	size_t n;
	char *paths[JSON_DUPLICATES_MAX]; /* owned */
};
void json_duplicates_release(struct json_duplicates *d);

/* E_BADREQUEST in the words of Go's encoding/json, with line and byte offset of the fault. A
 * duplicate member is an error; json_parse_dup() lets the last one win and reports the path, and half a pair of surrogates is U+FFFD to it;
 * after an error there is none to release.
 * E_TOOLARGE for more than nodes_max values (0: as many as there are). */
int json_parse(struct str text, struct obj **ret, struct error *err);
int json_parse_dup(struct str text, size_t nodes_max, struct json_duplicates *dup, struct obj **ret,
		   struct error *err);

/* Documents that were read so far. */
uint64_t json_parses(void);

/* Compact, members in insertion order. Escapes as Go's encoding/json without HTML escaping. */
void json_print(const struct obj *o, struct strbuf *b);
/* Members sorted bytewise at every level, compact: the canonical form for digests (RFC 8785, but
 * integers keep all their digits). */
void json_print_canonical(const struct obj *o, struct strbuf *b);
/* Sorted as well, and <, > and & escaped: what json.Marshal of Go makes of a map, and kubectl -o jsonpath of a value that is none
 * of the simple ones. */
void json_print_go(const struct obj *o, struct strbuf *b);
/* kubectl's -o json: indent of four blanks, keys sorted as Go prints maps. */
void json_print_pretty(const struct obj *o, unsigned indent, struct strbuf *b);
char *json_text(const struct obj *o);            /* owned compact text */
void json_quote(struct str s, struct strbuf *b); /* one string with its quotes */
/* hex SHA-256 of the canonical form */
void json_digest(const struct obj *o, char out[65]);

#endif
