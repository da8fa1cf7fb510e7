/* test_apptype_remove.c: the end of an app, over all that its last CRD and its versions may be: it goes when nothing of it
 * is left, and no CRD is left to it or deleted. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define APP                                                                                       \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"a\",\"finalizers\":[%s],\"deletionTimestamp\":\"2023-11-14T22:13:20Z" \
	"\"},\"spec\":{\"type\":\"io.ops\"},\"status\":{\"installedVersion\":\"1.0.0\"}}"
#define FINALIZER "\"app.coreos.com/apptype\""
#define SELF      "etcd.io.ops"
#define OWNERS                                                                                \
	"\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"name\":\"kube-" \
	"system\",\"uid\":\"k\"}%s],"
#define OWNER                                                                                      \
	",{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"name\":\"etcd\",\"uid" \
	"\":\"a\"}"

struct way {
	bool cached, marked, released, owned; /* the CRD: in the cache, for whom */
	int live;                             /* its revision on the server; 0: it is gone */
	enum { NO_VERSION, VERSION, DELETED_VERSION } version;
	bool held; /* somebody else's finalizer */
};

enum { WAYS = 2 * 2 * 2 * 2 * 3 * 3 * 2 };

static struct way way_of(unsigned n)
{
	return (struct way){.cached = n & 1,
			    .marked = n >> 1 & 1,
			    .released = n >> 2 & 1,
			    .owned = n >> 3 & 1,
			    .live = (int[]){0, 5, 6}[n / 16 % 3],
			    .version = n / 48 % 3,
			    .held = n / 144};
}

static const char *crd_text(struct view_fake *f, const struct way *y, int revision)
{
	return arena_fmt(f->a,
			 "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
			 "\"CustomResourceDefinition\",\"metadata\":{" OWNERS
			 "\"name\":\"olds.x.io\",\"uid\":\"c\",\"resourceVersion\":\"%d\","
			 "\"annotations\":{\"app.coreos.com/owner\":\"%s\"%s}},\"spec\":{\"group\":"
			 "\"x.io\",\"names\":{\"kind\":\"Old\"}}}",
			 y->owned ? OWNER : "", revision, y->marked ? SELF : "other.io.ops",
			 y->released ? ",\"" ANNOTATION_RELEASED "\":\"" SELF "\"" : "");
}

/* A version whose plan has brought the CRD. */
static void put_version(struct view_fake *f, const struct way *y)
{
	const char *text = arena_fmt(
		f->a,
		"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","
		"\"metadata\":{\"name\":\"s1\",\"uid\":\"s1\",\"resourceVersion\":\"3\"%s},"
		"\"spec\":{\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"1.0.0\"},\"status\":{"
		"\"phase\":\"Succeeded\",\"revision\":1}}",
		y->version == DELETED_VERSION
			? ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\",\"finalizers\":[\"x\"]"
			: "");
	struct strategy_ref s = {.o = view_fake_obj(f, text), .name = "s1"};
	struct obj *doc = obj_keep(f->a, obj_map()), *rows = obj_list(), *row = obj_map();
	obj_set_int(row, "stage", UNIT_GROUP_CRD);
	obj_set_str(row, "digest", "d");
	obj_set(row, "object", obj_ref(view_fake_obj(f, crd_text(f, y, 5))));
	obj_append(rows, row);
	obj_set_str(doc, "app", "etcd");
	obj_set_str(doc, "release", "etcd");
	obj_set_str(doc, "namespace", "n");
	obj_set_int(doc, "revision", 1);
	obj_set(doc, "objects", rows);
	view_fake_put(f, WATCH_STRATEGY, text);
	struct plan *p = view_fake_plan(f);
	assert_int_equal(install_plan_store(p, &s, 1, "inputs", doc), DONE);
	for (const struct action *x = p->head; x; x = x->next) {
		CLEANUP(xfreep) char *secret = json_text(x->body);
		view_fake_put(f, WATCH_PLAN_SECRET, secret);
	}
}

static void begin(struct view_fake *f, const struct way *y)
{
	view_fake_init(f);
	view_fake_put(f, WATCH_APPTYPE,
		      arena_fmt(f->a, APP, y->held ? "\"x.io/theirs\"," FINALIZER : FINALIZER));
	if (y->cached) {
		view_fake_put(f, WATCH_CRD, crd_text(f, y, 5));
		view_fake_live(f, crd_text(f, y, 5));
	}
	if (y->version)
		put_version(f, y);
}

static void pass(struct view_fake *f)
{
	struct plan *p = view_fake_plan(f);
	assert_int_equal(apptype_remove(&f->view, app_load(&f->view, "etcd"), p), STEP_STOP);
}

/* --- what is right --- */

static void check_released(struct view_fake *f)
{
	const struct action *x = view_fake_action(f, ACT_PATCH, "CustomResourceDefinition", NULL);
	assert_non_null(x);
	assert_true(cstr_eq(meta_annotation(x->body, ANNOTATION_RELEASED), SELF));
	const struct obj *owners = obj_path(x->body, "metadata.ownerReferences");
	assert_int_equal(obj_len(owners), 1);
	assert_true(cstr_eq(obj_str(obj_at(owners, 0), "uid"), "k"));
	assert_true(cstr_eq(meta_resource_version(x->body), "5"));
}

