/* How many keys of a controller are worked on at a time: what a pass holds is bounded by it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/audit.h"
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

static struct manager *make_as(const struct work_fixture *f, bool same_process)
{
	const struct manager_config c = {.loop = f->loop,
					 .client = f->client,
					 .audit = f->audit,
					 .db = f->db,
					 .same_process = same_process};
	return manager_new(&c);
}

static struct manager *make(const struct work_fixture *f)
{
	return make_as(f, true);
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

static void observe(struct work_fixture *f, const char *kind, const char *name, const char *reason)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	const struct audit_row row = {
		.type = "Observe",
		.reason = reason,
		.subject = {.kind = kind, .ns = "n", .name = name, .uid = name}};
	assert_ok(audit_append_now(f->audit, &row, &seq, &err), &err);
}

/* Whom the log says to be gone, since this entry. */
static const char *told_gone(struct work_fixture *f, int64_t from, struct strbuf *b)
{
	for (int64_t seq = from + 1; seq <= audit_last_seq(f->audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->audit, seq, &row, &err), &err);
		if (cstr_eq(obj_str(row, "reason"), "Deleted"))
			strbuf_addf(b, "%s/%s ", obj_str(row, "subject.kind"),
				    obj_str(row, "subject.name"));
	}
	return b->buf;
}

/* Of a server whose writes are in no log of ours: what went while nobody looked is told from what the log saw last. */
static void test_manager__instances_that_went_unseen_are_told(void **state)
{
	static const char list[] =
		"{\"apiVersion\":\"g/"
		"v1\",\"kind\":\"EtcdList\",\"metadata\":{\"resourceVersion\":\"5\"},"
		"\"items\":[{\"metadata\":{\"name\":\"there\",\"namespace\":\"n\",\"uid\":"
		"\"there\","
		"\"resourceVersion\":\"4\",\"generation\":1}}]}";
	static const struct resource etcds = {"g", "v1", "etcds", "Etcd", true};
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct work_fixture f;
		CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT(STRBUF_SMALL);
		work_fixture_init(&f);
		struct manager *m = make_as(&f, same);
		observe(&f, "Etcd", "gone", "Created");
		observe(&f, "Etcd", "there", "Created");
		observe(&f, "Etcd", "known", "Created");
		observe(&f, "Etcd", "known", "Deleted");
		observe(&f, "Other", "another", "Created");
		int64_t last = audit_last_seq(f.audit);
		struct source_watch *w = xcalloc(1, sizeof(*w));
		w->kind = WATCH_INSTANCE;
		const struct informer_config nothing = {.client = f.client, .resource = etcds};
		for (size_t i = 0; i < ARRAY_LEN(m->fixed); i++)
			m->fixed[i].informer = informer_new(&nothing);
		map_set(m->instances, "g/etcds", w);
		fake_answer(f.transport, "GET", "/apis/g/v1/etcds?limit=*", 200, list);
		fake_stream(f.transport, "GET", "/apis/g/v1/etcds?watch=*", 200, "");
		m->ready = true;
		manager_open_watch(m, w, &etcds, NULL, false);
		loop_fake_settle(f.loop);
		assert_true(informer_is_synced(w->informer));
		assert_string_equal(told_gone(&f, last, &told), same ? "" : "Etcd/gone ");
		manager_free(m);
		work_fixture_drop(&f);
	}
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
		cmocka_unit_test(test_manager__instances_that_went_unseen_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
