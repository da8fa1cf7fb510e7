/* What a template looks up: each need gets its answer, its error, or the word that it may not. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "tests/lib/work_fixture.h"

#define MAPS      "/api/v1/namespaces/n/configmaps"
#define NEED      "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"n\""
#define READS_NS  (5 * NS_PER_MIN)
#define READS_MAX 60
#define NO        "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"may not\"}"

static void begin(struct work_fixture *f)
{
	work_fixture_init(f);
	work_fixture_discover(f);
}

/* The outcome as text; "": there is none. */
static const char *ask_as(struct work_fixture *f, const char *needs, bool app)
{
	static char text[1024];
	struct plan p;
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	work_fixture_plan(&p);
	assert_ok(json_parse(str_of(needs), &o, &err), &err);
	struct action *x = plan_lookup(&p, "ask:0", obj_keep(p.a, o));
	x->rights_version = 7;
	x->rights_since_ns = 8;
	if (!app)
		x->as = NULL;
	work_fixture_run(f, &p);
	loop_fake_run(f->loop, READS_NS); /* reads are retried for so long */
	if (f->n_done != 1)
		fail_msg("%s: not done", needs);
	const struct outcome *out = stash_get(f->stash, "ask:0");
	if (!out)
		return "";
	assert_int_equal(out->code, 0);
	assert_true(out->text.len < sizeof(text));
	memcpy(text, out->text.ptr, out->text.len);
	text[out->text.len] = 0;
	return text;
}

struct row {
	const char *need, *target; /* target NULL: the server is not asked */
	int status;
	const char *body, *want; /* want: behind the need; "": no outcome, it fails */
};

static const struct row rows[] = {
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 200, "{\"data\":{}}", ",\"value\":{\"data\":{}}}"},
	/* A field of that name is the object's own. */
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 200, "{\"items\":[{}]}",
	 ",\"value\":{\"items\":[{}]}}"},
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 404, "{}", ",\"value\":null}"},
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 403, NO,
	 "may not\",\"denied\":true,\"rightsVersion\":7,\"rightsSince\":8}"},
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 503, "{}", ""},
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 500, "{}", ""},
	{"{" NEED ",\"name\":\"c\",\"tolerant\":true}", MAPS "/c", 503, "{}", ""},
	{"{" NEED ",\"name\":\"c\",\"tolerant\":true}", MAPS "/c", 500, "{}", "\"error\":"},
	{"{" NEED ",\"name\":\"c\"}", MAPS "/c", 400, "{}", "\"error\":"},
	{"{" NEED ",\"name\":\"..\"}", NULL, 0, NULL, ",\"value\":null}"},
	{"{" NEED ",\"name\":\".\"}", NULL, 0, NULL, ",\"value\":null}"},
	{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"..\",\"name\":\"c\"}", NULL,
	 0, NULL, ",\"value\":null}"},
	{"{" NEED "}", MAPS "*", 200,
	 "{\"kind\":\"ConfigMapList\",\"items\":[{\"data\":{}},{\"apiVersion\":\"v9\",\"kind\":"
	 "\"Own\"}]}",
	 "{\"data\":{},\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"},{\"apiVersion\":\"v9\","
	 "\"kind\":\"Own\"}]}}"},
	{"{" NEED ",\"name\":\"\"}", MAPS "*", 200, "{\"items\":[{\"data\":{}}]}",
	 "{\"data\":{},\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"}]}}"},
	{"{" NEED ",\"selector\":\"a=b,c\"}", MAPS "?labelSelector=a%3Db%2Cc*", 200,
	 "{\"items\":[]}", ",\"value\":{\"items\":[]}}"},
	{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"\"}", "/api/v1/configmaps*",
	 200, "{\"items\":[]}", ",\"value\":{\"items\":[]}}"},
	{"{\"kind\":\"configmaps\",\"namespace\":\"n\",\"name\":\"c\"}", MAPS "/c", 200, "{}",
	 ",\"value\":{}}"},                                             /* what a person wrote */
	{"{\"zone\":\"Etc/UTC\"}", NULL, 0, NULL, ",\"value\":\"VFpp"}, /* TZif */
	{"{\"zone\":\"Etc/Nowhere\"}", NULL, 0, NULL, ",\"value\":null}"},
};

