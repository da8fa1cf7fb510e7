#include "tests/lib/test.h"

#include <stdio.h>
#include <time.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/regex/regex.h"

#define WORST_MAX 10  /* times the mean, on a machine that is busy */
#define STEP_MAX  125 /* times an increment in memory */
#define STEPS     1000000

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One line: [pattern, text, places or null or message]. */
static void check_case(const struct obj *c)
{
	struct str pattern = obj_as_str(obj_at(c, 0)), text = obj_as_str(obj_at(c, 1));
	const struct obj *want = obj_at(c, 2);
	struct error err = ERROR_INIT;
	CLEANUP(regex_freep) struct regex *re = NULL;
	CLEANUP(xfreep) char *line = json_text(c);
	size_t at[64];
	uint64_t steps = REGEX_STEPS_MAX, again = REGEX_STEPS_MAX;
	if (regex_new(pattern, &re, &err) < 0) {
		if (!cstr_eq(err.msg, obj_as_string(want)))
			fail_msg("%s: %s", line, err.msg);
		return;
	}
	bool hit = regex_match(re, text, 0, at, &steps) == REGEX_YES;
	if (hit != (obj_type(want) == OBJ_LIST))
		fail_msg("%s: %s", line, hit ? "matches" : "does not match");
	assert_int_equal(regex_match(re, text, 0, NULL, &again), hit ? REGEX_YES : REGEX_NO);
	if (!hit)
		return;
	assert_int_equal(obj_len(want), 2 * (regex_groups(re) + 1));
	for (size_t i = 0; i < obj_len(want); i++) {
		int64_t v = -2;
		assert_true(obj_as_i64(obj_at(want, i), &v));
		if (v != (at[i] == REGEX_UNSET ? -1 : (int64_t)at[i]))
			fail_msg("%s: place %zu is %zu", line, i, at[i]);
	}
}

/* A named class begins with "[:": one that has two colons is none. */
static void test_regex__a_class_may_have_colons(void **state)
{
	static const char *const patterns[] = {"^[a:b:]$", "^[b::a:]$", "^[[:ab]$"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		CLEANUP(regex_freep) struct regex *re = NULL;
		struct error err = ERROR_INIT;
		assert_ok(regex_new(str_of(patterns[i]), &re, &err), &err);
		for (const char *c = "a:bc"; *c; c++) {
			uint64_t steps = REGEX_STEPS_MAX;
			assert_int_equal(regex_match(re, str_n(c, 1), 0, NULL, &steps),
					 *c == 'c' ? REGEX_NO : REGEX_YES);
		}
	}
}

/* The answers of Go's regexp, FindStringSubmatchIndex(), recorded with Go 1.26
 * and 1.25 (in helm). */
static void test_regex__answers_as_go(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	size_t n = 0;
	assert_ok(file_read("tests/golden/regex/go.jsonl", &b, &err), &err);
	struct str rest = strbuf_str(&b), line;
	for (; str_next_line(&rest, &line) && line.len; n++) {
		struct obj *c = NULL;
		assert_ok(json_parse(line, &c, &err), &err);
		check_case(c);
		obj_unref(c);
	}
	assert_true(n > 400);
}

static enum regex_result match(const char *pattern, struct str text, uint64_t *steps)
{
	struct error err = ERROR_INIT;
	int r = regex_matches(str_of(pattern), text, steps, &err);
	if (r < 0)
		fail_msg("%s: %s", pattern, err.msg);
	return (enum regex_result)r;
}

static bool matches(const char *pattern, struct str text)
{
	uint64_t steps = REGEX_STEPS_MAX;
	return match(pattern, text, &steps) == REGEX_YES;
}

