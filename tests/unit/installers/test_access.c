/* test_access.c: which rights an install takes and hands on, and what an upgrade adds. */
#include "installers/access.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define OBJECTS_MAX 8
#define RBAC        "\"apiVersion\":\"rbac.authorization.k8s.io/v1\","

struct world {
	struct arena *a;
	struct access_object objects[OBJECTS_MAX];
	struct access_input in;
	struct access got;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	w->a = arena_new((size_t)16 << 20);
	w->in = (struct access_input){.objects = w->objects};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	arena_free(w->a);
	xfree(w);
	return 0;
}

static struct obj *parse(struct world *w, const char *json)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return obj_keep(w->a, o);
}

static struct access_object *add(struct world *w, const char *group, const char *plural,
				 const char *ns, const char *json)
{
	assert_true(w->in.n < OBJECTS_MAX);
	struct access_object *o = &w->objects[w->in.n++];
	*o = (struct access_object){
		.object = parse(w, json), .group = group, .plural = plural, .ns = ns};
	return o;
}

static struct access_object *add_rbac(struct world *w, const char *plural, const char *ns,
				      const char *json)
{
	return add(w, ACCESS_RBAC, plural, ns, json);
}

/* "create secrets in ns\n..." of all that waives nothing, with what gives it. */
static const char *rules(struct world *w)
{
	struct error err = ERROR_INIT;
	const char *text = "";
	assert_ok(access_rules(&w->in, w->a, &w->got, &err), &err);
	for (size_t i = 0; i < w->got.n; i++) {
		const struct access_rule *r = &w->got.items[i];
		text = arena_fmt(w->a, "%s%s%s%s%s%s\n", text, r->waives ? "(" : "",
				 access_text(r, w->a), r->waives ? ")" : "", r->role ? " for " : "",
				 r->role ? r->role : "");
	}
	return text;
}

static void test_access__an_object_is_made_changed_and_deleted(void **state)
{
	struct world *w = *state;
	w->in.ns = "etcd";
	add(w, "apps", "deployments", "etcd",
	    "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"}}");
	add(w, "", "persistentvolumeclaims", "etcd", "{\"metadata\":{\"name\":\"kept\"}}")->life =
		ACCESS_KEPT;
	add(w, "batch", "jobs", "etcd", "{\"metadata\":{\"name\":\"hook\"}}")->life = ACCESS_HOOK;
	add(w, "apiextensions.k8s.io", "customresourcedefinitions", NULL,
	    "{\"metadata\":{\"name\":\"as.x.y\"}}")
		->life = ACCESS_DEFINITION;
	add(w, "x.y", NULL, "etcd", "{\"metadata\":{\"name\":\"nobody knows the kind\"}}");
	assert_string_equal(
		rules(w),
		"create customresourcedefinitions.apiextensions.k8s.io at cluster scope\n"
		"patch customresourcedefinitions.apiextensions.k8s.io as.x.y at cluster scope\n"
		"create persistentvolumeclaims in etcd\n"
		"patch persistentvolumeclaims kept in etcd\n"
		"create secrets in etcd\n"
		"delete secrets in etcd\n"
		"patch secrets in etcd\n"
		"create deployments.apps in etcd\n"
		"delete deployments.apps d in etcd\n"
		"patch deployments.apps d in etcd\n"
		"create jobs.batch in etcd\n"
		"delete jobs.batch hook in etcd\n");
}

#define ROLE(rule) \
	"{" RBAC "\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"},\"rules\":[" rule "]}"
#define BINDING(kind, role)                                                                   \
	"{" RBAC "\"kind\":\"" kind "\",\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":" \
	"\"ClusterRole\",\"name\":\"" role                                                    \
	"\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"u\"}]}"
#define READS "{\"apiGroups\":[\"\"],\"resources\":[\"nodes\"],\"verbs\":[\"get\"]}"

static void test_access__what_a_role_gives_must_be_held(void **state)
{
	struct world *w = *state;
	add_rbac(w, NULL, NULL,
		 ROLE("{\"apiGroups\":[\"\",\"apps\"],\"resources\":[\"a/status\",\"b\"],"
		      "\"resourceNames\":[\"n\"],\"verbs\":[\"get\",\"*\"]},"
		      "{\"nonResourceURLs\":[\"/metrics\"],\"verbs\":[\"get\"]}"));
	assert_string_equal(rules(w),
			    "* a/status n at cluster scope for ClusterRole/r\n"
			    "get a/status n at cluster scope for ClusterRole/r\n"
			    "* b n at cluster scope for ClusterRole/r\n"
			    "get b n at cluster scope for ClusterRole/r\n"
			    "* a.apps/status n at cluster scope for ClusterRole/r\n"
			    "get a.apps/status n at cluster scope for ClusterRole/r\n"
			    "* b.apps n at cluster scope for ClusterRole/r\n"
			    "get b.apps n at cluster scope for ClusterRole/r\n"
			    "(escalate clusterroles.rbac.authorization.k8s.io r at cluster "
			    "scope) for ClusterRole/r\n"
			    "get /metrics for ClusterRole/r\n");
}

