/* test_uninstall.c: what of an app's plans is deleted, in which order, and what never is. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/apptype/uninstall.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define PASSES_MAX 40
#define STRATEGY                                                                              \
	"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","    \
	"\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"ownerReferences\":[{\"apiVersion\":"  \
	"\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"name\":\"etcd\",\"uid\":\"a\"}]}," \
	"\"spec\":{\"appTypeRef\":{\"name\":\"etcd\"},\"version\":\"%d.0.0\"},\"status\":{"   \
	"\"phase\":\"%s\",\"revision\":%d}}"

static const struct resource old_kind = {"x.io", "v1", "olds", "Old", true};

struct world {
	struct view_fake f;
	struct view_ops ops;
	const struct resource *(*resource)(void *arg, const char *group, const char *version,
					   const char *kind);
	const char *hidden; /* kind that no informer has reported */
	int (*live)(void *arg, const struct resource *r, const char *ns, const char *name,
		    struct obj **ret);
	struct uninstall u;
	const char *deleted; /* "Kind/name " each, "| " after each pass that deletes */
	const char *hooks;   /* JSON of the plans' hooks; NULL: none */
	struct obj *records; /* status.hooks */
};

static const struct resource *resource(void *arg, const char *group, const char *version,
				       const char *kind)
{
	const struct world *w = CONTAINER_OF(arg, struct world, f);
	return cstr_eq(kind, "Old") ? &old_kind : w->resource(arg, group, version, kind);
}

static int live(void *arg, const struct resource *r, const char *ns, const char *name,
		struct obj **ret)
{
	const struct world *w = CONTAINER_OF(arg, struct world, f);
	return cstr_eq(r->kind, w->hidden) ? -1 : w->live(arg, r, ns, name, ret);
}

#define APP                                                                                       \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"a\",\"annotations\":{%s},\"deletionTimestamp\":"                      \
	"\"2026-01-01T00:00:00Z\"},\"spec\":{\"type\":\"io.ops\"},\"status\":{"                   \
	"\"installedVersion\":\"1.0.0\"}}"

static void begin(struct world *w)
{
	*w = (struct world){.deleted = ""};
	view_fake_init(&w->f);
	w->ops = *w->f.view.ops;
	w->resource = w->ops.resource;
	w->live = w->ops.live;
	w->ops.resource = resource;
	w->ops.live = live;
	w->f.view.ops = &w->ops;
	w->records = obj_keep(w->f.a, obj_list());
	view_fake_put(&w->f, WATCH_APPTYPE, arena_fmt(w->f.a, APP, ""));
}

/* A row "Kind name" of group stage; label: whose the live one is, NULL: it is not there. */
static void has(struct world *w, struct obj *rows, const char *kind, const char *name, int stage,
		const char *label)
{
	static const struct {
		const char *kind, *version;
	} versions[] = {{"Deployment", "apps/v1"},
			{"Old", "x.io/v1"},
			{"CustomResourceDefinition", "apiextensions.k8s.io/v1"}};
	const char *version = "v1";
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (cstr_eq(kind, versions[i].kind))
			version = versions[i].version;
	struct obj *o = meta_skeleton(version, kind, "n", name), *row = obj_map();
	if (stage == UNIT_GROUP_CRD) {
		obj_set_path(o, "spec.group", obj_string("x.io"));
		obj_set_path(o, "spec.names.kind", obj_string("Old"));
	}
	if (strstr(name, "kept"))
		meta_set_annotation(o, "helm.sh/resource-policy", "keep");
	obj_set_int(row, "stage", stage);
	obj_set_str(row, "digest", "d");
	obj_set(row, "object", obj_ref(o));
	obj_append(rows, row);
	if (label) {
		obj_set_path(o, "metadata.uid", obj_string(name));
		obj_set_path(o, "metadata.resourceVersion", obj_string("7"));
		if (*label)
			meta_set_label(o, LABEL_APP, label);
		view_fake_live_obj(&w->f, o);
	}
	obj_unref(o);
}

