/* test_account.c: as whom an app's objects are written, and who must have said so. */
#include "tests/lib/test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/controllers/app/account.h"
#include "alm/controllers/app/account_rights.h"
#include "alm/controllers/app/instance_app.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/view_fake.h"

#define APP(spec)                                                                                 \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"u\"},\"spec\":{" spec "}}"
#define NAMESPACE(name, meta)                                                                    \
	"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name "\"" meta \
	"}}"
#define MARKED(apps) ",\"annotations\":{\"app.coreos.com/apps\":\"" apps "\"}"
#define CRD(name, group, owner)                                                           \
	"{\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"" name "." group \
	"\",\"annotations\":{\"app.coreos.com/owner\":\"" owner                           \
	"\"}},\"spec\":{\"group\":\"" group "\",\"names\":{\"plural\":\"" name "\"}}}"

struct world {
	struct view_fake f;
	struct app app;
	struct account_check check;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	view_fake_init(&w->f);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	view_fake_release(&w->f);
	xfree(w);
	return 0;
}

static void set_app(struct world *w, const char *json)
{
	w->app.o = view_fake_obj(&w->f, json);
	w->app.name = "etcd";
	w->app.self_ref = "etcd.com.x";
	w->app.install_namespace = "etcd";
	account_of(&w->app, w->f.a);
}

/* One pass that asks, on an empty plan. */
static enum ensured ask(struct world *w, const char *ns, bool removing)
{
	view_fake_plan(&w->f)->as = NULL;
	return account_ensure(&w->f.view, &w->f.plan, &w->app, ns, removing, &w->check);
}

/* Passes until nothing more is to be made. */
static enum ensured settle(struct world *w, const char *ns)
{
	enum ensured state = WAITING;
	for (int i = 0; i < 5 && state == WAITING; i++) {
		state = ask(w, ns, false);
		view_fake_perform(&w->f);
	}
	return state;
}

static const struct obj *live(struct world *w, const char *kind, const char *plural, const char *ns,
			      const char *name)
{
	const struct resource r = {.group = "rbac.authorization.k8s.io",
				   .version = "v1",
				   .plural = plural,
				   .kind = kind,
				   .namespaced = ns != NULL};
	const struct obj *o = NULL;
	return view_live(&w->f.view, &r, ns, name, &o) == 1 ? o : NULL;
}

/* --- which --- */

static void test_account__the_default_is_of_this_app_alone(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	assert_true(w->app.account.is_default);
	assert_string_equal(w->app.account.user, "system:serviceaccount:alm-system:app-etcd");
	set_app(w, APP("\"serviceAccountName\":\"deployer\""));
	assert_false(w->app.account.is_default);
	assert_string_equal(w->app.account.user, "system:serviceaccount:etcd:deployer");
}

static void test_account__long_names_stay_apart(void **state)
{
	struct world *w = *state;
	char a[254], b[254];
	memset(a, 'x', 253);
	a[253] = '\0';
	memcpy(b, a, sizeof(b));
	b[252] = 'y';
	set_app(w, APP(""));
	w->app.name = a;
	account_of(&w->app, w->f.a);
	const char *one = w->app.account.name;
	w->app.name = b;
	account_of(&w->app, w->f.a);
	assert_string_not_equal(one, w->app.account.name);
	assert_true(strlen(one) <= 253);
	w->app.name = one + strlen("apps-"); /* whole, it has another prefix */
	account_of(&w->app, w->f.a);
	assert_string_not_equal(one, w->app.account.name);
	/* the longest that is whole, and one that is longer */
	for (size_t more = 0; more < 2; more++) {
		a[GVK_NAME_MAX - strlen(ACCOUNT_PREFIX) + more] = '\0';
		a[GVK_NAME_MAX - strlen(ACCOUNT_PREFIX)] = more ? 'x' : '\0';
		w->app.name = a;
		account_of(&w->app, w->f.a);
		assert_int_equal(cstr_has_prefix(w->app.account.name, ACCOUNT_PREFIX "x"), !more);
	}
}

/* --- the namespace --- */