static void test_access__an_aggregating_role_takes_all(void **state)
{
	struct world *w = *state;
	add_rbac(w, NULL, NULL,
		 "{" RBAC "\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"},"
		 "\"aggregationRule\":{\"clusterRoleSelectors\":[]}}");
	assert_non_null(strstr(rules(w), "* *.* at cluster scope for ClusterRole/r\n"));
}

static void test_access__a_binding_gives_where_it_binds(void **state)
{
	struct world *w = *state;
	add_rbac(w, NULL, NULL, ROLE(READS));
	add_rbac(w, NULL, "ns", BINDING("RoleBinding", "r"));
	assert_string_equal(
		rules(w),
		"get nodes at cluster scope for ClusterRole/r\n"
		"(escalate clusterroles.rbac.authorization.k8s.io r at cluster scope) for "
		"ClusterRole/r\n"
		"get nodes in ns for RoleBinding/ns/b\n"
		"(bind clusterroles.rbac.authorization.k8s.io r in ns) for "
		"RoleBinding/ns/b\n");
}

static void test_access__a_role_of_others_is_bound_by_right_or_proof(void **state)
{
	struct world *w = *state;
	add_rbac(w, NULL, NULL, BINDING("ClusterRoleBinding", "view"));
	assert_string_equal(rules(w), "bind clusterroles.rbac.authorization.k8s.io view at cluster "
				      "scope for ClusterRoleBinding/b\n");
	assert_ptr_equal(w->got.items[0].proof, w->objects[0].object);
	w->in.withholds = true; /* what the role gives is not known to be fit to be handed on */
	rules(w);
	assert_null(w->got.items[0].proof);
	w->objects[0].ns = "ns";
	rules(w);
	assert_non_null(w->got.items[0].proof);
}

static void test_access__rights_to_definitions_are_not_handed_on(void **state)
{
	struct world *w = *state;
	w->in.withholds = true;
	add_rbac(w, NULL, NULL,
		 ROLE("{\"apiGroups\":[\"apiextensions.k8s.io\"],\"resources\":"
		      "[\"customresourcedefinitions\"],\"verbs\":[\"get\",\"create\"]},"
		      "{\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":"
		      "[\"clusterroles\",\"roles\"],\"verbs\":[\"patch\"]}"));
	const char *text = rules(w);
	assert_non_null(strstr(text, "delegate-create customresourcedefinitions"));
	assert_true(cstr_has_prefix(text, "create customresourcedefinitions")); /* and held */
	assert_null(strstr(text, "delegate-get"));
	assert_non_null(strstr(text, "delegate-patch clusterroles"));
	assert_null(strstr(text, "delegate-patch roles"));
}

static void test_access__own_custom_resources_come_with_the_account(void **state)
{
	static const char *const own[] = {"etcds.etcd.io", NULL};
	struct world *w = *state;
	w->in.own = own;
	add(w, "etcd.io", "etcds", "ns", "{\"metadata\":{\"name\":\"e\"}}");
	add_rbac(w, NULL, NULL,
		 ROLE("{\"apiGroups\":[\"etcd.io\"],\"resources\":[\"etcds\",\"etcds/status\","
		      "\"etcds/spec\",\"etcd\",\"etcdss\"],\"verbs\":[\"get\"]}"));
	assert_string_equal(
		rules(w),
		"get etcd.etcd.io at cluster scope for ClusterRole/r\n"
		"get etcds.etcd.io/spec at cluster scope for ClusterRole/r\n"
		"get etcdss.etcd.io at cluster scope for ClusterRole/r\n"
		"(escalate clusterroles.rbac.authorization.k8s.io r at cluster scope) for "
		"ClusterRole/r\n");
}

static void test_access__escalate_waives_what_the_role_gives(void **state)
{
	struct world *w = *state;
	bool denied[8] = {false}, missing[8];
	add_rbac(w, "clusterroles", NULL, ROLE(READS));
	rules(w);
	assert_int_equal(w->got.n, 5); /* get nodes; create, delete, escalate, patch */
	assert_int_equal(access_missing(&w->got, denied, missing), 0);
	denied[0] = true;
	assert_string_equal(w->got.items[0].resource, "nodes");
	assert_int_equal(access_missing(&w->got, denied, missing), 0); /* escalate is not denied */
	for (size_t i = 0; i < w->got.n; i++)
		denied[i] = true;
	assert_int_equal(access_missing(&w->got, denied, missing), 4);
	for (size_t i = 0; i < w->got.n; i++)
		assert_int_equal(missing[i], !w->got.items[i].waives);
}

