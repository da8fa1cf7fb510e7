/*
 * schema_validate.c: values against a compiled schema, in the words of kube-openapi's validator as
 * apiextensions-apiserver turns them into field errors (golden G33).
 *
 * Two modes: with errors to fill, and silent, where only the verdict counts: branches of anyOf and
 * oneOf are tried silently, so that a hostile object cannot make texts by the million.
 */
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/gvk.h"
#include "alm/obj/schema/schema_node.h"
#include "alm/obj/schema/schema_scalar.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)
#define NODE_STEPS     16   /* of a value under a schema; measured */
#define COMPARE_STEPS  5000 /* of a value, however large, with what it was */

static void check_node(struct schema_validation *v, const struct schema *s, const struct obj *o);

static void fail_count(struct schema_validation *v, int64_t count, int64_t bound, const char *unit)
{
	if (validation_fail(v))
		field_errors_add(v->errors, FIELD_INVALID, validation_at(v),
				 "Invalid value: %lld: %s in body should have at least %lld %s",
				 (long long)count, validation_said(v), (long long)bound, unit);
}

static void fail_too_many(struct schema_validation *v, int64_t count, int64_t bound)
{
	if (validation_fail(v))
		field_errors_add(v->errors, FIELD_TOO_MANY, validation_at(v),
				 "Too many: %lld: must have at most %lld %s", (long long)count,
				 (long long)bound, bound == 1 ? "item" : "items");
}

static void type_names(const struct schema *s, char out[64])
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {{SCHEMA_OBJECT, "object"},   {SCHEMA_ARRAY, "array"},
		     {SCHEMA_INTEGER, "integer"}, {SCHEMA_NUMBER, "number"},
		     {SCHEMA_STRING, "string"},   {SCHEMA_BOOLEAN, "boolean"}};
	int n = 0;
	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (s->type & names[i].bit)
			n += snprintf(out + n, (size_t)(64 - n), "%s%s", n ? "," : "",
				      names[i].name);
}

/* Is what is found told with the types that may be there, though those have a format? */
static bool is_empty_or_plural(enum obj_type t)
{
	return t == OBJ_STRING || t == OBJ_LIST || t == OBJ_NULL || t == OBJ_ABSENT;
}

static void fail_type(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	char names[64];
	enum obj_type is = obj_type(o);
	bool by_format = s->format && !is_empty_or_plural(is);
	if (!validation_fail(v))
		return;
	type_names(s, names);
	const char *found = !by_format         ? obj_type_name(is)
			    : is == OBJ_INT    ? "int64"
			    : is == OBJ_DOUBLE ? "float64"
					       : "";
	field_errors_add(v->errors, FIELD_TYPE_INVALID, validation_at(v),
			 "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", found,
			 validation_said(v), by_format ? s->format : names, found);
}

/* As kube-openapi judges: of what has a format, but is no number, a list is not looked at. */
static bool has_type(const struct schema *s, const struct obj *o)
{
	bool is_number = s->type & (SCHEMA_INTEGER | SCHEMA_NUMBER);
	return schema_has_type(s, o) || (s->format && !is_number && obj_type(o) == OBJ_LIST);
}

/* One step further; strbuf_truncate() to the result goes back. Without texts there is no path. */
static size_t push_index(struct schema_validation *v, size_t i)
{
	size_t at = v->path.len;
	if (v->errors)
		strbuf_addf(&v->path, "[%zu]", i);
	return at;
}

static size_t push(struct schema_validation *v, const char *key)
{
	size_t at = v->path.len;
	if (!v->errors)
		return at;
	if (at > 0)
		strbuf_addc(&v->path, '.');
	strbuf_adds(&v->path, key);
	return at;
}

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep, objects
 * OBJ_DEPTH_MAX */
static void check_list(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	int64_t n = (int64_t)obj_len(o);
	CLEANUP(map_freep) struct map *before = validation_items(s, v->old);
	for (size_t i = 0; s->items && i < obj_len(o) && !validation_is_done(v); i++) {
		size_t at = push_index(v, i);
		v->old = validation_item(s, obj_at(o, i), before);
		check_node(v, s->items, obj_at(o, i));
		strbuf_truncate(&v->path, at);
	}
	if (n < s->min_items)
		fail_count(v, n, s->min_items, "items");
	if (s->max_items >= 0 && n > s->max_items)
		fail_too_many(v, n, s->max_items);
}

