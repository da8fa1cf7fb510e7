/* Resource versions after a backup was put back (revisions.h). */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/apiserver/store/revisions.h"
#include "alm/apiserver/store/store.h"
#include "alm/base/file.h"
#include "alm/obj/meta.h"
#include "tests/lib/loop_fake.h"

struct fixture {
	char folder[64], path[96];
	struct loop *loop;
	struct db *db;
	struct store *store;
	struct error err;
};

static void open_it(struct fixture *f)
{
	const struct db_config c = {.path = f->path};
	assert_ok(db_open(&c, &f->db, &f->err), &f->err);
	const struct store_config sc = {.db = f->db, .loop = f->loop};
	assert_ok(store_open(&sc, &f->store, &f->err), &f->err);
}

static void close_it(struct fixture *f)
{
	store_close(f->store);
	db_close(f->db);
	f->store = NULL;
	f->db = NULL;
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	snprintf(f->folder, sizeof(f->folder), "/tmp/alm-test-revisions-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/alm.db", f->folder);
	f->loop = loop_fake_new(0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	close_it(f);
	loop_free(f->loop);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		(void)file_remove(path, &f->err);
	}
	(void)rmdir(f->folder);
	xfree(f);
	return 0;
}

static void put(struct fixture *f, const char *name)
{
	struct text *text;
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", "n", name);
	struct write w = {.resource = store_resource(f->store, "", "configmaps"),
			  .ns = "n",
			  .name = name,
			  .after = o};
	w.head = resource_find(w.resource, w.ns, w.name);
	assert_ok(store_write(f->store, &w, &text, &f->err), &f->err);
	store_flush(f->store);
}

static void skip_revisions(struct fixture *f)
{
	close_it(f);
	const struct db_config c = {.path = f->path};
	assert_ok(db_open(&c, &f->db, &f->err), &f->err);
	assert_ok(revisions_skip(f->db, &f->err), &f->err);
	db_close(f->db);
	f->db = NULL;
	open_it(f);
}

/* The objects are those that were there, as they were; what is written next is far above; also twice. */
static void test_revisions__go_on_far_above(void **state)
{
	struct fixture *f = *state;
	open_it(f);
	put(f, "a");
	put(f, "b");
	put(f, "b");
	int64_t last = store_rv(f->store);
	for (int i = 1; i <= 2; i++) {
		skip_revisions(f);
		struct store_table *t = store_resource(f->store, "", "configmaps");
		assert_int_equal(store_rv(f->store), last + i * REVISIONS_SKIPPED + (i - 1));
		assert_int_equal(resource_find(t, "n", "b")->rv, last);
		assert_null(resource_find(t, "kube-system", "restored-3"));
		put(f, "a");
		assert_int_equal(resource_find(t, "n", "a")->rv,
				 last + i * (REVISIONS_SKIPPED + 1));
	}
	close_it(f);
	open_it(f);
	assert_int_equal(store_rv(f->store), last + 2 * (REVISIONS_SKIPPED + 1));
}

static void test_revisions__nothing_without_objects(void **state)
{
	struct fixture *f = *state;
	const struct db_config c = {.path = f->path};
	assert_ok(db_open(&c, &f->db, &f->err), &f->err);
	assert_ok(revisions_skip(f->db, &f->err), &f->err);
	db_close(f->db);
	open_it(f);
	assert_int_equal(store_rv(f->store), 0);
	skip_revisions(f);
	assert_int_equal(store_rv(f->store), 0);
}

static void test_revisions__end_before_they_overflow(void **state)
{
	struct fixture *f = *state;
	open_it(f);
	put(f, "a");
	close_it(f);
	const struct db_config c = {.path = f->path};
	assert_ok(db_open(&c, &f->db, &f->err), &f->err);
	assert_ok(db_exec(f->db, "UPDATE objects SET id = 9223372036854775000", &f->err), &f->err);
	assert_int_equal(revisions_skip(f->db, &f->err), -E_LIMIT);
	assert_non_null(strstr(f->err.msg, "9223372036854775000 is too large"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_revisions__go_on_far_above),
		TEST(test_revisions__nothing_without_objects),
		TEST(test_revisions__end_before_they_overflow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