/* In Go each is U+FFFD, one byte wide. */
static void test_regex__invalid_bytes_are_characters(void **state)
{
	(void)state;
	assert_true(matches("^a.b$", STR("a\xff"
					 "b")));
	assert_true(matches("^\\x{fffd}{2}$", STR("\xc3\xc3")));
	assert_true(matches("^\xef\xbf\xbd$", STR("\x80")));
	assert_false(matches("^.$", STR("\xe2\x82")));
	assert_true(matches("^a.b$", str_n("a\0b", 3)));
	struct error err = ERROR_INIT;
	uint64_t steps = REGEX_STEPS_MAX;
	assert_int_equal(regex_matches(str_n("^a\0$", 4), str_n("a\0", 2), &steps, &err), 1);
	assert_int_equal(regex_matches(STR("^a"), STR("ab"), &steps, &err), 1);
	assert_int_equal(regex_matches(STR("\xff"), STR("a"), &steps, &err), -E_INVALID);
}

static void test_regex__sees_what_is_before(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(regex_freep) struct regex *re = NULL;
	size_t at[2];
	uint64_t steps = REGEX_STEPS_MAX;
	assert_ok(regex_new(STR("\\bb|^a"), &re, &err), &err);
	assert_int_equal(regex_match(re, STR("aba b"), 1, at, &steps), REGEX_YES);
	assert_int_equal(at[0], 4);
	assert_int_equal(regex_match(re, STR("aba b"), 5, at, &steps), REGEX_NO);
	assert_int_equal(regex_match(re, STR("aba b"), 6, at, &steps), REGEX_NO);
}

static void test_regex__limits(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct regex *re = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	strbuf_pad(&b, 'a', REGEX_BYTES_MAX + 1);
	assert_int_equal(regex_new(strbuf_str(&b), &re, &err), -E_LIMIT);
	strbuf_clear(&b);
	strbuf_pad(&b, '(', REGEX_DEPTH_MAX + 1);
	assert_int_equal(regex_new(strbuf_str(&b), &re, &err), -E_LIMIT);
	strbuf_clear(&b);
	for (size_t i = 0; i <= REGEX_GROUPS_MAX; i++)
		strbuf_adds(&b, "()");
	assert_int_equal(regex_new(strbuf_str(&b), &re, &err), -E_LIMIT);
	strbuf_clear(&b);
	for (int i = 0; i < 200; i++)
		strbuf_adds(&b, "a{1000}");
	assert_int_equal(regex_new(strbuf_str(&b), &re, &err), -E_INVALID);
	assert_true(cstr_has_prefix(err.msg, "error parsing regexp: expression too large: "));
	uint64_t steps = 1000;
	strbuf_clear(&b);
	strbuf_pad(&b, 'a', 100000);
	assert_int_equal(match("a+b", strbuf_str(&b), &steps), REGEX_LIMIT);
	assert_int_equal(steps, 0);
}

/* What makes other engines hang (PROGRAMME.md row 34). */
/* A pattern of the field for addresses of mail, which is one of the slowest. */
static const char an_email[] =
	"([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}"
	"[.]{1}[a-z]{2,3}))$";

static const char *const hostile[] = {
	"^(a+)+$",
	"^(a|aa)+$",
	"^(a|a?)+$",
	"^(a*)*$",
	"^(a*)*b$",
	"(a+a+)+[bc]",
	"(x+x+)+y",
	"(a|b|ab)*c",
	"^(([a-z])+.)+[A-Z]([a-z])+$",
	"(.*)*(.*)*(.*)*z",
	".*.*.*.*.*.*.*.*.*.*z",
	"(.*a){12}z",
	"(a?){30}a{30}",
	"(a?){30}(a|aa)+z",
	"((a{1,9}){1,9}){1,9}z",
	"a*a*a*a*a*a*a*a*a*a*b",
	"a*[bc]",
	"(a*)[bc]",
	"[ab]*[cd]",
	"(?:a|b|c|d|e)*f",
	"^(.*?,){11}P",
	"(.+)+=",
	"(\\w+\\s?)*$z",
	"^(\\w+\\s?)*$",
	"(\\w|\\d)+!",
	an_email,
	"^([a-zA-Z0-9_.\\-])+@(([a-zA-Z0-9\\-])+\\.)+([a-zA-Z0-9]{2,4})+$",
	"^(?:(?:a)*)*$",
	"((a)*)*b",
	"((a*)*)*b",
	"(|a)*b",
	"(a|)+b",
	"(a{0,50}){0,20}b",
	"a{0,500}b",
	"[a-b]{0,500}[c-d]{0,500}e",
	"(?i)(a|A|b)*c",
	"(?i)[\\x{e0}-\\x{ff}a]*z",
	"\\pL*\\PL\\pL*\\pN",
	"(\\p{Latin}|\\pL)*\\p{Greek}",
	"(?s).*(?s).*$z",
	"(?m)(^.*$)*z",
	"\\b(\\w+\\b.?)*z",
	"(\\B.)*z",
	"^(-?\\d+)*(\\.\\d+)*z",
	"<([^>]*>)*<",
	"\"([^\"\\\\]|\\\\.)*\"z",
	"(a.?)*(.b?)*z",
	"(aa?)*(aaa?)*(aaaa?)*z",
	"(ab?)*(a?b)*z",
	"((((((((((a?)*)*)*)*)*)*)*)*)*)*z",
};