static void test_account__a_missing_namespace_is_made_and_marked(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	assert_int_equal(ask(w, "etcd", false), WAITING);
	struct action *x = view_fake_action(&w->f, ACT_CREATE, "Namespace", "etcd");
	assert_non_null(x);
	assert_null(x->as); /* ALM makes it */
	assert_string_equal(meta_annotation(x->body, ANNOTATION_APPS), "etcd");
	assert_string_equal(meta_label(x->body, "pod-security.kubernetes.io/enforce"), "baseline");
	assert_null(w->f.plan.as);
}

static void refuses(struct world *w, const char *ns, const char *step)
{
	assert_int_equal(ask(w, ns, false), ENDED);
	assert_null(w->f.plan.as);
	assert_int_equal(w->f.plan.n, 0);
	if (step)
		assert_string_equal(w->check.steps[w->check.n_steps - 1], step);
}

static void test_account__a_namespace_of_others_must_say_so(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("team", ""));
	refuses(w, "team", "kubectl annotate namespace team app.coreos.com/apps=etcd");
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("team", MARKED("etcdx,a")));
	refuses(w, "team",
		"kubectl annotate namespace team app.coreos.com/apps=etcdx,a,etcd --overwrite");
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("team", MARKED("a, b;$(id) ,c d")));
	refuses(w, "team",
		"kubectl annotate namespace team app.coreos.com/apps=a,etcd --overwrite");
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("team", MARKED("a, etcd")));
	assert_int_equal(settle(w, "team"), DONE);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("team", MARKED("*")));
	assert_int_equal(settle(w, "team"), DONE);
}

#define LABELLED ",\"labels\":{\"app.coreos.com/app\":\"etcd\"}"

static void test_account__the_system_s_namespaces_take_more(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	refuses(w, "alm-system", NULL);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("alm-system", MARKED("*")));
	refuses(w, "alm-system", NULL);
	refuses(w, "kube-new", NULL); /* not even made */
	assert_string_equal(w->check.message,
			    "namespace kube-new is missing, and ALM makes none of the system");
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("kube-x", LABELLED));
	refuses(w, "kube-x", NULL);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("kube-x", MARKED("etcd")));
	assert_int_equal(settle(w, "kube-x"), DONE);
	view_fake_put(&w->f, WATCH_NAMESPACE,
		      NAMESPACE("mine", LABELLED)); /* of earlier versions */
	assert_int_equal(settle(w, "mine"), DONE);
	refuses(w, "a/../b", NULL);
}

/* Of an app that is deleted: the CRDs named, as long as they are its own, and each by its name. */
static void test_account__a_deleted_app_may_delete_the_crds_it_names(void **state)
{
	static const struct {
		const char *named, *want; /* NULL: no such right */
		bool deleting;
	} rows[] = {
		{"as.x.io=1", "[\"as.x.io\"]", true},
		{"as.x.io=1,bs.x.io=2", "[\"as.x.io\"]", true}, /* b is another's */
		{"bs.x.io=2", NULL, true},
		{"none.x.io=2", NULL, true},
		{"pods.k8s.io=0", NULL, true}, /* reserved */
		{"as.x.io", NULL, true},
		{"as.x.io=1", NULL, false},
	};
	struct world *w = *state;
	view_fake_put(&w->f, WATCH_CRD, CRD("as", "x.io", "etcd.com.x"));
	view_fake_put(&w->f, WATCH_CRD, CRD("bs", "x.io", "other.com.x"));
	view_fake_put(&w->f, WATCH_CRD, CRD("pods", "k8s.io", "etcd.com.x"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		set_app(w, APP(""));
		struct obj *o = obj_keep(w->f.a, obj_copy(w->app.o));
		meta_set_annotation(o, ANNOTATION_DELETE_CRDS, rows[i].named);
		w->app.o = o;
		w->app.deleting = rows[i].deleting;
		const struct obj *role =
			obj_keep(w->f.a, account_app_role(&w->f.view, &w->app, "r"));
		const struct obj *rules = obj_get(role, "rules"), *found = NULL;
		for (size_t k = 0; k < obj_len(rules); k++)
			if (cstr_eq(obj_str(obj_at(rules, k), "resources[0]"),
				    "customresourcedefinitions") &&
			    cstr_eq(obj_str(obj_at(rules, k), "verbs[0]"), "delete"))
				found = obj_at(rules, k);
		if ((found != NULL) != (rows[i].want != NULL))
			fail_msg("row %zu", i);
		if (found) {
			CLEANUP(xfreep) char *names = json_text(obj_get(found, "resourceNames"));
			assert_string_equal(names, rows[i].want);
			assert_string_equal(obj_str(found, "apiGroups[0]"), "apiextensions.k8s.io");
		}
	}
	w->app.deleting = false;
}

/* Whoever may write that namespace, and accounts in it, may give ALM to an app. */
static void test_account__where_alm_is_takes_a_named_app_with_a_named_account(void **state)
{
	struct world *w = *state;
	static const char step[] = "kubectl annotate namespace alm-system app.coreos.com/apps=etcd";
	static const char again[] =
		"kubectl annotate namespace alm-system app.coreos.com/apps=etcd --overwrite";
	set_app(w, APP("\"serviceAccountName\":\"updater\""));
	refuses(w, "alm-system", step); /* it is not made for an app */
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("alm-system", LABELLED));
	refuses(w, "alm-system", step);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("alm-system", MARKED("*")));
	refuses(w, "alm-system", again);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("alm-system", MARKED("*,etcd")));
	assert_int_equal(ask(w, "alm-system", false), WAITING); /* and the account is looked at */
	assert_non_null(view_fake_work(&w->f, &survey_work));
	set_app(w, APP(""));
	refuses(w, "alm-system", NULL); /* not the default account */
	assert_string_equal(w->check.message,
			    "alm-system is no namespace for an app: set spec.installNamespace");
}

