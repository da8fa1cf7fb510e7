#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

static size_t wanted; /* applies of the step */

/* A chart of so many ConfigMaps, with the rows and the status of its pass around them. */
static int many(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	struct obj *o = obj_keep(v->a, meta_skeleton("v1", "ConfigMap", "ns", "subject"));
	(void)key;
	(void)err;
	plan_row(plan, "Observe", o, "Before", NULL, obj_map());
	for (size_t i = 0; i < wanted; i++) {
		char name[32];
		snprintf(name, sizeof(name), "c%zu", i);
		plan_apply(plan, meta_skeleton("v1", "ConfigMap", "ns", name), 0, true);
	}
	plan_row(plan, "Observe", o, "After", NULL, obj_map());
	plan_status(plan, o, obj_map(), "Installing", "");
	return STEP_CONTINUE;
}

static const struct step steps[] = {{"many", many}, {0}};
static const struct controller controller = {.name = "test", .steps = steps};

static void test_plan__one_action_over_the_limit_is_left_to_the_next_pass(void **state)
{
	(void)state;
	for (size_t over = 0; over < 2; over++) {
		struct view_fake f;
		struct error err = ERROR_INIT;
		view_fake_init(&f);
		struct plan *p = view_fake_plan(&f);
		wanted = PLAN_ACTIONS_MAX + over;
		assert_ok(controller_run(&controller, &f.view, "key", p, &err), &err);
		assert_int_equal(view_fake_count(&f, ACT_APPLY), PLAN_ACTIONS_MAX);
		assert_int_equal(view_fake_count(&f, ACT_ROW), 2);
		assert_int_equal(view_fake_count(&f, ACT_STATUS), 1);
		assert_int_equal(p->n, PLAN_ACTIONS_MAX + 3);
		assert_int_equal(p->requeue_after_ns, over);
		assert_null(view_fake_action(&f, ACT_APPLY, "ConfigMap", "c4096"));
		plan_work(p, &sync_work, NULL); /* the end is where it should be */
		assert_int_equal(view_fake_works(&f, &sync_work), 1);
		view_fake_release(&f);
	}
}

/* Nothing behind the first that was left out: what follows may rest on it. */
static void test_plan__is_cut_at_one_place(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	struct plan *p = view_fake_plan(&f);
	plan_work(p, &gate_work, NULL);
	plan_add(p, ACT_APPLY);
	plan_add(p, ACT_PATCH);
	plan_cut(p, 1);
	assert_int_equal(p->n, 1);
	assert_ptr_equal(p->head->work, &gate_work);
	plan_cut(p, 0);
	assert_int_equal(p->n, 0);
	assert_null(p->head);
	plan_add(p, ACT_APPLY);
	assert_int_equal(p->head->type, ACT_APPLY);
	view_fake_release(&f);
}

/* Whose rights it is written with is not lost with the pass. */
static void test_plan__moves_with_its_account(void **state)
{
	(void)state;
	struct view_fake f;
	view_fake_init(&f);
	struct plan *p = view_fake_plan(&f), moved;
	char as[] = "system:serviceaccount:alm:a", via[] = "kubectl", field[] = "spec.upgrade";
	static const char secret[] = "{\"password\":\"correct horse\"}";
	struct error err = ERROR_INIT;
	struct obj *values = NULL;
	CLEANUP(arena_freep) struct arena *own = arena_new(1 << 20);
	p->as = as;
	plan_add(p, ACT_APPLY)->as = as;
	struct action *row = plan_add(p, ACT_ROW);
	row->actor_via = via;
	row->touches = field;
	assert_ok(json_parse(str_of(secret), &values, &err), &err);
	secrets_add_values(&p->secrets, values);
	plan_move(&moved, p, own);
	obj_unref(values);
	memset(field, 'x', sizeof(field) - 1);
	memset(as, 'x', sizeof(as) - 1);
	memset(via, 'x', sizeof(via) - 1);
	assert_string_equal(moved.as, "system:serviceaccount:alm:a");
	assert_string_equal(moved.head->as, "system:serviceaccount:alm:a");
	assert_string_equal(moved.head->next->actor_via, "kubectl");
	assert_string_equal(moved.head->next->touches, "spec.upgrade");
	assert_string_equal(secrets_hide(&moved.secrets, "it is correct horse"), "it is (hidden)");
	view_fake_release(&f);
}

/* Every word of an action but those listed here is a text, and a moved action has its own copies:
 * a field that is added to struct action fails here until it is copied or listed. */
static void test_plan__moves_every_text_of_an_action(void **state)
{
	(void)state;
	static const size_t plain[] = {
		offsetof(struct action, next),
		offsetof(struct action, type),
		offsetof(struct action, body),
		offsetof(struct action, force), /* and stage */
		offsetof(struct action, inputs),
		offsetof(struct action, subject),
		offsetof(struct action, event_of),
		offsetof(struct action, resource.namespaced),
		offsetof(struct action, advances),
		offsetof(struct action, seq),
		offsetof(struct action, actor_known),
		offsetof(struct action, row_only),
		offsetof(struct action, metadata_only), /* and guards */
		offsetof(struct action, rights_version),
		offsetof(struct action, rights_since_ns),
		offsetof(struct action, ends), /* constant, as is the next one */
		offsetof(struct action, step),
		offsetof(struct action, work),
	};
	enum { WORDS = sizeof(struct action) / sizeof(char *) };
	static char former[WORDS][8];
	struct view_fake f;
	view_fake_init(&f);
	struct plan *p = view_fake_plan(&f), moved;
	CLEANUP(arena_freep) struct arena *own = arena_new(1 << 20);
	char *words[WORDS];
	struct action *x = plan_add(p, ACT_ROW);
	memcpy(words, x, sizeof(words));
	for (size_t i = 0; i < WORDS; i++) {
		bool text = true;
		for (size_t k = 0; k < ARRAY_LEN(plain); k++)
			text = text && plain[k] / sizeof(char *) != i;
		snprintf(former[i], sizeof(former[i]), "%zu", i);
		if (text)
			words[i] = former[i];
	}
	memcpy(x, words, sizeof(words));
	plan_move(&moved, p, own);
	char *copied[WORDS];
	memcpy(copied, moved.head, sizeof(copied));
	for (size_t i = 0; i < WORDS; i++) {
		if (words[i] != former[i])
			continue;
		if (copied[i] == former[i])
			fail_msg("the text at %zu of struct action is not copied",
				 i * sizeof(char *));
		assert_string_equal(copied[i], former[i]);
	}
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan__one_action_over_the_limit_is_left_to_the_next_pass),
		cmocka_unit_test(test_plan__is_cut_at_one_place),
		cmocka_unit_test(test_plan__moves_with_its_account),
		cmocka_unit_test(test_plan__moves_every_text_of_an_action),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
