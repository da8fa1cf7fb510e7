/*
 * schema: structural schemas of CustomResourceDefinitions (kube-api.md 11; KEP "structural
 * schema").
 *
 * A schema is compiled once, is immutable and shared. Objects passed to default and prune are under
 * construction and changed in place.
 */
#ifndef ALM_OBJ_SCHEMA_SCHEMA_H
#define ALM_OBJ_SCHEMA_SCHEMA_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

struct schema;

#define SCHEMA_DEPTH_MAX 128
/* What one validation may take, in steps of regular expressions (5 to 10 ns each). */
#define SCHEMA_STEPS_MAX UINT64_C(20000000)

/* Tells what is wrong with the metadata of objects in a default, which stands at path. */
typedef void (*schema_default_fn)(const struct schema *s, const char *path, struct obj *value,
				  struct field_errors *ret);
/* Is the text a legal structural schema? path is where it stands, as
 * "spec.validation.openAPIV3Schema". Every violation of kube-api.md 11 "Structural schema".
 * False: its structure or its defaults are wrong, so that nothing can be said of its rules.
 * of_default (may be NULL) is asked first of each default. */
bool schema_check(const struct obj *openapi, const char *path, schema_default_fn of_default,
		  struct field_errors *ret);
/* Where the path leads to in what is declared, or NULL and why; path gets its other spelling. in_brackets: ['a'] is .a. */
const struct obj *schema_at_path(const struct obj *openapi, const char *text, bool in_brackets,
				 struct strbuf *path, struct arena *a, const char **ret_why);

/* Why nothing can be made of it, or NULL; told where nothing else is wrong. */
const char *schema_unread(const struct obj *openapi);
bool schema_has_defaults(const struct obj *openapi);
/* openapi is borrowed during the call only. Fails only for what schema_check() also refuses. */
int schema_compile(const struct obj *openapi, struct schema **ret, struct error *err);
void schema_free(struct schema *s);
DEFINE_FREEP(schema)

/* Removes what the schema does not declare; apiVersion, kind and metadata of the root and of
 * embedded resources stay. Each removed path goes to on_unknown (may be NULL): "spec.bogus". */
void schema_prune(const struct schema *s, struct obj *o,
		  void (*on_unknown)(void *arg, const char *path), void *arg);
/* Defaults, nulls of non-nullable fields included (golden G65). False if they take more than
 * SCHEMA_DEFAULTED_BYTES_MAX: then some are left out. */
#define SCHEMA_DEFAULTED_BYTES_MAX ((size_t)3 << 19) /* an object has no room for more */
bool schema_default(const struct schema *s, struct obj *o);
/* The same of what server-side apply made: a null that has no default stays, and is refused. */
bool schema_default_applied(const struct schema *s, struct obj *o);
/* What came of another version: pruned, and rid of nulls that may not be and have no default. */
void schema_fit(const struct schema *s, struct obj *o);
/* Would both leave the object as it is? Then no copy is needed to change. */
bool schema_is_shaped(const struct schema *s, const struct obj *o);
/* Types, formats, bounds, enums, lists as sets and maps ... everything but
 * x-kubernetes-validations. Forbidden when it needs more than SCHEMA_STEPS_MAX. */
void schema_validate(const struct schema *s, const struct obj *o, struct field_errors *ret);
/* The same of a member, which messages tell from there on: "status.a: Invalid value: ..: a in body".
 * What is wrong with values that are as they were in old (NULL: there was none) is not told. */
void schema_validate_at(const struct schema *s, const char *path, const struct obj *o,
			const struct obj *old, struct field_errors *ret);
/* The verdict of schema_validate() alone, without texts. */
bool schema_accepts(const struct schema *s, const struct obj *o);
/* CEL rules; old is NULL on create. Over the runtime budget the write is refused. */
void schema_validate_rules(const struct schema *s, const struct obj *o, const struct obj *old,
			   struct field_errors *ret);
/* The same, and what fails and is let through, as its value stays as it was (KEP-4008). */
void schema_validate_update_rules(const struct schema *s, const struct obj *o,
				  const struct obj *old, struct field_errors *ret,
				  struct field_errors *ret_through);
/* schema_validate() of a default, of which nothing is told yet: what objects in it lack of an object (apiVersion, kind) is told
 * alone; lists are not looked at as sets and maps, nor that what may be an integer or a string is one. */
void schema_validate_default(const struct schema *s, const struct obj *o, struct field_errors *ret);
/* The rules over a default that is right otherwise: as a value that stays as it is, and as one that is new. */
void schema_validate_default_rules(const struct schema *s, const struct obj *o,
				   struct field_errors *ret);
/* Of a schema that is sound; where ret tells already what is wrong at a node or below it, its rules are not looked at. Compiles every rule: "compilation failed: ERROR: <input>:1:5: undefined field 'nope'". */
void schema_check_rules(const struct obj *openapi, const char *path, struct field_errors *ret);

/* For server-side apply: how lists and maps below a path merge. NULL stands for "nothing declared"
 * (maps granular, lists atomic) and is accepted by all of these. */
enum schema_list_type { LIST_ATOMIC, LIST_SET, LIST_MAP };
const struct schema *schema_field(const struct schema *s, const char *name);
const struct schema *schema_items(const struct schema *s);
enum schema_list_type schema_list_type(const struct schema *s);
size_t schema_list_keys(const struct schema *s, const char *const **ret_keys);
bool schema_map_is_atomic(const struct schema *s);
bool schema_is_declared(const struct schema *s,
			const char *name); /* property, additional, preserved */
const struct obj *schema_default_of(const struct schema *s);

#endif
