/* Prometheus is asked through the API server, as the account; and never without the Secret that is named. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/sources/credentials.h"
#include "tests/lib/work_fixture.h"

#define PROXY "/api/v1/namespaces/mon/services/p%3A9090/proxy/api/v1/query?query=up%20%3E%201"

static const struct outcome *ask(struct work_fixture *f, const char *address, const char *service,
				 const char *secret)
{
	struct plan p;
	work_fixture_plan(&p);
	struct obj *body = obj_keep(p.a, obj_map());
	obj_set_str(body, "query", "up > 1");
	obj_set_str(body, "address", address);
	obj_set_str(body, "service", service);
	obj_set_str(body, "ns", service ? "mon" : NULL);
	obj_set_str(body, "secret", secret);
	plan_app_work(&p, &prometheus_work, "metric:0")->body = body;
	work_fixture_run(f, &p);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->code, 0); /* it is an outcome, whatever was answered */
	const struct outcome *o = stash_get(f->stash, "metric:0");
	assert_non_null(o);
	return o;
}

static void test_work_prometheus__a_service_is_asked_as_the_account(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	fake_answer(f.transport, "GET", PROXY, 200, "{\"status\":\"success\"}");
	const struct outcome *o = ask(&f, NULL, "p:9090", NULL);
	assert_int_equal(o->code, 0);
	assert_true(str_is(o->text, "{\"text\":\"{\\\"status\\\":\\\"success\\\"}\"}"));
	assert_string_equal(fake_user(f.transport, 0), WORK_FIXTURE_ACCOUNT);
	work_fixture_release(&f);
}

static void test_work_prometheus__what_is_no_answer_is_no_data(void **state)
{
	(void)state;
	static const struct {
		int status, code;
	} rows[] = {{401, E_UNAUTHORIZED}, {403, E_FORBIDDEN}, {404, E_NOTFOUND}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct work_fixture f;
		work_fixture_init(&f);
		fake_answer(f.transport, "GET", PROXY, rows[i].status, "{}");
		const struct outcome *o = ask(&f, NULL, "p:9090", NULL);
		assert_int_equal(o->code, rows[i].code);
		assert_int_equal(o->text.len, 0);
		work_fixture_release(&f);
	}
}

static const char secrets[] =
	"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":[{"
	"\"version\":\"v1\",\"resources\":[{\"resource\":\"secrets\",\"responseKind\":{\"kind\":"
	"\"Secret\"},\"scope\":\"Namespaced\",\"verbs\":[\"get\"]}]}]}]}";

static void discovered(void *arg, const struct error *err)
{
	(void)arg;
	assert_null(err);
}

/* One that is absent, may not be read, or of which nothing is known yet. */
static void test_work_prometheus__never_without_the_secret_that_is_named(void **state)
{
	(void)state;
	static const struct {
		int status; /* of the Secret; 0: Secrets are not discovered */
		const char *body;
		int code;
		const char *why;
	} rows[] = {
		{0, NULL, E_UNAVAILABLE, "Secret alm-system/prom: the server lists no Secrets"},
		{404, "{}", E_NOTALLOWED, "prom"},
		{403, "{\"kind\":\"Status\",\"message\":\"may not\"}", E_FORBIDDEN, "may not"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct work_fixture f;
		work_fixture_init(&f);
		if (rows[i].status) {
			fake_answer(f.transport, "GET", "/apis", 200, "{\"items\":[]}");
			fake_answer(f.transport, "GET", "/api", 200, secrets);
			discovery_refresh(f.discovery, discovered, NULL);
			loop_fake_settle(f.loop);
			fake_answer(f.transport, "GET",
				    "/api/v1/namespaces/" CREDENTIALS_NAMESPACE "/secrets/prom",
				    rows[i].status, rows[i].body);
		}
		const struct outcome *o = ask(&f, "https://127.0.0.1:1", NULL, "prom");
		assert_int_equal(o->code, rows[i].code);
		if (!strstr(o->msg, rows[i].why))
			fail_msg("row %zu: %s", i, o->msg);
		if (rows[i].status) /* ALM reads it, not the account */
			assert_null(fake_user(f.transport, fake_count(f.transport) - 1));
		work_fixture_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_prometheus__a_service_is_asked_as_the_account),
		cmocka_unit_test(test_work_prometheus__what_is_no_answer_is_no_data),
		cmocka_unit_test(test_work_prometheus__never_without_the_secret_that_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
