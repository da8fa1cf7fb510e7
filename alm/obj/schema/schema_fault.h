/*
 * schema_fault: what is said against a schema, in the words of apiextensions-apiserver, and how its
 * members are read for that. Private to schema_check*.c. key is below the place at hand; it may be a
 * path of its own.
 */
#ifndef ALM_OBJ_SCHEMA_SCHEMA_FAULT_H
#define ALM_OBJ_SCHEMA_SCHEMA_FAULT_H

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_node.h"

struct schema_checked {
	struct field_errors *errors;
	struct strbuf path;
	unsigned depth;
	bool in_meta;                 /* of an object: its metadata, apiVersion or kind */
	bool has_default;             /* of schema_has_defaults() */
	const char *no_defaults;      /* why there may be none here, or NULL */
	schema_default_fn of_default; /* NULL: nobody asks */
};

enum schema_place { SCHEMA_AT_ROOT, SCHEMA_AT_FIELD, SCHEMA_AT_ITEM };

void schema_fault_add(struct schema_checked *c, enum field_error_type type, const char *key,
		      const char *text);
void schema_forbid(struct schema_checked *c, const char *key, const char *why);
void schema_require(struct schema_checked *c, const char *key, const char *why);
/* value NULL: "" is shown. */
void schema_invalid(struct schema_checked *c, const char *key, const struct obj *value,
		    const char *why);
void schema_unsupported(struct schema_checked *c, const char *key, const char *value,
			const char *supported);
bool schema_flag(const struct obj *o, const char *key);
/* "" if there is none. */
const char *schema_text(const struct obj *o, const char *key);

/* --- schema_structure.c --- */
/* One level down, c->depth; false, and told: too deep. */
bool schema_enter(struct schema_checked *c);
/* fn of o and of every schema in it. */
void schema_each(struct schema_checked *c, const struct obj *o,
		 void (*fn)(struct schema_checked *c, const struct obj *o));
void schema_check_structure(struct schema_checked *c, const struct obj *o);

/* --- schema_path.c --- */
void schema_check_rule_fields(struct schema_checked *c, const struct obj *o);

/* schema_check_list.c: the rules of x-kubernetes-list-type. */
void schema_check_list_type(struct schema_checked *c, const struct obj *o);

#endif