/* Revision n of a plan with these rows, in the namespace; consumes rows. */
static void planned(struct world *w, int n, struct obj *rows, const char *ns)
{
	struct arena *a = w->f.a;
	const char *name = arena_fmt(a, "s%d", n);
	const char *text =
		arena_fmt(a, STRATEGY, name, name, n, n == 1 ? "Succeeded" : "Failed", n);
	struct strategy_ref s = {.o = view_fake_obj(&w->f, text), .name = name};
	struct obj *doc = obj_keep(a, obj_map());
	obj_set_str(doc, "app", "etcd");
	obj_set_str(doc, "release", "etcd");
	obj_set_str(doc, "namespace", ns);
	obj_set_int(doc, "revision", n);
	obj_set(doc, "objects", rows);
	if (w->hooks)
		obj_set(doc, "hooks", obj_ref(view_fake_obj(&w->f, w->hooks)));
	view_fake_put(&w->f, WATCH_STRATEGY, text);
	struct plan *p = view_fake_plan(&w->f);
	assert_int_equal(install_plan_store(p, &s, n, "inputs", doc), DONE);
	for (const struct action *x = p->head; x; x = x->next) {
		CLEANUP(xfreep) char *secret = json_text(x->body);
		view_fake_put(&w->f, WATCH_PLAN_SECRET, secret);
	}
}

/* One pass, and what it asks for and does; WAITING: there is more to do. */
static enum ensured pass(struct world *w)
{
	struct arena *a = w->f.a;
	w->u = (struct uninstall){.v = &w->f.view, .plan = view_fake_plan(&w->f)};
	w->u.app = app_load(&w->f.view, "etcd");
	w->u.hooks = w->records;
	enum ensured state = uninstall_ensure(&w->u);
	const char *was = w->deleted;
	for (const struct action *x = w->f.plan.head; x; x = x->next)
		if (x->type == ACT_DELETE)
			w->deleted =
				arena_fmt(a, "%s%s/%s ", w->deleted, x->resource.kind, x->name);
	if (w->deleted != was)
		w->deleted = arena_fmt(a, "%s| ", w->deleted);
	view_fake_survey(&w->f);
	view_fake_perform(&w->f);
	return state;
}

static void run(struct world *w)
{
	size_t n = 0;
	while (pass(w) == WAITING)
		assert_true(++n < PASSES_MAX);
}

/* Uninstall order, a barrier between kinds, custom resources before what reads them. */
static void test_uninstall__what_is_the_apps_goes_in_order(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	struct obj *rows = obj_list();
	has(&w, rows, "CustomResourceDefinition", "olds.x.io", UNIT_GROUP_CRD, "etcd");
	has(&w, rows, "Secret", "s", 3, "etcd");
	has(&w, rows, "ConfigMap", "c", 4, "etcd");
	has(&w, rows, "ConfigMap", "c-shop", 4, "shop");
	has(&w, rows, "ConfigMap", "c-nobody", 4, "");
	has(&w, rows, "ConfigMap", "c-kept", 4, "etcd");
	has(&w, rows, "ConfigMap", "c-absent", 4, NULL);
	has(&w, rows, "Service", "v", 5, "etcd");
	has(&w, rows, "Deployment", "d", 6, "etcd");
	has(&w, rows, "Deployment", "e", 6, "etcd");
	has(&w, rows, "Old", "o", 7, "etcd");
	planned(&w, 1, rows, "n");
	run(&w);
	assert_string_equal(w.deleted, "Old/o | Service/v | Deployment/d Deployment/e | "
				       "ConfigMap/c | Secret/s | ");
	view_fake_release(&w.f);
}

/* An app that never had a plan has no record, and nothing of it is written. */
static void test_uninstall__without_a_plan_there_is_nothing_to_say(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	assert_int_equal(pass(&w), DONE);
	for (const struct action *x = w.f.plan.head; x; x = x->next)
		assert_int_not_equal(x->type, ACT_CREATE);
	assert_string_equal(w.deleted, "");
	view_fake_release(&w.f);
}

