#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "alm/unit/check_prometheus.h"

#define ARENA_MAX ((size_t)16 << 20)
#define NOW       (1000 * NS_PER_S)

static const struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	if (yaml_parse_one(str_of(text), &o, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return obj_keep(a, o);
}

static const struct prometheus *parse(struct arena *a, const char *more)
{
	struct error err = ERROR_INIT;
	struct prometheus *p = NULL;
	const char *text =
		arena_fmt(a, "{address: 'https://p', query: up%s%s}", *more ? ", " : "", more);
	if (prometheus_parse(read(a, text), "m", a, &p, &err) < 0)
		fail_msg("%s: %s", more, err.msg);
	return p;
}

/* --- what is asked --- */

#define OF(s)   "{query: up, successCondition: result < 1, " s "}"
#define WITH(s) "{address: 'https://p', query: up, successCondition: result < 1, " s "}"

static const struct {
	const char *text, *message;
} refused[] = {
	{OF("a: 1"), "m.a: there is no such field; known are address, query"},
	{"{query: up, successCondition: result < 1}", "m.address: is missing; want service://"},
	{OF("address: prometheus"), "m.address: want service://NAMESPACE/NAME:PORT or https://"},
	{OF("address: 'ftp://p'"), "m.address: want service://"},
	{OF("address: 'http://p'"), "m.address: http:// is readable"},
	{OF("address: 'https://me:secret@p'"), "m.address: "},
	{OF("address: 'https://p/?query=up'"), "m.address: has a query"},
	{OF("address: 'service://a/b'"), "m.address: want service://NAMESPACE/NAME:PORT"},
	{OF("address: 'service://a/..:1'"), "m.address: want service://NAMESPACE/NAME:PORT"},
	{OF("address: 'service://a/b:1/c'"), "m.address: want service://NAMESPACE/NAME:PORT"},
	{OF("address: 'service://A/b:1'"), "m.address: want service://NAMESPACE/NAME:PORT"},
	{OF("address: 'service://a/b:1', tokenSecretRef: {name: s}"), "m.tokenSecretRef: "},
	{OF("address: 'http://p', insecure: true, tokenSecretRef: {name: s}"),
	 "m.tokenSecretRef: a token is sent over https:// only"},
	{WITH("tokenSecretRef: {}"), "m.tokenSecretRef.name: is missing"},
	{WITH("tokenSecretRef: {name: s, namespace: t}"), "m.tokenSecretRef.namespace"},
	{"{address: 'https://p', successCondition: result < 1}", "m.query: is missing"},
	{"{address: 'https://p', query: up}", "m.successCondition: is missing, as is"},
	{WITH("failureCondition: 'result <'"), "m.failureCondition: column"},
	{WITH("interval: 10ms"), "m.interval: want at least 1s"},
	{WITH("count: 0"), "m.count: want a whole number from 1 to 1000"},
	{WITH("count: '3'"), "m.count: want a whole number"},
	{WITH("count: 1.5"), "m.count: want a whole number"},
	{WITH("failureLimit: -1"), "m.failureLimit: want a whole number from 0"},
	{WITH("failureLimit: 1001"), "m.failureLimit: want a whole number"},
	{WITH("noData: Ignore"), "m.noData: want one of Hold, Fail and Pass"},
};

static void test_check_prometheus__what_is_wrong_names_its_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct error err = ERROR_INIT;
		struct prometheus *p;
		if (prometheus_parse(read(a, refused[i].text), "m", a, &p, &err) == 0)
			fail_msg("%s is taken", refused[i].text);
		if (!cstr_has_prefix(err.msg, refused[i].message))
			fail_msg("%s: %s", refused[i].text, err.msg);
	}
}

