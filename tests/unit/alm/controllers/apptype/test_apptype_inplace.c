/* test_apptype_inplace.c: the Catalog of a package that stands in its AppType: who makes it, whose it is, when it goes. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "tests/lib/view_fake.h"

#define APP                                                                              \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{" \
	"\"name\":\"shop\",\"uid\":\"a\",\"generation\":3},\"spec\":{\"type\":\"io.ops\"%s}}"
#define RESOURCES ",\"resources\":[{\"name\":\"carts.shop.io\",\"versions\":[{\"name\":\"v1\"}]}]"

struct world {
	struct view_fake f;
	struct app app;
	void *pass;
};

static void begin(struct world *w, const char *more)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->app = (struct app){.name = "shop",
			      .self_ref = "shop.io",
			      .o = view_fake_obj(&w->f, arena_fmt(w->f.a, APP, more))};
	w->pass = &w->app;
	w->f.view.pass = &w->pass;
}

static void run(struct world *w)
{
	struct error err = ERROR_INIT;
	assert_int_equal(apptype_inplace(&w->f.view, "shop", view_fake_plan(&w->f), &err),
			 STEP_CONTINUE);
}

/* The server collects it with its AppType, which is its one controller. */
static void test_apptype_inplace__its_catalog_is_its_own(void **state)
{
	(void)state;
	struct world w;
	begin(&w, RESOURCES);
	assert_true(inplace_is(w.app.o));
	run(&w);
	const struct action *x =
		view_fake_action(&w.f, ACT_CREATE, "Catalog", inplace_catalog_name("shop", w.f.a));
	struct owner_ref owner;
	assert_non_null(x);
	assert_int_equal(meta_owner_count(x->body), 1);
	assert_true(meta_owner(x->body, 0, &owner));
	assert_string_equal(owner.api_version, "app.coreos.com/v1beta1");
	assert_string_equal(owner.kind, "AppType");
	assert_string_equal(owner.name, "shop");
	assert_string_equal(owner.uid, "a");
	assert_true(owner.controller);
	assert_string_equal(meta_label(x->body, LABEL_APP), "shop");
	assert_string_equal(meta_annotation(x->body, ANNOTATION_MADE_BY), "alm");
	assert_string_equal(obj_str(x->body, "spec.source.url"), INPLACE_URL "shop");
	view_fake_release(&w.f);
}

/* One that a person made under its name stays as it is; ours of a former AppType is taken over; ours goes with the fields. */
static void test_apptype_inplace__whose_is_left_alone(void **state)
{
	static const struct {
		const char *marks, *fields;
		bool patched, deleted;
	} rows[] = {
		{"", RESOURCES, false, false},
		{"\"annotations\":{\"" ANNOTATION_MADE_BY "\":\"alm\"}", RESOURCES, true, false},
		{"", "", false, false},
		{"\"annotations\":{\"" ANNOTATION_MADE_BY "\":\"alm\"}", "", false, false},
		{"\"annotations\":{\"" ANNOTATION_MADE_BY
		 "\":\"alm\"},\"ownerReferences\":[{\"uid\":\"a\"}]",
		 "", false, true},
		{"\"ownerReferences\":[{\"uid\":\"a\"}]", "", false, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].fields);
		view_fake_put(&w.f, WATCH_CATALOG,
			      arena_fmt(w.f.a,
					"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":"
					"\"Catalog\",\"metadata\":{\"name\":\"%s\",\"uid\":\"c\","
					"\"resourceVersion\":\"1\"%s%s}}",
					inplace_catalog_name("shop", w.f.a),
					*rows[i].marks ? "," : "", rows[i].marks));
		run(&w);
		const struct action *x = w.f.plan.head;
		if (w.f.plan.n != (rows[i].patched || rows[i].deleted))
			fail_msg("row %zu: %zu actions", i, w.f.plan.n);
		if (x)
			assert_int_equal(x->type, rows[i].deleted ? ACT_DELETE : ACT_PATCH);
		if (x && rows[i].patched) {
			const struct obj *ref =
				obj_at(obj_path(x->body, "metadata.ownerReferences"), 0);
			assert_string_equal(obj_str(ref, "uid"), "a");
			assert_true(obj_flag(ref, "controller", false));
		}
		view_fake_release(&w.f);
	}
}

#define OPERATOR                                             \
	",\"operator\":{\"helmChart\":{\"template\":\"r.io/" \
	"shop:1\"},\"secretRef\":{\"name\":\"k\"}}"

/* The tag is looked up once in five minutes, and sooner where nobody answered; a clock that was set back
 * makes no answer last. */
static void test_apptype_inplace__a_tag_is_looked_up_now_and_then(void **state)
{
	static const struct {
		int code;
		int64_t age_ns; /* -1: nobody has asked */
		bool asks;
	} rows[] = {
		{0, -1, true},
		{0, 0, false},
		{0, INPLACE_TAG_NS - 1, false},
		{0, INPLACE_TAG_NS, true},
		{0, -NS_PER_S, true},
		{E_UNAVAILABLE, 30 * NS_PER_S - 1, false},
		{E_UNAVAILABLE, 30 * NS_PER_S, true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		struct error err = ERROR_INIT;
		begin(&w, RESOURCES OPERATOR);
		const char *tag = inplace_tag(w.app.o, w.f.a);
		assert_non_null(tag);
		const char *id = arena_fmt(w.f.a, "tag:%s k", tag);
		int64_t now = w.f.view.now_ns;
		struct obj *value = NULL;
		if (rows[i].code)
			error_set(&err, rows[i].code, "no");
		else
			value = obj_copy(view_fake_obj(&w.f, "{\"digest\":\"d\"}"));
		if (rows[i].age_ns != -1)
			stash_put(w.f.stash, id, rows[i].code ? &err : NULL, STR_NONE, value,
				  now - rows[i].age_ns);
		else
			obj_unref(value);
		err = ERROR_INIT;
		assert_ok(apptype_inplace(&w.f.view, "shop", view_fake_plan(&w.f), &err), &err);
		const struct action *x = view_fake_work(&w.f, &tag_work);
		if ((x != NULL) != rows[i].asks)
			fail_msg("row %zu", i);
		if (x) {
			assert_string_equal(x->id, id);
			assert_string_equal(x->key, tag);
			assert_string_equal(x->name, "k");
		} else {
			int64_t all = rows[i].code ? 30 * NS_PER_S : INPLACE_TAG_NS;
			assert_int_equal(w.f.plan.requeue_after_ns, all - rows[i].age_ns);
		}
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apptype_inplace__its_catalog_is_its_own),
		cmocka_unit_test(test_apptype_inplace__whose_is_left_alone),
		cmocka_unit_test(test_apptype_inplace__a_tag_is_looked_up_now_and_then),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
