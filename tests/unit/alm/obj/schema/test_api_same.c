/* test_api_same.c: generated values of built-in types: written otherwise they are the same, changed in one place they are not. */
#include <string.h>

#include "alm/base/mem.h"
#include "alm/obj/schema/api_same.h"
#include "tests/lib/test.h"

#define ROUNDS    40
#define DEPTH_MAX 5

static uint32_t drawn;

static unsigned draw(unsigned below)
{
	drawn = drawn * 1664525U + 1013904223U;
	return (drawn >> 16) % below;
}

static const char *const amounts[][3] = {{"1", "01", "1000m"},
					 {"1Gi", "01Gi", "1024Mi"},
					 {"500m", "0.5", "0500m"},
					 {"0", "00", "0m"}};

static struct obj *made(const struct api_type *t, unsigned depth);

/* NOLINTBEGIN(misc-no-recursion): DEPTH_MAX */
static struct obj *value_of(const struct api_field *f, unsigned marks, unsigned depth)
{
	struct obj *o;
	if (marks & API_MAP) {
		o = obj_map();
		for (unsigned i = 0; i <= draw(2); i++)
			obj_set(o, i ? "b" : "a", value_of(f, marks & ~(unsigned)API_MAP, depth));
		return o;
	}
	if (marks & API_LIST) {
		o = obj_list();
		for (unsigned i = 0; i <= draw(2); i++)
			obj_append(o, value_of(f, marks & ~(unsigned)API_LIST, depth));
		return o;
	}
	if (f->shape == API_STRUCT)
		return made(api_struct_of(f), depth + 1);
	if (f->shape == API_QUANTITY)
		return obj_string(amounts[draw(4)][0]);
	if (f->shape == API_BOOL)
		return obj_bool(draw(2));
	return f->shape == API_INT32 || f->shape == API_INT64 ? obj_int(draw(9)) : obj_string("x");
}

static struct obj *made(const struct api_type *t, unsigned depth)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	struct obj *o = obj_map();
	for (size_t i = 0; i < n && depth < DEPTH_MAX; i++)
		if (!(fields[i].flags & API_EMBEDDED) && draw(n > 8 ? 4 : 2) == 0)
			obj_set(o, api_text(fields[i].name),
				value_of(&fields[i], fields[i].marks, depth));
	return o;
}

static struct obj *written_otherwise(const struct api_type *t, const struct obj *o);

static struct obj *value_otherwise(const struct api_field *f, unsigned marks, const struct obj *v)
{
	struct obj *o;
	if (marks & API_MAP) {
		o = obj_map();
		OBJ_EACH (it, v)
			obj_set(o, it.key,
				value_otherwise(f, marks & ~(unsigned)API_MAP, it.value));
		return o;
	}
	if (marks & API_LIST) {
		o = obj_list();
		for (size_t i = 0; i < obj_len(v); i++)
			obj_append(o,
				   value_otherwise(f, marks & ~(unsigned)API_LIST, obj_at(v, i)));
		return o;
	}
	if (f->shape == API_STRUCT)
		return written_otherwise(api_struct_of(f), v);
	for (size_t i = 0; f->shape == API_QUANTITY && i < 4; i++)
		if (strcmp(obj_as_string(v), amounts[i][0]) == 0)
			return obj_string(amounts[i][1 + draw(2)]);
	return obj_copy(v);
}

/* Amounts in other words, and lists and maps that are empty where there are none. */
static struct obj *written_otherwise(const struct api_type *t, const struct obj *o)
{
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	struct obj *out = obj_map();
	for (size_t i = 0; i < n; i++) {
		const char *name = api_text(fields[i].name);
		const struct obj *v = obj_get(o, name);
		if (v)
			obj_set(out, name, value_otherwise(&fields[i], fields[i].marks, v));
		else if (fields[i].marks & (API_LIST | API_MAP) && draw(3) == 0)
			obj_set(out, name, fields[i].marks & API_MAP ? obj_map() : obj_list());
	}
	return out;
}

/* The value at place *n, counted down, is another one. */
static struct obj *changed(const struct obj *v, int *n)
{
	struct obj *o;
	int64_t number = 0;
	if (obj_type(v) == OBJ_MAP) {
		o = obj_map();
		OBJ_EACH (it, v)
			obj_set(o, it.key, changed(it.value, n));
		return o;
	}
	if (obj_type(v) == OBJ_LIST) {
		o = obj_list();
		for (size_t i = 0; i < obj_len(v); i++)
			obj_append(o, changed(obj_at(v, i), n));
		return o;
	}
	if ((*n)-- != 0)
		return obj_copy(v);
	if (obj_type(v) == OBJ_BOOL)
		return obj_bool(!obj_is_true(v));
	return obj_as_i64(v, &number) ? obj_int(number + 1) : obj_string("7");
}
/* NOLINTEND(misc-no-recursion) */

static const char *const types[] = {"core.v1.PodSpec", "core.v1.PersistentVolumeClaimSpec",
				    "apps.v1.StatefulSetSpec", "core.v1.Container"};

static void test_api_same__however_it_is_written(void **state)
{
	(void)state;
	for (size_t k = 0; k < ROUNDS * ARRAY_LEN(types); k++) {
		const struct api_type *t = api_type_named(types[k % ARRAY_LEN(types)]);
		drawn = (uint32_t)k;
		CLEANUP(obj_unrefp) struct obj *o = made(t, 0);
		CLEANUP(obj_unrefp) struct obj *other = written_otherwise(t, o);
		if (!api_same(t, o, other) || !api_same(t, other, o))
			fail_msg("round %zu", k);
	}
}

static void test_api_same__not_where_a_value_is_another(void **state)
{
	(void)state;
	for (size_t k = 0; k < ROUNDS; k++) {
		const struct api_type *t = api_type_named(types[k % ARRAY_LEN(types)]);
		drawn = (uint32_t)k;
		CLEANUP(obj_unrefp) struct obj *o = made(t, 0);
		for (int at = 0;; at++) {
			int left = at;
			CLEANUP(obj_unrefp) struct obj *other = changed(o, &left);
			if (left >= 0)
				break; /* there is no such place */
			if (api_same(t, o, other) || api_same(t, other, o))
				fail_msg("round %zu, place %d", k, at);
		}
	}
}

static void test_api_same__a_struct_that_is_empty_is_one(void **state)
{
	(void)state;
	const struct api_type *t = api_type_named("core.v1.PodSpec");
	CLEANUP(obj_unrefp) struct obj *none = obj_map(), *some = obj_map();
	obj_set(some, "securityContext", obj_map());
	assert_false(api_same(t, none, some));
	assert_false(api_same(t, some, none));
	assert_false(api_same(t, NULL, none));
	assert_true(api_same(t, NULL, NULL));
	obj_set(none, "nope", obj_int(1));
	assert_false(api_same(t, none, some));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_api_same__however_it_is_written),
		cmocka_unit_test(test_api_same__not_where_a_value_is_another),
		cmocka_unit_test(test_api_same__a_struct_that_is_empty_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
