/*
 * schema_validate.c: values against a compiled schema, in the words of kube-openapi's validator as
 * apiextensions-apiserver turns them into field errors (golden G33).
 *
 * Two modes: with errors to fill, and silent, where only the verdict counts: branches of anyOf and
 * oneOf are tried silently, so that a hostile object cannot make texts by the million.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/regex/regex.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX  ((size_t)64 << 10)
#define VALUE_BYTES_MAX 4096

/* What all of a validation may take, its silent parts included; in steps of regular expressions. */
struct work {
	uint64_t left;
	bool over;
};

#define NODE_STEPS  16 /* of a value under a schema; measured */
#define VALUE_STEPS 4  /* of a comparison, or a look for a member */

struct validation {
	struct field_errors *errors; /* NULL: silent */
	struct strbuf path;
	size_t n_failed;
	struct work *work;
};

static void check_node(struct validation *v, const struct schema *s, const struct obj *o);

static bool is_done(const struct validation *v)
{
	return v->work->over || (!v->errors && v->n_failed > 0);
}

/* False, and everything has failed, when there is not so much left. */
static bool spend(struct validation *v, uint64_t steps)
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
static bool fail(struct validation *v)
{
	v->n_failed++;
	if (!v->errors)
		return false;
	bool full = field_errors_full(v->errors);
	v->errors->omitted += full;
	return !full;
}

static const char *here(const struct validation *v)
{
	return v->path.buf;
}

