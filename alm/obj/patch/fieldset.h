/*
 * fieldset: a set of field paths as managedFields holds it (FieldsV1): a trie whose steps are the
 * texts "f:name", "k:{...}" and "v:...". A step may be a member itself and have members below.
 *
 * Sets live in the arena they were made in and are never freed one by one. Items are sorted by
 * step, so equal sets print equal; whoever makes a large set goes in that order, as an item is put
 * in its place by moving those behind it. Steps are borrowed and outlive the set.
 */
#ifndef ALM_OBJ_PATCH_FIELDSET_H
#define ALM_OBJ_PATCH_FIELDSET_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct fieldset_item {
	const char *step;
	bool member;
	struct fieldset *below; /* NULL: nothing */
};

struct fieldset {
	struct arena *arena;
	struct fieldset_item *items;
	size_t n, cap;
};

#define FIELDSET_DEPTH_MAX (OBJ_DEPTH_MAX + 8)

struct fieldset *fieldset_new(struct arena *a);
/* NULL if o is no FieldsV1. */
struct fieldset *fieldset_parse(const struct obj *o, struct arena *a);
struct obj *fieldset_print(const struct fieldset *s); /* owned */

/* The item of a step; made if absent. */
struct fieldset_item *fieldset_at(struct fieldset *s, const char *step);
const struct fieldset_item *fieldset_find(const struct fieldset *s, const char *step);
void fieldset_insert(struct fieldset *s, const char *const *steps, size_t n);
void fieldset_remove(struct fieldset *s, const char *step); /* with all below */

/* The keys of a map in the order of steps: an array of the arena, NULL behind the last. */
const char **fieldset_sorted_keys(const struct obj *map, struct arena *a);

/* NULL stands for the empty set in all of these. Results may share with the operands: none is
 * changed any more. */
bool fieldset_is_empty(const struct fieldset *s);
struct fieldset *fieldset_union(const struct fieldset *x, const struct fieldset *y,
				struct arena *a);
struct fieldset *fieldset_union_all(const struct fieldset *const *sets, size_t n, struct arena *a);
/* Bytes of the text of fieldset_print(). */
size_t fieldset_text_bytes(const struct fieldset *s);
/* Member by member: a member of y takes nothing below it away. */
struct fieldset *fieldset_difference(const struct fieldset *x, const struct fieldset *y,
				     struct arena *a);
struct fieldset *fieldset_intersection(const struct fieldset *x, const struct fieldset *y,
				       struct arena *a);

/* .spec.ports[name="a"].port for each member: those of a node before what is below it. */
void fieldset_each(const struct fieldset *s, void (*fn)(void *arg, const char *path), void *arg);

/* One step as in such a path. */
void fieldset_key_text(const char *step, struct strbuf *b);
/* A step "k:..." or "v:..." as it is written: '<', '>' and '&' escaped, as Go's JSON has them. Others are as they were. */
const char *fieldset_step(const char *text, struct arena *a);

#endif
