/* Which objects are there: each is asked for, live. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/work/works.h"
#include "tests/lib/work_fixture.h"

#define MAPS "/api/v1/namespaces/a/configmaps"

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
	if (!o)
		return "nothing is known";
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

/* A list may come of a replica that lags, or be as old as a watch: what it lacks would be taken for absent, and a
 * prune that is held by its number would go on (sim --scenario bundle --seed 7). */
static void test_work_survey__each_is_read_for_itself(void **state)
{
	(void)state;
	struct work_fixture f;
	begin(&f);
	fake_answer(f.transport, "GET", MAPS "/c0", 404, "{}");
	fake_answer(f.transport, "GET", MAPS "/c1", 200, "{\"data\":{}}");
	fake_answer(f.transport, "GET", MAPS "/c2", 404, "{}");
	fake_answer(f.transport, "GET", MAPS "/c3", 404, "{}");
	assert_string_equal(survey(&f, "a", 4), "0 {\"k1\":{\"data\":{}}}");
	assert_int_equal(asked(&f, MAPS "/"), 4);
	assert_int_equal(asked(&f, MAPS), 4);
	work_fixture_release(&f);
}

/* What cannot be read is not absent. */
static void test_work_survey__a_refusal_is_no_absence(void **state)
{
	(void)state;
	struct work_fixture f;
	begin(&f);
	fake_answer(f.transport, "GET", MAPS "/c0", 404, "{}");
	fake_answer(f.transport, "GET", MAPS "/c1", 403,
		    "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403}");
	assert_string_equal(survey(&f, "a", 2), "nothing is known");
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_survey__each_is_read_for_itself),
		cmocka_unit_test(test_work_survey__a_refusal_is_no_absence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
