/*
 * Catalogs of a whole manager against a small model: archives come, change and go, sources are away, are others, have
 * another priority; Catalogs go and come again; and the process begins anew. At rest what is resolved with is what the
 * source has, or had when it was last read as this source, and the same is kept for a restart.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/catalog_work.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/manager_fixture.h"

enum { CATALOGS = 2, FOLDERS = 3, ARCHIVES = 5, STEPS = 60 };

#define REST_NS (12 * NS_PER_S)
#define BAD     (1U << ARCHIVES) /* a file that is no archive */

struct kept {
	bool is;
	unsigned uid; /* the how-manieth Catalog of the name */
	int folder, priority;
	unsigned files;
};

struct model {
	bool exists[CATALOGS];
	unsigned uid[CATALOGS];
	int folder[CATALOGS], priority[CATALOGS];
	struct kept used[CATALOGS], kept[CATALOGS];
	unsigned files[FOLDERS]; /* a bit for each archive, and BAD */
};

struct fixture {
	struct manager_fixture m;
	struct model model;
	uint64_t seed;
	char last[128];
};

static unsigned draw(struct fixture *f, unsigned n)
{
	f->seed = f->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((f->seed >> 33) % n);
}

static const char *name_of(const struct fixture *f, size_t i)
{
	return arena_fmt(f->m.a, "c%zu", i);
}

static const char *target_of(const struct fixture *f, size_t i)
{
	return arena_fmt(f->m.a, FIXTURE_CATALOGS "/c%zu", i);
}

/* --- what happens --- */

static void change_file(struct fixture *f)
{
	unsigned folder = draw(f, FOLDERS), i = draw(f, ARCHIVES + 1);
	const char *dir = arena_fmt(f->m.a, "/f%u", folder);
	const char *version = arena_fmt(f->m.a, "0.%u.0", i);
	const char *path = arena_fmt(f->m.a, "%s/web-%s.tgz", dir, version);
	bool is_there = f->model.files[folder] & (1U << i), again = draw(f, 3) == 0;
	(void)snprintf(f->last, sizeof(f->last), "%s %s", path,
		       is_there && !again ? "goes" : "comes");
	if (is_there && !again) { /* again: it is written once more as it is */
		manager_fixture_file(&f->m, path, NULL);
		f->model.files[folder] &= ~(1U << i);
		return;
	}
	if ((1U << i) == BAD)
		manager_fixture_file(&f->m, path, "no archive");
	else
		manager_fixture_chart(&f->m, dir, "web", version, "{}");
	f->model.files[folder] |= 1U << i;
}

static void change_folder(struct fixture *f)
{
	unsigned folder = draw(f, FOLDERS);
	(void)snprintf(f->last, sizeof(f->last), "folder %u is away", folder);
	for (unsigned i = 0; i <= ARCHIVES; i++)
		manager_fixture_file(&f->m, arena_fmt(f->m.a, "/f%u/web-0.%u.0.tgz", folder, i),
				     NULL);
	f->model.files[folder] = 0;
}

static void change_catalog(struct fixture *f)
{
	size_t i = draw(f, CATALOGS);
	struct model *m = &f->model;
	const char *spec;
	if (m->exists[i] && draw(f, 3) == 0) {
		(void)snprintf(f->last, sizeof(f->last), "c%zu goes", i);
		manager_fixture_do(&f->m, "DELETE", target_of(f, i), NULL, 200);
		m->exists[i] = false;
		return;
	}
	m->folder[i] = (int)draw(f, FOLDERS);
	m->priority[i] = (int)draw(f, 3);
	(void)snprintf(f->last, sizeof(f->last), "c%zu is of folder %d, priority %d", i,
		       m->folder[i], m->priority[i]);
	spec = arena_fmt(f->m.a,
			 "\"spec\":{\"interval\":\"2s\",\"priority\":%d,\"source\":{\"url\":"
			 "\"dir:///f%d\"}}",
			 m->priority[i], m->folder[i]);
	if (m->exists[i]) {
		manager_fixture_do(&f->m, "PATCH", target_of(f, i), arena_fmt(f->m.a, "{%s}", spec),
				   200);
		return;
	}
	manager_fixture_do(&f->m, "POST", FIXTURE_CATALOGS,
			   arena_fmt(f->m.a,
				     "{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":"
				     "\"Catalog\",\"metadata\":{\"name\":\"c%zu\"},%s}",
				     i, spec),
			   201);
	m->exists[i] = true;
	m->uid[i]++;
}

static void restart(struct fixture *f)
{
	(void)snprintf(f->last, sizeof(f->last), "restart");
	manager_fixture_restart(&f->m);
	for (size_t i = 0; i < CATALOGS; i++)
		f->model.used[i].is = false;
}

/* --- what comes of it --- */

static void rest(struct model *m)
{
	for (size_t i = 0; i < CATALOGS; i++) {
		const struct kept *k = &m->kept[i];
		unsigned files = m->files[m->folder[i]];
		if (!m->exists[i])
			m->used[i].is = m->kept[i].is = false;
		else if (files)
			m->used[i] = m->kept[i] =
				(struct kept){true, m->uid[i], m->folder[i], m->priority[i], files};
		else if (!m->used[i].is && k->is && k->uid == m->uid[i] &&
			 k->folder == m->folder[i])
			m->used[i] = (struct kept){true, m->uid[i], m->folder[i], m->priority[i],
						   k->files};
	}
}

