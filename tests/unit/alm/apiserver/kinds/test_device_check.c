/* test_device_check.c: claims of devices and DeviceClasses, in the words of Kubernetes 1.36 (pkg/apis/resource/validation);
 * expressions that were made to cost much. */
#include "alm/apiserver/kinds/device_check.h"

#include <time.h>

#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/apiserver/kinds/slice_check.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define N_MAX         32 /* requests, and selectors of each */
#define EXPRESSION    ((size_t)10 << 10)
#define TEMPLATE_MAX  (N_MAX * N_MAX * ((size_t)2 << 10))
#define TEMPLATE_PATH "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression"

static struct obj *read(struct str json)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(json, &o, &err), &err);
	return o;
}

static void add_times(struct strbuf *b, const char *text, size_t bytes)
{
	for (size_t end = b->len + bytes; b->len + strlen(text) <= end;)
		strbuf_adds(b, text);
}

/* requests x selectors of the same expression. */
static struct obj *template_of(const char *expression, size_t requests, size_t selectors)
{
	CLEANUP(strbuf_release) struct strbuf b =
		STRBUF_INIT(requests * selectors * (EXPRESSION + 100) + TEMPLATE_MAX);
	strbuf_adds(&b, "{\"spec\":{\"spec\":{\"devices\":{\"requests\":[");
	for (size_t i = 0; i < requests; i++) {
		strbuf_addf(&b,
			    "%s{\"name\":\"r%zu\",\"exactly\":{\"deviceClassName\":\"c\","
			    "\"allocationMode\":\"All\",\"selectors\":[",
			    i ? "," : "", i);
		for (size_t k = 0; k < selectors; k++) {
			strbuf_addf(&b, "%s{\"cel\":{\"expression\":", k ? "," : "");
			json_quote(str_of(expression), &b);
			strbuf_adds(&b, "}}");
		}
		strbuf_adds(&b, "]}}");
	}
	strbuf_adds(&b, "]}}}}");
	assert_false(b.over);
	return read(strbuf_str(&b));
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum { PLAIN = 5, WORK_MAX = 4 };

/* [a,a,..], [[[..]]], 'a'+'a'+.. and one that is no expression; PLAIN: what nobody would call hostile. Each of so many bytes. */
static char *hostile(int which, size_t bytes)
{
	struct strbuf b = STRBUF_INIT(EXPRESSION + 100);
	static const char *const begin[] = {"[a",  "[[[[[[1]]]]]].all(x,x==1", "[a", "[", "'",
					    "true"};
	static const char *const more[] = {",a", "||x==1", ",a+b.c(1)", "\xc3\xa9", "\\x", "||1<2"};
	static const char *const end[] = {"]", ")", "", "]", "", ""};
	strbuf_adds(&b, begin[which]);
	add_times(&b, more[which], bytes - strlen(begin[which]) - 2);
	strbuf_adds(&b, end[which]);
	return strbuf_detach(&b);
}

/* The processor time of the check of as many expressions as a template may hold. */
static double work_of(int which, bool large)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX / 8);
	CLEANUP(xfreep) char *text = hostile(which, large ? EXPRESSION : (size_t)2 << 10);
	CLEANUP(obj_unrefp) struct obj *o = template_of(text, large ? 9 : N_MAX, N_MAX);
	struct field_errors e;
	field_errors_init(&e, a);
	double start = seconds();
	check_device_template(&e, o);
	double took = seconds() - start;
	if (which != 1 && which != PLAIN) /* which are a bool, as far as we know */
		assert_int_not_equal(e.n, 0);
	for (size_t i = 0; i < e.n; i++)
		assert_true(strlen(e.items[i].message) < (size_t)16 << 10);
	return took;
}

/* No more than WORK_MAX times the work of as many bytes that nobody would call hostile, however slow the machine. */
static void test_device_check__hostile_expressions_are_cheap(void **state)
{
	(void)state;
	for (int large = 0; large < 2; large++) {
		double plain = work_of(PLAIN, large);
		for (int which = 0; which < PLAIN; which++) {
			double took = work_of(which, large);
			if (took > WORK_MAX * plain)
				fail_msg("%d: %f s, of plain ones %f s", which, took, plain);
		}
	}
}

static void assert_expression(const char *expression, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o = template_of(expression, 1, 1);
	struct field_errors e;
	field_errors_init(&e, a);
	check_device_template(&e, o);
	if (!want && e.n)
		fail_msg("%s: %s", expression, e.items[0].message);
	if (!want)
		return;
	assert_int_equal(e.n, 1);
	assert_string_equal(e.items[0].path, TEMPLATE_PATH);
	assert_string_equal(e.items[0].message, want);
}