static const char *record_status(struct world *w, int n)
{
	static const struct resource secrets = {"", "v1", "secrets", "Secret", true};
	const struct obj *o = NULL;
	(void)view_live(&w->f.view, &secrets, "n",
			arena_fmt(w->f.a, "sh.helm.release.v1.etcd.v%d", n), &o);
	return meta_label(o, "status");
}

/* helm reads of the newest record alone that the release is going; none is left. */
static void test_uninstall__the_newest_record_says_so(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	for (int n = 1; n <= 3; n++) {
		struct obj *rows = obj_list();
		has(&w, rows, "ConfigMap", "c", 3, "etcd");
		planned(&w, n, rows, "n");
		view_fake_live(
			&w.f,
			arena_fmt(w.f.a,
				  "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{"
				  "\"name\":\"sh.helm.release.v1.etcd.v%d\",\"namespace\":\"n\","
				  "\"uid\":\"r%d\",\"labels\":{\"status\":\"superseded\"}}}",
				  n, n));
	}
	for (int i = 0; i < PASSES_MAX && cstr_eq(record_status(&w, 3), "superseded"); i++)
		(void)pass(&w);
	assert_string_equal(record_status(&w, 3), "uninstalling");
	assert_string_equal(record_status(&w, 2), "superseded");
	assert_string_equal(record_status(&w, 1), "superseded");
	assert_string_equal(w.deleted, "");
	run(&w);
	for (int n = 1; n <= 3; n++)
		assert_null(record_status(&w, n));
	assert_non_null(strstr(w.deleted, "ConfigMap/c "));
	view_fake_release(&w.f);
}

/* What a version left that failed, or that is superseded, goes as well; what several list is asked for once: of a second
 * delete the log would keep a failure. */
static void test_uninstall__objects_of_every_version_go(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	for (int n = 1; n <= 3; n++) {
		struct obj *rows = obj_list();
		has(&w, rows, "ConfigMap", "c", 3, "etcd");
		has(&w, rows, "ConfigMap", arena_fmt(w.f.a, "c%d", n), 3, "etcd");
		planned(&w, n, rows, "n");
	}
	run(&w);
	for (int n = 1; n <= 3; n++)
		assert_non_null(strstr(w.deleted, arena_fmt(w.f.a, "ConfigMap/c%d ", n)));
	const char *shared = strstr(w.deleted, "ConfigMap/c ");
	assert_non_null(shared);
	assert_null(strstr(shared + 1, "ConfigMap/c "));
	view_fake_release(&w.f);
}

/* Of one kind nobody knows anything yet: nothing of any other is taken before it. */
static void test_uninstall__nothing_goes_before_all_is_known(void **state)
{
	(void)state;
	for (size_t first = 0; first < 2; first++) {
		struct world w;
		begin(&w);
		for (int n = 1; n <= 2; n++) {
			struct obj *rows = obj_list();
			bool hides = (n == 1) == (first == 0);
			has(&w, rows, hides ? "ConfigMap" : "Deployment", "x", 3, "etcd");
			planned(&w, n, rows, "n");
		}
		w.hidden = "ConfigMap";
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(pass(&w), WAITING);
			const struct action *x =
				view_fake_action(&w.f, ACT_WATCH, "ConfigMap", NULL);
			assert_non_null(x); /* or it would stay so */
		}
		assert_string_equal(w.deleted, "");
		w.hidden = NULL;
		run(&w);
		assert_string_equal(w.deleted, "Deployment/x | ConfigMap/x | ");
		view_fake_release(&w.f);
	}
}

