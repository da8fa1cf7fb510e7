#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/app.h"
#include "alm/controllers/install_plan.h"
#include "tests/lib/view_fake.h"

/* {"release":"..."} of exactly that many bytes. */
static struct obj *doc_of(size_t bytes)
{
	size_t n = bytes - strlen("{\"release\":\"\"}");
	char *text = xmalloc(n);
	memset(text, 'x', n);
	struct obj *o = obj_map();
	obj_set(o, "release", obj_stringn(str_n(text, n)));
	xfree(text);
	return o;
}

/* A plan that could not be read back would be rendered, and stored, again and again. */
static void test_install_plan__one_byte_over_the_bound_is_refused(void **state)
{
	(void)state;
	for (size_t over = 0; over < 2; over++) {
		struct view_fake f;
		view_fake_init(&f);
		CLEANUP(obj_unrefp) struct obj *doc =
			doc_of(PLAN_CHUNK_BYTES * PLAN_CHUNKS_MAX + over);
		const struct strategy_ref s = {
			.o = view_fake_obj(&f,
					   "{\"apiVersion\":\"g/v1\",\"kind\":\"InstallStrategy\","
					   "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
			.name = "s"};
		struct plan *p = view_fake_plan(&f);
		assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), !over);
		assert_int_equal(p->n, over ? 0 : PLAN_CHUNKS_MAX);
		struct obj *items = obj_keep(f.a, obj_list());
		for (const struct action *x = p->head; x; x = x->next)
			obj_append(items, obj_ref(x->body));
		const struct obj *back = install_plan_of_secrets(items, "s", 1, f.a);
		assert_int_equal(back != NULL, !over);
		if (back)
			assert_true(obj_equal(back, doc));
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install_plan__one_byte_over_the_bound_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