static void test_device_check__what_our_cel_lacks_is_no_fault(void **state)
{
	static const char *const valid[] = {
		"cel.bind(x, device.attributes['a.b'], x.model == 'y')",
		"semver('1.2.3').isGreaterThan(semver('1.0.0'))",
		"device.attributes['a.b'].version.isGreaterThan(semver('1.0.0'))",
		"isSemver('1.2.3')",
		"device.attributes.exists(k, v, v.model == 'y')",
		"[1, 2].all(i, v, v > i)",
		"[1, 2].existsOne(i, v, v > i)",
		"[1, 2].transformList(i, v, v > 0, v * 2).size() == 2",
		"{'a': 1}.transformMap(k, v, v + 1)['a'] == 2",
		"{'a': 1}.transformMapEntry(k, v, {v: k}).size() == 1",
		"device.driver == 'a' && device.capacity.a.memory.compareTo(quantity('1Gi')) > 0",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(valid); i++)
		assert_expression(valid[i], NULL);
	assert_expression(
		"1 + 1",
		"Invalid value: \"1 + 1\": must evaluate to bool or the unknown type, not int");
	assert_expression(
		"device.driver ==",
		"Invalid value: \"device.driver ==\": compilation failed: ERROR: <input>:1:17: "
		"Syntax error: "
		"mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', "
		"'false', 'null', "
		"NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | device.driver ==\n | "
		"................^");
}

/* An old fault of a class is not held against another change, of a text that is told in part, too. */
static void test_device_check__what_was_stored_stays(void **state)
{
	(void)state;
	for (int which = 2; which < 5; which++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
		char *old = hostile(which, EXPRESSION), *other = hostile(which, EXPRESSION - 100);
		struct field_errors e;
		CLEANUP(obj_unrefp) struct obj *was =
			read(STR("{\"spec\":{\"selectors\":[{\"cel\":{}}]}}"));
		CLEANUP(obj_unrefp) struct obj *is = NULL;
		obj_set_path(was, "spec.selectors[0].cel.expression", obj_string(old));
		is = obj_copy(was);
		obj_set_path(is, "spec.extendedResourceName", obj_string("a.b/c"));
		field_errors_init(&e, a);
		builtin_check("resource.k8s.io", "deviceclasses", is, was, &e);
		assert_int_equal(e.n, 0);
		obj_set_path(is, "spec.selectors[0].cel.expression", obj_string(other));
		builtin_check("resource.k8s.io", "deviceclasses", is, was, &e);
		assert_int_equal(e.n, 1);
		xfree(old);
		xfree(other);
	}
}

static void assert_told(const char *plural, const char *json, const char *want)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o = read(str_of(json));
	struct field_errors e;
	field_errors_init(&e, a);
	builtin_check("resource.k8s.io", plural, o, NULL, &e);
	field_errors_text(&e, &b);
	assert_string_equal(b.buf, want);
}

#define CLAIM(exactly) \
	"{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{" exactly "}}]}}}"
#define EXACTLY "spec.devices.requests[0].exactly."
#define CLASS   "\"deviceClassName\":\"c\","
#define TAKES(sets)                                                                          \
	"{\"spec\":{\"driver\":\"a.b\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\","         \
	"\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\",\"consumesCounters\":[" sets \
	"]}]}}"
#define OF(set) "{\"counterSet\":\"" set "\",\"counters\":{\"a\":{\"value\":\"1\"}}}"

static void test_device_check__in_the_real_words(void **state)
{
	static const struct {
		const char *plural, *json, *want;
	} rows[] = {
		{"resourceclaims", CLAIM("\"allocationMode\":\"All\""),
		 EXACTLY "deviceClassName: Required value"},
		{"resourceclaims", CLAIM(CLASS "\"allocationMode\":\"ExactCount\",\"count\":-1"),
		 EXACTLY "count: Invalid value: -1: must be greater than zero"},
		{"resourceclaims", CLAIM(CLASS "\"allocationMode\":\"All\",\"count\":1"),
		 EXACTLY
		 "count: Invalid value: 1: must not be specified when allocationMode is 'All'"},
		{"resourceclaims", CLAIM(CLASS "\"allocationMode\":\"Some\",\"count\":1"),
		 EXACTLY "allocationMode: Unsupported value: \"Some\": supported values: \"All\", "
			 "\"ExactCount\""},
		{"resourceclaims", CLAIM(CLASS "\"allocationMode\":\"ExactCount\",\"count\":1"),
		 ""},
		{"resourceclaims", CLAIM(CLASS "\"allocationMode\":\"ExactCount\",\"count\":0"),
		 ""},
		{"resourceclaims", CLAIM("\"deviceClassName\":\"c\""), ""},
		{"resourceslices", TAKES(OF("a") "," OF("b")), ""},
		{"resourceslices", TAKES(OF("a") "," OF("b") "," OF("c")),
		 "spec.devices[0].consumesCounters: Too many: 3: must have at most 2 items"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_told(rows[i].plural, rows[i].json, rows[i].want);
}

static void test_device_check__parameters_are_bounded(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(
		&b,
		"{\"spec\":{\"config\":[{\"opaque\":{\"driver\":\"a.b\",\"parameters\":{\"a\":\"");
	strbuf_pad(&b, 'x', EXPRESSION);
	strbuf_adds(&b, "\"}}}]}}");
	assert_told("deviceclasses", b.buf,
		    "spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_check__hostile_expressions_are_cheap),
		cmocka_unit_test(test_device_check__what_our_cel_lacks_is_no_fault),
		cmocka_unit_test(test_device_check__what_was_stored_stays),
		cmocka_unit_test(test_device_check__in_the_real_words),
		cmocka_unit_test(test_device_check__parameters_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
