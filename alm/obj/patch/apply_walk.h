/*
 * apply_walk: values under their list and map types, for server-side apply: which fields a
 * configuration has, what differs between two objects, how two merge, what is removed. Private to
 * apply*.c; the rules are those of structured-merge-diff.
 */
#ifndef ALM_OBJ_PATCH_APPLY_WALK_H
#define ALM_OBJ_PATCH_APPLY_WALK_H

#include "alm/obj/patch/fieldset.h"
#include "alm/obj/schema/schema.h"

/* What is known of a value. s NULL: nothing (maps granular, lists atomic). */
struct apply_type {
	const struct schema *s;
	bool builtin; /* the tables of builtin_types.h: what they do not name is a struct field */
	bool root;    /* has apiVersion, kind and metadata without declaring them */
};

struct apply_type apply_type_of(const struct schema *s, bool builtin);
struct apply_type apply_field(struct apply_type t, const char *key);
struct apply_type apply_items(struct apply_type t);
bool apply_list_is_atomic(struct apply_type t);
bool apply_map_is_atomic(struct apply_type t);
/* Is key a field of a struct, not an entry of a map? */
bool apply_is_named(struct apply_type t, const char *key);
/* "k:{...}" or "v:..." of a list item; NULL if it has no key. */
const char *apply_item_step(struct apply_type list, const struct obj *item, struct arena *a);
const char *apply_field_step(const char *key, struct arena *a);

struct apply_diff {
	struct fieldset *added, *modified, *removed;
};

/* The fields a configuration sets. */
struct fieldset *apply_fields(struct apply_type t, const struct obj *o, struct arena *a);
/* These and its empty lists, which nobody owns, but which stay as long as they are applied. */
struct fieldset *apply_claims(struct apply_type t, const struct obj *o, struct arena *a);
void apply_compare(struct apply_type t, const struct obj *before, const struct obj *after,
		   struct arena *a, struct apply_diff *ret);
/* config over live; owned, shares subtrees with both. */
struct obj *apply_merge_values(struct apply_type t, const struct obj *live,
			       const struct obj *config, struct arena *a);
/* o without the members of s; owned, shares subtrees. What loses its last member stays, empty. */
struct obj *apply_remove(struct apply_type t, const struct obj *o, const struct fieldset *s,
			 struct arena *a);
/* s and the struct fields on the way to its members. */
struct fieldset *apply_with_parents(struct apply_type t, const struct fieldset *s, struct arena *a);

/* Undeclared fields, wrong types, duplicate items and keys: texts as ".spec.bogus: field not
 * declared in schema" are appended to b, one a line. Returns how many. */
size_t apply_check_config(struct apply_type t, const struct obj *o, struct arena *a,
			  struct strbuf *b);

#endif