static void test_check_prometheus__every_field_is_read(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct error err = ERROR_INIT;
	struct prometheus *p;
	const char *text = "{address: 'service://mon/prom:web', query: 'up{a=\"b\"}', "
			   "successCondition: result < 1, failureCondition: result > 2, "
			   "interval: 2s, count: 4, failureLimit: 1, noData: Pass, dryRun: true}";
	assert_ok(prometheus_parse(read(a, text), "m", a, &p, &err), &err);
	assert_string_equal(p->ns, "mon");
	assert_string_equal(p->service, "prom:web");
	assert_true(p->success && p->failure && p->dry_run);
	assert_int_equal(p->count, 4);
	assert_int_equal(p->failure_limit, 1);
	assert_int_equal(p->no_data, NO_DATA_PASS);
	assert_true(prometheus_span_ns(p) == 6 * NS_PER_S);
	const struct prometheus *q = parse(a, "successCondition: result < 1");
	assert_string_equal(q->address, "https://p");
	assert_null(q->service);
	assert_int_equal(q->count, 3);
	assert_int_equal(q->no_data, NO_DATA_HOLD);
	assert_true(q->interval_ns == 10 * NS_PER_S);
}

/* --- an answer --- */

#define VECTOR(s) "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" s "]}}"
#define SERIES(s) "{\"metric\":{},\"value\":[1.5,\"" s "\"]}"
#define FAILED(s) NULL, s

/* clang-format off */
static const struct { const char *body, *result, *text; } answers[] = {
	{VECTOR(SERIES("0.25")), "0.25", "0.25"},
	{VECTOR(SERIES("1e+06")), "1000000", "1000000"},
	{VECTOR(SERIES("-3")), "-3", "-3"},
	{VECTOR(SERIES("+Inf")), "1.7976931348623157e308", NULL},
	{VECTOR(SERIES("-Inf")), "-1.7976931348623157e308", NULL},
	{VECTOR(SERIES("1") "," SERIES("2")), "[1, 2]", "[1,2]"},
	{"{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1,\"7\"]}}", "7", "7"},
	/* no data */
	{VECTOR(""), NULL, "no series"},
	{VECTOR(SERIES("NaN")), NULL, "NaN"},
	{VECTOR(SERIES("1") "," SERIES("NaN")), NULL, "NaN"},
	/* what is no answer */
	{"", FAILED("!the answer is no JSON of Prometheus")},
	{"<html>", FAILED("!the answer is no JSON of Prometheus")},
	{"[]", FAILED("!the answer is not one of Prometheus: its status is not success")},
	{"{\"status\":\"error\",\"error\":\"bad \\u001b[1m\"}", FAILED("!bad \\u001b[1m")},
	{"{\"status\":\"success\"}", FAILED("!the query gives a result without a type, want numbers of one time")},
	{"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}", FAILED("!the query gives a matrix, want numbers of one time")},
	{"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":{}}}", FAILED("!the answer has no list data.result")},
	{"{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1]}}", FAILED("!the scalar of the answer is no number")},
	{VECTOR("{\"metric\":{}}"), FAILED("!series 0 of the answer has no number")},
	{VECTOR(SERIES("1") ",{\"value\":[1,2]}"), FAILED("!series 1 of the answer has no number")},
	{VECTOR("{\"value\":[\"x\",\"2\"]}"), FAILED("!series 0 of the answer has no number")},
	{VECTOR(SERIES("0x10")), FAILED("!series 0 of the answer has no number")},
	{VECTOR(SERIES("nan")), FAILED("!series 0 of the answer has no number")},
	{VECTOR(SERIES("1e999")), FAILED("!series 0 of the answer has no number")},
	{VECTOR(SERIES("")), FAILED("!series 0 of the answer has no number")},
};
/* clang-format on */

static void test_check_prometheus__answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		struct prometheus_sample s;
		const char *text = answers[i].text;
		bool failed = text && text[0] == '!';
		prometheus_read(str_of(answers[i].body), a, &s);
		const struct obj *want = answers[i].result ? read(a, answers[i].result) : NULL;
		bool same = want ? s.result && obj_equal(s.result, want) : !s.result;
		if (!same || s.failed != failed || (text && !cstr_eq(s.text, text + failed)))
			fail_msg("%s: %s, failed %d", answers[i].body, s.text, s.failed);
	}
}

