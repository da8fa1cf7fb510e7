/* A render as a job: the same inputs give the same bytes, and what a chart looks up comes in as an
 * answer. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/render/render_host.h"
#include "alm/render/render_job.h"
#include "installers/chart/archive.h"
#include "tests/lib/loop_fake.h"

#define SEED       "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OUT_MAX    ((size_t)4 << 20)
#define HEAD(kind) "apiVersion: v1\nkind: " kind "\nmetadata:\n  name: x\n"

/* The answer to a request about a chart of one template. Owned; NULL and err on failure. */
static struct obj *run(const char *template, const char *request, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(OUT_MAX);
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(OUT_MAX),
					      out = STRBUF_INIT(OUT_MAX);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files = {0};
	struct obj *o = NULL;
	strbuf_addf(&input,
		    "{\"release\": \"r\", \"namespace\": \"ns\", \"now\": 1700000000000000000, "
		    "\"seed\": \"" SEED "\", \"kubeVersion\": \"v1.33.1\"%s%s}",
		    *request ? ", " : "", request);
	strbuf_addc(&input, '\0');
	assert_ok(archive_files_add(a, &files, "Chart.yaml",
				    STR("apiVersion: v2\nname: c\nversion: 0.1.0\n"), &budget, err),
		  err);
	assert_ok(archive_files_add(a, &files, "values.yaml", STR("a: 1\n"), &budget, err), err);
	assert_ok(archive_files_add(a, &files, "templates/t.yaml", str_of(template), &budget, err),
		  err);
	assert_ok(archive_write(&files, "c", &input, err), err);
	if (render_job(strbuf_str(&input), &out, err) < 0)
		return NULL;
	assert_ok(json_parse(strbuf_str(&out), &o, err), err);
	return o;
}

static const struct obj *data(const struct obj *o)
{
	return obj_get(obj_at(obj_get(o, "objects"), 0), "data");
}

static void test_render_job__same_inputs_same_bytes(void **state)
{
	static const char template[] = HEAD("ConfigMap") "data:\n  a: {{ randAlphaNum 20 }}\n"
							 "  b: {{ now | date \"2006-01-02\" }}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *one = run(template, "", &err);
	CLEANUP(obj_unrefp) struct obj *two = run(template, "", &err);
	CLEANUP(obj_unrefp) struct obj *three = run(template, "\"seed\": \"" SEED SEED "\"", &err);
	CLEANUP(xfreep) char *a = json_text(one);
	CLEANUP(xfreep) char *b = json_text(two);
	assert_string_equal(a, b);
	assert_null(three); /* a seed of another length is none */
	assert_int_equal(strlen(obj_str(data(one), "a")), 20);
	assert_string_equal(obj_str(data(one), "b"), "2023-11-14");
	assert_string_equal(obj_str(one, "inputs.seed"), SEED);
	assert_true(obj_i64(one, "inputs.now", 0) == INT64_C(1700000000000000000));
}

static void test_render_job__capabilities_are_the_servers(void **state)
{
	static const char template[] = HEAD(
		"ConfigMap") "data:\n  v: {{ .Capabilities.KubeVersion }}\n"
			     "  has: {{ .Capabilities.APIVersions.Has \"x.io/v1/Thing\" | quote "
			     "}}\n"
			     "  not: {{ .Capabilities.APIVersions.Has \"apps/v1\" | quote }}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o =
		run(template, "\"apiVersions\": [\"v1\", \"x.io/v1\", \"x.io/v1/Thing\"]", &err);
	assert_string_equal(obj_str(data(o), "v"), "v1.33.1");
	assert_string_equal(obj_str(data(o), "has"), "true");
	assert_string_equal(obj_str(data(o), "not"), "false");
	assert_int_equal(obj_len(obj_path(o, "inputs.apiVersions")), 3);
}

#define LOOKUP HEAD("Secret") "data:\n  p: {{ (lookup \"v1\" \"Secret\" \"ns\" \"old\").data.p }}\n"
#define ANSWER(value)                                                                  \
	"\"answers\": [{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"namespace\": " \
	"\"ns\", \"name\": \"old\", " value "}]"

static void test_render_job__a_lookup_becomes_a_need_then_an_answer(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *asked = run(LOOKUP, "", &err);
	const struct obj *need = obj_at(obj_get(asked, "needs"), 0);
	assert_int_equal(obj_len(obj_get(asked, "needs")), 1);
	assert_string_equal(obj_str(need, "kind"), "Secret");
	assert_string_equal(obj_str(need, "namespace"), "ns");
	assert_string_equal(obj_str(need, "name"), "old");
	assert_null(obj_get(asked, "objects"));
	assert_non_null(obj_str(asked, "inputs.seed")); /* for the next round */
	CLEANUP(obj_unrefp) struct obj *done =
		run(LOOKUP, ANSWER("\"value\": {\"data\": {\"p\": \"cGFzcw==\"}}"), &err);
	assert_null(obj_get(done, "needs"));
	assert_string_equal(obj_str(data(done), "p"), "cGFzcw==");
}

