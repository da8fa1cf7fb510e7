/* test_unit_back.c: under which name a unit is stored, so that what succeeded before stays until the next one has. */
#include "tests/lib/test.h"

#include "alm/controllers/unit/unit_pass.h"
#include "tests/lib/view_fake.h"

#define OBJECT(kind, value)                                                          \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"o\"," \
	"\"namespace\":\"n\"},\"data\":{\"k\":\"" value "\"}}"

static void test_unit_back__has_two_slots_that_take_turns(void **state)
{
	static const struct {
		const char *kind, *live; /* of its object; live NULL: it is not there */
		bool goes_back, back;
		const char *current, *succeeded, *want; /* of unit "new", in run "r7" */
	} rows[] = {
		/* the first one, and the next ones */
		{"ConfigMap", NULL, true, false, NULL, NULL, "new.0"},
		{"ConfigMap", NULL, true, false, "old.0", "old.0", "new.1"},
		{"ConfigMap", NULL, true, false, "old.1", "old.1", "new.0"},
		{"ConfigMap", NULL, true, false, "other.1", "old.0", "new.1"},
		/* once more what has succeeded, with nothing since, or with another between */
		{"ConfigMap", NULL, true, false, "new.0", "new.0", "new.0"},
		{"ConfigMap", NULL, true, false, "new.1", "new.1", "new.1"},
		{"ConfigMap", NULL, true, false, "other.1", "new.0", "new.1"},
		/* it is not to be found again */
		{"ConfigMap", NULL, false, false, NULL, NULL, "new.-"},
		{"ConfigMap", NULL, false, false, "old.0", "old.0", "new.-"},
		{"ConfigMap", NULL, false, false, "new.-", "new.-", "new.-"},
		{"Secret", NULL, false, false, "new.0", "new.0", "new.0"},
		/* the way back is to what succeeded */
		{"ConfigMap", NULL, true, true, "new.1", "old.0", "old.0"},
		{"Secret", NULL, true, true, "new.1.r7", "old.0.r3", "old.0.r3"},
		/* of Secrets the digest says nothing: other values are another unit, this run's */
		{"Secret", NULL, true, false, "new.0", "new.0", "new.1.r7"},
		{"Secret", OBJECT("Secret", "b"), true, false, "new.0", "new.0", "new.1.r7"},
		{"Secret", OBJECT("Secret", "a"), true, false, "new.0", "new.0", "new.0"},
		{"ConfigMap", OBJECT("ConfigMap", "b"), true, false, "new.0", "new.0", "new.0"},
		{"Secret", NULL, true, false, "old.1", "old.1", "new.0"},
		{"Secret", NULL, true, false, "new.1.r7", "new.0", "new.1.r7"}, /* was begun */
		{"Secret", NULL, true, false, "new.1.r6", "new.0", "new.1.r7"}, /* by another */
		{"Secret", NULL, true, false, "new.0.r5", "new.0.r5", "new.1.r7"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct unit unit = {.digest = "new", .goes_back = rows[i].goes_back};
		bool is_secret = cstr_eq(rows[i].kind, "Secret");
		struct unit_entry e = {
			.kind = rows[i].kind,
			.object = view_fake_obj(&f, is_secret ? OBJECT("Secret", "a")
							      : OBJECT("ConfigMap", "a")),
			.live = rows[i].live ? view_fake_obj(&f, rows[i].live) : NULL};
		struct unit_pass s = {.v = &f.view,
				      .unit = &unit,
				      .back = rows[i].back,
				      .entries = &e,
				      .n = 1,
				      .record = view_fake_obj(&f, "{\"run\":\"r7\"}")};
		s.current = unit_stored_parse(rows[i].current, f.a);
		s.succeeded = unit_stored_parse(rows[i].succeeded, f.a);
		const char *is = unit_stored_as(&s);
		if (!cstr_eq(is, rows[i].want))
			fail_msg("row %zu: %s", i, is);
		view_fake_release(&f);
	}
}

static void test_unit_back__a_name_has_three_parts(void **state)
{
	static const struct {
		const char *text, *digest, *slot, *run;
	} rows[] = {
		{NULL, NULL, NULL, NULL},     {"d.0", "d", "0", NULL}, {"d.1.r", "d", "1", "r"},
		{"d.-", "d", "-", NULL},      {"d", "d", "-", NULL},   {"d.", "d", "-", NULL},
		{"d.1.a.b", "d", "1", "a.b"},
	};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct unit_stored s = unit_stored_parse(rows[i].text, a);
		assert_true(cstr_eq(s.digest, rows[i].digest) || s.digest == rows[i].digest);
		assert_true(cstr_eq(s.slot, rows[i].slot) || s.slot == rows[i].slot);
		assert_true(cstr_eq(s.run, rows[i].run) || s.run == rows[i].run);
		assert_true(cstr_eq(s.text, rows[i].text) || s.text == rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_back__has_two_slots_that_take_turns),
		cmocka_unit_test(test_unit_back__a_name_has_three_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