static void fail_required(struct schema_validation *v, const char *key, const char *detail)
{
	if (!validation_fail(v))
		return;
	size_t at = push(v, key);
	field_errors_add(v->errors, FIELD_REQUIRED, validation_at(v), "Required value%s%s",
			 *detail ? ": " : "", detail);
	strbuf_truncate(&v->path, at);
}

static void fail_value(struct schema_validation *v, const char *key, const struct obj *value,
		       const char *why, const char *more)
{
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	if (!validation_fail(v))
		return;
	size_t at = *key ? push(v, key) : v->path.len;
	go_bad_value(value, &shown);
	field_errors_add(v->errors, FIELD_INVALID, validation_at(v), "Invalid value: %s: %s%s",
			 shown.buf, why, more);
	strbuf_truncate(&v->path, at);
}

/* A kind is a name, but for its case. */
static const char *kind_fault(struct str kind)
{
	char lower[GVK_NAME_MAX];
	if (kind.len > sizeof(lower))
		return "must be no more than 63 characters";
	for (size_t i = 0; i < kind.len; i++)
		lower[i] = char_lower(kind.ptr[i]);
	return name_fault(NAME_DNS1035_LABEL, (struct str){lower, kind.len});
}

static void check_embedded(struct schema_validation *v, const struct obj *o)
{
	static const char *const names[] = {"apiVersion", "kind"};
	struct field_errors *all = v->errors;
	v->errors = v->embedded ? v->embedded : all;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct obj *value = obj_get(o, names[i]);
		struct str text = obj_as_str(value), first, rest;
		const char *fault = i == 1 && text.len ? kind_fault(text) : NULL;
		if (!value)
			fail_required(v, names[i], "");
		else if (obj_type(value) != OBJ_STRING)
			fail_value(v, names[i], value, "must be a string", "");
		else if (!text.len)
			fail_value(v, names[i], value, "must not be empty", "");
		else if (fault)
			fail_value(v, names[i], value,
				   "may have mixed case, but should otherwise match: ", fault);
		else if (i == 0 && str_cut(text, '/', &first, &rest) &&
			 str_find_char(rest, '/') >= 0)
			fail_value(v, names[i], value,
				   "unexpected GroupVersion string: ", obj_as_string(value));
	}
	v->errors = all;
}

static void check_members(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	const struct obj *old = v->old;
	OBJ_EACH (it, o) {
		const struct schema *child = schema_field(s, it.key);
		if (!child)
			continue;
		if (validation_is_done(v))
			return;
		size_t at = push(v, it.key);
		v->old = obj_get(old, it.key);
		check_node(v, child, it.value);
		strbuf_truncate(&v->path, at);
	}
}

static void check_map(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	int64_t n = (int64_t)obj_len(o);
	if (n < s->min_properties)
		fail_count(v, n, s->min_properties, "properties");
	if (s->max_properties >= 0 && n > s->max_properties)
		fail_too_many(v, n, s->max_properties);
	if (!validation_spend(v, s->n_required * VALIDATION_VALUE_STEPS))
		return;
	if (s->properties || s->additional)
		check_members(v, s, o);
	for (size_t i = 0; i < s->n_required; i++)
		if (!obj_has(o, s->required[i]))
			fail_required(v, s->required[i], "");
	size_t before = v->n_failed;
	if (s->embedded)
		check_embedded(v, o);
	v->n_stay += v->n_failed - before;
}

static bool branch_holds(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	struct schema_validation silent = {.work = v->work, .of_default = v->of_default};
	check_node(&silent, s, o);
	return silent.n_failed == 0;
}

static size_t count_branches(struct schema_validation *v, const struct schema_branches *b,
			     const struct obj *o, size_t enough)
{
	size_t held = 0;
	for (size_t i = 0; i < b->n && held < enough && !validation_is_done(v); i++)
		held += branch_holds(v, b->items[i], o);
	return held;
}

