#include "tests/lib/test.h"

#include "catalog/semver.h"

static struct version v(const char *text)
{
	struct version r;
	struct error err;
	assert_ok(version_parse(str_of(text), VERSION_LOOSE, &r, &err), &err);
	return r;
}

static bool in(const char *range, const char *version)
{
	struct error err;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct range *r = ARENA_NEW(a, struct range);
	struct version x = v(version);
	assert_ok(range_parse(str_of(range), a, r, &err), &err);
	return range_matches(r, &x);
}

static void test_semver__order_is_that_of_the_specification(void **state)
{
	(void)state;
	static const char *const rising[] = {"0.0.0-0",
					     "0.0.0",
					     "1.0.0-1",
					     "1.0.0-2",
					     "1.0.0-10",
					     "1.0.0-alpha",
					     "1.0.0-alpha.1",
					     "1.0.0-alpha.beta",
					     "1.0.0-rc.1",
					     "1.0.0",
					     "1.0.0+1",
					     "1.0.0+a",
					     "1.0.0+a.b",
					     "2",
					     "2.1",
					     "2.1.1",
					     "10",
					     "18446744073709551615.0.0"};
	for (size_t i = 0; i < ARRAY_LEN(rising); i++) {
		for (size_t j = 0; j < ARRAY_LEN(rising); j++) {
			struct version a = v(rising[i]), b = v(rising[j]);
			int want = (i > j) - (i < j), got = version_cmp(&a, &b);
			assert_int_equal((got > 0) - (got < 0), want);
		}
	}
}

static void test_semver__strict_refuses_what_catalogs_must(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "v",
					  "1.2.3.4",
					  "01.2.3",
					  "1.02",
					  "1..2",
					  "1.2.3-",
					  "1.2.3-01",
					  "1.2.3-a..b",
					  "a",
					  "1.2.x",
					  "1.2.3+",
					  "18446744073709551616",
					  "1.2.3 "};
	struct version r;
	struct error err;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_true(version_parse(str_of(bad[i]), VERSION_STRICT, &r, &err) < 0);
	assert_int_equal(version_parse(STR("v1.2"), VERSION_STRICT, &r, &err), 0);
	assert_str(r.text, "v1.2");
}

static void test_semver__ranges(void **state)
{
	(void)state;
	static const struct {
		const char *range, *version;
		bool want;
	} rows[] = {
		{"*", "9.9.9", true},
		{"*", "1.0.0-a", false},
		{"*-0", "1.0.0-a", true},
		{"1.2", "1.2.9", true},
		{">1.2", "1.2.5", false},
		{"<=1.2", "1.2.9", true},
		{"!=1.2", "1.2.9", false},
		{"^0.2.3", "0.3.0", false},
		{"^0.0.3", "0.0.4", false},
		{"^0", "0.9.0", true},
		{"~1.2.3", "1.2.9", true},
		{"~>1.2", "1.2.5", true},
		{">=1.0.0 <2.0.0", "1.5.0", true},
		{">=1.0.0,<2.0.0 || >=3.0.0", "3.5.0", true},
		{"1.2 - 1.4", "1.4.5", true},
		{"1.2.0-1.4.0", "1.3.0", false},
		{">=1.0.0-0 <2.0.0", "1.5.0-beta", true},
		{"<1.0.0-0 || >1.4", "1.5.0-beta", false},
		{"^1.5.0-0", "2.0.0-beta", false},
		{">1.x", "1.9.0", false},
		{"=1.2.3+a", "1.2.3+b", true},
		{"1.2.3 1.x", "1.2.3", true},
		{"> 1.0.0", "1.0.1", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (in(rows[i].range, rows[i].version) != rows[i].want)
			fail_msg("%s in %s is not %d", rows[i].version, rows[i].range,
				 rows[i].want);
}

static void test_semver__bad_ranges_are_named(void **state)
{
	(void)state;
	static const char *const bad[] = {"",     ">", ">= 1.0.0 <", "1.2.x.4",
					  "1.0,", "a", "1 ||",       "1.0 -"};
	struct error err;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct range *r = ARENA_NEW(a, struct range);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (range_parse(str_of(bad[i]), a, r, &err) >= 0)
			fail_msg("accepted \"%s\"", bad[i]);
		assert_true(cstr_has_prefix(err.msg, "improper constraint: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_semver__order_is_that_of_the_specification),
		cmocka_unit_test(test_semver__strict_refuses_what_catalogs_must),
		cmocka_unit_test(test_semver__ranges),
		cmocka_unit_test(test_semver__bad_ranges_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
