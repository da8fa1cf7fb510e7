/* Compaction of large objects: what it frees does not go through the WAL at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/apiserver/store/store.h"
#include "alm/base/clock.h"
#include "alm/io/db.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/test.h"

#define N_OBJECTS 40
#define MIB       (1 << 20)

static void write_it(struct store *s, int i, bool remove)
{
	struct error err = ERROR_INIT;
	struct text *text;
	char name[16];
	snprintf(name, sizeof(name), "a%d", i);
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", "n", name);
	CLEANUP(xfreep) char *data = xmalloc(MIB + 1);
	memset(data, 'x', MIB);
	data[MIB] = '\0';
	obj_set_str(o, "data", data);
	struct write w = {.resource = store_resource(s, "", "configmaps"),
			  .ns = "n",
			  .name = name,
			  .after = o,
			  .remove = remove};
	w.head = resource_find(w.resource, w.ns, w.name);
	assert_ok(store_write(s, &w, &text, &err), &err);
	store_flush(s);
}

static void test_compact__the_wal_stays_short(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	struct store *s = NULL;
	struct loop *loop = loop_fake_new(0);
	char folder[] = "/tmp/alm-test-compact-XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/alm.db", folder);
	const struct db_config c = {.path = path};
	assert_ok(db_open(&c, &d, &err), &err);
	const struct store_config sc = {.db = d, .loop = loop};
	assert_ok(store_open(&sc, &s, &err), &err);
	for (int i = 0; i < N_OBJECTS; i++)
		write_it(s, i, false);
	for (int i = 0; i < N_OBJECTS; i++)
		write_it(s, i, true);
	store_window_clear(s);
	for (int i = 0; i < 200; i++) {
		loop_fake_run(loop, NS_PER_S / 10);
		assert_true(db_wal_bytes(d) < 20 * MIB);
	}
	store_close(s);
	db_close(d);
	loop_free(loop);
	unlink(path);
	snprintf(path, sizeof(path), "%s/alm.db.lock", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

static int64_t count_rows(struct db *d)
{
	struct error err = ERROR_INIT;
	struct stmt *st;
	assert_ok(db_prepare(d, "SELECT count(*) FROM objects", &st, &err), &err);
	assert_int_equal(stmt_step(st, &err), 1);
	int64_t n = stmt_int(st, 0);
	stmt_reset(st);
	return n;
}

/* A store on a database of the memory, which a stop of it outlives. */
struct memory {
	struct loop *loop;
	struct db *db;
	struct store *store;
};

static void memory_open(struct memory *m)
{
	struct error err = ERROR_INIT;
	const struct db_config c = {.path = ":memory:"};
	*m = (struct memory){.loop = loop_fake_new(0)};
	assert_ok(db_open(&c, &m->db, &err), &err);
	const struct store_config sc = {.db = m->db, .loop = m->loop};
	assert_ok(store_open(&sc, &m->store, &err), &err);
}

static void memory_open_again(struct memory *m)
{
	struct error err = ERROR_INIT;
	const struct store_config sc = {.db = m->db, .loop = m->loop};
	store_close(m->store);
	assert_ok(store_open(&sc, &m->store, &err), &err);
}

static void memory_close(struct memory *m)
{
	store_close(m->store);
	db_close(m->db);
	loop_free(m->loop);
}

static void test_compact__what_a_stop_left_goes_after_the_start(void **state)
{
	(void)state;
	struct memory m;
	memory_open(&m);
	for (int i = 0; i < 6; i++)
		write_it(m.store, 1, false);
	store_window_clear(m.store);
	for (int i = 0; i < 100 && count_rows(m.db) == 6; i++)
		loop_fake_run(m.loop, NS_PER_S / 100);
	assert_in_range(count_rows(m.db), 2, 5);
	memory_open_again(&m);
	loop_fake_run(m.loop, 10 * NS_PER_S);
	assert_int_equal(count_rows(m.db), 1);
	memory_close(&m);
}

/* Revisions never go back: the row of a deletion stays while it is the newest. */
static void test_compact__the_newest_revision_outlives_its_object(void **state)
{
	(void)state;
	struct memory m;
	memory_open(&m);
	write_it(m.store, 1, false);
	write_it(m.store, 1, true);
	int64_t rv = store_rv(m.store);
	for (int i = 0; i < 3; i++) {
		store_window_clear(m.store);
		loop_fake_run(m.loop, 10 * NS_PER_S);
		assert_int_equal(count_rows(m.db), 1);
		memory_open_again(&m);
		assert_int_equal(store_rv(m.store), rv);
	}
	write_it(m.store, 2, false);
	assert_true(store_rv(m.store) > rv);
	memory_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact__the_wal_stays_short),
		cmocka_unit_test(test_compact__what_a_stop_left_goes_after_the_start),
		cmocka_unit_test(test_compact__the_newest_revision_outlives_its_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