static void check_gone(struct view_fake *f, const struct way *y)
{
	const struct action *x = view_fake_action(f, ACT_PATCH, "AppType", "etcd");
	const struct action *told = view_fake_action(f, ACT_STATUS, NULL, NULL);
	assert_true(x && told);
	assert_true(cstr_eq(told->reason, "Deleted"));
	assert_true(told->row_only);
	assert_true(cstr_eq(told->chain, "etcd"));
	assert_true(cstr_eq(told->event_type, "Normal"));
	const struct obj *left = obj_path(x->body, "metadata.finalizers");
	assert_int_equal(obj_len(left), y->held);
	if (y->held)
		assert_true(cstr_eq(obj_as_string(obj_at(left, 0)), "x.io/theirs"));
	else
		assert_int_equal(obj_type(left), OBJ_NULL);
}

static void check_asked(struct view_fake *f)
{
	const struct action *x = view_fake_action(f, ACT_ROW, NULL, NULL);
	assert_non_null(x);
	assert_true(cstr_eq(x->row_type, "Observe"));
	assert_true(cstr_eq(x->reason, "DeletionAsked"));
	assert_true(cstr_eq(x->chain, "etcd"));
	assert_true(cstr_eq(x->touches, "metadata.deletionTimestamp"));
	assert_true(cstr_eq(x->key, "deletion a"));
}

/* A version's CRD is looked at before anything is done; returns whether the cache is behind. */
static bool check_look(struct view_fake *f, const struct way *y)
{
	const struct action *x = view_fake_work(f, &survey_work);
	assert_non_null(x);
	assert_int_equal(view_fake_count(f, ACT_PATCH) + view_fake_count(f, ACT_DELETE), 0);
	const struct obj *row = obj_at(x->body, 0);
	assert_int_equal(obj_len(x->body), 1);
	assert_true(cstr_eq(obj_str(row, "key"), "olds.x.io"));
	assert_true(cstr_eq(obj_str(row, "name"), "olds.x.io"));
	assert_true(cstr_eq(obj_str(row, "group"), "apiextensions.k8s.io"));
	assert_true(cstr_eq(obj_str(row, "version"), "v1"));
	assert_true(cstr_eq(obj_str(row, "kind"), "CustomResourceDefinition"));
	struct obj *found = obj_map();
	if (y->live)
		obj_set(found, "olds.x.io", obj_ref(view_fake_obj(f, crd_text(f, y, y->live))));
	stash_put(f->stash, x->id, NULL, STR_NONE, found, f->view.now_ns);
	pass(f);
	return y->live && (!y->cached || y->live != 5);
}

static void check(const struct way *y)
{
	struct view_fake f;
	begin(&f, y);
	pass(&f);
	bool behind = y->version && check_look(&f, y);
	bool releases = y->cached && y->marked && (!y->released || y->owned);
	check_asked(&f);
	if (behind) {
		assert_int_equal(view_fake_count(&f, ACT_PATCH), 0);
		assert_int_equal(view_fake_count(&f, ACT_DELETE), 0);
		assert_true(f.plan.requeue_after_ns > 0);
		f.view.now_ns += NS_PER_HOUR; /* then it is asked again */
		pass(&f);
		assert_non_null(view_fake_work(&f, &survey_work));
	} else if (releases) {
		check_released(&f);
		assert_int_equal(view_fake_count(&f, ACT_PATCH), 1);
		assert_int_equal(view_fake_count(&f, ACT_DELETE), 0);
	} else if (y->version) {
		assert_int_equal(view_fake_count(&f, ACT_PATCH), 0);
		assert_int_equal(view_fake_count(&f, ACT_DELETE), y->version == VERSION);
		assert_int_equal(view_fake_action(&f, ACT_DELETE, "InstallStrategy", "s1") != NULL,
				 y->version == VERSION);
	} else {
		check_gone(&f, y);
		assert_int_equal(view_fake_count(&f, ACT_PATCH), 1);
	}
	assert_null(view_fake_action(&f, ACT_DELETE, "CustomResourceDefinition", NULL));
	view_fake_release(&f);
}

static void test_apptype_remove__when_nothing_is_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WAYS; i++) {
		struct way y = way_of(i);
		check(&y);
	}
}

/* Whose finalizer is gone is nobody's to remove. */
static void test_apptype_remove__twice(void **state)
{
	struct view_fake f;
	(void)state;
	view_fake_init(&f);
	view_fake_put(&f, WATCH_APPTYPE, arena_fmt(f.a, APP, "\"x.io/theirs\""));
	pass(&f);
	assert_int_equal(f.plan.n, 0);
	view_fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apptype_remove__when_nothing_is_left),
		cmocka_unit_test(test_apptype_remove__twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
