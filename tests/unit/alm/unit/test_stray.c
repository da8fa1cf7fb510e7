/* What is nobody's in a namespace: the rule, row by row. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/stray.h"

#define OURS               "hub.web.files"
#define MARK(label, value) "\"labels\":{\"app.coreos.com/" label "\":\"" value "\"}"
#define NOTE(key, value)   "\"annotations\":{\"" key "\":\"" value "\"}"
#define ID(value)          NOTE("app.coreos.com/owner-id", value)

struct row {
	const char *api, *kind, *ns, *name, *meta; /* meta: more of the metadata */
	const char *why;                           /* begins so; NULL: it may be a stray */
};

/* clang-format off */
static const struct row rows[] = {
	{"v1", "ConfigMap", "team", "x", "", NULL},
	{"apps/v1", "Deployment", "team", "x", "", NULL},
	{"etcd.coreos.com/v1", "Etcd", "team", "x", "", NULL}, /* every kind: R16 */
	{"v1", "Secret", "team", "x", "", NULL},
	/* where */
	{"v1", "ConfigMap", "other", "x", "", "it is in none"},
	{"v1", "ConfigMap", "tea", "x", "", "it is in none"},
	{"v1", "Node", NULL, "x", "", "it is in none"},
	{"v1", "Namespace", NULL, "team", "", "it is in none"},
	/* somebody needs it, alive or not: the garbage collector knows */
	{"v1", "Pod", "team", "x", "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
	 "\"ReplicaSet\",\"name\":\"r\",\"uid\":\"1\"}]", "it has an owner"},
	{"v1", "Pod", "team", "x", "\"ownerReferences\":[]", NULL},
	/* what nobody could make again, or wants kept */
	{"v1", "PersistentVolumeClaim", "team", "x", "", "it is kept"},
	{"v1", "ConfigMap", "team", "x", NOTE("helm.sh/resource-policy", "keep"), "it is kept"},
	{"v1", "ConfigMap", "team", "x", NOTE("app.coreos.com/prune", "disabled"), "it is kept"},
	{"v1", "ConfigMap", "team", "x", NOTE("app.coreos.com/prune", "enabled"), NULL},
	/* Kubernetes' own */
	{"v1", "ConfigMap", "team", "kube-root-ca.crt", "", "Kubernetes makes it"},
	{"v1", "Secret", "team", "kube-root-ca.crt", "", NULL},
	{"v1", "ServiceAccount", "team", "default", "", "Kubernetes makes it"},
	{"v1", "ServiceAccount", "team", "other", "", "rights hang on it"},
	{"rbac.authorization.k8s.io/v1", "Role", "team", "r", "", "rights hang on it"},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", "team", "r", "", "rights hang on it"},
	{"authorization.openshift.io/v1", "Role", "team", "r", "", "rights hang on it"},
	{"authorization.openshift.io/v1", "RoleBinding", "team", "r", "", "rights hang on it"},
	{"example.com/v1", "Role", "team", "r", "", NULL},
	{"v1", "Event", "team", "x", "", "Kubernetes makes it"},
	{"events.k8s.io/v1", "Event", "team", "x", "", "Kubernetes makes it"},
	{"v1", "Endpoints", "team", "x", "", "Kubernetes makes it"},
	{"discovery.k8s.io/v1", "EndpointSlice", "team", "x", "", "Kubernetes makes it"},
	{"example.com/v1", "EndpointSlice", "team", "x", "", NULL},
	{"coordination.k8s.io/v1", "Lease", "team", "x", "", "Kubernetes makes it"},
	{"storage.k8s.io/v1", "CSIStorageCapacity", "team", "x", "", "Kubernetes makes it"},
	{"v1", "Service", "default", "kubernetes", "", "Kubernetes makes it"},
	{"v1", "Service", "team", "kubernetes", "", NULL},
	{"v1", "Secret", "team", "t", NOTE("kubernetes.io/service-account.name", "default"),
	 "Kubernetes makes it"},
	{"v1", "Pod", "team", "p", NOTE("kubernetes.io/config.mirror", "1"), "Kubernetes makes it"},
	/* Helm's */
	{"v1", "ConfigMap", "team", "x", NOTE("meta.helm.sh/release-name", "r"), "it is of a Helm"},
	{"v1", "Secret", "team", "sh.helm.release.v1.r.v1", "\"labels\":{\"owner\":\"helm\"}",
	 "it is of a Helm"},
	{"v1", "Secret", "team", "r", "\"labels\":{\"owner\":\"helm\"}", NULL},
};
/* clang-format on */