/* --- the default account --- */

static void test_account__its_rights_are_made_and_kept(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	assert_int_equal(ask(w, "etcd", false), WAITING);
	for (struct action *x = w->f.plan.head; x; x = x->next)
		assert_null(x->as);
	view_fake_perform(&w->f);
	assert_int_equal(ask(w, "etcd", false), DONE);
	assert_int_equal(w->f.plan.n, 0);
	assert_string_equal(w->f.plan.as, "system:serviceaccount:alm-system:app-etcd");
	const struct obj *b = live(w, "RoleBinding", "rolebindings", "etcd", "alm:app:etcd");
	assert_string_equal(obj_str(b, "roleRef.name"), "alm:app-namespace");
	assert_string_equal(obj_str(b, "subjects[0].name"), "app-etcd");
	assert_string_equal(obj_str(b, "subjects[0].namespace"), "alm-system");

	struct obj *changed =
		obj_copy(live(w, "ClusterRole", "clusterroles", NULL, "alm:app:etcd"));
	obj_set(changed, "rules", obj_list());
	view_fake_live_obj(&w->f, changed);
	obj_unref(changed);
	assert_int_equal(ask(w, "etcd", false), WAITING);
	assert_non_null(view_fake_action(&w->f, ACT_APPLY, "ClusterRole", "alm:app:etcd"));
	assert_int_equal(w->f.plan.n, 1);
	assert_int_equal(settle(w, "etcd"), DONE);

	changed = obj_copy(
		live(w, "ClusterRoleBinding", "clusterrolebindings", NULL, "alm:app:etcd"));
	obj_set_path(changed, "roleRef.name", obj_string("cluster-admin"));
	view_fake_live_obj(&w->f, changed);
	obj_unref(changed);
	assert_int_equal(ask(w, "etcd", false), WAITING);
	assert_non_null(view_fake_action(&w->f, ACT_DELETE, "ClusterRoleBinding", "alm:app:etcd"));
	assert_int_equal(settle(w, "etcd"), DONE);
}

static bool gives(const struct obj *role, const char *group, const char *resource, const char *verb)
{
	const struct obj *rules = obj_get(role, "rules");
	for (size_t i = 0; i < obj_len(rules); i++) {
		const struct obj *r = obj_at(rules, i);
		bool has = false, may = false;
		for (size_t k = 0; k < obj_len(obj_get(r, "resources")); k++) {
			const char *s = obj_as_string(obj_at(obj_get(r, "resources"), k));
			has = has || cstr_eq(s, resource) || cstr_eq(s, "*");
		}
		for (size_t k = 0; k < obj_len(obj_get(r, "verbs")); k++) {
			const char *s = obj_as_string(obj_at(obj_get(r, "verbs"), k));
			may = may || cstr_eq(s, verb) || cstr_eq(s, "*");
		}
		if (has && may && cstr_eq(obj_str(r, "apiGroups[0]"), group))
			return true;
	}
	return false;
}

