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

/* Its text is of that many bytes. */
static struct informer_object *object_of_size(size_t bytes)
{
	struct informer_object *bare = object("a", "1", 0);
	size_t head = bare->text_len;
	cache_object_free(bare);
	struct informer_object *io = object("a", "1", bytes - head);
	assert_int_equal(io->text_len, bytes);
	return io;
}

/* A list, the one that was used last first, of which the front fits into what may be kept. */
#define PART   (TREE_TEXT_MAX / 4)
#define PARTS  10 /* that may be kept */
#define MODELS 16

struct model {
	size_t kept[MODELS + 1], n; /* indices */
};

static void model_forget(struct model *m, size_t at)
{
	size_t k = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->kept[i] != at)
			m->kept[k++] = m->kept[i];
	m->n = k;
}

static void model_use(struct model *m, size_t at, const size_t *parts)
{
	size_t sum = 0, k = 0;
	model_forget(m, at);
	if (parts[at] > TREE_TEXT_MAX / PART)
		return;
	memmove(m->kept + 1, m->kept, m->n * sizeof(m->kept[0]));
	m->kept[0] = at;
	m->n++;
	while (k < m->n && sum + parts[m->kept[k]] <= PARTS)
		sum += parts[m->kept[k++]];
	m->n = k;
}

static void test_trees__as_a_list_of_the_last_ones(void **state)
{
	(void)state;
	struct informer_object *all[MODELS];
	size_t parts[MODELS];
	struct model m = {.n = 0};
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	CLEANUP(trees_freep) struct trees *t = trees_new(PARTS * PART);
	uint64_t x = 7;
	for (size_t i = 0; i < MODELS; i++) {
		parts[i] = 1 + i % 5; /* five parts are too large for one */
		all[i] = object_of_size(parts[i] * PART);
	}
	for (int step = 0; step < 3000; step++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		size_t at = (size_t)(x >> 33) % MODELS;
		unsigned op = (unsigned)(x >> 50) % 8;
		if (op == 0) {
			trees_forget(all[at]);
			model_forget(&m, at);
		} else {
			/* what is put is an empty object: to decode would take the time of the test */
			if (op == 1 || !all[at]->slot)
				trees_put(t, all[at], o);
			if (all[at]->slot)
				assert_ptr_equal(look(t, all[at]), o);
			model_use(&m, at, parts);
		}
		size_t n = 0;
		for (size_t i = 0; i < MODELS; i++)
			n += all[i]->slot != NULL;
		assert_int_equal(n, m.n);
		for (size_t i = 0; i < m.n; i++)
			assert_non_null(all[m.kept[i]]->slot);
		assert_int_equal(trees_is_empty(t), m.n == 0);
	}
	for (size_t i = 0; i < MODELS; i++)
		cache_object_free(all[i]);
	assert_true(trees_is_empty(t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees__once_for_each_version),
		cmocka_unit_test(test_trees__what_came_decoded_is_not_decoded_again),
		cmocka_unit_test(test_trees__one_over_the_bound),
		cmocka_unit_test(test_trees__as_a_list_of_the_last_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