/* KIND: VALUE: PATH in body WHAT */
static void fail_value(struct validation *v, const struct obj *value, const char *what)
{
	if (!fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	go_bad_value(value, &text);
	field_errors_add(v->errors, FIELD_INVALID, here(v), "Invalid value: %.*s: %s in body %s",
			 (int)(text.len < VALUE_BYTES_MAX ? text.len : VALUE_BYTES_MAX), text.buf,
			 here(v), what);
}

static void fail_count(struct validation *v, int64_t count, int64_t bound, const char *unit)
{
	if (fail(v))
		field_errors_add(v->errors, FIELD_INVALID, here(v),
				 "Invalid value: %lld: %s in body should have at least %lld %s",
				 (long long)count, here(v), (long long)bound, unit);
}

static void fail_too_many(struct validation *v, int64_t count, int64_t bound)
{
	if (fail(v))
		field_errors_add(v->errors, FIELD_TOO_MANY, here(v),
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

static void fail_type(struct validation *v, const struct schema *s, const struct obj *o)
{
	char names[64];
	if (!fail(v))
		return;
	type_names(s, names);
	const char *found = obj_type_name(obj_type(o));
	field_errors_add(v->errors, FIELD_TYPE_INVALID, here(v),
			 "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", found,
			 here(v), names, found);
}

static void check_enum(struct validation *v, const struct schema *s, const struct obj *o)
{
	const struct obj *values = s->enum_values;
	if (!values || !spend(v, obj_len(values) * VALUE_STEPS))
		return;
	for (size_t i = 0; i < obj_len(values); i++)
		if (obj_equal(obj_at(values, i), o))
			return;
	if (!fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&text, "Unsupported value: ");
	go_bad_value(o, &text);
	strbuf_adds(&text, ": supported values: ");
	for (size_t i = 0; i < obj_len(values); i++) {
		const struct obj *value = obj_at(values, i);
		CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(STRBUF_SMALL);
		if (i > 0)
			strbuf_adds(&text, ", ");
		if (obj_type(value) == OBJ_STRING) {
			go_quote(obj_as_str(value), &text);
			continue;
		}
		go_syntax(value, &plain);
		go_quote(strbuf_str(&plain), &text);
	}
	field_errors_add(v->errors, FIELD_NOT_SUPPORTED, here(v), "%s", text.buf);
}

static void check_format(struct validation *v, const struct schema *s, const struct obj *o)
{
	if (!s->format || schema_format_valid(s->format, obj_as_str(o)) || !fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	go_quote(obj_as_str(o), &text);
	field_errors_add(v->errors, FIELD_TYPE_INVALID, here(v),
			 "Invalid value: %s: %s in body must be of type %s: %s", text.buf, here(v),
			 s->format, text.buf);
}

static bool matches(struct validation *v, const struct schema *s, struct str text)
{
	struct error ignored = ERROR_INIT;
	int r = regex_matches(s->pattern, text, &v->work->left, &ignored);
	if (r == REGEX_LIMIT)
		spend(v, UINT64_MAX);
	return r == REGEX_YES;
}

/* The first of too long, too short and not matching, as upstream. */
static void check_string(struct validation *v, const struct schema *s, const struct obj *o)
{
	struct str text = obj_as_str(o);
	char what[96];
	int64_t length = 0;
	if (s->max_length >= 0 || s->min_length > 0)
		length = (int64_t)utf8_count(text);
	if (s->max_length >= 0 && length > s->max_length) {
		if (fail(v))
			field_errors_add(v->errors, FIELD_TOO_LONG, here(v),
					 "Too long: may not be more than %lld bytes",
					 (long long)s->max_length);
	} else if (length < s->min_length) {
		snprintf(what, sizeof(what), "should be at least %lld chars long",
			 (long long)s->min_length);
		fail_value(v, o, what);
	} else if (s->pattern.ptr && !matches(v, s, text)) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&b, "should match '%s'", s->pattern_text);
		fail_value(v, o, b.buf);
	}
	check_format(v, s, o);
}

static void fail_bound(struct validation *v, const struct obj *o, const char *what, double bound)
{
	char number[GO_DOUBLE_BYTES], text[GO_DOUBLE_BYTES + 64];
	go_double(bound, number);
	if (obj_type(o) == OBJ_INT && fabs(bound) < 9e18) /* as upstream: in the value's own type */
		snprintf(number, sizeof(number), "%lld", (long long)bound);
	snprintf(text, sizeof(text), "%s %s", what, number);
	fail_value(v, o, text);
}

/* Exact for integers, where a double would round. */
static int compare_numbers(const struct obj *a, const struct obj *b)
{
	int64_t x, y;
	double p = 0, q = 0;
	if (obj_as_i64(a, &x) && obj_as_i64(b, &y))
		return (x > y) - (x < y);
	obj_as_double(a, &p);
	obj_as_double(b, &q);
	return (p > q) - (p < q);
}

static bool is_multiple(const struct obj *o, const struct obj *of)
{
	int64_t x, y;
	double p = 0, q = 0;
	if (obj_as_i64(o, &x) && obj_as_i64(of, &y))
		return y <= 0 || x % y == 0;
	obj_as_double(o, &p);
	obj_as_double(of, &q);
	if (q <= 0)
		return true;
	double quotient = p / q; /* swag.IsFloat64AJSONInteger: within 1e-9 of an integer */
	double whole = round(quotient);
	double off = fabs(quotient - whole);
	return off == 0 || off < 1e-9 * (fabs(quotient) + fabs(whole));
}

/* The API server checks integers twice, and words it so. */
static void check_integer(struct validation *v, const struct schema *s, const struct obj *o)
{
	int64_t i = 0;
	bool fits = obj_as_i64(o, &i);
	const char *format = s->format ? s->format : "";
	bool is_int32 = strcmp(format, "int32") == 0;
	if ((s->type & (SCHEMA_INTEGER | SCHEMA_STRING)) != SCHEMA_INTEGER ||
	    (fits && (!is_int32 || (i >= INT32_MIN && i <= INT32_MAX))))
		return;
	if (!fits && obj_type(o) == OBJ_INT && fail(v))
		field_errors_add(v->errors, FIELD_TYPE_INVALID, here(v),
				 "Invalid value: \"float64\": %s in body must be of type %s: "
				 "\"float64\"",
				 here(v), *format ? format : "integer");
	if (fail(v))
		field_errors_add(
			v->errors, FIELD_INVALID, "<nil>",
			"Invalid value: \"\": Checked value must be of type integer %s%s in %s",
			*format ? "with format " : "(default format)", format, here(v));
}

static void check_number(struct validation *v, const struct schema *s, const struct obj *o)
{
	double bound = 0;
	check_integer(v, s, o);
	if (s->multiple_of && !is_multiple(o, s->multiple_of)) {
		obj_as_double(s->multiple_of, &bound);
		fail_bound(v, o, "should be a multiple of", bound);
	}
	int over = s->maximum ? compare_numbers(o, s->maximum) : -1;
	if (over > 0 || (over == 0 && s->exclusive_maximum)) {
		obj_as_double(s->maximum, &bound);
		fail_bound(v, o,
			   s->exclusive_maximum ? "should be less than"
						: "should be less than or equal to",
			   bound);
	}
	int under = s->minimum ? compare_numbers(o, s->minimum) : 1;
	if (under < 0 || (under == 0 && s->exclusive_minimum)) {
		obj_as_double(s->minimum, &bound);
		fail_bound(v, o,
			   s->exclusive_minimum ? "should be greater than"
						: "should be greater than or equal to",
			   bound);
	}
}

/* One step further; strbuf_truncate() to the result goes back. Without texts there is no path. */
static size_t push_index(struct validation *v, size_t i)
{
	size_t at = v->path.len;
	if (v->errors)
		strbuf_addf(&v->path, "[%zu]", i);
	return at;
}

static size_t push(struct validation *v, const char *key)
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
static void check_list(struct validation *v, const struct schema *s, const struct obj *o)
{
	int64_t n = (int64_t)obj_len(o);
	for (size_t i = 0; s->items && i < obj_len(o) && !is_done(v); i++) {
		size_t at = push_index(v, i);
		check_node(v, s->items, obj_at(o, i));
		strbuf_truncate(&v->path, at);
	}
	if (n < s->min_items)
		fail_count(v, n, s->min_items, "items");
	if (s->max_items >= 0 && n > s->max_items)
		fail_too_many(v, n, s->max_items);
}

static void fail_required(struct validation *v, const char *key, const char *detail)
{
	if (!fail(v))
		return;
	size_t at = push(v, key);
	field_errors_add(v->errors, FIELD_REQUIRED, here(v), "Required value%s%s",
			 *detail ? ": " : "", detail);
	strbuf_truncate(&v->path, at);
}

static void check_embedded(struct validation *v, const struct obj *o)
{
	static const char *const names[] = {"apiVersion", "kind"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct obj *value = obj_get(o, names[i]);
		if (!value)
			fail_required(v, names[i], "");
		else if (obj_as_str(value).len == 0)
			fail_required(v, names[i], "must not be empty");
	}
}

static void check_map(struct validation *v, const struct schema *s, const struct obj *o)
{
	int64_t n = (int64_t)obj_len(o);
	if (n < s->min_properties) {
		fail_count(v, n, s->min_properties, "properties");
		return;
	}
	if (s->max_properties >= 0 && n > s->max_properties) {
		fail_too_many(v, n, s->max_properties);
		return;
	}
	if (!spend(v, s->n_required * VALUE_STEPS))
		return;
	for (size_t i = 0; i < s->n_required; i++)
		if (!obj_has(o, s->required[i]))
			fail_required(v, s->required[i], "");
	if (s->embedded)
		check_embedded(v, o);
	if (!s->properties && !s->additional)
		return;
	OBJ_EACH (it, o) {
		const struct schema *child = schema_field(s, it.key);
		if (!child)
			continue;
		if (is_done(v))
			return;
		size_t at = push(v, it.key);
		check_node(v, child, it.value);
		strbuf_truncate(&v->path, at);
	}
}

static bool branch_holds(struct validation *v, const struct schema *s, const struct obj *o)
{
	struct validation silent = {.work = v->work};
	check_node(&silent, s, o);
	return silent.n_failed == 0;
}

static size_t count_branches(struct validation *v, const struct schema_branches *b,
			     const struct obj *o, size_t enough)
{
	size_t held = 0;
	for (size_t i = 0; i < b->n && held < enough && !is_done(v); i++)
		held += branch_holds(v, b->items[i], o);
	return held;
}

static void fail_composition(struct validation *v, const char *what)
{
	if (!fail(v))
		return;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	go_quote(strbuf_str(&v->path), &path);
	field_errors_add(v->errors, FIELD_INVALID, "<nil>", "Invalid value: \"\": %s %s", path.buf,
			 what);
}

static void check_all_of(struct validation *v, const struct schema_branches *b, const struct obj *o)
{
	size_t failed = 0;
	for (size_t i = 0; i < b->n && !is_done(v); i++) {
		size_t before = v->n_failed;
		check_node(v, b->items[i], o);
		failed += v->n_failed > before;
	}
	if (failed > 0)
		fail_composition(v, failed == b->n ? "must validate all the schemas (allOf). None "
						     "validated"
						   : "must validate all the schemas (allOf)");
}

static void check_composition(struct validation *v, const struct schema *s, const struct obj *o)
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

static void check_node(struct validation *v, const struct schema *s, const struct obj *o)
{
	if (is_done(v) || !spend(v, NODE_STEPS))
		return;
	enum obj_type type = obj_type(o);
	bool is_null = type == OBJ_NULL || type == OBJ_ABSENT;
	if (s->type && !(is_null && s->nullable) && !schema_has_type(s, o))
		fail_type(v, s, o);
	check_enum(v, s, o);
	if (is_null)
		return;
	check_composition(v, s, o);
	if (type == OBJ_STRING)
		check_string(v, s, o);
	else if (obj_is_number(o))
		check_number(v, s, o);
	else if (type == OBJ_LIST)
		check_list(v, s, o);
	else if (type == OBJ_MAP)
		check_map(v, s, o);
}
/* NOLINTEND(misc-no-recursion) */

/* Lists of type set and map, after everything else (apiextensions "listtype"). */

static const struct obj *item_key(const struct schema *s, const struct obj *item, const char *key)
{
	const struct obj *value = obj_get(item, key);
	if (value)
		return value;
	return schema_default_of(schema_property(s->items, key));
}

/* What makes the item unique: itself, or the map of its keys. Owned. */
static struct obj *identity(const struct schema *s, const struct obj *item)
{
	if (s->list_type == LIST_SET)
		return obj_ref(item);
	struct obj *keys = obj_map();
	for (size_t i = 0; i < s->n_list_keys; i++) {
		const struct obj *value = item_key(s, item, s->list_keys[i]);
		if (value)
			obj_set(keys, s->list_keys[i], obj_ref(value));
	}
	return keys;
}

static void check_unique(struct validation *v, const struct schema *s, const struct obj *list)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < obj_len(list) && !is_done(v); i++) {
		struct obj *id = identity(s, obj_at(list, i));
		strbuf_clear(&text);
		go_syntax(id, &text);
		obj_unref(id);
		if (!map_has(seen, text.buf)) {
			map_set(seen, text.buf, NULL);
			continue;
		}
		if (!fail(v))
			continue;
		size_t at = push_index(v, i);
		field_errors_add(v->errors, FIELD_DUPLICATE, here(v), "Duplicate value: %s",
				 text.buf);
		strbuf_truncate(&v->path, at);
	}
}