static void test_account__what_it_never_gets(void **state)
{
	static const char rbac[] = "rbac.authorization.k8s.io";
	struct world *w = *state;
	set_app(w, APP(""));
	assert_int_equal(settle(w, "etcd"), WAITING); /* the fake makes no Namespace */
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	assert_int_equal(settle(w, "etcd"), DONE);
	const struct obj *in = live(w, "ClusterRole", "clusterroles", NULL, "alm:app-namespace");
	const struct obj *all = live(w, "ClusterRole", "clusterroles", NULL, "alm:app:etcd");
	assert_true(gives(in, "", "secrets", "create"));
	assert_true(gives(in, rbac, "roles", "create"));
	assert_false(gives(in, rbac, "roles", "escalate"));
	assert_false(gives(in, rbac, "rolebindings", "bind"));
	assert_false(gives(in, "", "serviceaccounts", "impersonate"));
	assert_false(gives(in, "", "serviceaccounts/token", "create"));
	assert_false(gives(in, "", "namespaces", "patch"));
	assert_false(gives(in, "", "resourcequotas", "delete"));
	assert_true(gives(all, rbac, "clusterroles", "create"));
	assert_false(gives(all, rbac, "clusterroles", "escalate"));
	assert_false(gives(all, rbac, "clusterroles", "bind"));
	assert_false(gives(all, "", "nodes", "get"));
	assert_false(gives(all, "", "namespaces", "create"));
	assert_false(gives(all, "apiextensions.k8s.io", "customresourcedefinitions", "delete"));
}

static void test_account__custom_resources_of_definitions_that_name_the_app(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	view_fake_put(&w->f, WATCH_CRD, CRD("etcds", "x.io", "etcd.com.x"));
	view_fake_put(&w->f, WATCH_CRD, CRD("others", "y.io", "other.com.x"));
	view_fake_put(&w->f, WATCH_CRD, CRD("taken", "snapshot.storage.k8s.io", "etcd.com.x"));
	view_fake_put(&w->f, WATCH_CRD, CRD("deployments", "apps", "etcd.com.x"));
	assert_int_equal(settle(w, "etcd"), DONE);
	const struct obj *role = live(w, "ClusterRole", "clusterroles", NULL, "alm:app:etcd");
	assert_true(gives(role, "x.io", "etcds", "delete"));
	assert_true(gives(role, "x.io", "etcds/status", "update"));
	assert_false(gives(role, "y.io", "others", "get"));
	assert_false(gives(role, "snapshot.storage.k8s.io", "taken", "get"));
	assert_false(gives(role, "apps", "deployments", "create"));
	view_fake_put(&w->f, WATCH_CRD, CRD("etcds", "x.io", "another.com.x")); /* taken back */
	assert_int_equal(settle(w, "etcd"), DONE);
	role = live(w, "ClusterRole", "clusterroles", NULL, "alm:app:etcd");
	assert_false(gives(role, "x.io", "etcds", "get"));
}

static void test_account__nothing_known_is_waited_for(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	w->f.blind = true;
	assert_int_equal(ask(w, "etcd", false), WAITING);
	assert_int_equal(view_fake_count(&w->f, ACT_WATCH), w->f.plan.n);
	assert_null(w->f.plan.as);
}

static void test_account__removal_makes_no_namespace_and_leaves_no_right(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	assert_int_equal(ask(w, "etcd", true), WAITING);
	assert_int_equal(view_fake_count(&w->f, ACT_CREATE), 0);
	assert_null(view_fake_action(&w->f, ACT_APPLY, "RoleBinding", NULL));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	assert_int_equal(settle(w, "etcd"), DONE);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("left", MARKED("etcd")));
	assert_int_equal(settle(w, "left"), DONE);
	view_fake_plan(&w->f);
	assert_int_equal(account_remove(&w->f.view, &w->f.plan, &w->app), WAITING);
	assert_int_equal(view_fake_count(&w->f, ACT_DELETE), 4);
	view_fake_perform(&w->f);
	assert_int_equal(account_remove(&w->f.view, view_fake_plan(&w->f), &w->app), DONE);
	assert_non_null(live(w, "ClusterRole", "clusterroles", NULL, "alm:app-namespace"));
}

