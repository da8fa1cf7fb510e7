#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/arena.h"
#include "alm/base/version.h"
#include "catalog/semver.h"

static struct version v(const char *text)
{
	struct version r;
	struct error err;
	assert_ok(version_parse(str_of(text), VERSION_LOOSE, &r, &err), &err);
	return r;
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

/* What is accepted can be printed whole and read again. */
static void test_semver__short_forms_leave_room_for_the_rest(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct version v;
	char text[VERSION_BYTES_MAX + 1];
	memset(text, 'b', sizeof(text));
	memcpy(text, "1.2.3+", 6);
	assert_ok(version_parse(str_n(text, VERSION_BYTES_MAX), VERSION_LOOSE, &v, &err), &err);
	assert_int_equal(version_parse(str_n(text, VERSION_BYTES_MAX + 1), VERSION_LOOSE, &v, &err),
			 -E_INVALID);
	memcpy(text, "1+bbbb", 6);
	assert_int_equal(version_parse(str_n(text, VERSION_BYTES_MAX - 3), VERSION_LOOSE, &v, &err),
			 -E_INVALID);
	assert_ok(version_parse(str_n(text, VERSION_BYTES_MAX - 4), VERSION_LOOSE, &v, &err), &err);
}

/* --- properties, over random versions --- */

#define RANDOM_VERSIONS 300

struct random {
	struct arena *a;
	uint64_t state;
};

static uint64_t draw(struct random *r, uint64_t n)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state % n;
}

/* Few values, so that versions often agree up to the last identifier. */
static char *random_identifiers(struct random *r)
{
	static const char *const words[] = {"0",
					    "1",
					    "2",
					    "10",
					    "9",
					    "a",
					    "A",
					    "b",
					    "-",
					    "a-1",
					    "rc",
					    "1a",
					    "99999999999999999999",
					    "99999999999999999998"};
	char *text = arena_strdup(r->a, words[draw(r, ARRAY_LEN(words))]);
	while (draw(r, 3) == 0)
		text = arena_fmt(r->a, "%s.%s", text, words[draw(r, ARRAY_LEN(words))]);
	return text;
}

static struct version random_version(struct random *r)
{
	static const char *const numbers[] = {"0", "1", "2", "10", "18446744073709551615"};
	char *text = arena_fmt(r->a, "%s%s", draw(r, 4) ? "" : "v",
			       numbers[draw(r, ARRAY_LEN(numbers))]);
	for (int i = 0; i < 2 && draw(r, 4); i++)
		text = arena_fmt(r->a, "%s.%s", text, numbers[draw(r, ARRAY_LEN(numbers))]);
	if (draw(r, 2))
		text = arena_fmt(r->a, "%s-%s", text, random_identifiers(r));
	if (draw(r, 3) == 0)
		text = arena_fmt(r->a, "%s+%s%s", text, draw(r, 3) ? "" : "0",
				 random_identifiers(r));
	return v(text);
}

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

static bool same_meaning(const struct version *a, const struct version *b)
{
	CLEANUP(strbuf_release) struct strbuf x = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf y = STRBUF_INIT(STRBUF_SMALL);
	version_print(a, &x);
	version_print(b, &y);
	return strcmp(x.buf, y.buf) == 0;
}

/* Antisymmetric, transitive, total; equal only what prints the same; build metadata breaks ties. */
static void test_semver__the_order_is_total(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct random r = {.a = a, .state = 42};
	struct version all[RANDOM_VERSIONS];
	static signed char less[RANDOM_VERSIONS][RANDOM_VERSIONS];
	for (size_t i = 0; i < RANDOM_VERSIONS; i++)
		all[i] = random_version(&r);
	for (size_t i = 0; i < RANDOM_VERSIONS; i++)
		for (size_t k = 0; k < RANDOM_VERSIONS; k++) {
			int d = sign(version_cmp(&all[i], &all[k]));
			int bare = sign(version_precedence(&all[i], &all[k]));
			less[i][k] = (signed char)d;
			assert_int_equal(d, -sign(version_cmp(&all[k], &all[i])));
			assert_int_equal(d == 0, same_meaning(&all[i], &all[k]));
			assert_true(bare == 0 || bare == d);
		}
	for (size_t i = 0; i < RANDOM_VERSIONS; i++)
		for (size_t k = 0; k < RANDOM_VERSIONS; k++)
			for (size_t m = 0; less[i][k] <= 0 && m < RANDOM_VERSIONS; m++)
				if (less[k][m] <= 0 && less[i][m] > 0)
					fail_msg("%.*s <= %.*s <= %.*s", STR_ARG(all[i].text),
						 STR_ARG(all[k].text), STR_ARG(all[m].text));
}

/* A comparator says of a version what the order says; ranges do not see build metadata. */
static void test_semver__comparators_follow_the_order(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	struct random r = {.a = a, .state = 7};
	struct error err;
	for (int i = 0; i < 3000; i++) {
		struct version x = random_version(&r), y = random_version(&r);
		CLEANUP(strbuf_release) struct strbuf bound = STRBUF_INIT(STRBUF_SMALL);
		version_print(&y, &bound);
		static const struct {
			const char *op;
			bool below, same, above;
		} ops[] = {{"<", true, false, false}, {"<=", true, true, false},
			   {"=", false, true, false}, {"!=", true, false, true},
			   {">=", false, true, true}, {">", false, false, true}};
		int d = sign(version_precedence(&x, &y));
		for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
			struct range range;
			char *text = arena_fmt(a, "%s%s", ops[k].op, bound.buf);
			assert_ok(range_parse(str_of(text), a, &range, &err), &err);
			bool want = d < 0 ? ops[k].below : d ? ops[k].above : ops[k].same;
			if (version_is_prerelease(&x) && !version_is_prerelease(&y))
				want = false;
			if (range_matches(&range, &x) != want)
				fail_msg("%.*s in %s is not %d", STR_ARG(x.text), text, want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_semver__order_is_that_of_the_specification),
		cmocka_unit_test(test_semver__strict_refuses_what_catalogs_must),
		cmocka_unit_test(test_semver__short_forms_leave_room_for_the_rest),
		cmocka_unit_test(test_semver__the_order_is_total),
		cmocka_unit_test(test_semver__comparators_follow_the_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