/* NOLINTBEGIN(misc-no-recursion): schemas nest at most SCHEMA_DEPTH_MAX deep, objects
 * OBJ_DEPTH_MAX */
static void check_lists(struct validation *v, const struct schema *s, const struct obj *o)
{
	if (!s || is_done(v) || !spend(v, VALUE_STEPS))
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

void schema_validate(const struct schema *s, const struct obj *o, struct field_errors *ret)
{
	struct work work = {.left = SCHEMA_STEPS_MAX};
	struct validation v = {.errors = ret, .work = &work};
	if (!s)
		return;
	strbuf_init(&v.path, PATH_BYTES_MAX);
	check_node(&v, s, o);
	check_lists(&v, s, o);
	strbuf_release(&v.path);
	if (work.over)
		field_errors_add(ret, FIELD_FORBIDDEN, "<nil>",
				 "Forbidden: the object is too large for its schema: its "
				 "validation needs more than %llu steps",
				 (unsigned long long)SCHEMA_STEPS_MAX);
}

bool schema_accepts(const struct schema *s, const struct obj *o)
{
	struct work work = {.left = SCHEMA_STEPS_MAX};
	struct validation v = {.work = &work};
	check_node(&v, s, o);
	check_lists(&v, s, o);
	return v.n_failed == 0;
}
