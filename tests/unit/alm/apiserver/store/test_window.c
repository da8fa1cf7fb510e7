/* The changes that a watch may begin behind, beside a model of what store.h promises of them. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"

#define STEPS_MAX 30000

struct model {
	int64_t rv, at_ns;
	size_t cost;
};

struct fixture {
	struct loop *loop;
	struct db *db;
	struct store *store;
	struct model *all; /* every change, oldest first */
	size_t first, n, bytes;
	int64_t start;
};

static void fixture_init(struct fixture *f)
{
	struct error err = ERROR_INIT;
	const struct db_config c = {.path = ":memory:"};
	*f = (struct fixture){.loop = loop_fake_new(0)};
	f->all = xcalloc(STEPS_MAX, sizeof(*f->all));
	assert_ok(db_open(&c, &f->db, &err), &err);
	const struct store_config sc = {.db = f->db, .loop = f->loop};
	assert_ok(store_open(&sc, &f->store, &err), &err);
	f->start = store_window_start(f->store);
}

static void fixture_release(struct fixture *f)
{
	store_close(f->store);
	db_close(f->db);
	loop_free(f->loop);
	xfree(f->all);
}

/* What leaves: what the bytes have no room for, and what is older than ten minutes, but for the newest ten thousand. */
static void model_push(struct fixture *f, const struct change *c)
{
	assert_true(f->n < STEPS_MAX);
	struct model *m = &f->all[f->n++];
	*m = (struct model){.rv = c->rv, .at_ns = c->at_ns, .cost = c->before ? c->before->len : 0};
	m->cost += c->deleted ? c->after->len : 0;
	f->bytes += m->cost;
	while (f->n - f->first > 1) {
		const struct model *old = &f->all[f->first];
		bool is_old = f->n - f->first > STORE_WINDOW_MIN &&
			      m->at_ns - old->at_ns > STORE_WINDOW_NS;
		if (f->bytes <= STORE_WINDOW_BYTES && !is_old)
			break;
		f->bytes -= old->cost;
		f->start = old->rv;
		f->first++;
	}
}

static void check(const struct fixture *f)
{
	size_t n = f->n - f->first;
	assert_int_equal(store_window_start(f->store), f->start);
	assert_int_equal(store_change_at(f->store, 0)->rv, f->all[f->first].rv);
	assert_int_equal(store_change_at(f->store, n - 1)->rv, f->all[f->n - 1].rv);
	assert_null(store_change_at(f->store, n));
	assert_int_equal(store_change_after(f->store, f->start), 0);
	assert_int_equal(store_change_after(f->store, f->all[f->first].rv), 1);
	assert_int_equal(store_change_after(f->store, f->all[f->n - 1].rv), n);
}

static void change(struct fixture *f, const char *name, size_t bytes, bool remove)
{
	struct error err = ERROR_INIT;
	struct text *text;
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", "n", name);
	CLEANUP(xfreep) char *data = xcalloc(1, bytes + 1);
	memset(data, 'x', bytes);
	obj_set_str(o, "data", data);
	struct write w = {.resource = store_resource(f->store, "", "configmaps"),
			  .ns = "n",
			  .name = name,
			  .after = o,
			  .remove = remove};
	w.head = resource_find(w.resource, w.ns, w.name);
	assert_ok(store_write(f->store, &w, &text, &err), &err);
	store_flush(f->store);
	const struct change *last = NULL, *c;
	for (size_t i = store_change_after(f->store, store_rv(f->store) - 1);
	     (c = store_change_at(f->store, i)) != NULL; i++)
		last = c;
	assert_non_null(last);
	model_push(f, last);
	check(f);
}

static void test_window__it_has_what_the_header_promises(void **state)
{
	static const struct {
		size_t n, bytes;
		int64_t pause_ns;
		size_t left_min, left_max; /* of the window */
	} phases[] = {
		{200, 10, 0, 200, 200},
		{STORE_WINDOW_MIN + 500, 1, NS_PER_S / 5, STORE_WINDOW_MIN,
		 STORE_WINDOW_MIN}, /* half an hour: ten thousand stay */
		{STORE_WINDOW_MIN + 1500, 1, 0, STORE_WINDOW_MIN + 1501,
		 20000},                          /* quicker: all of ten minutes do */
		{40, 600000, NS_PER_S, 10, 20},   /* as many as there is room for */
		{3000, 1, NS_PER_MS, 3001, 3020}, /* and the small ones behind them */
	};
	(void)state;
	struct fixture f;
	fixture_init(&f);
	for (size_t p = 0; p < ARRAY_LEN(phases); p++) {
		for (size_t i = 0; i < phases[p].n; i++) {
			bool remove = i % 7 == 6;
			change(&f, remove || i % 2 ? "a" : "b", phases[p].bytes, remove);
			loop_fake_run(f.loop, phases[p].pause_ns);
		}
		assert_in_range(f.n - f.first, phases[p].left_min, phases[p].left_max);
	}
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window__it_has_what_the_header_promises),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
