/*
 * schema_scalar: one validation of a value against a schema, and the rules for values that have
 * nothing inside: enum, texts, formats, numbers. Private to schema_validate.c.
 *
 * Two modes: with errors to fill, and silent, where only the verdict counts.
 */
#ifndef ALM_OBJ_SCHEMA_SCHEMA_SCALAR_H
#define ALM_OBJ_SCHEMA_SCHEMA_SCALAR_H

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_node.h"

#define VALIDATION_VALUE_STEPS 4 /* of a comparison, or a look for a member */

/* What all of a validation may take, its silent parts included; in steps of regular expressions. */
struct schema_work {
	uint64_t left;
	bool over;
};

struct schema_validation {
	struct field_errors *errors; /* NULL: silent */
	struct field_errors
		*embedded; /* gets what objects in it lack of an object; NULL: errors does */
	struct strbuf path;
	const char *root; /* what is said of no place in particular is said of it */
	size_t unsaid;    /* bytes of path that messages do not repeat */
	size_t n_failed;
	size_t n_stay; /* of those, what is told of an unchanged value, too */
	struct schema_work *work;
	const struct obj *old; /* of the value that is judged; NULL: there was none */
	bool of_default;       /* what may be an integer or a string may be anything */
};

static inline bool validation_is_done(const struct schema_validation *v)
{
	return v->work->over || (!v->errors && v->n_failed > 0);
}

/* False, and everything has failed, when there is not so much left. */
static inline bool validation_spend(struct schema_validation *v, uint64_t steps)
{
	if (!v->work->over && v->work->left >= steps) {
		v->work->left -= steps;
		return true;
	}
	v->work->over = true;
	v->n_failed++;
	return false;
}

/* True if a message is wanted. */
static inline bool validation_fail(struct schema_validation *v)
{
	v->n_failed++;
	if (!v->errors)
		return false;
	bool full = field_errors_full(v->errors);
	v->errors->omitted += full;
	return !full;
}

static inline const char *validation_at(const struct schema_validation *v)
{
	return v->path.buf;
}

/* The same in a message. */
static inline const char *validation_said(const struct schema_validation *v)
{
	return v->path.buf + (v->unsaid < v->path.len ? v->unsaid : v->path.len);
}

void validation_enum(struct schema_validation *v, const struct schema *s, const struct obj *o);
void validation_string(struct schema_validation *v, const struct schema *s, const struct obj *o);
void validation_number(struct schema_validation *v, const struct schema *s, const struct obj *o);

/* How much was found so far, and back to that. */
struct validation_found {
	size_t n, bytes, omitted, failed;
};
struct validation_found validation_found(const struct schema_validation *v);
void validation_forget(struct schema_validation *v, struct validation_found before);

/* What makes an item of a set or a list of type map unique: itself, or the map of its keys. Owned. */
struct obj *validation_identity(const struct schema *s, const struct obj *item);
/* Items of a list of type map by that, owned; NULL: it is none. */
struct map *validation_items(const struct schema *s, const struct obj *old);
/* The one that this item was, or NULL. */
const struct obj *validation_item(const struct schema *s, const struct obj *item,
				  const struct map *items);

#endif
