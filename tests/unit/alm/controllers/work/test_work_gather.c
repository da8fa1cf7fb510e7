/* What has the labels of a unit, of all kinds that are served by now. */
#include "tests/lib/test.h"

#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
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

static void start_with(struct work_fixture *f, const char *body, const char *as)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	struct plan p;
	plan_init(&p, a);
	p.as = as;
	assert_ok(json_parse(str_of(body), &o, &err), &err);
	obj_keep(a, o);
	if (as)
		plan_app_work(&p, &gather_work, "gather:0")->body = o;
	else
		plan_work(&p, &gather_work, "gather:0")->body = o;
	executor_start(f->executor, "unit", "k", &p, a, work_fixture_ended, f);
}

static void start(struct work_fixture *f)
{
	start_with(f, "{\"selector\":\"a=b\"}", NULL);
}

static const struct outcome *gather_with(struct work_fixture *f, const char *body, const char *as)
{
	start_with(f, body, as);
	loop_fake_settle(f->loop);
	assert_int_equal(f->n_done, 1);
	const struct outcome *o = stash_get(f->stash, "gather:0");
	assert_non_null(o);
	return o;
}

static const struct outcome *gather(struct work_fixture *f)
{
	return gather_with(f, "{\"selector\":\"a=b\"}", NULL);
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

/* --- what may be nobody's, by namespaces --- */

#define CLUSTER_KIND                                                                          \
	"{\"resource\":\"nodes\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":" \
	"\"Node\"},"                                                                          \
	"\"scope\":\"Cluster\",\"verbs\":[\"list\",\"delete\"]}"
#define ITEM(ns, name) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\",\"uid\":\"" name "\"}}"
#define OWNED(ns, name)                                                                        \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\",\"ownerReferences\":[{" \
	"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"x\",\"uid\":\"y\"}]}}"
#define ITEMS(list) "{\"items\":[" list "]}"

static const char *names_of(struct work_fixture *f, const struct outcome *o, struct arena *a)
{
	struct error err = ERROR_INIT;
	struct obj *rows = NULL;
	const char *names = "";
	(void)f;
	assert_int_equal(o->code, 0);
	assert_ok(json_parse(o->text, &rows, &err), &err);
	obj_keep(a, rows);
	for (size_t i = 0; i < obj_len(rows); i++)
		names = arena_fmt(a, "%s%s/%s ", names, meta_namespace(obj_at(rows, i)),
				  meta_name(obj_at(rows, i)));
	return names;
}

static void test_work_gather__of_namespaces_what_may_be_nobodys(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	put_kinds(&f, SERVED(KIND("pods", "Pod") "," CLUSTER_KIND));
	fake_answer(f.transport, "GET", "/api/v1/namespaces/a/pods?limit=500", 200,
		    "{\"metadata\":{\"continue\":\"n+x\"},\"items\":[" ITEM("a", "p1") "," OWNED(
			    "a", "p2") "]}");
	fake_answer(f.transport, "GET", "/api/v1/namespaces/a/pods?limit=500&continue=n%2Bx", 200,
		    ITEMS(ITEM("a", "p3")));
	fake_answer(f.transport, "GET", "/api/v1/namespaces/b/pods?limit=500", 200,
		    ITEMS(ITEM("b", "p4")));
	const struct outcome *o =
		gather_with(&f, "{\"namespaces\":[\"a\",\"b\"]}", "system:serviceaccount:a:b");
	assert_string_equal(names_of(&f, o, a), "a/p1 a/p3 b/p4 ");
	work_fixture_release(&f);
}

#define MANY "{\"namespaces\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}"

/* A hundred namespaces are no hundred lists of each kind; what lies elsewhere is left out. */
static void test_work_gather__of_many_namespaces_in_one_list(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	put_kinds(&f, SERVED(KIND("pods", "Pod")));
	fake_answer(f.transport, "GET", "/api/v1/pods?limit=500", 200,
		    ITEMS(ITEM("a", "p1") "," ITEM("z", "p2") "," ITEM("e", "p3")));
	assert_string_equal(names_of(&f, gather_with(&f, MANY, NULL), a), "a/p1 e/p3 ");
	work_fixture_release(&f);
}

/* Who may list nothing but its namespaces. */
static void test_work_gather__of_many_namespaces_one_after_the_other(void **state)
{
	(void)state;
	static const char *const ns[] = {"a", "b", "c", "d", "e"};
	struct work_fixture f;
	work_fixture_init(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	put_kinds(&f, SERVED(KIND("pods", "Pod")));
	fake_answer(f.transport, "GET", "/api/v1/pods?limit=500", 403, "{}");
	for (size_t i = 0; i < ARRAY_LEN(ns); i++)
		fake_answer(f.transport, "GET",
			    arena_fmt(a, "/api/v1/namespaces/%s/pods?limit=500", ns[i]), 200,
			    i == 4 ? ITEMS(ITEM("e", "p")) : ITEMS(""));
	assert_string_equal(names_of(&f, gather_with(&f, MANY, NULL), a), "e/p ");
	work_fixture_release(&f);
}

static void test_work_gather__one_namespace_that_may_not_be_listed_is_a_failure(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	put_kinds(&f, SERVED(KIND("pods", "Pod")));
	fake_answer(f.transport, "GET", "/api/v1/namespaces/a/pods?limit=500", 200,
		    ITEMS(ITEM("a", "p1")));
	fake_answer(f.transport, "GET", "/api/v1/namespaces/b/pods?limit=500", 403, "{}");
	const struct outcome *o = gather_with(&f, "{\"namespaces\":[\"a\",\"b\"]}", NULL);
	assert_int_equal(o->code, E_FORBIDDEN);
	assert_true(cstr_has_prefix(o->msg, "pods: "));
	assert_null(o->text.ptr);
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
		cmocka_unit_test(test_work_gather__of_namespaces_what_may_be_nobodys),
		cmocka_unit_test(test_work_gather__of_many_namespaces_in_one_list),
		cmocka_unit_test(test_work_gather__of_many_namespaces_one_after_the_other),
		cmocka_unit_test(
			test_work_gather__one_namespace_that_may_not_be_listed_is_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
