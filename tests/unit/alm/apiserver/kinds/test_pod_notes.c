/* test_pod_notes.c: annotations that neither come nor go, and which profile one means; the rest of it is in test_differs.c. */
#include "alm/apiserver/kinds/pod_notes.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"
#include "tests/lib/told.h"

static struct obj *parse(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

#define ARMOR(value)  "{\"" POD_NOTE_APPARMOR "c\":\"" value "\"}"
#define MIRROR(value) "{\"kubernetes.io/config.mirror\":\"" value "\"}"

static void test_pod_notes__some_neither_come_nor_go(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after;
		size_t n;
	} rows[] = {
		{"{}", "{\"a\":\"b\"}", 0},
		{"{}", ARMOR("unconfined"), 1},
		{ARMOR("unconfined"), ARMOR("unconfined"), 0},
		{ARMOR("unconfined"), ARMOR("runtime/default"), 1},
		{ARMOR("unconfined"), "{}", 1},
		{MIRROR("a"), MIRROR("b"), 1},
		{MIRROR("a"), MIRROR("a"), 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
		CLEANUP(obj_unrefp) struct obj *was = parse(rows[i].before);
		CLEANUP(obj_unrefp) struct obj *is = parse(rows[i].after);
		struct field_errors e;
		field_errors_init(&e, a);
		pod_notes_kept(&e, is, was);
		assert_int_equal(e.n, rows[i].n);
	}
}

static void test_pod_notes__means_a_profile(void **state)
{
	(void)state;
	static const struct {
		const char *note, *profile;
		bool says;
	} rows[] = {
		{"\"unconfined\"", "{\"type\":\"Unconfined\"}", true},
		{"\"unconfined\"", "{\"type\":\"RuntimeDefault\"}", false},
		{"\"runtime/default\"", "{\"type\":\"RuntimeDefault\"}", true},
		{"\"localhost/a\"", "{\"type\":\"Localhost\",\"localhostProfile\":\"a\"}", true},
		{"\"localhost/a\"", "{\"type\":\"Localhost\",\"localhostProfile\":\"b\"}", false},
		{"\"localhost/a\"", "{\"type\":\"Localhost\"}", false},
		{"\"x\"", "{}", false},
		{"7", "{\"type\":\"Unconfined\"}", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *note = parse(rows[i].note);
		CLEANUP(obj_unrefp) struct obj *profile = parse(rows[i].profile);
		assert_int_equal(pod_notes_says(note, profile), rows[i].says);
	}
	assert_false(pod_notes_says(NULL, NULL));
}

/* A whole number of 32 bits, written as one. */
static void test_pod_notes__what_a_pod_costs(void **state)
{
	(void)state;
	static const struct {
		const char *cost;
		bool good;
	} rows[] = {
		{"0", true},           {"-1", true},
		{"1", true},           {"9", true},
		{"2147483647", true},  {"2147483648", false},
		{"-2147483648", true}, {"-2147483649", false},
		{"+1", false},         {"01", false},
		{"00", false},         {"1.5", false},
		{"a", false},          {"-", false},
		{" 1", false},         {"9223372036854775808", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
		static const char key[] = "controller.kubernetes.io/pod-deletion-cost";
		CLEANUP(obj_unrefp) struct obj *notes = obj_map(), *spec = obj_map();
		struct field_errors e;
		obj_set_str(notes, key, rows[i].cost);
		field_errors_init(&e, a);
		pod_notes_check(&e, "a", notes, spec);
		assert_told(
			&e,
			rows[i].good
				? ""
				: arena_fmt(a,
					    "a[%s]: Invalid value: \"%s\": must be a 32bit integer",
					    key, rows[i].cost));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_notes__some_neither_come_nor_go),
		cmocka_unit_test(test_pod_notes__means_a_profile),
		cmocka_unit_test(test_pod_notes__what_a_pod_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