static void test_account__rights_end_with_the_consent(void **state)
{
	struct world *w = *state;
	set_app(w, APP(""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("left", MARKED("etcd")));
	assert_int_equal(settle(w, "left"), DONE);
	assert_int_equal(settle(w, "etcd"), DONE); /* it may go on in both */
	assert_non_null(live(w, "RoleBinding", "rolebindings", "left", "alm:app:etcd"));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("left", MARKED("other")));
	assert_int_equal(ask(w, "etcd", false), WAITING);
	assert_null(w->f.plan.as);
	view_fake_perform(&w->f);
	assert_int_equal(settle(w, "etcd"), DONE);
	assert_null(live(w, "RoleBinding", "rolebindings", "left", "alm:app:etcd"));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", ""));
	assert_int_equal(ask(w, "etcd", false), ENDED);
	view_fake_perform(&w->f);
	assert_null(live(w, "RoleBinding", "rolebindings", "etcd", "alm:app:etcd"));
}

/* --- a named account --- */

#define SURVEY "account:etcd/deployer"

#define OF_INSTANCE                                                                               \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{\"name\":" \
	"\"etcd\",\"uid\":\"u\",\"annotations\":{\"app.coreos.com/of-instance\":\"xs.g.io/shop/"  \
	"x\","                                                                                    \
	"\"app.coreos.com/instance-of-app\":\"site\"}},\"spec\":{}}"

/* What an instance names gets the rights of its namespace, if that takes such, and none of the cluster. */
static void test_account__of_an_instance(void **state)
{
	struct world *w = *state;
	set_app(w, OF_INSTANCE);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("shop", ""));
	assert_int_equal(ask(w, "shop", false), ENDED);
	assert_non_null(strstr(w->check.message, "takes no charts of instances of site"));
	assert_string_equal(w->check.steps[0],
			    "kubectl annotate namespace shop app.coreos.com/instances=site");
	view_fake_put(&w->f, WATCH_NAMESPACE,
		      NAMESPACE("shop",
				",\"annotations\":{\"app.coreos.com/instances\":\"other,site\"}"));
	assert_int_equal(settle(w, "shop"), DONE);
	const struct obj *b = live(w, "RoleBinding", "rolebindings", "shop", "alm:app:etcd");
	assert_string_equal(obj_str(b, "roleRef.name"), "alm:app-namespace");
	assert_string_equal(instance_parent(b), "site"); /* what the server's policy compares */
	assert_null(live(w, "ClusterRole", "clusterroles", NULL, "alm:app:etcd"));
	assert_null(live(w, "ClusterRoleBinding", "clusterrolebindings", NULL, "alm:app:etcd"));
	/* the same word lets no other app in */
	set_app(w, APP(""));
	assert_int_equal(ask(w, "shop", false), ENDED);
	set_app(w, OF_INSTANCE);
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("shop", ""));
	assert_int_equal(ask(w, "shop", false), ENDED);
	view_fake_perform(&w->f);
	assert_null(live(w, "RoleBinding", "rolebindings", "shop", "alm:app:etcd"));
}

