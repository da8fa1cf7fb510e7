/* Whose log tells why a Job failed, and how its end is shown. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/unit/pod_log.h"

#define POD(name, time, statuses)                                                   \
	"{\"metadata\":{\"name\":\"" name "\",\"creationTimestamp\":\"" time "\"}," \
	"\"status\":{" statuses "}}"
#define MAIN(list) "\"containerStatuses\":[" list "]"
#define INIT(list) "\"initContainerStatuses\":[" list "]"
#define C(name, state, last) \
	"{\"name\":\"" name "\",\"state\":{" state "},\"lastState\":{" last "}}"
#define EXIT(code) "\"terminated\":{\"exitCode\":" code "}"
#define RUNS       "\"running\":{}"

struct row {
	const char *pods, *want; /* "pod/container", " p" of the previous run */
};

static void find(const struct row *rows, size_t n, bool succeeded)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(obj_unrefp) struct obj *pods = NULL;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		struct error err = ERROR_INIT;
		struct pod_log_source s;
		assert_ok(json_parse(str_of(rows[i].pods), &pods, &err), &err);
		if (pod_log_find(pods, succeeded, &s))
			strbuf_addf(&b, "%s/%s%s", s.pod, s.container, s.previous ? " p" : "");
		assert_string_equal(b.len ? b.buf : "", rows[i].want);
	}
}

static void test_pod_log__the_newest_pod_with_a_container_that_failed(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"[]", ""},
		{"[" POD("a", "1", MAIN(C("m", EXIT("1"), ""))) "]", "a/m"},
		{"[" POD("a", "1", MAIN(C("m", EXIT("0"), ""))) "]", ""},
		{"[" POD("a", "1", MAIN(C("m", RUNS, ""))) "]", ""},
		{"[" POD("a", "1", "") "," POD("b", "2", "") "]", ""}, /* none has begun */
		/* a later Pod that cannot start says nothing */
		{"[" POD("a", "1", MAIN(C("m", EXIT("1"), ""))) "," POD("b", "2", "") "]", "a/m"},
		{"[" POD("a", "2", MAIN(C("m", EXIT("1"), ""))) "," POD(
			 "b", "1", MAIN(C("m", EXIT("1"), ""))) "]",
		 "a/m"},
		{"[" POD("a", "1", MAIN(C("m", EXIT("1"), ""))) "," POD(
			 "b", "1", MAIN(C("m", EXIT("1"), ""))) "]",
		 "b/m"},
		{"[" POD("a", "1", MAIN(C("m", EXIT("0"), "") "," C("n", EXIT("2"), ""))) "]",
		 "a/n"},
		{"[" POD("a", "1", INIT(C("i", EXIT("1"), "")) "," MAIN(C("m", RUNS, ""))) "]",
		 "a/i"},
		{"[" POD("a", "1", MAIN(C("m", RUNS, EXIT("137")))) "]", "a/m p"},
		{"[{\"status\":{" MAIN(C("m", EXIT("1"), "")) "}}]", ""}, /* no name */
	};
	find(rows, ARRAY_LEN(rows), false);
}

static void test_pod_log__of_a_job_that_succeeded(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"[]", ""},
		{"[" POD("a", "1", MAIN(C("m", RUNS, ""))) "]", ""},
		{"[" POD("a", "1", MAIN(C("s", RUNS, "") "," C("m", EXIT("0"), ""))) "]", "a/m"},
		{"[" POD("a", "2", MAIN(C("m", EXIT("1"), ""))) "," POD(
			 "b", "1", MAIN(C("m", EXIT("0"), ""))) "]",
		 "b/m"},
		{"[" POD("a", "1", MAIN(C("m", EXIT("0"), ""))) "," POD(
			 "b", "2", MAIN(C("m", EXIT("0"), ""))) "]",
		 "b/m"},
		{"[" POD("a", "1", INIT(C("i", EXIT("0"), ""))) "]", ""},
	};
	find(rows, ARRAY_LEN(rows), true);
}

static const char *shown(struct str text, struct strbuf *b)
{
	strbuf_clear(b);
	pod_log_print(text, b);
	return b->len ? b->buf : "";
}

static void test_pod_log__the_last_lines_are_shown(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 16);
	CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT((size_t)1 << 16);
	assert_string_equal(shown(STR(""), &b), "");
	assert_string_equal(shown(STR("\n\n"), &b), "");
	assert_string_equal(shown(STR("one"), &b), "one");
	assert_string_equal(shown(STR("one\r\n\ntwo\r\n"), &b), "one | two");
	assert_null(strchr(shown(STR("a\x1b[2Jb\n"), &b), '\x1b'));
	for (int i = 1; i <= 30; i++)
		strbuf_addf(&many, "line %d\n", i);
	assert_string_equal(shown(strbuf_str(&many), &b),
			    "line 21 | line 22 | line 23 | line 24 | line 25 | line 26 | line 27 | "
			    "line 28 | line 29 | line 30");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&many, "%d,", i);
	(void)shown(strbuf_str(&many), &b);
	assert_int_equal(b.len, POD_LOG_BYTES); /* the end of a long line */
	assert_non_null(strstr(b.buf, ",998,999,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_log__of_a_job_that_succeeded),
		cmocka_unit_test(test_pod_log__the_newest_pod_with_a_container_that_failed),
		cmocka_unit_test(test_pod_log__the_last_lines_are_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