static void test_access__too_many_rights_are_refused(void **state)
{
	struct world *w = *state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_adds(&b, "{" RBAC "\"kind\":\"ClusterRole\",\"rules\":[{\"apiGroups\":[\"\"],"
			"\"resources\":[\"x\"");
	for (int i = 0; i < ACCESS_RULES_MAX; i++)
		strbuf_addf(&b, ",\"x%d\"", i);
	strbuf_adds(&b, "],\"verbs\":[\"get\"]}]}");
	add_rbac(w, NULL, NULL, b.buf);
	assert_int_equal(access_rules(&w->in, w->a, &w->got, &err), -E_LIMIT);
}

/* --- manifests --- */

static const char *manifests(struct world *w)
{
	const struct access_grantee g = {.ns = "alm-system",
					 .account = "app-etcd",
					 .name = "app-etcd",
					 .label = "app.coreos.com/app",
					 .value = "etcd"};
	rules(w);
	CLEANUP(obj_unrefp) struct obj *list = access_manifests(&w->got, NULL, &g);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	for (size_t i = 0; i < obj_len(list); i++) {
		json_print(obj_at(list, i), &b);
		strbuf_adds(&b, "\n");
	}
	return arena_strdup(w->a, b.buf);
}

#define META(kind, ns)                                                                          \
	"{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"" kind "\",\"metadata\":{" \
	"\"name\":\"app-etcd\"" ns ",\"labels\":{\"app.coreos.com/app\":\"etcd\"}},"
#define REF(kind)                                                                             \
	"\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"" kind            \
	"\",\"name\":\"app-etcd\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"namespace\":" \
	"\"alm-system\",\"name\":\"app-etcd\"}]}\n"

static void test_access__manifests_are_merged_by_namespace(void **state)
{
	struct world *w = *state;
	add(w, "", "configmaps", "ns", "{\"metadata\":{\"name\":\"a\"}}");
	add(w, "", "configmaps", "ns", "{\"metadata\":{\"name\":\"b\"}}");
	add(w, "", "services", "ns", "{\"metadata\":{\"name\":\"s\"}}")->life = ACCESS_HOOK;
	add(w, "x.io", "clusterthings", NULL, "{\"metadata\":{\"name\":\"c\"}}")->life =
		ACCESS_KEPT;
	assert_string_equal(
		manifests(w),
		META("ClusterRole",
		     "") "\"rules\":[{\"apiGroups\":[\"x.io\"],\"resources\":["
			 "\"clusterthings\"],\"verbs\":[\"create\"]},{\"apiGroups\":[\"x.io\"],"
			 "\"resources\":["
			 "\"clusterthings\"],\"resourceNames\":[\"c\"],\"verbs\":[\"patch\"]}]}"
			 "\n" META("ClusterRoleBinding", "") REF("ClusterRole") META(
				 "Role",
				 ",\"namespace\":\"ns\"") "\"rules\":[{\"apiGroups\":[\"\"],"
							  "\"resources\":[\"configmaps\","
							  "\"services\"],\"verbs\":[\"create\"]},"
							  "{\"apiGroups\":[\"\"],\"resources\":["
							  "\"configmaps\"],\"resourceNames\":["
							  "\"a\",\"b\"],"
							  "\"verbs\":[\"delete\",\"patch\"]},{"
							  "\"apiGroups\":[\"\"],\"resources\":["
							  "\"services\"],"
							  "\"resourceNames\":[\"s\"],\"verbs\":["
							  "\"delete\"]}]}\n" META(
								  "RoleBinding",
								  ",\"namespace\":\"ns\"")
								  REF("Role"));
}

/* --- upgrades --- */

static const char *added(struct world *w, const char *before, const char *now, const char *ns)
{
	struct error err = ERROR_INIT;
	struct access old, new;
	const char *text = "";
	size_t n;
	struct access_object was = {.object = parse(w, before), .ns = ns},
			     is = {.object = parse(w, now), .ns = ns};
	struct access_input in_old = {.objects = &was, .n = 1}, in_new = {.objects = &is, .n = 1};
	assert_ok(access_grants(&in_old, w->a, &old, &err), &err);
	assert_ok(access_grants(&in_new, w->a, &new, &err), &err);
	const char *const *list = access_added(&new, &old, w->a, &n);
	for (size_t i = 0; i < n; i++)
		text = arena_fmt(w->a, "%s%s\n", text, list[i]);
	return text;
}

#define ON(verbs, resources) \
	"{\"apiGroups\":[\"\"],\"resources\":[" resources "],\"verbs\":[" verbs "]}"