static void fail_composition(struct schema_validation *v, const char *what)
{
	if (!validation_fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	go_quote(str_of(validation_said(v)), &path);
	field_errors_add(v->errors, FIELD_INVALID, v->root, "Invalid value: \"\": %s %s", path.buf,
			 what);
}

static void check_all_of(struct schema_validation *v, const struct schema_branches *b,
			 const struct obj *o)
{
	size_t failed = 0;
	for (size_t i = 0; i < b->n && !validation_is_done(v); i++) {
		size_t before = v->n_failed;
		check_node(v, b->items[i], o);
		failed += v->n_failed > before;
	}
	if (failed > 0)
		fail_composition(v, failed == b->n ? "must validate all the schemas (allOf). None "
						     "validated"
						   : "must validate all the schemas (allOf)");
}

static void check_composition(struct schema_validation *v, const struct schema *s,
			      const struct obj *o)
{
	check_all_of(v, &s->all_of, o);
	if (s->any_of.n > 0 && count_branches(v, &s->any_of, o, 1) == 0) {
		fail_composition(v, "must validate at least one schema (anyOf)");
		check_node(v, s->any_of.items[0], o);
	}
	if (s->one_of.n > 0) {
		size_t held = count_branches(v, &s->one_of, o, s->one_of.n);
		char what[96] = "must validate one and only one schema (oneOf). Found none valid";
		if (held > 1)
			snprintf(what, sizeof(what),
				 "must validate one and only one schema (oneOf). Found %zu valid "
				 "alternatives",
				 held);
		if (held != 1)
			fail_composition(v, what);
		if (held == 0)
			check_node(v, s->one_of.items[0], o);
	}
	if (s->not_schema && branch_holds(v, s->not_schema, o))
		fail_composition(v, "must not validate the schema (not)");
}

static void judge_node(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	if (validation_is_done(v) || !validation_spend(v, NODE_STEPS))
		return;
	enum obj_type type = obj_type(o);
	bool is_null = type == OBJ_NULL || type == OBJ_ABSENT;
	if (s->type && !(is_null && s->nullable) && !(v->of_default && s->int_or_string) &&
	    !has_type(s, o))
		fail_type(v, s, o);
	validation_enum(v, s, o);
	if (is_null)
		return;
	const struct obj *old = v->old;
	v->old = NULL; /* sic: nothing within a branch is let through */
	check_composition(v, s, o);
	v->old = old;
	if (type == OBJ_STRING)
		validation_string(v, s, o);
	else if (obj_is_number(o))
		validation_number(v, s, o);
	else if (type == OBJ_LIST)
		check_list(v, s, o);
	else if (type == OBJ_MAP)
		check_map(v, s, o);
}

/* KEP-4008: what is wrong with a value that is as it was is let through, as the schema may be younger
 * than the value. */
static void check_node(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	const struct obj *old = v->old;
	struct validation_found before = validation_found(v);
	size_t stay = v->n_stay;
	judge_node(v, s, o);
	v->old = old;
	if (old && v->n_failed > before.failed && v->n_stay == stay &&
	    validation_spend(v, obj_len(o) ? COMPARE_STEPS : VALIDATION_VALUE_STEPS) &&
	    obj_equal(o, old))
		validation_forget(v, before);
}
/* NOLINTEND(misc-no-recursion) */

/* Lists of type set and map, after everything else (apiextensions "listtype"). */

/* The first item that has no keys as it is no map. */
static bool has_other_item(struct schema_validation *v, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *item = obj_at(list, i);
		if (obj_type(item) == OBJ_MAP || obj_type(item) == OBJ_NULL)
			continue;
		size_t at = push_index(v, i);
		fail_value(v, "", item, "must be an object for an array of list-type map", "");
		strbuf_truncate(&v->path, at);
		return true;
	}
	return false;
}

