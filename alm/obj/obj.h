/*
 * obj: the value of an API object (JSON).
 *
 * The law: an object in a cache, a plan or the store is immutable; to change one, obj_copy() it or
 * build a patch. Objects are reference counted (not atomic: one thread). A function that takes a
 * "struct obj *" in value position consumes the reference; "const struct obj *" borrows. A getter
 * borrows from its parent.
 *
 * JSON null is a value of its own, and obj_type() of NULL is OBJ_ABSENT, so a member that is null
 * and one that is absent differ: obj_get() returns NULL only for absent. Map members keep insertion
 * order. Numbers keep their text: 1.50 prints as 1.50, integers are exact over int64 and uint64.
 *
 * A tree read from n bytes of text takes less than 20 n bytes of memory, a copy of it less, as
 * scalars and keys are shared (obj_node.h).
 */
#ifndef ALM_OBJ_OBJ_H
#define ALM_OBJ_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/mem.h"
#include "alm/base/str.h"

struct obj;

enum obj_type {
	OBJ_ABSENT, /* of a NULL pointer */
	OBJ_NULL,
	OBJ_BOOL,
	OBJ_INT, /* written without fraction and exponent, fits int64 or uint64 */
	OBJ_DOUBLE,
	OBJ_STRING,
	OBJ_LIST,
	OBJ_MAP,
};

#define OBJ_DEPTH_MAX 256
/* Values in the body of a request; an object of 1.5 MiB has about 100,000. */
#define OBJ_BODY_NODES_MAX ((size_t)1 << 18)

/* Life. obj_unref(NULL) is fine. */
struct obj *obj_ref(const struct obj *o);
void obj_unref(struct obj *o);
void obj_unrefp(struct obj **o); /* for CLEANUP */
/* Ties the reference to the arena's life and returns it: parse(..., &o); obj_keep(a, o). */
struct obj *obj_keep(struct arena *a, struct obj *o);
struct obj *obj_copy(const struct obj *o); /* deep */
/* A map of the same members, which stay those of o: only the map itself may be changed. */
struct obj *obj_copy_shallow(const struct obj *o);
/* Maps and lists on the longest way down; 0: it is a scalar. */
size_t obj_depth(const struct obj *o);
/* Memory of all objects that live, as pool.h and malloc take it. */
size_t obj_bytes(void);
/* The keys that are kept for the next map: each holds a page of the pool's when all else has gone. */
void obj_forget_keys(void);
/* Of a list (map); an empty one if o is absent, null or of another type. */
struct obj *obj_copy_list(const struct obj *o);
struct obj *obj_copy_map(const struct obj *o);

/* Builders; owned. */
struct obj *obj_null(void);
struct obj *obj_bool(bool v);
struct obj *obj_int(int64_t v);
struct obj *obj_double(double v);        /* finite; shortest text that reads back equal */
struct obj *obj_number(struct str text); /* keeps the text; asserts that it is a JSON number */
struct obj *obj_string(const char *s);
struct obj *obj_stringn(struct str s);
struct obj *obj_stringf(const char *fmt, ...) PRINTF(1, 2);
struct obj *obj_list(void);
struct obj *obj_map(void);

/* Reading. */
enum obj_type obj_type(const struct obj *o);
const char *obj_type_name(
	enum obj_type type); /* "null" "boolean" "integer" "number" "string" "array" "object" */
bool obj_is_true(const struct obj *o); /* only of a bool */
bool obj_is_number(const struct obj *o);
bool obj_as_i64(const struct obj *o, int64_t *ret);   /* integers that fit; also 1.0 and 1e3 */
bool obj_as_double(const struct obj *o, double *ret); /* any number */
const char *obj_as_string(const struct obj *o);       /* borrowed; NULL if no string */
struct str obj_as_str(const struct obj *o);           /* may hold NUL; STR_NONE if no string */
struct str obj_number_text(const struct obj *o);      /* as written; STR_NONE if no number */
size_t obj_len(const struct obj *o);                  /* members, elements; else 0 */
const struct obj *obj_at(const struct obj *list, size_t i); /* NULL outside */
const struct obj *obj_get(const struct obj *map, const char *key);
const struct obj *obj_getn(const struct obj *map, struct str key);
bool obj_has(const struct obj *map, const char *key);
bool obj_is_set(const struct obj *o); /* neither absent nor null */
/* The first member that is none of the names (NULL-ended); NULL: there is none. */
const char *obj_unknown_member(const struct obj *map, const char *const *names);

/* Deep equality: 1 equals 1.0, order of members does not count. */
bool obj_equal(const struct obj *a, const struct obj *b);

/* Iteration in insertion order; no member may come meanwhile:
 *	OBJ_EACH (it, map)
 *		use(it.key, it.value);
 */
struct obj_iter {
	const void *entry, *end;
	const char *key;
	size_t len; /* of the key */
	const struct obj *value;
};
struct obj_iter obj_iter(const struct obj *map);
bool obj_iter_next(struct obj_iter *it);
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name */
#define OBJ_EACH(it, map) for (struct obj_iter it = obj_iter(map); obj_iter_next(&it);)

/* Changing an object that is still being built (or a copy). Values are consumed. */
void obj_set(struct obj *map, const char *key,
	     struct obj *value); /* a replaced key keeps its place */
void obj_setn(struct obj *map, struct str key, struct obj *value);
/* Of a key that the map does not have: the caller has looked. */
void obj_set_new(struct obj *map, const char *key, struct obj *value);
void obj_set_newn(struct obj *map, struct str key, struct obj *value);
void obj_del(struct obj *map, const char *key);
void obj_append(struct obj *list, struct obj *value);
void obj_set_at(struct obj *list, size_t i, struct obj *value);
void obj_insert_at(struct obj *list, size_t i, struct obj *value); /* i <= len */
void obj_del_at(struct obj *list, size_t i);
/* The member itself, to be changed in place; only of an object under construction. */
struct obj *obj_get_mut(struct obj *map, const char *key);
/* The map at key, made where there is none. */
struct obj *obj_need_map(struct obj *map, const char *key);
struct obj *obj_at_mut(struct obj *list, size_t i);
/* Short forms. obj_set_str leaves the key out if s is NULL. */
void obj_set_str(struct obj *map, const char *key, const char *s);
void obj_set_int(struct obj *map, const char *key, int64_t v);
void obj_set_bool(struct obj *map, const char *key, bool v);

/* By path, "spec.upgrade.mode" or "status.conditions[0].type"; keys with dots in them:
 * metadata.annotations['app.coreos.com/owner']. Absent, null on the way, or another type: NULL
 * (obj_str), fallback (the others). Right for optional fields; required ones go through decode.h.
 */
const struct obj *obj_path(const struct obj *o, const char *path);
const char *obj_str(const struct obj *o, const char *path);
int64_t obj_i64(const struct obj *o, const char *path, int64_t fallback);
bool obj_flag(const struct obj *o, const char *path, bool fallback);
/* Makes the maps on the way ("a.b.c", names only); value is consumed. */
void obj_set_path(struct obj *o, const char *path, struct obj *value);
void obj_del_path(struct obj *o, const char *path);

#endif