static void test_work_ask__the_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct work_fixture f;
		const struct row *r = &rows[i];
		begin(&f);
		size_t first = fake_count(f.transport);
		for (int k = 0; r->target && k < (r->status < 500 ? 1 : READS_MAX); k++)
			fake_answer(f.transport, "GET", r->target, r->status, r->body);
		CLEANUP(strbuf_release) struct strbuf needs = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&needs, "[%s]", r->need);
		const char *got = ask_as(&f, needs.buf, true);
		if (!*r->want != !*got || !strstr(got, r->want))
			fail_msg("%s: %d: %s", r->need, r->status, got);
		if (*r->want)
			assert_true(!strncmp(got + 1, r->need, strlen(r->need) - 1));
		else
			assert_true(f.code != 0);
		if (r->target)
			assert_string_equal(fake_user(f.transport, first), WORK_FIXTURE_ACCOUNT);
		if (r->status < 500)
			work_fixture_release(&f);
		else
			work_fixture_drop(&f);
	}
}

/* They are the template's, which shall fail: no retry makes them smaller, or the kind known. */
static void test_work_ask__what_no_answer_can_be(void **state)
{
	static const char unknown[] = "{\"apiVersion\":\"x.io/v1\",\"kind\":\"X\",\"name\":\"x\"}";
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct work_fixture f;
		begin(&f);
		if (i) { /* it may have come since, so the kinds are read again */
			fake_answer(f.transport, "GET", "/apis", 200, "{\"items\":[]}");
			fake_answer(f.transport, "GET", "/api", 200,
				    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[]}");
		} else {
			fake_lose(f.transport, "GET", MAPS "/a");
			fake_code(f.transport, E_LIMIT);
		}
		CLEANUP(strbuf_release) struct strbuf needs = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&needs, "[%s,{\"zone\":\"Etc/Nowhere\"}]",
			    i ? unknown : "{" NEED ",\"name\":\"a\"}");
		const char *got = ask_as(&f, needs.buf, true);
		assert_non_null(
			strstr(got, i ? "\"error\":\"unable to get apiresource from "
					"unstructured: x.io/v1, Kind=X: "
				      : "\"error\":\"RenderLimit: the answers have more than "
					"16 MiB\",\"large\":true}"));
		assert_non_null(strstr(got, "},{\"zone\":\"Etc/Nowhere\",\"value\":null}]"));
		work_fixture_release(&f);
	}
}

/* Whom ALM itself is refused, no right of the account mends. */
static void test_work_ask__what_alm_may_not_is_an_error(void **state)
{
	struct work_fixture f;
	(void)state;
	begin(&f);
	size_t first = fake_count(f.transport);
	fake_answer(f.transport, "GET", MAPS "/c", 403, NO);
	const char *got = ask_as(&f, "[{" NEED ",\"name\":\"c\"}]", false);
	assert_non_null(strstr(got, "may not\"}]"));
	assert_null(fake_user(f.transport, first));
	work_fixture_release(&f);
}

static void test_work_ask__one_after_the_other(void **state)
{
	struct work_fixture f;
	(void)state;
	begin(&f);
	fake_answer(f.transport, "GET", MAPS "/a", 200, "{}");
	fake_answer(f.transport, "GET", MAPS "/b", 404, "{}");
	assert_string_equal(ask_as(&f,
				   "[{" NEED ",\"name\":\"a\"},{\"zone\":\"Etc/Nowhere\"},{" NEED
				   ",\"name\":\"..\"},{" NEED ",\"name\":\"b\"}]",
				   true),
			    "[{" NEED ",\"name\":\"a\",\"value\":{}},{\"zone\":\"Etc/Nowhere\","
			    "\"value\":null},{" NEED ",\"name\":\"..\",\"value\":null},{" NEED
			    ",\"name\":\"b\",\"value\":null}]");
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_ask__the_answers),
		cmocka_unit_test(test_work_ask__what_alm_may_not_is_an_error),
		cmocka_unit_test(test_work_ask__one_after_the_other),
		cmocka_unit_test(test_work_ask__what_no_answer_can_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