static void test_access__an_upgrade_tells_each_verb_and_resource_it_adds(void **state)
{
	struct world *w = *state;
	const char *get_pods = ROLE(ON("\"get\"", "\"pods\""));
	assert_string_equal(added(w, get_pods, get_pods, "ns"), "");
	assert_string_equal(
		added(w, get_pods, ROLE(ON("\"list\",\"get\",\"watch\"", "\"pods\"")), "ns"),
		"list,watch pods in ns\n");
	assert_string_equal(added(w, get_pods, ROLE(ON("\"get\"", "\"pods\",\"secrets\"")), NULL),
			    "get secrets at cluster scope\n");
	assert_string_equal(
		added(w, ROLE(ON("\"*\"", "\"*\"")), ROLE(ON("\"get\"", "\"x\"")), "ns"), "");
	assert_string_equal(added(w, "{}", get_pods, "ns"), "get pods in ns\n");
	assert_string_equal(added(w, get_pods, "{}", "ns"), "");
}

static void test_access__a_wider_scope_is_more(void **state)
{
	struct world *w = *state;
	struct error err = ERROR_INIT;
	struct access wide, narrow;
	size_t n;
	struct access_object a = {.object = parse(w, ROLE(READS))}, b = a;
	b.ns = "ns";
	struct access_input in_wide = {.objects = &a, .n = 1}, in_narrow = {.objects = &b, .n = 1};
	assert_ok(access_grants(&in_wide, w->a, &wide, &err), &err);
	assert_ok(access_grants(&in_narrow, w->a, &narrow, &err), &err);
	access_added(&wide, &narrow, w->a, &n);
	assert_int_equal(n, 1);
	access_added(&narrow, &wide, w->a, &n);
	assert_int_equal(n, 0);
}

static void test_access__a_role_of_others_is_told_with_its_subject(void **state)
{
	struct world *w = *state;
	assert_string_equal(added(w, "{}", BINDING("ClusterRoleBinding", "cluster-admin"), NULL),
			    "ClusterRole cluster-admin for User u at cluster scope\n");
	assert_string_equal(added(w, BINDING("ClusterRoleBinding", "cluster-admin"),
				  BINDING("ClusterRoleBinding", "cluster-admin"), NULL),
			    "");
}

/* Only the chart's own account is told by its role alone: one of another kind, name or namespace is a stranger, who is told. */
static void test_access__each_other_account_is_a_stranger(void **state)
{
	static const char *const kinds[] = {"ServiceAccount", "User", "Group"};
	static const char *const names[] = {"own", "other", "r"};
	static const char *const namespaces[] = {"ns", "kube-system", NULL};
	struct world *w = *state;
	for (size_t k = 0; k < 27; k++) {
		struct error err = ERROR_INIT;
		struct access got;
		const char *ns = namespaces[k % 3], *name = names[k / 3 % 3], *kind = kinds[k / 9];
		struct obj *binding =
			parse(w, "{" RBAC "\"kind\":\"RoleBinding\",\"metadata\":{"
				 "\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\","
				 "\"name\":\"r\"}}");
		struct obj *subject = obj_map(), *list = obj_list();
		obj_set_str(subject, "kind", kind);
		obj_set_str(subject, "name", name);
		if (ns)
			obj_set_str(subject, "namespace", ns);
		obj_append(list, subject);
		obj_set(binding, "subjects", list);
		const struct access_object objects[] = {
			{.object = parse(w, "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\","
					    "\"metadata\":{\"name\":\"own\"}}"),
			 .ns = "ns"},
			{.object = parse(w, ROLE(READS))},
			{.object = binding, .ns = "ns"}};
		const struct access_input in = {.objects = objects, .n = ARRAY_LEN(objects)};
		assert_ok(access_grants(&in, w->a, &got, &err), &err);
		size_t n_told = 0;
		for (size_t i = 0; i < got.n; i++)
			n_told += got.items[i].subject != NULL;
		assert_int_equal(n_told, k != 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_access__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_object_is_made_changed_and_deleted),
		TEST(what_a_role_gives_must_be_held),
		TEST(an_aggregating_role_takes_all),
		TEST(a_binding_gives_where_it_binds),
		TEST(a_role_of_others_is_bound_by_right_or_proof),
		TEST(rights_to_definitions_are_not_handed_on),
		TEST(own_custom_resources_come_with_the_account),
		TEST(escalate_waives_what_the_role_gives),
		TEST(too_many_rights_are_refused),
		TEST(manifests_are_merged_by_namespace),
		TEST(an_upgrade_tells_each_verb_and_resource_it_adds),
		TEST(a_wider_scope_is_more),
		TEST(a_role_of_others_is_told_with_its_subject),
		TEST(each_other_account_is_a_stranger),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
