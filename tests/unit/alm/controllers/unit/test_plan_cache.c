/* test_plan_cache.c: a stored plan is parsed once while it is in use, and never taken for another.
 */
#include "tests/lib/test.h"

#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/unit/plan_cache.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

static void put(struct plan_cache *c, const char *digest, size_t bytes)
{
	CLEANUP(obj_unrefp) struct obj *doc = obj_map();
	obj_set_str(doc, "of", digest);
	plan_cache_put(c, digest, doc, bytes);
}

static bool has(struct plan_cache *c, const char *digest)
{
	CLEANUP(obj_unrefp) struct obj *doc = plan_cache_get(c, digest);
	return doc != NULL;
}

static void test_plan_cache__one_over_each_bound(void **state)
{
	(void)state;
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	CLEANUP(plan_cache_freep) struct plan_cache *c = plan_cache_new();
	for (size_t i = 0; i < PLAN_CACHE_DOCUMENTS; i++)
		put(c, names[i], 1);
	assert_true(has(c, "a"));
	put(c, "e", 1);
	assert_false(has(c, "a"));
	assert_true(has(c, "b") && has(c, "e"));
	put(c, "whole", PLAN_CACHE_TEXT_BYTES); /* takes all the room there is */
	assert_true(has(c, "whole"));
	assert_false(has(c, "b") || has(c, "e"));
	put(c, "over", PLAN_CACHE_TEXT_BYTES + 1);
	assert_false(has(c, "over"));
	assert_true(has(c, "whole"));
	plan_cache_clear(c);
	assert_true(plan_cache_is_empty(c));
	put(c, "a", PLAN_CACHE_TEXT_BYTES);
	assert_true(has(c, "a"));
}

static struct obj *secret_of_view(void *arg, unsigned kind, const char *name)
{
	const struct obj *const *secret = arg;
	(void)name;
	return kind == WATCH_PLAN_SECRET && *secret ? obj_ref(*secret) : NULL;
}

static const struct obj *stored(struct view_fake *f, const char *version)
{
	CLEANUP(obj_unrefp) struct obj *doc = obj_map();
	obj_set_str(doc, "version", version);
	const struct strategy_ref s = {
		.o = view_fake_obj(f, "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
				      "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
		.name = "s"};
	struct plan *p = view_fake_plan(f);
	assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), DONE);
	return obj_keep(f->a, obj_ref(p->head->body));
}

static void test_plan_cache__a_plan_is_parsed_once_and_known_by_its_text(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	CLEANUP(plan_cache_freep) struct plan_cache *c = plan_cache_new();
	const struct obj *secret = stored(&f, "1.0.0");
	const struct view_ops ops = {.get = secret_of_view};
	const struct shared shared = {.plans = c};
	const struct view v = {.a = f.a, .ops = &ops, .ops_arg = &secret, .shared = &shared};
	const struct obj *first = install_plan_stored(&v, "s", 1, "inputs");
	assert_string_equal(obj_str(first, "version"), "1.0.0");
	assert_ptr_equal(first, install_plan_stored(&v, "s", 1, "inputs"));
	assert_null(install_plan_stored(&v, "s", 1, "others"));
	secret = stored(&f, "2.0.0");
	assert_string_equal(obj_str(install_plan_stored(&v, "s", 1, "inputs"), "version"), "2.0.0");
	secret = NULL; /* deleted: what is kept of it does not count */
	assert_null(install_plan_stored(&v, "s", 1, "inputs"));
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_cache__one_over_each_bound),
		cmocka_unit_test(test_plan_cache__a_plan_is_parsed_once_and_known_by_its_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