static struct obj *object(struct arena *a, const struct row *r, unsigned uid)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *ns = r->ns ? arena_fmt(a, "\"namespace\":\"%s\",", r->ns) : "";
	const char *text =
		arena_fmt(a,
			  "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{%s\"name\":"
			  "\"%s\",\"uid\":\"u%u\",\"resourceVersion\":\"7\"%s%s}}",
			  r->api, r->kind, ns, r->name, uid, *r->meta ? "," : "", r->meta);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_stray__what_may_be_one(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct obj *namespaces = obj_keep(a, obj_list());
	obj_append(namespaces, obj_string("team"));
	obj_append(namespaces, obj_string("default"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *why = stray_spares(object(a, &rows[i], 1), namespaces);
		bool same = why && rows[i].why ? cstr_has_prefix(why, rows[i].why)
					       : !why && !rows[i].why;
		if (!same)
			print_error("row %zu, %s %s: %s\n", i, rows[i].kind, rows[i].name,
				    why ? why : "(may be one)");
		assert_true(same);
	}
}

/* --- which are --- */

static const struct {
	struct row o;
	bool stray;
} seen[] = {
	/* in the order of the list: by namespace, kind, name */
	{{"v1", "ConfigMap", "a", "z", "", NULL}, true},
	{{"v1", "ConfigMap", "team", "a", "", NULL}, true},
	{{"v1", "ConfigMap", "team", "b", "\"deletionTimestamp\":\"2030-01-01T00:00:00Z\"", NULL},
	 true},
	{{"v1", "ConfigMap", "team", "copied", MARK("bundle", "web") "," ID(OURS), NULL}, true},
	{{"v1", "ConfigMap", "team", "declared", "", NULL}, false},
	{{"v1", "ConfigMap", "team", "made", MARK("bundle", "web") "," ID(OURS), NULL}, false},
	{{"v1", "ConfigMap", "team", "of-an-app", MARK("app", "etcd"), NULL}, false},
	{{"v1", "ConfigMap", "team", "of-a-version", MARK("strategy", "etcd"), NULL}, false},
	{{"v1", "ConfigMap", "team", "of-another", MARK("bundle", "base"), NULL}, false},
	{{"v1", "ConfigMap", "team", "of-another-hub", MARK("bundle", "web") "," ID("x.web.files"),
	  NULL},
	 false},
	{{"v1", "Secret", "team", "declared", "", NULL}, true}, /* another kind of that name */
};

static void test_stray__which_are(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	const struct inventory lines = {.lines = (struct inventory_line[]){{.api_version = "v1",
									    .kind = "ConfigMap",
									    .ns = "team",
									    .name = "declared"},
									   {.api_version = "v1",
									    .kind = "ConfigMap",
									    .ns = "team",
									    .name = "made"}},
					.n = 2};
	struct obj *list = obj_keep(a, obj_list());
	for (size_t i = ARRAY_LEN(seen); i-- > 0;)
		obj_append(list, stray_row(object(a, &seen[i].o, (unsigned)i)));
	size_t n, total, at = 0;
	const struct stray *strays = stray_list(list, &lines, OURS, a, &n, &total);
	assert_int_equal(n, total);
	for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
		if (!seen[i].stray)
			continue;
		assert_true(at < n);
		assert_string_equal(meta_name(strays[at].row), seen[i].o.name);
		assert_string_equal(meta_kind(strays[at].row), seen[i].o.kind);
		assert_true(strays[at].deleting == (strcmp(seen[i].o.name, "b") == 0));
		assert_string_equal(meta_resource_version(strays[at].row), "7");
		at++;
	}
	assert_int_equal(at, n);
}

/* A server may show what is declared as one kind as another one, too: it is one object. */
static void test_stray__an_object_that_is_seen_as_two_kinds(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct row two[] = {
		{"networking.k8s.io/v1", "Ingress", "team", "x", ID(OURS), NULL},
		{"extensions/v1beta1", "Ingress", "team", "x", ID(OURS), NULL}};
	struct inventory_line l = {.api_version = "networking.k8s.io/v1",
				   .kind = "Ingress",
				   .ns = "team",
				   .name = "x",
				   .uid = "u1"};
	const struct inventory lines = {.lines = &l, .n = 1}, none = {0};
	struct obj *list = obj_keep(a, obj_list());
	size_t n, total;
	for (size_t i = 0; i < ARRAY_LEN(two); i++)
		obj_append(list, stray_row(object(a, &two[i], 1)));
	(void)stray_list(list, &lines, OURS, a, &n, &total);
	assert_int_equal(n, 0);
	(void)stray_list(list, &none, OURS, a, &n, &total);
	assert_int_equal(n, 1);
}

