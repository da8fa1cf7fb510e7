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

/* The pass that made it is gone, and others use its memory. */
static void test_plan__moves_with_its_objects(void **state)
{
	(void)state;
	enum { N = 100 };
	struct view_fake f;
	struct obj *others[N];
	view_fake_init(&f);
	struct plan *p = view_fake_plan(&f), moved;
	CLEANUP(arena_freep) struct arena *own = arena_new(1 << 20);
	struct action *x = plan_add(p, ACT_ROW);
	const struct obj **const of[] = {&x->body, &x->inputs, &x->subject, &x->event_of};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		*of[i] = obj_keep(p->a, meta_skeleton("v1", "ConfigMap", "ns", "kept"));
	plan_move(&moved, p, own);
	view_fake_release(&f);
	for (size_t i = 0; i < N; i++)
		others[i] = meta_skeleton("v1", "ConfigMap", "ns", "lost");
	const struct action *has = moved.head;
	const struct obj *const kept[] = {has->body, has->inputs, has->subject, has->event_of};
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		assert_string_equal(meta_name(kept[i]), "kept");
	for (size_t i = 0; i < N; i++)
		obj_unref(others[i]);
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

/* More than a pass may hold. */
static int hoard(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	for (size_t i = 0; i < wanted; i++)
		(void)arena_alloc(v->a, (size_t)1 << 20);
	return STEP_CONTINUE;
}

static const struct step hoards[] = {{"hoard", hoard}, {0}};
static const struct controller hoarder = {.name = "hoarder", .steps = hoards};

/* What is done by such a pass would be done by half of what it wanted. */
static void test_plan__a_pass_over_its_limit_fails(void **state)
{
	(void)state;
	for (int over = 0; over < 2; over++) {
		struct view_fake f;
		struct error err = ERROR_INIT;
		view_fake_init(&f);
		wanted = over ? 70 : 10;
		int r = controller_run(&hoarder, &f.view, "key", view_fake_plan(&f), &err);
		assert_int_equal(r, over ? -E_LIMIT : 0);
		if (over)
			assert_non_null(strstr(err.msg, "hoarder key"));
		view_fake_release(&f);
	}
}

/* --- each verb --- */

static struct action *do_apply(struct plan *p, const struct obj *live)
{
	return plan_apply(p, obj_ref(live), 3, true);
}

static struct action *do_create(struct plan *p, const struct obj *live)
{
	plan_create(p, obj_ref(live));
	return p->head;
}

static struct action *do_patch(struct plan *p, const struct obj *live)
{
	return plan_patch(p, live, obj_map());
}

static struct action *do_delete(struct plan *p, const struct obj *live)
{
	return plan_delete(p, live, "Foreground");
}

static struct action *do_own_apply(struct plan *p, const struct obj *live)
{
	plan_own_apply(p, obj_ref(live));
	return p->head;
}

static struct action *do_own_create(struct plan *p, const struct obj *live)
{
	return plan_own_create(p, obj_ref(live));
}

static struct action *do_own_patch(struct plan *p, const struct obj *live)
{
	return plan_own_patch(p, live, obj_map());
}

static struct action *do_own_delete(struct plan *p, const struct obj *live)
{
	plan_own_delete(p, live);
	return p->head;
}

static struct action *do_over(struct plan *p, const struct obj *live)
{
	struct action *x = plan_apply(p, obj_ref(live), 3, true);
	plan_over(p, x, live);
	return x;
}

/* An object of the app is written as its account and by its manager, one of ALM's own as ALM; a delete, and an apply over
 * what is there, have the uid and version of it, a patch the version in its body. */
static void test_plan__what_each_verb_plans(void **state)
{
	static const struct {
		struct action *(*fn)(struct plan *p, const struct obj *live);
		enum act_type type;
		bool own, precise, body;
	} rows[] = {
		{do_apply, ACT_APPLY, false, false, true},
		{do_over, ACT_APPLY, false, true, true},
		{do_create, ACT_CREATE, false, false, true},
		{do_patch, ACT_PATCH, false, false, true},
		{do_delete, ACT_DELETE, false, true, false},
		{do_own_apply, ACT_APPLY, true, false, true},
		{do_own_create, ACT_CREATE, true, false, true},
		{do_own_patch, ACT_PATCH, true, false, true},
		{do_own_delete, ACT_DELETE, true, true, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct plan *p = view_fake_plan(&f);
		const struct obj *live = view_fake_obj(
			&f, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
			    "\"name\":\"d\",\"namespace\":\"n\",\"uid\":\"u\","
			    "\"resourceVersion\":\"7\"}}");
		p->manager = "m";
		const struct action *x = rows[i].fn(p, live);
		assert_int_equal(p->n, 1);
		assert_int_equal(x->type, rows[i].type);
		assert_true(cstr_eq(x->as, rows[i].own ? NULL : VIEW_FAKE_ACCOUNT));
		assert_true(cstr_eq(x->manager, rows[i].own ? NULL : "m"));
		assert_true(cstr_eq(x->uid, rows[i].precise ? "u" : NULL));
		assert_true(cstr_eq(x->resource_version, rows[i].precise ? "7" : NULL));
		assert_string_equal(x->resource.group, "apps");
		assert_string_equal(x->resource.version, "v1");
		assert_string_equal(x->resource.kind, "Deployment");
		assert_true(cstr_eq(x->ns, "n"));
		assert_true(cstr_eq(x->name, "d"));
		assert_int_equal(x->body != NULL, rows[i].body);
		if (rows[i].type == ACT_PATCH)
			assert_true(cstr_eq(meta_resource_version(x->body), "7"));
		if (rows[i].fn == do_apply)
			assert_true(x->stage == 3 && x->force);
		if (rows[i].fn == do_delete)
			assert_true(cstr_eq(x->propagation, "Foreground"));
		view_fake_release(&f);
	}
}

/* The first of several times, and never none; what is over is done. */
static void test_plan__when_it_is_looked_again(void **state)
{
	static const struct {
		int64_t a, b, want; /* 0: none is asked for */
		enum ensured first;
	} rows[] = {{5, 7, 5, WAITING}, {7, 5, 5, WAITING}, {1, 1, 1, WAITING}, {0, 3, 3, DONE},
		    {-1, 3, 3, DONE},   {0, 0, 0, DONE},    {4, 0, 4, WAITING}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct view_fake f;
		view_fake_init(&f);
		struct plan *p = view_fake_plan(&f), *other = ARENA_NEW(f.a, struct plan);
		plan_init(other, f.a);
		assert_int_equal(plan_await(p, rows[i].a), rows[i].first);
		assert_int_equal(plan_await(other, rows[i].b), rows[i].b > 0 ? WAITING : DONE);
		plan_take(p, other);
		assert_int_equal(p->requeue_after_ns, rows[i].want);
		plan_requeue_after(p, -3);
		assert_int_equal(p->requeue_after_ns, 1);
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan__one_action_over_the_limit_is_left_to_the_next_pass),
		cmocka_unit_test(test_plan__is_cut_at_one_place),
		cmocka_unit_test(test_plan__moves_with_its_account),
		cmocka_unit_test(test_plan__moves_with_its_objects),
		cmocka_unit_test(test_plan__moves_every_text_of_an_action),
		cmocka_unit_test(test_plan__a_pass_over_its_limit_fails),
		cmocka_unit_test(test_plan__what_each_verb_plans),
		cmocka_unit_test(test_plan__when_it_is_looked_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
