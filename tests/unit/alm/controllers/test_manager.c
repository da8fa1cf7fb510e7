/* How many keys of a controller are worked on at a time: what a pass holds is bounded by it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/manager_bundles.h"
#include "alm/controllers/manager_internal.h"
#include "tests/lib/work_fixture.h"

enum { KEYS = 500 };

static size_t taken(struct queue *q)
{
	struct arena *a = arena_new((size_t)1 << 20);
	size_t n = 0;
	for (int i = 0; i < KEYS; i++)
		queue_add(q, arena_fmt(a, "k%d", i));
	while (queue_get(q))
		n++;
	arena_free(a);
	return n;
}

static struct manager *make(const struct work_fixture *f)
{
	const struct manager_config c = {.loop = f->loop,
					 .client = f->client,
					 .audit = f->audit,
					 .db = f->db,
					 .same_process = true};
	return manager_new(&c);
}

static void test_manager__a_controller_has_a_bound_for_its_keys(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	struct manager *m = make(&f);
	size_t n_sources = 0;
	assert_true(m->n_workers > 5);
	for (size_t i = 0; i < m->n_workers; i++) {
		const char *name = m->workers[i].c->name;
		/* Other servers are read for minutes: their keys wait for nobody else's. */
		bool sources = !strcmp(name, "catalog") || !strcmp(name, "bundle");
		size_t n = taken(m->workers[i].queue);
		if (n != (sources ? 120 : 64))
			fail_msg("%s: %zu keys at a time", name, n);
		n_sources += sources;
	}
	assert_int_equal(n_sources, 2);
	manager_free(m);
	work_fixture_drop(&f);
}

/* What is in no cache yet is not said to be missing. */
static void test_manager__a_rollout_is_not_missing_before_the_list_has_come(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	struct manager *m = make(&f);
	struct arena *a = arena_new(1 << 16);
	const struct informer_config ic = {.client = f.client,
					   .resource = {"g", "v1", "rollouts", "Rollout", false}};
	struct informer *was = m->fixed[WATCH_ROLLOUT].informer, *unread = informer_new(&ic);
	struct informer *const list[] = {NULL, unread};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct error err = ERROR_INIT;
		struct bundle_rollout r;
		m->fixed[WATCH_ROLLOUT].informer = list[i];
		assert_int_equal(bundle_rollout_read(m, NULL, a, &r, &err), 0);
		assert_true(bundle_rollout_read(m, "r", a, &r, &err) < 0);
		assert_int_equal(err.code, E_UNAVAILABLE);
	}
	m->fixed[WATCH_ROLLOUT].informer = was;
	manager_start_working(m); /* nor is anything decided */
	assert_false(m->ready);
	informer_free(unread);
	arena_free(a);
	manager_free(m);
	manager_free(NULL);
	work_fixture_drop(&f);
}

static void cached(void *arg, enum informer_change change, const struct informer_object *before,
		   const struct informer_object *after)
{
	(void)arg;
	(void)change;
	(void)before;
	(void)after;
}

static void list_came(void *arg)
{
	*(bool *)arg = true;
}

/* A Rollout counts by its spec; one that is not there, or says nothing that can be done, is told. */
static void test_manager__a_rollout_is_that_of_its_name(void **state)
{
	static const char list[] =
		"{\"apiVersion\":\"g/"
		"v1\",\"kind\":\"RolloutList\",\"metadata\":{\"resourceVersion\":"
		"\"5\"},\"items\":[{\"metadata\":{\"name\":\"good\",\"resourceVersion\":\"4\","
		"\"labels\":{\"a\":\"b\"}},\"spec\":{\"groups\":[]}},{\"metadata\":{\"name\":"
		"\"bad\","
		"\"resourceVersion\":\"3\"},\"spec\":{\"groups\":7}}]}";
	(void)state;
	struct work_fixture f;
	bool came = false;
	work_fixture_init(&f);
	struct manager *m = make(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const struct informer_config ic = {.client = f.client,
					   .resource = {"g", "v1", "rollouts", "Rollout", false},
					   .changed = cached,
					   .synced = list_came,
					   .arg = &came};
	struct informer *was = m->fixed[WATCH_ROLLOUT].informer, *known = informer_new(&ic);
	fake_answer(f.transport, "GET", "/apis/g/v1/rollouts?*", 200, list);
	fake_stream(f.transport, "GET", "/apis/g/v1/rollouts?watch=*", 200, "");
	informer_start(known);
	loop_fake_settle(f.loop);
	assert_true(came);
	m->fixed[WATCH_ROLLOUT].informer = known;
	struct error err = ERROR_INIT;
	struct bundle_rollout r;
	assert_int_equal(bundle_rollout_read(m, "none", a, &r, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "spec.rolloutRef: there is no Rollout none; "));
	assert_null(r.rollout);
	assert_int_equal(bundle_rollout_read(m, "bad", a, &r, &err), -E_INVALID);
	assert_true(cstr_has_prefix(err.msg, "spec.rolloutRef: "));
	m->fixed[WATCH_ROLLOUT].informer = was;
	informer_free(known);
	manager_free(m);
	work_fixture_drop(&f);
}

/* Nothing is left under way of one that ends, whatever it has begun. */
static void test_manager__ends_what_it_began(void **state)
{
	(void)state;
	struct work_fixture f;
	work_fixture_init(&f);
	struct manager *m = make(&f);
	fake_stream(f.transport, "GET", "/version", 200, "");
	manager_start(m);
	manager_start(m); /* which is once */
	loop_fake_settle(f.loop);
	assert_int_equal(fake_open(f.transport), 1);
	manager_free(m);
	assert_int_equal(fake_open(f.transport), 0);
	work_fixture_drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager__a_rollout_is_not_missing_before_the_list_has_come),
		cmocka_unit_test(test_manager__a_controller_has_a_bound_for_its_keys),
		cmocka_unit_test(test_manager__a_rollout_is_that_of_its_name),
		cmocka_unit_test(test_manager__ends_what_it_began),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
