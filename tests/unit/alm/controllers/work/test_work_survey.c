/* Which objects are there: of one kind in one namespace by a list, else one by one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/work/works.h"
#include "tests/lib/work_fixture.h"

#define MAPS "/api/v1/namespaces/a/configmaps"
#define LIST MAPS "?limit=200"

/* ConfigMaps c0, c1, .. of namespace ns; the outcome as JSON. */
static const char *survey(struct work_fixture *f, const char *ns, int n)
{
	static char text[256];
	struct plan p;
	struct obj *rows = obj_list();
	work_fixture_plan(&p);
	for (int i = 0; i < n; i++) {
		struct obj *row = obj_map();
		obj_set(row, "key", obj_stringf("k%d", i));
		obj_set_str(row, "group", "");
		obj_set_str(row, "version", "v1");
		obj_set_str(row, "kind", "ConfigMap");
		obj_set_str(row, "namespace", ns);
		obj_set(row, "name", obj_stringf("c%d", i));
		obj_append(rows, row);
	}
	plan_work(&p, &survey_work, "survey:0")->body = obj_keep(p.a, rows);
	work_fixture_run(f, &p);
	const struct outcome *o = stash_get(f->stash, "survey:0");
	assert_non_null(o);
	snprintf(text, sizeof(text), "%d %.*s", -o->code, STR_ARG(o->text));
	return text;
}

static void begin(struct work_fixture *f)
{
	work_fixture_init(f);
	work_fixture_discover(f);
}

static size_t asked(const struct work_fixture *f, const char *what)
{
	size_t n = 0;
	for (size_t i = 0; i < fake_count(f->transport); i++)
		n += strstr(fake_call(f->transport, i), what) != NULL;
	return n;
}

static void test_work_survey__what_begins_is_one_request_a_kind(void **state)
{
	(void)state;
	struct work_fixture f;
	begin(&f);
	fake_answer(f.transport, "GET", LIST, 200,
		    "{\"items\":[{\"metadata\":{\"name\":\"kube-root-ca.crt\"}}]}");
	assert_string_equal(survey(&f, "a", 5), "0 {}");
	assert_int_equal(asked(&f, MAPS), 1);
	work_fixture_release(&f);
}

static void test_work_survey__what_a_list_has_is_read(void **state)
{
	(void)state;
	struct work_fixture f;
	begin(&f);
	fake_answer(f.transport, "GET", LIST, 200,
		    "{\"items\":[{\"metadata\":{\"name\":\"c1\"}}]}");
	fake_answer(f.transport, "GET", MAPS "/c1", 200, "{\"data\":{}}");
	assert_string_equal(survey(&f, "a", 3), "0 {\"k1\":{\"data\":{}}}");
	assert_int_equal(asked(&f, MAPS), 2);
	work_fixture_release(&f);
}

/* One that is not the whole, or may not be read, says of nothing that it is not there. */
static void test_work_survey__half_a_list_tells_nothing(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *body;
	} lists[] = {{200, "{\"metadata\":{\"continue\":\"x\"},\"items\":[]}"},
		     {403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\"}"}};
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct work_fixture f;
		begin(&f);
		fake_answer(f.transport, "GET", LIST, lists[i].status, lists[i].body);
		fake_answer(f.transport, "GET", MAPS "/c0", 404, "{}");
		fake_answer(f.transport, "GET", MAPS "/c1", 200, "{\"data\":{}}");
		fake_answer(f.transport, "GET", MAPS "/c2", 404, "{}");
		assert_string_equal(survey(&f, "a", 3), "0 {\"k1\":{\"data\":{}}}");
		work_fixture_release(&f);
	}
}

static void test_work_survey__two_are_read_one_by_one(void **state)
{
	(void)state;
	struct work_fixture f;
	begin(&f);
	fake_answer(f.transport, "GET", MAPS "/c0", 404, "{}");
	fake_answer(f.transport, "GET", MAPS "/c1", 404, "{}");
	assert_string_equal(survey(&f, "a", 2), "0 {}");
	assert_int_equal(asked(&f, LIST), 0);
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_survey__what_begins_is_one_request_a_kind),
		cmocka_unit_test(test_work_survey__what_a_list_has_is_read),
		cmocka_unit_test(test_work_survey__half_a_list_tells_nothing),
		cmocka_unit_test(test_work_survey__two_are_read_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
