/* What has the labels of a unit, of all kinds that are served by now. */
#include "tests/lib/test.h"

#include "alm/controllers/work/works.h"
#include "tests/lib/work_fixture.h"

#define KIND(plural, kind)                                                                         \
	"{\"resource\":\"" plural "\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":" \
	"\"" kind "\"},\"scope\":\"Namespaced\",\"verbs\":[\"list\",\"delete\"]}"
#define DOCUMENT(groups)                                                            \
	"{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/" \
	"v2\",\"items\":[" groups "]}"
#define SERVED(kinds)                                                                             \
	DOCUMENT("{\"metadata\":{},\"versions\":[{\"version\":\"v1\",\"resources\":[" kinds "]}]" \
		 "}")
#define SELECTOR "?labelSelector=a%3Db*" /* and a limit */

static void put_kinds(struct work_fixture *f, const char *core)
{
	fake_answer(f->transport, "GET", "/api", 200, core);
	fake_answer(f->transport, "GET", "/apis", 200, DOCUMENT(""));
}

static void on_read(void *arg, const struct error *err)
{
	(void)arg;
	assert_null(err);
}

/* What was known when the process began. */
static void read_kinds(struct work_fixture *f, const char *core)
{
	put_kinds(f, core);
	discovery_refresh(f->discovery, on_read, f);
	loop_fake_settle(f->loop);
}

static void start(struct work_fixture *f)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	struct obj *body = obj_keep(a, obj_map());
	obj_set_str(body, "selector", "a=b");
	plan_work(&p, &gather_work, "gather:0")->body = body;
	executor_start(f->executor, "unit", "k", &p, a, work_fixture_ended, f);
}

static const struct outcome *gather(struct work_fixture *f)
{
	start(f);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	const struct outcome *o = stash_get(f->stash, "gather:0");
	assert_non_null(o);
	return o;
}

static void test_work_gather__kinds_that_came_meanwhile_are_listed(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	read_kinds(&f, SERVED(KIND("pods", "Pod")));
	put_kinds(&f, SERVED(KIND("pods", "Pod") "," KIND("widgets", "Widget")));
	fake_answer(f.transport, "GET", "/api/v1/pods" SELECTOR, 200, "{\"items\":[]}");
	fake_answer(f.transport, "GET", "/api/v1/widgets" SELECTOR, 200,
		    "{\"items\":[{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"}}]}");
	const struct outcome *o = gather(&f);
	assert_int_equal(o->code, 0);
	assert_true(str_is(o->text, "[{\"apiVersion\":\"v1\",\"kind\":\"Widget\",\"metadata\":"
				    "{\"name\":\"w\",\"namespace\":\"n\"}}]"));
	work_fixture_release(&f);
}

/* What is not known to be there would count as absent. */
static void test_work_gather__nothing_is_listed_where_the_kinds_cannot_be_read(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	read_kinds(&f, SERVED(KIND("pods", "Pod")));
	fake_answer(f.transport, "GET", "/api", 403, "{}");
	const struct outcome *o = gather(&f);
	assert_int_equal(o->code, E_UNAVAILABLE);
	assert_null(o->text.ptr);
	work_fixture_release(&f);
}

static void test_work_gather__one_list_that_fails_is_a_failure_of_all(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	put_kinds(&f, SERVED(KIND("pods", "Pod") "," KIND("widgets", "Widget")));
	fake_answer(f.transport, "GET", "/api/v1/pods" SELECTOR, 200, "{\"items\":[]}");
	fake_answer(f.transport, "GET", "/api/v1/widgets" SELECTOR, 403, "{}");
	const struct outcome *o = gather(&f);
	assert_int_equal(o->code, E_FORBIDDEN);
	assert_null(o->text.ptr);
	work_fixture_release(&f);
}

/* The process ends while the kinds are read: nobody is called. */
static void test_work_gather__it_ends_while_the_kinds_are_read(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	fake_stream(f.transport, "GET", "/api", 200, "");
	start(&f);
	loop_fake_settle(f.loop);
	assert_int_equal(f.n_done, 0);
	executor_free(f.executor);
	f.executor = NULL;
	fake_push(f.transport, SERVED(KIND("pods", "Pod")));
	fake_answer(f.transport, "GET", "/apis", 200, DOCUMENT(""));
	fake_end(f.transport, false);
	loop_fake_settle(f.loop);
	work_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_gather__kinds_that_came_meanwhile_are_listed),
		cmocka_unit_test(
			test_work_gather__nothing_is_listed_where_the_kinds_cannot_be_read),
		cmocka_unit_test(test_work_gather__one_list_that_fails_is_a_failure_of_all),
		cmocka_unit_test(test_work_gather__it_ends_while_the_kinds_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