static void test_account__a_named_account_must_say_so(void **state)
{
	struct world *w = *state;
	set_app(w, APP("\"serviceAccountName\":\"deployer\""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	assert_int_equal(ask(w, "etcd", false), WAITING);
	assert_string_equal(view_fake_work(&w->f, &survey_work)->id, SURVEY);
	view_fake_outcome(&w->f, SURVEY, "{}");
	refuses(w, "etcd",
		"kubectl annotate serviceaccount deployer -n etcd app.coreos.com/apps=etcd");
	assert_string_equal(w->check.steps[0], "kubectl create serviceaccount deployer -n etcd");
	view_fake_outcome(&w->f, SURVEY, "{\"account\":{\"metadata\":{\"name\":\"deployer\"}}}");
	refuses(w, "etcd",
		"kubectl annotate serviceaccount deployer -n etcd app.coreos.com/apps=etcd");
	assert_int_equal(w->check.n_steps, 1);
	view_fake_outcome(&w->f, SURVEY,
			  "{\"account\":{\"metadata\":{\"name\":\"deployer\"" MARKED("etcd") "}}}");
	assert_int_equal(ask(w, "etcd", false), DONE);
	assert_string_equal(w->f.plan.as, "system:serviceaccount:etcd:deployer");
	w->f.view.now_ns += SURVEY_AGE_NS + 1; /* and is looked at again */
	assert_int_equal(ask(w, "etcd", false), WAITING);
}

static void test_account__a_name_cannot_leave_its_header(void **state)
{
	struct world *w = *state;
	set_app(w, APP("\"serviceAccountName\":\"a\\r\\nImpersonate-Group: system:masters\""));
	view_fake_put(&w->f, WATCH_NAMESPACE, NAMESPACE("etcd", MARKED("etcd")));
	refuses(w, "etcd", NULL);
}

/* --- definitions --- */

static bool may_define(struct world *w, const char *crd, const char *there, const char **ret_step)
{
	const char *why = NULL;
	bool may = account_may_define(&w->app, view_fake_obj(&w->f, crd),
				      there ? view_fake_obj(&w->f, there) : NULL, w->f.a, &why,
				      ret_step);
	assert_true(may || why);
	return may;
}

static void test_account__definitions_of_others_are_left_alone(void **state)
{
	static const char own[] = CRD("as", "x.io", "etcd.com.x"),
			  none[] = "{\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
				   "\"as.x.io\"}}";
	struct world *w = *state;
	const char *step;
	set_app(w, APP(""));
	assert_true(may_define(w, own, NULL, &step));
	assert_true(may_define(w, own, own, &step));
	assert_true(may_define(w, own, CRD("as", "x.io", "alm"), &step));
	assert_false(may_define(w, own, none, &step));
	assert_string_equal(step, "kubectl annotate crd as.x.io app.coreos.com/owner=etcd.com.x");
	assert_false(may_define(w, own, CRD("as", "x.io", "other.com.x"), &step));
	assert_false(may_define(w, CRD("as", "storage.k8s.io", "etcd.com.x"), NULL, &step));
	assert_false(may_define(w, CRD("as", "x.kubernetes.io", "etcd.com.x"), NULL, &step));
	assert_false(may_define(w, CRD("deployments", "apps", "etcd.com.x"), NULL, &step));
	assert_true(may_define(w, CRD("as", "notk8s.io", "etcd.com.x"), NULL, &step));
	assert_false(may_define(w, CRD("as", "gate.app.coreos.com", "etcd.com.x"), NULL, &step));
	set_app(w, APP("\"serviceAccountName\":\"deployer\"")); /* the server decides */
	assert_true(may_define(w, own, none, &step));
	assert_true(may_define(w, CRD("as", "storage.k8s.io", "etcd.com.x"), NULL, &step));
	assert_false(may_define(w, CRD("apps", "app.coreos.com", "etcd.com.x"), NULL, &step));
	assert_false(may_define(w, CRD("as", "opinstaller.coreos.com", "etcd.com.x"), NULL, &step));
}

/* --- the invariant --- */

static void test_account__an_action_of_the_app_without_it_cannot_be_planned(void **state)
{
	struct world *w = *state;
	pid_t pid = fork();
	if (!pid) {
		(void)signal(SIGABRT, SIG_DFL);
		(void)close(2);
		view_fake_plan(&w->f)->as = NULL;
		plan_create(&w->f.plan, meta_skeleton("v1", "ConfigMap", "ns", "x"));
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_account__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_default_is_of_this_app_alone),
		TEST(long_names_stay_apart),
		TEST(a_missing_namespace_is_made_and_marked),
		TEST(a_namespace_of_others_must_say_so),
		TEST(the_system_s_namespaces_take_more),
		TEST(where_alm_is_takes_a_named_app_with_a_named_account),
		TEST(a_deleted_app_may_delete_the_crds_it_names),
		TEST(its_rights_are_made_and_kept),
		TEST(what_it_never_gets),
		TEST(custom_resources_of_definitions_that_name_the_app),
		TEST(nothing_known_is_waited_for),
		TEST(removal_makes_no_namespace_and_leaves_no_right),
		TEST(rights_end_with_the_consent),
		TEST(of_an_instance),
		TEST(a_named_account_must_say_so),
		TEST(a_name_cannot_leave_its_header),
		TEST(definitions_of_others_are_left_alone),
		TEST(an_action_of_the_app_without_it_cannot_be_planned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
