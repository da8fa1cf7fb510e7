/* test_trees.c: an object is decoded once per resourceVersion, and what is kept is bounded. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/client/cache.h"
#include "alm/client/trees.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define TEXT_MAX ((size_t)2 << 20)

static struct informer_object *object(const char *name, const char *rv, size_t padding)
{
	struct error err = ERROR_INIT;
	struct informer_object *io = NULL;
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	CLEANUP(xfreep) char *text = xcalloc(padding + 1, 1);
	memset(text, 'x', padding);
	obj_set_path(o, "metadata", obj_map());
	obj_set_path(o, "metadata.name", obj_string(name));
	obj_set_path(o, "metadata.uid", obj_string(name));
	obj_set_path(o, "metadata.resourceVersion", obj_string(rv));
	obj_set_path(o, "data", obj_string(text));
	assert_ok(cache_object_new(o, NULL, &io, &err), &err);
	return io;
}

/* Borrowed from the trees; NULL is an error. */
static const struct obj *look(struct trees *t, const struct informer_object *io)
{
	struct obj *o = trees_get(t, io);
	assert_non_null(o);
	obj_unref(o);
	return o;
}

static void test_trees__once_for_each_version(void **state)
{
	(void)state;
	CLEANUP(cache_freep) struct cache *c = cache_new();
	CLEANUP(trees_freep) struct trees *t = trees_new(TEXT_MAX);
	struct informer_object *first = object("a", "1", 0), *second = object("a", "2", 0);
	assert_null(trees_get(t, NULL));
	cache_put(c, first);
	const struct obj *one = look(t, first);
	assert_ptr_equal(look(t, first), one);
	struct obj *held = trees_get(t, first);
	cache_put(c, second);
	cache_sweep(
		c); /* the text of the first is gone, and so is its tree, but for who holds it */
	assert_string_equal(meta_resource_version(held), "1");
	assert_string_equal(meta_resource_version(look(t, second)), "2");
	assert_ptr_not_equal(look(t, second), held);
	obj_unref(held);
}

static void test_trees__what_came_decoded_is_not_decoded_again(void **state)
{
	(void)state;
	CLEANUP(trees_freep) struct trees *t = trees_new(TEXT_MAX);
	struct informer_object *io = object("a", "1", 0);
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	trees_put(t, io, o);
	assert_ptr_equal(look(t, io), o);
	trees_clear(t);
	assert_true(trees_is_empty(t));
	assert_ptr_not_equal(look(t, io), o);
	cache_object_free(io);
	assert_true(trees_is_empty(t));
}

/* One over the bound: who was used longest ago makes room, and what is too large is not kept. */
static void test_trees__one_over_the_bound(void **state)
{
	(void)state;
	enum { SIZE = TREE_TEXT_MAX - 1024, N = TEXT_MAX / SIZE + 1 };
	struct informer_object *all[N];
	CLEANUP(trees_freep) struct trees *t = trees_new(TEXT_MAX);
	for (size_t i = 0; i < N - 1; i++) {
		all[i] = object("a", "1", SIZE);
		look(t, all[i]);
		assert_non_null(all[i]->slot);
	}
	look(t, all[0]);
	all[N - 1] = object("a", "1", SIZE);
	look(t, all[N - 1]);
	assert_non_null(all[0]->slot);
	assert_null(all[1]->slot);
	assert_non_null(all[2]->slot);
	assert_non_null(all[N - 1]->slot);
	struct informer_object *large = object("large", "1", TREE_TEXT_MAX);
	look(t, large);
	assert_null(large->slot);
	cache_object_free(large);
	trees_free(STEAL(t)); /* before the objects */
	for (size_t i = 0; i < N; i++)
		cache_object_free(all[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees__once_for_each_version),
		cmocka_unit_test(test_trees__what_came_decoded_is_not_decoded_again),
		cmocka_unit_test(test_trees__one_over_the_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
