/* jsonschema_tree: violations as a tree, in the order and with the texts of the library Helm uses.
 * Shared by jsonschema.c, jsonschema_meta.c and jsonschema_format.c only. */
#ifndef INSTALLERS_JSONSCHEMA_TREE_H
#define INSTALLERS_JSONSCHEMA_TREE_H

#include "installers/jsonschema.h"

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
	struct strbuf *msg; /* of a schema that cannot be used */
	bool broken;
};

struct violation *violation_new(struct schema_run *r, const struct place *at, const char *fmt, ...)
	PRINTF(3, 4);
void violation_add(struct schema_run *r, struct violation *to, struct violation *kid);
struct str place_text(struct arena *a, const struct place *at);
struct str schema_quote(struct arena *a, struct str s); /* 'it\'s' */
void schema_broken(struct schema_run *r, const char *fmt, ...) PRINTF(2, 3);

/* The schema a reference names; NULL: unknown urn (anything goes) or broken. */
const struct value *schema_resolve(struct schema_run *r, struct str ref);

/* Is the schema itself well formed? Kids are added to top; also resolves every reference. */
void schema_check_meta(struct schema_run *r, struct value schema, const struct place *at,
		       struct violation *top);
const char *schema_draft_url(enum draft d);

/* NULL if text has the format (or the format is unknown), else the reason. */
const char *schema_format_fault(struct arena *a, struct str format, struct str text);
/* -1: no pattern, with the message of Go's regexp in *ret_fault. */
int schema_match(struct arena *a, struct str pattern, struct str text, const char **ret_fault);

#endif
