/* jsonschema_tree: violations as a tree, in the order and with the texts of the library Helm uses.
 * Private to jsonschema*.c. */
#ifndef INSTALLERS_JSONSCHEMA_JSONSCHEMA_TREE_H
#define INSTALLERS_JSONSCHEMA_JSONSCHEMA_TREE_H

#include "installers/jsonschema/jsonschema.h"

enum draft { DRAFT_4 = 4, DRAFT_6 = 6, DRAFT_7 = 7, DRAFT_2019 = 2019, DRAFT_2020 = 2020 };

/* A place in the instance: "/a/0". */
struct place {
	const struct place *up;
	struct str key; /* ptr NULL: the number */
	size_t index;
};

struct violation {
	struct str at;
	const char *text; /* "validation failed" for a group */
	struct violation **kids;
	size_t n, cap;
	bool group;
};

struct schema_run {
	struct arena *a;
	struct value root;
	enum draft draft;
	size_t steps;
	int depth;
	struct warnings *w;
	size_t first_warning; /* of this run */
	struct strbuf *msg;   /* of a schema that cannot be used */
	bool broken;
};

struct violation *violation_new(struct schema_run *r, const struct place *at, const char *fmt, ...)
	PRINTF(3, 4);
void violation_add(struct schema_run *r, struct violation *to, struct violation *kid);
/* A new one with the kids of another. */
struct violation *violation_group(struct schema_run *r, const struct place *at, const char *text,
				  const struct violation *of);
/* What one schema finds in one value counts as one violation: a group if there are several. */
void violation_add_found(struct schema_run *r, const struct place *at,
			 const struct violation *found, struct violation *out);
/* A group that is all there is says nothing: its kids become those of x. */
void violation_flatten(struct violation *x);
/* The kids of top, with theirs. */
void violation_print(const struct violation *top, struct strbuf *b);
/* By place and text; top has kids. */
void violation_print_sorted(struct violation *top, struct strbuf *b);
struct str place_text(struct arena *a, const struct place *at);
struct str schema_quote(struct arena *a, struct str s); /* 'it\'s' */
void schema_broken(struct schema_run *r, const char *fmt, ...) PRINTF(2, 3);

/* ---- values as JSON schema sees them: jsonschema_value.c ---- */
bool jsonschema_is_number(struct value v);
double jsonschema_number(struct value v); /* of a number */
/* Two numbers, exactly: -1, 0, 1. */
int jsonschema_compare(struct value a, struct value b);
const char *jsonschema_type(struct value v);
bool jsonschema_has_type(struct value v, struct str type); /* "integer" too */
bool jsonschema_equal(struct value a, struct value b);     /* 1 is 1.0 */
const char *jsonschema_number_text(struct arena *a, double f);

/* ---- jsonschema_ref.c: the schema a reference names; NULL: unknown urn (anything goes) or broken. */
const struct value *schema_resolve(struct schema_run *r, struct str ref);

/* ---- jsonschema_meta.c: is the schema itself well formed? Kids are added to top; also resolves every reference. */
void schema_check_meta(struct schema_run *r, struct value schema, const struct place *at,
		       struct violation *top);

/* NULL if text has the format (or the format is unknown), else the reason. */
const char *schema_format_fault(struct arena *a, struct str format, struct str text);
/* -1: no pattern, with the message of Go's regexp in *ret_fault. */
int schema_match(struct arena *a, struct str pattern, struct str text, const char **ret_fault);

#endif
