/* test_cache.c: what the cache finds by key and by name is what going through all objects would find. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/client/cache.h"
#include "alm/obj/meta.h"

enum { SPACES = 4, NAMES = 5, STEPS = 4000, ASKED_AT = 1000, KEY_BYTES = 24 };

struct model {
	const struct informer_object *at[SPACES][NAMES];
};

static size_t below(uint64_t *seed, size_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % n;
}

static void key_of(size_t space, size_t name, char ns[KEY_BYTES], char n[KEY_BYTES])
{
	ns[0] = 0; /* of the cluster */
	if (space)
		(void)snprintf(ns, KEY_BYTES, "ns%zu", space);
	(void)snprintf(n, KEY_BYTES, "n%zu", name);
}

static struct informer_object *object(size_t space, size_t name, size_t version)
{
	struct error err = ERROR_INIT;
	struct informer_object *io = NULL;
	char ns[KEY_BYTES], n[KEY_BYTES], rv[24];
	key_of(space, name, ns, n);
	(void)snprintf(rv, sizeof(rv), "%zu", version);
	CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", *ns ? ns : NULL, n);
	obj_set_path(o, "metadata.resourceVersion", obj_string(rv));
	assert_ok(cache_object_new(o, NULL, &io, &err), &err);
	return io;
}

static void check_named(struct cache *c, const struct model *m, size_t name)
{
	char ns[KEY_BYTES], n[KEY_BYTES];
	size_t count, seen = 0;
	key_of(0, name, ns, n);
	struct informer_object *const *found = cache_named(c, n, &count);
	for (size_t space = 0; space < SPACES; space++)
		if (m->at[space][name])
			assert_ptr_equal(found[seen++], m->at[space][name]);
	assert_int_equal(seen, count);
}

static void check_all(const struct cache *c, const struct model *m)
{
	size_t seen = 0;
	char ns[KEY_BYTES], n[KEY_BYTES];
	for (size_t space = 0; space < SPACES; space++)
		for (size_t name = 0; name < NAMES; name++) {
			const struct informer_object *is = m->at[space][name];
			key_of(space, name, ns, n);
			assert_ptr_equal(cache_get(c, ns, n), is);
			assert_int_equal(cache_after(c, ns, n), seen + (is != NULL));
			if (is)
				assert_ptr_equal(cache_at(c, seen++), is);
		}
	assert_int_equal(cache_count(c), seen);
	assert_null(cache_at(c, seen));
}

static void test_cache__finds_what_a_search_of_all_finds(void **state)
{
	(void)state;
	CLEANUP(cache_freep) struct cache *c = cache_new();
	struct model m = {0};
	uint64_t seed = 7;
	char ns[KEY_BYTES], n[KEY_BYTES];
	for (size_t step = 0; step < STEPS; step++) {
		size_t space = below(&seed, SPACES), name = below(&seed, NAMES);
		const struct informer_object **at = &m.at[space][name], *before = *at;
		key_of(space, name, ns, n);
		if (below(&seed, 3) == 0) {
			assert_ptr_equal(cache_remove(c, ns, n), before);
			*at = NULL;
		} else {
			struct informer_object *o = object(space, name, step);
			assert_ptr_equal(cache_put(c, o), before);
			*at = o;
		}
		check_all(c, &m);
		if (step >= ASKED_AT) /* what came before is in the order by name, too */
			check_named(c, &m, below(&seed, NAMES));
		if (before) { /* readable until it is swept */
			assert_string_equal(before->name, n);
			cache_sweep(c);
		}
	}
	size_t n_objects;
	struct informer_object **all = cache_detach(c, &n_objects);
	assert_int_equal(cache_count(c), 0);
	for (size_t name = 0; name < NAMES; name++)
		check_named(c, &(struct model){0}, name);
	for (size_t i = 0; i < n_objects; i++)
		cache_object_free(all[i]);
	xfree(all);
}

static void test_cache__an_object_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct error err = ERROR_INIT;
		struct informer_object *io = NULL;
		CLEANUP(obj_unrefp) struct obj *o = meta_skeleton("v1", "ConfigMap", NULL, "n");
		obj_set_path(o, "metadata.name", i ? obj_string("") : obj_int(7));
		assert_int_equal(cache_object_new(o, NULL, &io, &err), -E_INTERNAL);
		assert_string_equal(err.msg, "the server sent a ConfigMap without a name");
		assert_null(io);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache__finds_what_a_search_of_all_finds),
		cmocka_unit_test(test_cache__an_object_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