/* ... and under another uid: then its name says that it is the same, in any version and group. */
static void test_stray__an_object_that_is_seen_as_two_with_two_uids(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct row copies[] = {
		{"extensions/v1beta1", "Ingress", "team", "x", ID(OURS), NULL},
		{"networking.k8s.io/v1beta1", "Ingress", "team", "x", "", NULL},
		{"copies.example.com/v1", "Ingress", "team", "x", "", NULL},
		{"extensions/v1beta1", "Ingress", "team", "y", "", NULL}, /* nobody's */
		{"extensions/v1beta1", "Ingress", "other", "x", "", NULL},
		{"extensions/v1beta1", "Egress", "team", "x", "", NULL}};
	struct inventory_line l = {.api_version = "networking.k8s.io/v1",
				   .kind = "Ingress",
				   .ns = "team",
				   .name = "x",
				   .uid = "u1"};
	const struct inventory lines = {.lines = &l, .n = 1};
	struct obj *list = obj_keep(a, obj_list());
	size_t n, total;
	for (size_t i = 0; i < ARRAY_LEN(copies); i++)
		obj_append(list, stray_row(object(a, &copies[i], 2 + (unsigned)i)));
	const struct stray *strays = stray_list(list, &lines, OURS, a, &n, &total);
	assert_int_equal(n, 3);
	assert_string_equal(strays[0].id, "Ingress.extensions/other/x");
	assert_string_equal(strays[1].id, "Egress.extensions/team/x");
	assert_string_equal(strays[2].id, "Ingress.extensions/team/y");
}

static void test_stray__more_than_are_told(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	const struct inventory none = {0};
	struct obj *list = obj_keep(a, obj_list());
	size_t n, total;
	for (unsigned i = 0; i < STRAYS_MAX + 5; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "n%05u", i);
		const struct row r = {"v1", "ConfigMap", "team", name, "", NULL};
		obj_append(list, stray_row(object(a, &r, i)));
	}
	const struct stray *strays = stray_list(list, &none, OURS, a, &n, &total);
	assert_int_equal(n, STRAYS_MAX);
	assert_int_equal(total, STRAYS_MAX + 5);
	assert_string_equal(meta_name(strays[n - 1].row), "n00999");
}

static const char *digest_of(struct arena *a, const struct row *list, size_t n, unsigned first_uid)
{
	const struct inventory none = {0};
	struct obj *all = obj_keep(a, obj_list());
	char text[SHA256_HEX];
	size_t n_strays, total;
	for (size_t i = 0; i < n; i++)
		obj_append(all, stray_row(object(a, &list[i], first_uid + (unsigned)i)));
	const struct stray *strays = stray_list(all, &none, OURS, a, &n_strays, &total);
	stray_digest(strays, n_strays, text);
	return arena_strdup(a, text);
}

/* Who consents to the deletion of some does not to that of others, nor of others of their names. */
static void test_stray__consent_is_to_these_objects(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct row list[] = {{"v1", "ConfigMap", "team", "a", "", NULL},
					  {"v1", "ConfigMap", "team", "b", "", NULL},
					  {"v1", "ConfigMap", "team", "c",
					   "\"deletionTimestamp\":\"2030-01-01T00:00:00Z\"", NULL}};
	const char *two = digest_of(a, list, 2, 1);
	assert_string_equal(two, digest_of(a, list, 2, 1));
	assert_string_equal(two, digest_of(a, list, 3, 1)); /* the third goes already */
	assert_string_not_equal(two, digest_of(a, list, 1, 1));
	assert_string_not_equal(two, digest_of(a, list, 2, 5));
}

static void test_stray__who_wrote_it_first(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct row r = {
		"v1",
		"ConfigMap",
		"team",
		"a",
		"\"managedFields\":[{\"manager\":\"late\",\"time\":\"2026-01-02T00:00:00Z\"},{"
		"\"manager\":\"first\",\"time\":\"2026-01-01T00:00:00Z\"},{\"manager\":\"kubelet\","
		"\"subresource\":\"status\",\"time\":\"2025-01-01T00:00:00Z\"}]",
		NULL};
	assert_string_equal(obj_str(obj_keep(a, stray_row(object(a, &r, 1))), "by"), "first");
}

static void test_stray__namespaces_that_nobody_may_empty(void **state)
{
	(void)state;
	assert_true(stray_is_reserved("kube-system"));
	assert_true(stray_is_reserved("kube-flannel"));
	assert_true(stray_is_reserved("alm-system"));
	assert_true(stray_is_reserved("alm-cluster-default"));
	assert_false(stray_is_reserved("default"));
	assert_false(stray_is_reserved("team"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stray__what_may_be_one),
		cmocka_unit_test(test_stray__which_are),
		cmocka_unit_test(test_stray__an_object_that_is_seen_as_two_kinds),
		cmocka_unit_test(test_stray__an_object_that_is_seen_as_two_with_two_uids),
		cmocka_unit_test(test_stray__more_than_are_told),
		cmocka_unit_test(test_stray__consent_is_to_these_objects),
		cmocka_unit_test(test_stray__who_wrote_it_first),
		cmocka_unit_test(test_stray__namespaces_that_nobody_may_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