/* One that is going already is not deleted twice, and is waited for. */
static void test_uninstall__a_finalizer_holds_what_comes_after(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	struct obj *rows = obj_list();
	has(&w, rows, "ConfigMap", "c", 3, "etcd");
	has(&w, rows, "Deployment", "d", 4, "etcd");
	planned(&w, 1, rows, "n");
	view_fake_live(&w.f, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
			     "\"name\":\"d\",\"namespace\":\"n\",\"labels\":{\"" LABEL_APP
			     "\":\"etcd\"},\"finalizers\":[\"x.io/a\",\"x.io/b\"],"
			     "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(pass(&w), WAITING);
	assert_string_equal(w.deleted, "");
	assert_string_equal(w.u.why,
			    "Deployment d is being deleted, held by finalizer x.io/a, x.io/b");
	assert_false(w.u.blocked);
	view_fake_gone(&w.f, "Deployment", "n", "d");
	run(&w);
	assert_string_equal(w.deleted, "ConfigMap/c | ");
	view_fake_release(&w.f);
}

/* ALM itself, installed as an app: who would end the work? */
static void test_uninstall__alm_does_not_take_itself_off(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	struct obj *rows = obj_list();
	has(&w, rows, "Deployment", "alm-controller", 4, "etcd");
	planned(&w, 1, rows, "alm-system");
	run(&w);
	assert_string_equal(w.deleted, "");
	view_fake_release(&w.f);
}

#define HOOK(name, event)                                                                      \
	"{\"events\":[\"" event "\"],\"weight\":0,\"policies\":[],\"object\":{\"apiVersion\":" \
	"\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{}}}"

/* Those of what is installed run, before and after the objects go; of what has failed none. */
static void test_uninstall__hooks_run_around_it(void **state)
{
	(void)state;
	for (int without = 0; without < 2; without++) {
		struct world w;
		begin(&w);
		struct obj *rows = obj_list(), *failed = obj_list();
		has(&w, rows, "ConfigMap", "c", 3, "etcd");
		w.hooks = "[" HOOK("before", "pre-delete") "," HOOK("after", "post-delete") "]";
		planned(&w, 1, rows, "n");
		w.hooks = "[" HOOK("never", "pre-delete") "]";
		planned(&w, 2, failed, "n");
		if (without)
			view_fake_put(
				&w.f, WATCH_APPTYPE,
				arena_fmt(w.f.a, APP, "\"" ANNOTATION_NO_HOOKS "\":\"true\""));
		const char *events = "";
		for (size_t i = 0; i < PASSES_MAX && pass(&w) == WAITING; i++) {
			const struct action *x = view_fake_action(&w.f, ACT_CREATE, "Job", NULL);
			if (view_fake_action(&w.f, ACT_DELETE, "ConfigMap", "c")) {
				events = arena_fmt(w.f.a, "%sgone ", events);
				assert_null(x); /* the next pass sees that it is gone */
			}
			if (!x)
				continue;
			assert_false(meta_owner(x->body, 0, &(struct owner_ref){0}));
			events = arena_fmt(w.f.a, "%s%s ", events, x->name);
			struct obj *job = obj_keep(w.f.a, obj_copy(x->body));
			obj_set_path(job, "status.conditions",
				     obj_ref(view_fake_obj(&w.f, "[{\"type\":\"Complete\","
								 "\"status\":\"True\"}]")));
			obj_set_path(job, "metadata.uid", obj_string(x->name));
			view_fake_live_obj(&w.f, job);
		}
		assert_string_equal(events, without ? "gone " : "before gone after ");
		view_fake_release(&w.f);
	}
}

/* Nothing goes as an account that does not say it is the app's; what to do is told, each step of it. */
static void test_uninstall__without_its_account_nothing_goes(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	struct obj *rows = obj_list();
	has(&w, rows, "ConfigMap", "c", 3, "etcd");
	planned(&w, 1, rows, "n");
	CLEANUP(obj_unrefp) struct obj *app =
		obj_copy(view_fake_obj(&w.f, arena_fmt(w.f.a, APP, "")));
	obj_set_path(app, "spec.serviceAccountName", obj_string("deployer"));
	CLEANUP(xfreep) char *text = json_text(app);
	view_fake_put(&w.f, WATCH_APPTYPE, text);
	view_fake_put(&w.f, WATCH_NAMESPACE,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\","
		      "\"annotations\":{\"app.coreos.com/apps\":\"etcd\"}}}");
	for (size_t i = 0; i < PASSES_MAX && !w.u.blocked; i++)
		assert_int_equal(pass(&w), WAITING);
	assert_true(w.u.blocked);
	assert_string_equal(w.u.reason, "Forbidden");
	assert_non_null(strstr(w.u.why, "; kubectl create serviceaccount deployer -n "));
	assert_non_null(strstr(w.u.why, "; kubectl annotate serviceaccount deployer -n "));
	assert_string_equal(w.deleted, "");
	view_fake_release(&w.f);
}

/* A CRD of the app stays; who converts its objects goes: a Service that is the app's own, is there, and is not kept. */
static void test_uninstall__a_converter_that_goes_is_let_go_of(void **state)
{
	static const struct {
		const char *kind, *name,
			*label;       /* of what is planned; label NULL: it is not there */
		const char *converts; /* name of the Service */
		bool patched;
	} rows[] = {
		{"Service", "conv", "etcd", "conv", true},
		{"Service", "conv", "etcd", "other", false},
		{"Service", "conv", "shop", "conv", false},
		{"Service", "conv", "", "conv", false},
		{"Service", "conv", NULL, "conv", false},
		{"Service", "conv-kept", "etcd", "conv-kept", false},
		{"ConfigMap", "conv", "etcd", "conv", false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w);
		struct obj *list = obj_list();
		has(&w, list, rows[i].kind, rows[i].name, 5, rows[i].label);
		planned(&w, 1, list, "n");
		view_fake_put(
			&w.f, WATCH_CRD,
			arena_fmt(w.f.a,
				  "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
				  "\"CustomResourceDefinition\",\"metadata\":{\"name\":"
				  "\"news.y.io\",\"uid\":\"c\",\"resourceVersion\":\"3\","
				  "\"annotations\":{\"app.coreos.com/owner\":\"etcd.io.ops\"}},"
				  "\"spec\":{\"group\":\"y.io\",\"names\":{\"kind\":\"New\","
				  "\"plural\":\"news\"},\"versions\":[{\"name\":\"v1\",\"served\":"
				  "true}],\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":"
				  "{\"clientConfig\":{\"service\":{\"namespace\":\"n\",\"name\":"
				  "\"%s\"}}}}}}",
				  rows[i].converts));
		bool patched = false;
		for (size_t n = 0; n < PASSES_MAX && pass(&w) == WAITING; n++) {
			const struct action *x = view_fake_action(
				&w.f, ACT_PATCH, "CustomResourceDefinition", "news.y.io");
			if (x) {
				assert_string_equal(w.deleted, ""); /* before anything goes */
				assert_string_equal(obj_str(x->body, "spec.conversion.strategy"),
						    "None");
			}
			patched = patched || x;
		}
		if (patched != rows[i].patched)
			fail_msg("row %zu", i);
		view_fake_release(&w.f);
	}
}

/* Nobody has reported the Services yet: the CRDs wait, and all else with them. */
static void test_uninstall__converters_are_known_before_anything_goes(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	struct obj *list = obj_list();
	has(&w, list, "Service", "conv", 5, "etcd");
	has(&w, list, "ConfigMap", "c", 5, "etcd");
	w.hooks = "[" HOOK("before", "pre-delete") "]";
	planned(&w, 1, list, "n");
	w.hidden = "Service";
	for (size_t n = 0; n < 3; n++) {
		assert_int_equal(pass(&w), WAITING);
		for (const struct action *x = w.f.plan.head; x; x = x->next)
			assert_int_equal(x->type, ACT_WATCH);
	}
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uninstall__what_is_the_apps_goes_in_order),
		cmocka_unit_test(test_uninstall__without_a_plan_there_is_nothing_to_say),
		cmocka_unit_test(test_uninstall__the_newest_record_says_so),
		cmocka_unit_test(test_uninstall__objects_of_every_version_go),
		cmocka_unit_test(test_uninstall__nothing_goes_before_all_is_known),
		cmocka_unit_test(test_uninstall__a_converter_that_goes_is_let_go_of),
		cmocka_unit_test(test_uninstall__converters_are_known_before_anything_goes),
		cmocka_unit_test(test_uninstall__a_finalizer_holds_what_comes_after),
		cmocka_unit_test(test_uninstall__alm_does_not_take_itself_off),
		cmocka_unit_test(test_uninstall__hooks_run_around_it),
		cmocka_unit_test(test_uninstall__without_its_account_nothing_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
