/*
 * api_types: the types of Kubernetes' built-in kinds (api_types.txt): what fields they have, of
 * which type, what is required, how lists merge, and their numbers in protobuf. One constant table
 * without pointers, which the build makes of that file (api_types.awk); all that the API server
 * knows of a built-in kind's fields comes from here: types, unknown fields, merge keys, OpenAPI and
 * protobuf. Pure.
 *
 * To follow a release of Kubernetes: `make api-types` (Makefile), and the tests.
 */
#ifndef ALM_OBJ_SCHEMA_API_TYPES_H
#define ALM_OBJ_SCHEMA_API_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/str.h"

/* What a value is; of a list or map, what its elements are. The order is api_types.awk's. */
enum api_shape {
	API_STRUCT, /* api_struct_of() */
	API_STRING,
	API_BOOL,
	API_INT32,
	API_INT64,
	API_DOUBLE,
	API_BYTES, /* base64 text in JSON */
	API_QUANTITY,
	API_INT_OR_STRING,
	API_TIME,             /* seconds */
	API_MICRO_TIME,       /* microseconds */
	API_FIELDS,           /* FieldsV1: a map of anything */
	API_RAW,              /* RawExtension: an object of any kind */
	API_JSON,             /* any value */
	API_SCHEMA_OR_ARRAY,  /* of a CRD's schema: items */
	API_SCHEMA_OR_BOOL,   /* additionalProperties */
	API_SCHEMA_OR_STRINGS /* dependencies */
};

/* A map of lists has two marks. */
enum api_mark { API_POINTER = 1, API_LIST = 2, API_MAP = 4 };

enum api_flag {
	API_IS_KIND = 1,     /* of a type: it has apiVersion and kind */
	API_REQUIRED = 1,    /* as OpenAPI says; Go writes it always */
	API_ATOMIC = 2,      /* a map that is replaced as a whole */
	API_SET = 4,         /* a list whose elements are unique */
	API_RETAIN_KEYS = 8, /* strategic merge patch strategy retainKeys */
	API_EMBEDDED = 16,   /* has no name: its fields are its holder's in JSON */
	API_ALWAYS = 64,     /* optional, and Go writes it always */
	API_OMITTED = 128,   /* required, and Go leaves it out where it is empty */
	API_MERGE = 32       /* strategic merge patches merge the list */
};

/* Texts are offsets: api_text(). */
struct api_field {
	uint16_t name;
	uint16_t of;           /* a struct: api_struct_of(); a scalar: api_go_type() */
	uint16_t list_keys;    /* "port,protocol": a list whose elements have these keys; or "" */
	uint16_t merge_key;    /* of API_MERGE; "" if its elements are scalars */
	uint16_t default_json; /* or "" */
	uint8_t number, shape, marks, flags;
};

struct api_type {
	uint16_t name; /* "core.v1.Container" */
	uint16_t first, n;
	uint16_t flags;
};

struct api_kind {
	uint16_t api_version, kind, type;
};

const char *api_text(uint16_t offset);
/* "v1" or "apps/v1"; NULL if the kind is not known. */
const struct api_type *api_type_of_kind(const char *api_version, const char *kind);
const struct api_type *api_type_named(const char *name); /* "apis.meta.v1.ObjectMeta", or NULL */
/* The struct that a field is, or holds; NULL for another shape. */
const struct api_type *api_struct_of(const struct api_field *f);
/* The fields of the type itself, sorted by name; embedded ones come first. */
const struct api_field *api_fields_of(const struct api_type *t, size_t *ret_n);
/* By its name in JSON, in embedded structs too; NULL: there is no such field. ret_holder (may be
 * NULL) gets the struct that has it. */
const struct api_field *api_find(const struct api_type *t, const char *name,
				 const struct api_type **ret_holder);
/* A struct that a strategic merge patch replaces as a whole (patchStrategy "replace"). */
bool api_is_replaced(const struct api_type *holder, const struct api_field *f);
/* Where the field stands in Go's struct: less than one that stands behind it; 0: there is none (api_order.c). */
unsigned api_place_in_struct(const struct api_type *t, const char *key);
/* A text, a number or a boolean that Go writes always, "" or 0 or false as it may be. */
bool api_is_always(const struct api_field *f);
/* What Go calls the type of a field that is no struct and has a name there: "v1.Protocol",
 * "[]v1.FinalizerName"; "": it has none. */
const char *api_go_type(const struct api_field *f);
/* The structs embedded on the way from t to the one that has the field ("RuleWithOperations",
 * "Rule"), outermost first: the n-th of them, NULL at the end. */
const struct api_type *api_embedded(const struct api_type *t, const struct api_type *holder,
				    size_t n);
/* The Go name of a type, "Container" of "core.v1.Container". */
const char *api_short_name(const struct api_type *t);
/* "v1.Container", as Go prints it. */
const char *api_go_name(const struct api_type *t);

/* The tables themselves; use the functions. */
extern const struct api_field api_fields[];
extern const struct api_type api_types[];
extern const size_t api_n_types;
extern const struct api_kind api_kinds[];
extern const size_t api_n_kinds;
extern const char api_texts[];

#endif