static void test_check_prometheus__answers_have_an_end(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)4 << 20);
	struct prometheus_sample s;
	for (int i = 0; i <= PROMETHEUS_SERIES_MAX; i++)
		strbuf_addf(&b, "%s" SERIES("1"), i ? "," : "");
	const char *many = arena_fmt(a, VECTOR("%s"), b.buf);
	prometheus_read(str_of(many), a, &s);
	assert_true(s.failed);
	assert_string_equal(s.text, "the query gives 21 series, at most 20 are taken");
	while (b.len <= PROMETHEUS_ANSWER_MAX)
		strbuf_adds(&b, "                ");
	prometheus_read(strbuf_str(&b), a, &s);
	assert_true(s.failed);
	assert_string_equal(s.text, "the answer is longer than 1 MiB");
}

/* --- what they mean --- */

/* A number is a sample, "-" no series, "e" a request that failed; one a second. */
static struct obj *play(struct arena *a, const struct prometheus *p, const char *samples)
{
	struct obj *state = obj_keep(a, obj_map());
	struct str rest = str_of(samples), one;
	for (int64_t now = NOW; *samples && str_next(&rest, ' ', &one); now += NS_PER_S) {
		struct prometheus_sample s = {.text = arena_strndup(a, one.ptr, one.len)};
		s.failed = str_is(one, "e");
		if (!s.failed && !str_is(one, "-"))
			s.result = read(a, s.text);
		prometheus_take(p, &s, now, state);
	}
	return state;
}

#define SUCCESS "successCondition: result < 1"
#define BOTH    "successCondition: result < 1, failureCondition: result > 2"
#define GO      PROMETHEUS_GOES_ON
#define HELD    PROMETHEUS_HELD
#define PASS    PROMETHEUS_PASSED
#define FAIL    PROMETHEUS_FAILED

static const struct {
	const char *rule, *samples;
	enum prometheus_end end;
} courses[] = {
	{SUCCESS, "", GO},
	{SUCCESS, "0 0", GO},
	{SUCCESS, "0 0 0", PASS},
	{SUCCESS, "0 5", FAIL},
	{SUCCESS ", failureLimit: 1", "0 5", GO},
	{SUCCESS ", failureLimit: 1", "5 0 0", PASS},
	{SUCCESS ", failureLimit: 1", "0 0 5", GO}, /* the last is to be a success */
	{SUCCESS ", failureLimit: 1", "0 0 5 0", PASS},
	{SUCCESS ", failureLimit: 1", "0 5 5", FAIL},
	{SUCCESS ", count: 1", "0", PASS},
	/* neither */
	{BOTH, "1.5 1.5 1.5", GO},
	{BOTH, "1.5 1.5 1.5 0", PASS},
	{BOTH, "1.5 3", FAIL},
	{"failureCondition: result > 2", "1 1 1", PASS},
	{"failureCondition: result > 2", "1 3", FAIL},
	/* a list */
	{"successCondition: 'result[0] < 1 && result[1] < 1', count: 1", "[0,0]", PASS},
	{"successCondition: 'result[0] < 1 && result[1] < 1', count: 1", "[0,1]", FAIL},
	/* no data */
	{SUCCESS, "0 0 -", HELD},
	{SUCCESS, "0 0 - - - - - -", HELD},
	{SUCCESS, "0 0 - 0", PASS},
	{SUCCESS, "- 5", FAIL},
	{SUCCESS ", noData: Fail", "0 -", FAIL},
	{SUCCESS ", noData: Fail, failureLimit: 1", "0 - 0", PASS},
	{SUCCESS ", noData: Pass", "- - -", PASS},
	{SUCCESS ", noData: Pass", "- 5", FAIL},
	/* requests that fail: five in a row are no data */
	{SUCCESS, "0 0 e e e e 0", PASS},
	{SUCCESS, "e e e e", GO},
	{SUCCESS, "e e e e e", HELD},
	{SUCCESS, "e e e e 0 e e e e", GO},
	{SUCCESS ", noData: Fail", "e e e e", GO},
	{SUCCESS ", noData: Fail", "e e e e e", FAIL},
	{SUCCESS ", noData: Pass, count: 1", "e e e e", GO},
	{SUCCESS ", noData: Pass, count: 1", "e e e e e", PASS},
	/* on trial */
	{SUCCESS ", dryRun: true", "5 5", GO},
	{SUCCESS ", dryRun: true", "5 5 5", PASS},
	{SUCCESS ", dryRun: true, noData: Fail", "- - -", PASS},
	{SUCCESS ", dryRun: true", "- - -", PASS},
};

