/* test_crds_remove.c: custom resources and definitions that go with their app, or nothing of them. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/app/named_crds.h"
#include "alm/controllers/apptype/crds_remove.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define CRDS    3
#define OBJECTS 3

/* One definition: what the view has of it, and what the annotation says. */
struct definition {
	bool there, going, foreign, ours, uncounted;
	unsigned n, n_going,
		named; /* objects, how many of them are deleted already, of how many the annotation knows */
};

struct fixture {
	struct view_fake f;
	struct view_ops ops;
	struct definition crds[CRDS];
	struct resource resource;
	struct app app;
	struct uninstall u;
};

static const struct definition *of_plural(const struct fixture *x, const char *plural)
{
	return &x->crds[plural[0] - 'a'];
}

static struct obj *instance_of(const char *plural, unsigned i, bool going)
{
	struct obj *o = meta_skeleton("x.io/v1beta1", "Old", "n", NULL);
	obj_set_path(o, "metadata.name", obj_stringf("%s-%u", plural, i));
	obj_set_path(o, "metadata.uid", obj_stringf("uid-%s-%u", plural, i));
	obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
	if (going)
		obj_set_path(o, "metadata.deletionTimestamp", obj_string("2030-01-01T00:00:00Z"));
	return o;
}

static bool instances(void *arg, const char *group, const char *plural,
		      bool (*fn)(void *fn_arg, struct str json), void *fn_arg)
{
	const struct fixture *x = CONTAINER_OF(arg, struct fixture, f);
	const struct definition *d = of_plural(x, plural);
	assert_string_equal(group, "x.io");
	for (unsigned i = 0; i < d->n && !d->uncounted; i++) {
		CLEANUP(obj_unrefp) struct obj *o = instance_of(plural, i, i < d->n_going);
		CLEANUP(xfreep) char *text = json_text(o);
		fn(fn_arg, str_of(text));
	}
	return !d->uncounted;
}

static int instance(void *arg, const char *crd, const char *ns, const char *name,
		    const struct resource **ret_resource, struct obj **ret)
{
	struct fixture *x = CONTAINER_OF(arg, struct fixture, f);
	char plural[] = {crd[0], 0};
	assert_string_equal(ns, "n");
	*ret_resource = &x->resource;
	*ret = instance_of(plural, (unsigned)(name[2] - '0'), false);
	return 1;
}

static void put_crd(struct fixture *x, size_t i)
{
	const struct definition *d = &x->crds[i];
	char plural[] = {(char)('a' + i), 0};
	struct obj *o = meta_skeleton("apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
				      arena_fmt(x->f.a, "%s.x.io", plural));
	obj_set_path(o, "metadata.uid", obj_stringf("uid-%s", plural));
	obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
	obj_set_path(o, "spec.group", obj_string(d->ours ? "app.coreos.com" : "x.io"));
	obj_set_path(o, "spec.names.plural", obj_string(plural));
	meta_set_annotation(o, ANNOTATION_OWNER, d->foreign ? "other.app" : "etcd.app");
	if (d->going)
		obj_set_path(o, "metadata.deletionTimestamp", obj_string("2030-01-01T00:00:00Z"));
	CLEANUP(xfreep) char *text = json_text(obj_keep(x->f.a, o));
	if (d->there)
		view_fake_put(&x->f, WATCH_CRD, text);
}

static void setup(struct fixture *x, const struct definition crds[CRDS])
{
	const char *named = "";
	*x = (struct fixture){.resource = {"x.io", "v1", "xs", "X", true}};
	view_fake_init(&x->f);
	memcpy(x->crds, crds, sizeof(x->crds));
	x->ops = *x->f.view.ops;
	x->ops.instances = instances;
	x->ops.instance = instance;
	x->f.view.ops = &x->ops;
	for (size_t i = 0; i < CRDS; i++) {
		put_crd(x, i);
		named = arena_fmt(x->f.a, "%s%s%c.x.io=%u", named, i ? "," : "", (char)('a' + i),
				  crds[i].named);
	}
	struct obj *o = obj_keep(x->f.a, obj_map());
	meta_set_annotation(o, ANNOTATION_DELETE_CRDS, named);
	x->app = (struct app){.o = o, .name = "etcd", .self_ref = "etcd.app"};
	x->u = (struct uninstall){.v = &x->f.view, .plan = view_fake_plan(&x->f), .app = &x->app};
}

static bool is_looked_at(const struct definition *d)
{
	return d->there && !d->going;
}

/* Is everything known, and as whoever wrote the annotation has seen it? */
static enum ensured wanted_state(const struct definition crds[CRDS])
{
	bool is_left = false;
	for (size_t i = 0; i < CRDS; i++) {
		const struct definition *d = &crds[i];
		if (!is_looked_at(d))
			continue;
		if (d->foreign || d->ours || (!d->uncounted && d->n > d->named))
			return ENDED;
		if (d->uncounted)
			return WAITING;
		is_left = is_left || d->n > 0;
	}
	return is_left ? WAITING : DONE;
}

static void check_deletions(struct fixture *x, bool may)
{
	size_t n = 0;
	for (size_t i = 0; i < CRDS; i++)
		for (unsigned k = 0; k < x->crds[i].n; k++) {
			const struct definition *d = &x->crds[i];
			const char *name = arena_fmt(x->f.a, "%c-%u", (char)('a' + i), k);
			const struct action *a = view_fake_action(&x->f, ACT_DELETE, "X", name);
			assert_int_equal(a != NULL, may && is_looked_at(d) && k >= d->n_going);
			n += a != NULL;
			if (!a)
				continue;
			assert_string_equal(a->uid, arena_fmt(x->f.a, "uid-%s", name));
			assert_string_equal(a->resource.version, "v1"); /* as it is read */
		}
	assert_int_equal(view_fake_count(&x->f, ACT_DELETE), n);
}

