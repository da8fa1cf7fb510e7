/*
 * schema_node: the compiled form of a structural schema, for the files schema_*.c, cel*.c and the
 * gate, which compares two of them. Others use schema.h.
 */
#ifndef ALM_OBJ_SCHEMA_SCHEMA_NODE_H
#define ALM_OBJ_SCHEMA_SCHEMA_NODE_H

#include "alm/base/map.h"
#include "alm/obj/schema/schema.h"

enum schema_type { /* bits */
		   SCHEMA_OBJECT = 1,
		   SCHEMA_ARRAY = 2,
		   SCHEMA_STRING = 4,
		   SCHEMA_INTEGER = 8,
		   SCHEMA_NUMBER = 16,
		   SCHEMA_BOOLEAN = 32,
		   SCHEMA_ANY_SCALAR = 4 + 8 + 16 + 32,
};
#define SCHEMA_TYPES 6

/* A limit that is not set. */
#define SCHEMA_UNSET (-1)

struct cel_rules;

struct schema_named {
	const char *name;
	struct schema *schema;
};

struct schema_branches {
	struct schema **items;
	size_t n;
};

struct schema {
	struct arena *arena; /* of the root; NULL below */
	unsigned type;       /* 0: none given; x-kubernetes-int-or-string is integer or string */
	bool int_or_string, preserve, embedded, nullable;
	bool kept; /* an item of a list that preserves unknown fields: so does it, of itself */
	bool open; /* for server-side apply: it, or one around it, preserves them */
	bool map_atomic, value_struct; /* value_struct: see builtin_types.h */
	bool has_list_type;
	enum schema_list_type list_type;
	const char **list_keys;
	size_t n_list_keys;
	struct schema_named *properties; /* by name, bytewise; NULL: none */
	size_t n_properties;
	struct schema_named *defaulted; /* properties with a default, so that objects are not
					   asked for all; of schema_compile() */
	size_t n_defaulted;
	bool additional_any; /* additionalProperties: true */
	struct schema *additional, *items, *not_schema;
	struct schema_branches all_of, any_of, one_of;
	const char **required;
	size_t n_required;
	const struct obj *enum_values, *default_value; /* NULL: none */
	size_t default_bytes;                          /* of the text of default_value */
	const struct obj *minimum, *maximum, *multiple_of;
	bool exclusive_minimum, exclusive_maximum;
	int64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
	const char *format, *pattern_text; /* NULL: none */
	struct str pattern;                /* the same, which may hold NUL; a regex */
	const struct obj *rules;           /* x-kubernetes-validations as written, NULL: none */
	struct cel_rules *cel;             /* compiled, NULL: none */
	int64_t least_bytes;               /* of the text of a value; set by cel_measure() alone */
	bool has_embedded_below;           /* the same of objects in it */
	bool has_rules_below; /* here or further down: subtrees without are not walked */
};

const struct schema *schema_property(const struct schema *s, const char *name);
/* Of a schema that is made by hand; the name is borrowed. */
void schema_set_property(struct arena *a, struct schema *s, const char *name, struct schema *value);
bool schema_has_type(const struct schema *s, const struct obj *o);

/* schema_prune() of a value that is no whole object. */
void schema_prune_value(const struct schema *s, struct obj *o,
			void (*on_unknown)(void *arg, const char *path), void *arg);

/* Text forms of Go: %v of a float, %q, %#v and %v of a decoded JSON value. */
#define GO_DOUBLE_BYTES 40
void go_double(double d, char out[GO_DOUBLE_BYTES]);
void go_quote(struct str s, struct strbuf *b);
void go_syntax(const struct obj *o, struct strbuf *b);
void go_plain(const struct obj *o, struct strbuf *b); /* %v */
/* The value as field.Error prints it: numbers and booleans plain, strings quoted, else go_syntax.
 */
void go_bad_value(const struct obj *o, struct strbuf *b);

/* Formats the API server checks; an unknown one is valid. */
bool schema_format_known(const char *format);
bool schema_format_valid(const char *format, struct str s);

/* Of struct schema_named, for qsort and bsearch. */
int schema_by_name(const void *a, const void *b);

#endif
