/* Would the server take these objects? A refusal of one is told; a server that cannot answer is none. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "tests/lib/work_fixture.h"

#define PATH(name) "/api/v1/namespaces/n/configmaps/" name "?*"
#define MAP(name)                                                      \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{" \
	"\"name\":\"" name "\",\"namespace\":\"n\"}}"
#define BAD(text)                                                                          \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Invalid\",\"code\":422," \
	"\"message\":\"" text "\"}"

static const struct outcome *try(struct work_fixture *f, const char *objects)
{
	struct plan p;
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	work_fixture_plan(&p);
	assert_ok(json_parse(str_of(objects), &o, &err), &err);
	(void)plan_try(&p, "try:0", o);
	work_fixture_run(f, &p);
	assert_int_equal(f->n_done, 1);
	return stash_get(f->stash, "try:0");
}

static void begin(struct work_fixture *f)
{
	work_fixture_init(f);
	work_fixture_discover(f);
}

static void test_work_try__each_is_tried_as_the_account(void **state)
{
	struct work_fixture f;
	(void)state;
	begin(&f);
	size_t first = fake_count(f.transport);
	fake_answer(f.transport, "PATCH", PATH("a"), 200, "{}");
	fake_answer(f.transport, "PATCH", PATH("b"), 422, BAD("b is bad"));
	fake_answer(f.transport, "PATCH", PATH("c"), 403, "{}"); /* the write itself reports it */
	fake_answer(f.transport, "PATCH", PATH("d"), 422, BAD("d is bad"));
	const struct outcome *o =
		try(&f, "[" MAP("a") "," MAP("b") ",{\"apiVersion\":\"x.io/v1\",\"kind\":\"X\","
						  "\"metadata\":{\"name\":\"x\"}},{\"apiVersion\":"
						  "\"v9\",\"kind\":\"ConfigMap\",\"metadata\":{"
						  "\"name\":\"x\",\"namespace\":\"n\"}}," MAP(
							  "c") "," MAP("d") "]");
	assert_non_null(o);
	assert_int_equal(o->code, 0);
	assert_non_null(strstr(o->text.ptr, "{\"refused\":[{\"index\":1,\"message\":"));
	assert_non_null(strstr(o->text.ptr, "b is bad"));
	assert_non_null(strstr(o->text.ptr, "{\"index\":5,\"message\":"));
	assert_int_equal(fake_count(f.transport), first + 4);
	for (size_t i = first; i < fake_count(f.transport); i++) {
		assert_string_equal(fake_user(f.transport, i), WORK_FIXTURE_ACCOUNT);
		assert_non_null(strstr(fake_call(f.transport, i), "dryRun=All"));
		assert_non_null(strstr(fake_call(f.transport, i), "force=true"));
		assert_non_null(strstr(fake_call(f.transport, i), "\"kind\":\"ConfigMap\""));
	}
	work_fixture_release(&f);
}

static void test_work_try__nothing_refused(void **state)
{
	struct work_fixture f;
	(void)state;
	begin(&f);
	fake_answer(f.transport, "PATCH", PATH("a"), 200, "{}");
	const struct outcome *o = try(&f, "[" MAP("a") "]");
	assert_non_null(o);
	assert_str(o->text, "{\"refused\":[]}");
	work_fixture_release(&f);
}

static void test_work_try__a_server_that_cannot_answer_has_said_nothing(void **state)
{
	static const int statuses[] = {429, 503, 504};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(statuses) + 1; i++) {
		struct work_fixture f;
		begin(&f);
		if (i < ARRAY_LEN(statuses))
			fake_answer(f.transport, "PATCH", PATH("a"), statuses[i], "{}");
		else
			fake_lose(f.transport, "PATCH", PATH("a"));
		assert_null(try(&f, "[" MAP("a") "," MAP("b") "]"));
		assert_true(f.code != 0);
		work_fixture_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_try__each_is_tried_as_the_account),
		cmocka_unit_test(test_work_try__nothing_refused),
		cmocka_unit_test(test_work_try__a_server_that_cannot_answer_has_said_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