static unsigned files_of(const struct catalog_index *x)
{
	unsigned ret = x->n_rejected ? BAD : 0;
	for (size_t i = 0; i < x->n; i++) {
		struct str text = x->versions[i]->version.text;
		ret |= 1U << (text.ptr[2] - '0');
	}
	return ret;
}

static bool is_kept(struct fixture *f, size_t i, const char *revision)
{
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (db_prepare(apifake_db(f->m.server),
		       "SELECT revision FROM catalog_revision WHERE name = ?", &s, &err) < 0)
		return false; /* nothing was kept yet, so that there is no table */
	stmt_bind_cstr(s, 1, name_of(f, i));
	bool is = stmt_step(s, &err) > 0;
	if (is && revision)
		assert_true(str_is(stmt_text(s, 0), revision));
	stmt_reset(s);
	return is;
}

static void compare(struct fixture *f, size_t step)
{
	const struct model *m = &f->model;
	size_t n = 0;
	for (size_t i = 0; i < CATALOGS; i++) {
		const struct kept *u = &m->used[i];
		const struct catalog_index *x = manager_index(f->m.manager, name_of(f, i));
		const char *synced = manager_fixture_str(&f->m, target_of(f, i), "@Synced/status");
		const char *want = !m->exists[i] ? "" : m->files[m->folder[i]] ? "True" : "False";
		n += u->is;
		if ((x != NULL) != u->is || (x && files_of(x) != u->files) ||
		    (x && x->priority != u->priority) || strcmp(synced, want) != 0)
			fail_msg("step %zu, %s: c%zu is %s, has %x of %x, priority %d of %d", step,
				 f->last, i, synced, x ? files_of(x) : 0, u->is ? u->files : 0,
				 x ? (int)x->priority : -1, u->is ? u->priority : -1);
		bool same = x && m->kept[i].is && u->folder == m->kept[i].folder &&
			    u->files == m->kept[i].files && u->uid == m->kept[i].uid;
		if (is_kept(f, i, same ? x->revision : NULL) != m->kept[i].is)
			fail_msg("step %zu, %s: c%zu is kept: %d", step, f->last, i,
				 !m->kept[i].is);
	}
	assert_int_equal(f->m.manager->n_indexes, n);
	assert_true(TAILQ_EMPTY(&f->m.manager->works));
}

static void test_manager_catalogs__as_a_model_says(void **state)
{
	static void (*const changes[])(struct fixture *f) = {
		change_file,    change_file,    change_file, change_folder,
		change_catalog, change_catalog, restart};
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fixture f = {.seed = seed};
		manager_fixture_init(&f.m, NULL);
		for (size_t i = 0; i < STEPS; i++) {
			changes[draw(&f, ARRAY_LEN(changes))](&f);
			manager_fixture_run(&f.m, REST_NS);
			rest(&f.model);
			compare(&f, i);
		}
		manager_fixture_release(&f.m);
	}
}

/* --- what has not changed --- */

struct answer_of_sync {
	size_t n, n_indexes;
};

static struct fixture *current;

static void synced(void *arg, struct catalog_index *index, const char *bad_digest,
		   const struct error *err)
{
	struct answer_of_sync *x = arg;
	(void)bad_digest;
	assert_null(err);
	x->n++;
	if (!index)
		return;
	x->n_indexes++;
	manager_swap_index(current->m.manager, "c", index);
}

/* A source is asked for what it has that is new, but not what another Catalog of the name had or other fields said. */
static void test_manager_catalogs__what_has_not_changed_is_not_read_again(void **state)
{
	static const struct {
		const char *uid, *plural;
		bool is_read;
	} rows[] = {{"u1", "xs", true},  {"u1", "xs", false}, {"u1", "xs", false},
		    {"u2", "xs", true},  {"u2", "xs", false}, {"u2", "ys", true},
		    {"u2", "ys", false}, {"u2", "xs", true}};
	(void)state;
	struct fixture f = {0};
	struct answer_of_sync x = {0};
	current = &f;
	manager_fixture_init(&f.m, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *app = NULL, *catalog = NULL;
		size_t was = x.n_indexes;
		assert_ok(json_parse(str_of(arena_fmt(
					     f.m.a,
					     "{\"metadata\":{\"name\":\"a\",\"generation\":1},"
					     "\"spec\":{\"resources\":[{\"name\":\"%s.g.io\","
					     "\"spec\":{\"group\":\"g.io\",\"version\":\"v1\","
					     "\"names\":{\"plural\":\"%s\",\"kind\":\"X\"}}}]}}",
					     rows[i].plural, rows[i].plural)),
				     &app, &err),
			  &err);
		catalog = meta_skeleton("app.coreos.com/v1alpha1", "Catalog", NULL, "c");
		obj_set_path(catalog, "metadata.uid", obj_string(rows[i].uid));
		obj_set_path(catalog, "spec.source.url", obj_string(INPLACE_URL "a"));
		obj_set_path(catalog, "spec.inPlace", inplace_of(app, "a.g.io", NULL, NULL));
		manager_sync(f.m.manager, "c", catalog, synced, &x);
		manager_fixture_run(&f.m, NS_PER_S);
		assert_int_equal(x.n, i + 1);
		if (x.n_indexes - was != rows[i].is_read)
			fail_msg("row %zu: read: %d", i, !rows[i].is_read);
	}
	manager_fixture_release(&f.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_catalogs__as_a_model_says),
		cmocka_unit_test(test_manager_catalogs__what_has_not_changed_is_not_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