static void check_instances(const struct definition crds[CRDS])
{
	struct fixture x;
	setup(&x, crds);
	enum ensured want = wanted_state(crds);
	bool is_all_known = true;
	for (size_t i = 0; i < CRDS; i++)
		is_all_known = is_all_known && !(is_looked_at(&crds[i]) && crds[i].uncounted);
	assert_int_equal(crds_remove_instances(&x.u), want);
	check_deletions(&x, want == WAITING && is_all_known);
	assert_int_equal(x.u.blocked, want == ENDED);
	if (want == ENDED)
		assert_string_equal(x.u.reason, "InventoryChanged");
	assert_int_equal(x.u.why != NULL, want != DONE);
	assert_int_equal(x.u.plan->requeue_after_ns > 0, want == WAITING && !is_all_known);
	view_fake_release(&x.f);
}

/* Every mix of what three definitions may be: all of their objects go, or none. */
static void test_crds_remove__all_counts_are_right_or_nothing_goes(void **state)
{
	static const struct definition kinds[] = {
		{.there = false},
		{.there = true},
		{.there = true, .n = 2, .named = 2},
		{.there = true, .n = 1, .named = OBJECTS},
		{.there = true, .n = 3, .n_going = 1, .named = 3},
		{.there = true, .n = 3, .named = 2},
		{.there = true, .n = 1, .named = 1, .uncounted = true},
		{.there = true, .n = 1, .named = 1, .foreign = true},
		{.there = true, .n = 1, .named = 1, .ours = true}, /* marked as the app's by hand */
		{.there = true, .n = 2, .named = 1, .going = true},
	};
	const size_t n = ARRAY_LEN(kinds);
	(void)state;
	for (size_t i = 0; i < n * n * n; i++) {
		const struct definition crds[CRDS] = {kinds[i % n], kinds[i / n % n],
						      kinds[i / n / n]};
		check_instances(crds);
	}
}

static void test_crds_remove__definitions_go_one_by_one(void **state)
{
	static const struct definition crds[CRDS] = {
		{.there = true}, {.there = false}, {.there = true, .going = true}};
	static const struct definition none[CRDS] = {{0}};
	struct fixture x;
	(void)state;
	setup(&x, crds);
	assert_int_equal(crds_remove_definitions(&x.u), WAITING);
	assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 1);
	const struct action *a = view_fake_action(&x.f, ACT_DELETE, NULL, "a.x.io");
	assert_non_null(a);
	assert_string_equal(a ? a->uid : NULL, "uid-a");
	assert_non_null(strstr(x.u.why, "c.x.io"));
	assert_string_equal(crds_removed(x.app.o, x.f.a), "a.x.io, b.x.io, c.x.io");
	view_fake_release(&x.f);
	setup(&x, none);
	assert_int_equal(crds_remove_definitions(&x.u), DONE);
	view_fake_release(&x.f);
}

/* What cannot be read names nothing, and is told. */
static void test_crds_remove__an_annotation_that_is_none(void **state)
{
	static const char *const bad[] = {"",       "a.x.io",       "a.x.io=", "a.x.io=-1", "ax=1",
					  "a.x=1,", "a.x=1,,b.x=2", "a.x=one", "a.x=1=2"};
	static const struct definition crds[CRDS] = {{.there = true, .n = 1, .named = 1}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct fixture x;
		struct obj *o = obj_map();
		setup(&x, crds);
		meta_set_annotation(o, ANNOTATION_DELETE_CRDS, bad[i]);
		x.app.o = obj_keep(x.f.a, o);
		assert_int_equal(crds_remove_instances(&x.u), ENDED);
		assert_int_equal(crds_remove_definitions(&x.u), ENDED);
		assert_true(x.u.blocked);
		assert_non_null(x.u.why);
		assert_int_equal(view_fake_count(&x.f, ACT_DELETE), 0);
		view_fake_release(&x.f);
	}
}

/* As many as the header says, and no more. */
static void test_crds_remove__as_many_names_as_there_may_be(void **state)
{
	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		struct view_fake f;
		struct named_crd *list;
		const char *why = NULL, *text = "a0.x=0";
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		view_fake_init(&f);
		for (size_t i = 1; i < NAMED_CRDS_MAX + extra; i++)
			text = arena_fmt(f.a, "%s, a%zu.x=%zu", text, i, i);
		meta_set_annotation(o, ANNOTATION_DELETE_CRDS, text);
		int n = named_crds(o, f.a, &list, &why);
		assert_int_equal(n, extra ? -1 : NAMED_CRDS_MAX);
		assert_int_equal(why != NULL, extra);
		for (int i = 0; i < n; i++) {
			assert_string_equal(list[i].name, arena_fmt(f.a, "a%d.x", i));
			assert_int_equal(list[i].count, i);
		}
		view_fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crds_remove__all_counts_are_right_or_nothing_goes),
		cmocka_unit_test(test_crds_remove__definitions_go_one_by_one),
		cmocka_unit_test(test_crds_remove__an_annotation_that_is_none),
		cmocka_unit_test(test_crds_remove__as_many_names_as_there_may_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
