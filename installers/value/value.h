/*
 * value: what templates compute with, Go's dynamic values.
 *
 * A struct value is a small copyable word: a type, a length, a payload. Strings, bytes and list
 * items are borrowed from an arena (or from text that lives as long as the render) and never
 * written to, with one exception that Go has too: sortAlpha sorts a []string in place. Maps are
 * handles: every copy of a map value names the same struct vmap, so that `set` is seen by every
 * alias; the Go type of a map (Values or plain) belongs to the value, not to the handle.
 *
 * Lists are slices: pointer and length, sharing items when cut. A nil list has items == NULL and
 * prints as null in JSON; an empty one has not.
 *
 * Keys of a map are kept sorted by bytes: the order of range, print and JSON.
 */
#ifndef INSTALLERS_VALUE_VALUE_H
#define INSTALLERS_VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

/* The engine's compatibility level (--helm-version). */
enum tmpl_profile { TMPL_PROFILE_3, TMPL_PROFILE_4_1, TMPL_PROFILE_4_2 };

/* Deeper nesting is cut when printing and refused when copying or encoding. */
#define VALUE_DEPTH_MAX 1000

enum value_type {
	VALUE_NIL,      /* untyped nil */
	VALUE_BOOL,     /* b */
	VALUE_INT,      /* i; constants, len, until, Revision */
	VALUE_INT64,    /* i; --set, int64, arithmetic, TOML */
	VALUE_MONTH,    /* i; time.Month */
	VALUE_WEEKDAY,  /* i; time.Weekday */
	VALUE_DURATION, /* i; time.Duration in ns */
	VALUE_UINT8,    /* i; index of a string or of bytes */
	VALUE_UINT64,   /* u; fields of a version */
	VALUE_FLOAT,    /* f; float64: YAML, JSON */
	VALUE_COMPLEX,  /* z: two doubles */
	VALUE_STRING,   /* s, len */
	VALUE_BYTES,    /* s, len: []uint8 */
	VALUE_LIST,     /* items, len: []interface {} */
	VALUE_STRINGS,  /* items are VALUE_STRING: []string */
	VALUE_INTS,     /* items are VALUE_INT: []int */
	VALUE_LISTS,    /* items are VALUE_LIST: [][]interface {} */
	VALUE_MAPS,     /* items are VALUE_MAP: []map[string]interface {} */
	VALUE_VERSIONS, /* items are VALUE_STRING: common.VersionSet */
	VALUE_STRUCTS,  /* items are VALUE_PTR: []*T, lists of Chart in profile 3 */
	VALUE_MAP,      /* map: map[string]interface {} */
	VALUE_VALUES,   /* map: common.Values */
	VALUE_STRMAP,   /* map of VALUE_STRING: map[string]string */
	VALUE_FILES,    /* map of VALUE_BYTES: engine.files */
	VALUE_STRUCT,   /* st: a struct */
	VALUE_PTR,      /* st: a pointer to a struct */
	VALUE_TIME,     /* t: time.Time */
	VALUE_SEMVER,   /* ver: *semver.Version */
	VALUE_TYPES     /* how many there are */
};

struct value;
struct vmap;
struct vstruct;
struct vtime;
struct semver_value;

struct value {
	uint8_t type;  /* enum value_type */
	uint8_t iface; /* of the executor: reached through a Go interface, not yet unwrapped */
	uint16_t pad;
	uint32_t len;
	union {
		bool b;
		int64_t i;
		uint64_t u;
		double f;
		const double *z;
		const char *s;
		struct value *items;
		struct vmap *map;
		const struct vstruct *st;
		const struct vtime *t;
		const struct semver_value *ver;
	};
};

/* ---- constructors; text is borrowed, so copy it into the arena first ---- */
#define VALUE_NONE ((struct value){.type = VALUE_NIL})
struct value value_bool(bool b);
struct value value_int(int64_t i);
struct value value_int64(int64_t i);
struct value value_float(double f);
struct value value_str(struct str s); /* borrowed */
struct value value_cstr(const char *s);
struct value value_bytes(struct str s);
struct value value_strcpy(struct arena *a, struct str s); /* copied */
/* Copies the text of b into the arena. */
struct value value_take(struct arena *a, const struct strbuf *b);
/* n items in the arena, all nil, never a nil list; fill v.items. type is one of the lists. */
struct value value_list(struct arena *a, enum value_type type, size_t n);
struct value value_map(struct vmap *m);
struct value value_map_as(struct vmap *m, enum value_type type); /* VALUE_VALUES ... */
struct value value_struct(const struct vstruct *st, bool pointer);

/* ---- predicates ---- */
static inline struct str value_text(struct value v) /* of a string or bytes */
{
	return (struct str){v.s, v.len};
}
bool value_is_string(struct value v, const char *text);
bool value_is_map(struct value v);  /* any of the four maps */
bool value_is_list(struct value v); /* any list, bytes not */
/* A map that Go takes for map[string]interface {}: plain or Values. */
bool value_is_anymap(struct value v);
bool value_is_int(struct value v); /* any integer */
bool value_truth(struct value v);  /* template truth */
/* Go's kind: "invalid", "bool", "int", "slice", "map", "struct", "ptr"... */
const char *value_kind(struct value v);
/* Go's type: "map[string]interface {}", "common.Values", "<nil>". */
const char *value_type_name(struct value v, enum tmpl_profile profile);
/* reflect.DeepEqual, typed: 1 is not 1.0. */
bool value_deep_equal(struct value a, struct value b);
/* A copy that shares no map with v; E_LIMIT beyond VALUE_DEPTH_MAX. Typed maps and lists stay. */
int value_copy(struct arena *a, struct value v, struct value *ret, struct error *err);