static const char *const units[] = {"a", "ab", "a b-",
				    "\xc3\xa4"
				    "a1"};

static void subject(const char *unit, size_t n, struct strbuf *b)
{
	strbuf_clear(b);
	while (b->len < n)
		strbuf_adds(b, unit);
	strbuf_adds(b, "!");
}

/* 200 of them: twice the text takes twice the steps. */
static void test_regex__hostile_patterns_are_linear(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		for (size_t u = 0; u < ARRAY_LEN(units); u++) {
			uint64_t left = UINT64_MAX, taken[2];
			match(hostile[i], STR(""), &left); /* the program is made */
			for (int k = 0; k < 2; k++) {
				left = UINT64_MAX;
				subject(units[u], (size_t)2000 << k, &b);
				match(hostile[i], strbuf_str(&b), &left);
				taken[k] = UINT64_MAX - left;
			}
			if (taken[1] > 2 * taken[0] + taken[0] / 4 + 100)
				fail_msg("%s on %s: %llu steps, then %llu", hostile[i], units[u],
					 (unsigned long long)taken[0],
					 (unsigned long long)taken[1]);
		}
	}
}

/* The processor time of as many increments as there are steps. */
static double of_increments(void)
{
	volatile unsigned n = 0;
	double t = cpu_s();
	for (int i = 0; i < STEPS; i++)
		n = n + 1;
	return cpu_s() - t;
}

/* And a long text is an answer, or an error, soon: none costs much more than the others. */
static void test_regex__hostile_patterns_end_soon(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	double worst = 0, all = 0;
	size_t of = 0, on = 0, n = ARRAY_LEN(hostile) * ARRAY_LEN(units);
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		for (size_t u = 0; u < ARRAY_LEN(units); u++) {
			uint64_t left = STEPS;
			subject(units[u], 100000, &b);
			double t = cpu_s();
			match(hostile[i], strbuf_str(&b), &left);
			t = cpu_s() - t;
			all += t;
			if (t > worst) {
				worst = t;
				of = i;
				on = u;
			}
		}
	}
	if (worst * (double)n > WORST_MAX * all || worst > STEP_MAX * of_increments())
		fail_msg("%s on %s: %.1f ms, all %.1f", hostile[of], units[on], worst * 1e3,
			 all * 1e3);
}

/* More programs than are kept. */
static void test_regex__programs_come_and_go(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2000; i++) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
			strbuf_addf(&b, "^x%d{0,300}$", i);
			assert_true(matches(b.buf, STR("x")) == (i < 10));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regex__a_class_may_have_colons),
		cmocka_unit_test(test_regex__answers_as_go),
		cmocka_unit_test(test_regex__invalid_bytes_are_characters),
		cmocka_unit_test(test_regex__sees_what_is_before),
		cmocka_unit_test(test_regex__limits),
		cmocka_unit_test(test_regex__hostile_patterns_are_linear),
		cmocka_unit_test(test_regex__hostile_patterns_end_soon),
		cmocka_unit_test(test_regex__programs_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
