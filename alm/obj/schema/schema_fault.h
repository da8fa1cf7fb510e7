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
	bool says_schema; /* "$schema" stands somewhere, which is told if nothing else is */
};

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

/* schema_check_list.c: the rules of x-kubernetes-list-type. */
void schema_check_list_type(struct schema_checked *c, const struct obj *o);

#endif