static void test_check_prometheus__the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(courses); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
		const struct prometheus *p = parse(a, courses[i].rule);
		const char *text;
		struct obj *got = play(a, p, courses[i].samples);
		enum prometheus_end end = prometheus_look(p, got, a, &text);
		if (end != courses[i].end)
			fail_msg("%s: %s: %d, %s", courses[i].rule, courses[i].samples, (int)end,
				 text);
	}
}

/* Beside a second one that was never held. */
static int64_t held_ns(struct obj *state, int64_t now_ns)
{
	struct obj *metrics = obj_map();
	obj_set(metrics, "other", obj_map());
	if (state)
		obj_set(metrics, "up", obj_copy(state));
	int64_t held = prometheus_all_held_ns(metrics, now_ns);
	obj_unref(metrics);
	return held;
}

static void test_check_prometheus__a_hold_is_measured(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const struct prometheus *p = parse(a, SUCCESS);
	const char *text;
	struct obj *got = play(a, p, "0 - - 0 - -"); /* at 1 to 3 s, and since 4 s */
	assert_true(held_ns(got, NOW + 10 * NS_PER_S) == 8 * NS_PER_S);
	assert_int_equal(prometheus_look(p, got, a, &text), HELD);
	assert_string_equal(text, "AnalysisHeld: no data: query up: 2 of 3 samples, measured 0, 0; "
				  "wanted result < 1; now: -");
	assert_true(held_ns(play(a, p, "0 - 0"), NOW + 99 * NS_PER_S) == NS_PER_S);
	assert_true(held_ns(NULL, NOW) == 0);
}

static void test_check_prometheus__the_values_are_told(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	const char *text;
	const struct prometheus *p = parse(a, SUCCESS ", failureLimit: 1");
	assert_int_equal(prometheus_look(p, play(a, p, "0.5 7 8"), a, &text), FAIL);
	assert_string_equal(text, "query up: 3 of 3 samples, 2 failed (1 may), measured 0.5, 7, 8; "
				  "wanted result < 1");
	/* the last ten, and what is remembered has an end */
	p = parse(a, "failureCondition: result > 100, count: 1000");
	struct obj *got = play(a, p, "1 2 3 4 5 6 7 8 9 10 11 12");
	assert_int_equal(obj_len(obj_get(got, "values")), PROMETHEUS_VALUES_TOLD);
	assert_int_equal(prometheus_look(p, got, a, &text), GO);
	assert_non_null(strstr(text, "measured 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; failed by"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_prometheus__what_is_wrong_names_its_field),
		cmocka_unit_test(test_check_prometheus__every_field_is_read),
		cmocka_unit_test(test_check_prometheus__answers),
		cmocka_unit_test(test_check_prometheus__answers_have_an_end),
		cmocka_unit_test(test_check_prometheus__the_table),
		cmocka_unit_test(test_check_prometheus__a_hold_is_measured),
		cmocka_unit_test(test_check_prometheus__the_values_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