static void test_render_job__what_does_not_exist_is_an_empty_map(void **state)
{
	static const char template[] = HEAD(
		"Secret") "data:\n  p: {{ if lookup \"v1\" \"Secret\" \"ns\" \"old\" }}old{{ else "
			  "}}new{{ end }}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o = run(template, ANSWER("\"value\": null"), &err);
	assert_string_equal(obj_str(data(o), "p"), "new");
	CLEANUP(obj_unrefp) struct obj *bad =
		run(template, ANSWER("\"error\": \"no such kind\""), &err);
	assert_null(bad);
	assert_non_null(strstr(err.msg, "lookup: no such kind"));
}

/* What fails for want of an answer is a need, not a failure. */
static void test_render_job__a_failure_before_the_answer_is_a_need(void **state)
{
	static const char template[] =
		HEAD("Secret") "data:\n  p: {{ required \"no p\" (lookup \"v1\" \"Secret\" \"ns\" "
			       "\"old\").p }}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *asked = run(template, "", &err);
	assert_int_equal(obj_len(obj_get(asked, "needs")), 1);
	CLEANUP(obj_unrefp) struct obj *bad = run(template, ANSWER("\"value\": null"), &err);
	assert_null(bad);
	assert_non_null(strstr(err.msg, "no p"));
}

static void test_render_job__too_many_lookups_are_a_limit(void **state)
{
	static const char template[] = HEAD("Secret") "{{ range until 300 }}{{ lookup \"v1\" "
						      "\"Secret\" \"ns\" (print .) }}{{ end "
						      "}}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o = run(template, "", &err);
	assert_null(o);
	assert_int_equal(err.code, E_LIMIT);
	assert_non_null(strstr(err.msg, "lookup has more than 256 keys"));
}

static void test_render_job__a_time_zone_is_an_answer_too(void **state)
{
	static const char template[] = HEAD("ConfigMap") "data:\n  t: {{ dateInZone \"15:04\" "
							 "(now) \"Nowhere/City\" | quote }}\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *asked = run(template, "", &err);
	assert_string_equal(obj_str(obj_at(obj_get(asked, "needs"), 0), "zone"), "Nowhere/City");
	CLEANUP(obj_unrefp) struct obj *none =
		run(template, "\"answers\": [{\"zone\": \"Nowhere/City\", \"value\": null}]", &err);
	assert_string_equal(obj_str(data(none), "t"), "22:13"); /* UTC, as Helm does */
}

static void test_render_job__the_record_has_the_chart(void **state)
{
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o = run(HEAD("ConfigMap"), "", &err);
	assert_string_equal(obj_str(o, "chart.metadata.name"), "c");
	assert_string_equal(obj_str(o, "chart.metadata.apiVersion"), "v2");
	assert_int_equal(obj_i64(o, "chart.values.a", 0), 1);
}

static void test_render_job__hooks_carry_their_record(void **state)
{
	static const char template[] = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: h\n  "
				       "annotations:\n    helm.sh/hook: "
				       "pre-install,pre-upgrade\n    helm.sh/hook-weight: \"3\"\n";
	struct error err = ERROR_INIT;
	(void)state;
	CLEANUP(obj_unrefp) struct obj *o = run(template, "", &err);
	const struct obj *h = obj_at(obj_get(o, "hooks"), 0);
	assert_int_equal(obj_len(obj_get(o, "objects")), 0);
	assert_int_equal(obj_i64(h, "weight", 0), 3);
	assert_string_equal(obj_as_string(obj_at(obj_get(h, "policies"), 0)),
			    "before-hook-creation");
	assert_string_equal(obj_str(h, "record.name"), "h");
	assert_int_equal(obj_len(obj_path(h, "record.events")), 2);
}

static void count(void *arg, struct obj *rendered, const struct error *err)
{
	(void)err;
	obj_unref(rendered);
	(*(int *)arg)++;
}

static void test_render_job__a_cancelled_one_is_silent(void **state)
{
	static const struct sandbox_job jobs[] = {{RENDER_JOB, render_job, NULL}, {0}};
	int n[3] = {0};
	struct render_call calls[3];
	struct loop *loop = loop_fake_new(0);
	struct sandbox *sandbox = sandbox_inline_new(loop, jobs);
	CLEANUP(obj_unrefp) struct obj *request = obj_map();
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		calls[i] = (struct render_call){.done = count, .arg = &n[i]};
		render_job_start(sandbox, loop, STR("no archive"), request, &calls[i]);
	}
	render_job_cancel(&calls[1]);
	render_job_cancel(&calls[1]);
	loop_fake_settle(loop);
	render_job_cancel(&calls[2]); /* it has ended */
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 0);
	assert_int_equal(n[2], 1);
	sandbox_free(sandbox);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_render_job__same_inputs_same_bytes),
		cmocka_unit_test(test_render_job__capabilities_are_the_servers),
		cmocka_unit_test(test_render_job__a_lookup_becomes_a_need_then_an_answer),
		cmocka_unit_test(test_render_job__what_does_not_exist_is_an_empty_map),
		cmocka_unit_test(test_render_job__a_failure_before_the_answer_is_a_need),
		cmocka_unit_test(test_render_job__too_many_lookups_are_a_limit),
		cmocka_unit_test(test_render_job__a_time_zone_is_an_answer_too),
		cmocka_unit_test(test_render_job__the_record_has_the_chart),
		cmocka_unit_test(test_render_job__hooks_carry_their_record),
		cmocka_unit_test(test_render_job__a_cancelled_one_is_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