/* ---- maps ---- */
struct vmap_entry {
	struct str key;
	struct value value;
};

struct vmap {
	struct arena *arena; /* where it grows */
	struct vmap_entry *entries;
	size_t n, cap;
};

struct vmap *vmap_new(struct arena *a);
/* Room for n entries without growing. */
struct vmap *vmap_new_sized(struct arena *a, size_t n);
static inline size_t vmap_count(const struct vmap *m)
{
	return m ? m->n : 0;
}
/* NULL if absent; good until the next change of m. m may be NULL. */
struct value *vmap_get(const struct vmap *m, struct str key);
struct value *vmap_getc(const struct vmap *m, const char *key);
/* The key is borrowed: it must live as long as the arena. */
void vmap_set(struct vmap *m, struct str key, struct value v);
void vmap_setc(struct vmap *m, const char *key, struct value v);
/* To build a map of many entries: these in any order and nothing else, then vmap_settle(). Of equal
 * keys the last one stays. */
void vmap_append(struct vmap *m, struct str key, struct value v);
void vmap_settle(struct vmap *m);
bool vmap_del(struct vmap *m, struct str key);
/* Same entries, own handle; nested maps stay shared. */
struct vmap *vmap_clone(struct arena *a, const struct vmap *m);
/* Walk: for (size_t i = 0; i < vmap_count(m); i++) use(m->entries[i].key, .value). */

/* ---- structs: values with fields and methods of Go ---- */
struct vfield {
	const char *name; /* Go's: "GitCommit" */
	const char *json; /* in toJson: "git_commit"; NULL: the Go name */
	bool omitempty;
};

struct vstruct_type {
	const char *name, *pointer;       /* Go's types: "chart.Metadata", "*chart.Metadata" */
	const char *list;                 /* "[]*chart.Maintainer" */
	const char *name_v3, *pointer_v3; /* in profile 3, NULL: the same */
	const struct vfield *fields;
	size_t n_fields;
	/* String() of a pointer to it, NULL if it has none: what {{x}} prints for an addressable
	 * struct and what any verb of a pointer prints. */
	struct str (*string)(const struct vstruct *st);
	bool string_by_value; /* String() has a value receiver: fmt uses it everywhere */
};

struct vstruct {
	const struct vstruct_type *type;
	struct value *fields; /* type->n_fields */
};

struct vstruct *vstruct_new(struct arena *a, const struct vstruct_type *type);
/* NULL if there is no such field. */
struct value *vstruct_get(const struct vstruct *st, struct str name);

/* The types that the data of a chart needs. */
extern const struct vstruct_type vstruct_metadata; /* Chart of profile 3: chart.Metadata + IsRoot */
extern const struct vstruct_type vstruct_maintainer;
extern const struct vstruct_type vstruct_dependency;
extern const struct vstruct_type vstruct_certificate; /* Cert, Key */

/* The value of .Capabilities. kube_text is the version as given ("v1.29.3-gke.1"), kube_normal the
 * normalised one ("v1.29.3"); api_versions is a VALUE_VERSIONS list. */
struct value value_capabilities(struct arena *a, enum tmpl_profile profile, struct str kube_text,
				struct str kube_normal, struct str major, struct str minor,
				struct value api_versions);

/* ---- text ---- */
#define VALUE_TEXT_MAX ((size_t)64 << 20)
/* Go's %v of one value (floats %g, maps map[a:1], nil <nil>). */
void value_print(struct strbuf *b, struct value v);
/* sprig's strval: text as is, nil "<nil>", else %v. Borrowed from the arena. */
struct str value_string(struct arena *a, struct value v);
/* strconv.FormatFloat(f, fmt, -1, bits): fmt 'g', 'e' or 'f'; bits 32 or 64; shortest digits. */
void value_float_text(struct strbuf *b, double f, char fmt, int bits);
/* encoding/json's form: no exponent for 1e-6 <= |x| < 1e21. */
void value_float_json(struct strbuf *b, double f);
/* strconv.Quote. */
void value_quote(struct strbuf *b, struct str s);
/* time.RFC3339Nano, as JSON has it; a semantic version as text. */
void value_time_rfc3339(struct strbuf *b, struct value v);
void value_semver_text(struct strbuf *b, struct value v);
/* The String method of times, durations, months, weekdays and versions; false: it has none. */
bool value_stringer(struct strbuf *b, struct value v);
bool value_semver_equal(struct value a, struct value b);

/* ---- times ---- */
struct vzone; /* fn_date.c */
struct vtime {
	int64_t sec; /* since 1970 UTC; the zero time of Go is year 1 */
	int32_t nsec;
	const struct vzone *zone; /* NULL: UTC */
};

#endif