static void check_unique(struct schema_validation *v, const struct schema *s,
			 const struct obj *list)
{
	if (s->list_type == LIST_MAP && has_other_item(v, list))
		return;
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < obj_len(list) && !validation_is_done(v); i++) {
		struct obj *id = validation_identity(s, obj_at(list, i));
		strbuf_clear(&text);
		go_bad_value(id, &text);
		obj_unref(id);
		size_t times = map_number(seen, text.buf);
		map_set_number(seen, text.buf, times + 1);
		if (times != 1 || !validation_fail(v)) /* the third is not told again */
			continue;
		size_t at = push_index(v, i);
		field_errors_add(v->errors, FIELD_DUPLICATE, validation_at(v),
				 "Duplicate value: %s", text.buf);
		strbuf_truncate(&v->path, at);
	}
}

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep, objects
 * OBJ_DEPTH_MAX */
static void check_lists(struct schema_validation *v, const struct schema *s, const struct obj *o)
{
	if (!s || validation_is_done(v) || !validation_spend(v, VALIDATION_VALUE_STEPS))
		return;
	if (obj_type(o) == OBJ_LIST) {
		if (s->list_type != LIST_ATOMIC)
			check_unique(v, s, o);
		for (size_t i = 0; s->items && i < obj_len(o); i++) {
			size_t at = push_index(v, i);
			check_lists(v, s->items, obj_at(o, i));
			strbuf_truncate(&v->path, at);
		}
	} else if (obj_type(o) == OBJ_MAP && (s->properties || s->additional)) {
		OBJ_EACH (it, o) {
			size_t at = push(v, it.key);
			check_lists(v, schema_field(s, it.key), it.value);
			strbuf_truncate(&v->path, at);
		}
	}
}
/* NOLINTEND(misc-no-recursion) */

/* Lists that were of the wrong type before may stay so. */
static void check_list_types(struct schema_validation *v, const struct schema *s,
			     const struct obj *o, const struct obj *old)
{
	struct validation_found before = validation_found(v);
	struct schema_validation silent = {.work = v->work};
	check_lists(v, s, o);
	if (!old || v->n_failed == before.failed)
		return;
	check_lists(&silent, s, old);
	if (silent.n_failed)
		validation_forget(v, before);
}

static void tell_over(const struct schema_work *work, struct field_errors *ret)
{
	if (work->over)
		field_errors_add(ret, FIELD_FORBIDDEN, "<nil>",
				 "Forbidden: the object is too large for its schema: its "
				 "validation needs more than %llu steps",
				 (unsigned long long)SCHEMA_STEPS_MAX);
}

void schema_validate_default(const struct schema *s, const struct obj *o, struct field_errors *ret)
{
	struct schema_work work = {.left = SCHEMA_STEPS_MAX};
	struct field_errors *others = ARENA_NEW(ret->arena, struct field_errors);
	field_errors_init(others, ret->arena);
	struct schema_validation v = {.errors = others,
				      .embedded = ret,
				      .work = &work,
				      .root = "<nil>",
				      .of_default = true};
	strbuf_init(&v.path, PATH_BYTES_MAX);
	check_node(&v, s, o);
	strbuf_release(&v.path);
	if (!ret->n)
		*ret = *others;
	tell_over(&work, ret);
}

void schema_validate_at(const struct schema *s, const char *path, const struct obj *o,
			const struct obj *old, struct field_errors *ret)
{
	struct schema_work work = {.left = SCHEMA_STEPS_MAX};
	struct schema_validation v = {.errors = ret,
				      .work = &work,
				      .root = *path ? path : "<nil>",
				      .unsaid = *path ? strlen(path) + 1 : 0};
	if (!s)
		return;
	strbuf_init(&v.path, PATH_BYTES_MAX);
	strbuf_adds(&v.path, path);
	struct validation_found before = validation_found(&v);
	check_node(&v, s, o);
	if (old && v.n_failed) { /* only then it matters what was there */
		validation_forget(&v, before);
		v.old = old;
		check_node(&v, s, o);
	}
	check_list_types(&v, s, o, old);
	strbuf_release(&v.path);
	tell_over(&work, ret);
}

void schema_validate(const struct schema *s, const struct obj *o, struct field_errors *ret)
{
	schema_validate_at(s, "", o, NULL, ret);
}

bool schema_accepts(const struct schema *s, const struct obj *o)
{
	struct schema_work work = {.left = SCHEMA_STEPS_MAX};
	struct schema_validation v = {.work = &work};
	check_node(&v, s, o);
	check_lists(&v, s, o);
	return v.n_failed == 0;
}
