#include "alm/apiserver/auth/rbac.h"

#include "alm/obj/json.h"
#include "tests/lib/test.h"

#define OBJECTS_MAX 64

/* A store of roles and bindings in an array. */
struct world {
	struct obj *objects[OBJECTS_MAX];
	size_t n;
};

static const char *plural_of(const struct obj *o)
{
	const char *kind = obj_str(o, "kind");
	return cstr_eq(kind, "Role")          ? "roles"
	       : cstr_eq(kind, "ClusterRole") ? "clusterroles"
	       : cstr_eq(kind, "RoleBinding") ? "rolebindings"
					      : "clusterrolebindings";
}

static bool is_in(const struct obj *o, const char *plural, const char *ns)
{
	const char *own = obj_str(o, "metadata.namespace");
	return cstr_eq(plural_of(o), plural) && cstr_eq(own ? own : "", ns);
}

static void each(void *arg, const char *plural, const char *ns,
		 bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	struct world *w = arg;
	for (size_t i = 0; i < w->n; i++)
		if (is_in(w->objects[i], plural, ns) && fn(fn_arg, w->objects[i]))
			return;
}

static void each_role(void *arg, bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	each(arg, "clusterroles", "", fn, fn_arg);
}

static void each_binding(void *arg, const char *ns, const struct user_info *u,
			 bool (*fn)(void *fn_arg, const struct obj *o), void *fn_arg)
{
	(void)u;
	each(arg, ns[0] ? "rolebindings" : "clusterrolebindings", ns, fn, fn_arg);
}

static const struct obj *get(void *arg, const char *plural, const char *ns, const char *name)
{
	struct world *w = arg;
	for (size_t i = 0; i < w->n; i++)
		if (is_in(w->objects[i], plural, ns) &&
		    cstr_eq(obj_str(w->objects[i], "metadata.name"), name))
			return w->objects[i];
	return NULL;
}

static void add(struct world *w, const char *text)
{
	struct error err = ERROR_INIT;
	assert_true(w->n < OBJECTS_MAX);
	assert_ok(json_parse(str_of(text), &w->objects[w->n], &err), &err);
	w->n++;
}

static void setup(struct world *w)
{
	*w = (struct world){0};
	for (size_t i = 0; (w->objects[i] = rbac_default(i)) != NULL; i++)
		w->n++;
	add(w, "{\"kind\":\"Role\",\"metadata\":{\"name\":\"r\",\"namespace\":\"a\"},\"rules\":["
	       "{\"verbs\":[\"get\",\"list\",\"create\"],\"apiGroups\":[\"g\"],\"resources\":["
	       "\"widgets\"]},"
	       "{\"verbs\":[\"get\",\"create\"],\"apiGroups\":[\"g\"],\"resources\":[\"gears\"],"
	       "\"resourceNames\":[\"one\"]},"
	       "{\"verbs\":[\"patch\"],\"apiGroups\":[\"*\"],\"resources\":[\"*/scale\"]}]}");
	add(w, "{\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"rb\",\"namespace\":\"a\"},"
	       "\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"},{\"kind\":"
	       "\"ServiceAccount\",\"name\":\"sa\"}],\"roleRef\":{\"kind\":\"Role\",\"name\":"
	       "\"r\"}}");
	/* Stored by an alm of old: nobody's name ends at U+0000. */
	add(w, "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"nul\"},\"subjects\":[{"
	       "\"kind\":\"User\",\"name\":\"alice\\u0000x\"},{\"kind\":\"Group\",\"name\":"
	       "\"viewers\\u0000\"}],\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":"
	       "\"cluster-admin\"}}");
	add(w, "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"v\"},\"subjects\":[{"
	       "\"kind\":\"Group\",\"name\":\"viewers\"}],\"roleRef\":{\"kind\":\"ClusterRole\","
	       "\"name\":\"view\"}}");
	add(w, "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"more\",\"labels\":{"
	       "\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}},\"rules\":[{\"verbs\":"
	       "[\"get\"],\"apiGroups\":[\"g\"],\"resources\":[\"widgets\"]}]}");
}

static void teardown(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		obj_unref(w->objects[i]);
}

static const char *const viewers[] = {"viewers", "system:authenticated"};
static const char *const masters[] = {"system:masters"};
static const struct user_info alice = {.name = "alice", .uid = ""};
static const struct user_info bob = {.name = "bob", .groups = viewers, .n_groups = 2};
static const struct user_info root = {.name = "root", .groups = masters, .n_groups = 1};
static const struct user_info account = {.name = "system:serviceaccount:a:sa"};

static void test_rbac__rules_match_as_documented(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	setup(&w);
	const struct {
		const struct user_info *user;
		const char *verb, *group, *resource, *sub, *ns, *name;
		bool allowed;
	} cases[] = {
		{&alice, "get", "g", "widgets", "", "a", "x", true},
		{&alice, "get", "g", "widgets", "", "b", "x", false},
		{&alice, "get", "g", "widgets", "", "", "x", false},
		{&alice, "delete", "g", "widgets", "", "a", "x", false},
		{&alice, "get", "h", "widgets", "", "a", "x", false},
		{&alice, "get", "g", "widgets", "status", "a", "x", false},
		{&alice, "patch", "g", "widgets", "scale", "a", "x", true},
		{&alice, "get", "g", "gears", "", "a", "one", true},
		{&alice, "get", "g", "gears", "", "a", "two", false},
		{&alice, "create", "g", "gears", "", "a", "", false},
		{&account, "list", "g", "widgets", "", "a", "", true},
		{&account, "list", "g", "widgets", "", "b", "", false},
		{&bob, "list", "", "configmaps", "", "any", "", true},
		{&bob, "list", "", "configmaps", "", "", "", true},
		{&bob, "get", "", "secrets", "", "any", "x", false},
		{&bob, "get", "g", "widgets", "", "any", "x", true}, /* aggregated */
		{&root, "delete", "x", "y", "z", "", "", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rbac_attributes a = {
			cases[i].verb, true,        cases[i].group, cases[i].resource,
			cases[i].sub,  cases[i].ns, cases[i].name,  ""};
		if (rbac_allows(&s, cases[i].user, &a) != cases[i].allowed)
			fail_msg("case %zu", i);
	}
	teardown(&w);
}

static void test_rbac__paths(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	setup(&w);
	const struct {
		const struct user_info *user;
		const char *path;
		bool allowed;
	} cases[] = {{&bob, "/version", true},    {&bob, "/apis/g/v1", true},
		     {&bob, "/metrics", false},   {&bob, "/apisx", false},
		     {&alice, "/version", false}, {&root, "/metrics", true}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rbac_attributes a = {"get", false, "", "", "", "", "", cases[i].path};
		if (rbac_allows(&s, cases[i].user, &a) != cases[i].allowed)
			fail_msg("case %zu", i);
	}
	teardown(&w);
}

static void test_rbac__the_reason_names_the_binding(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
	struct rbac_attributes a = {"get", true, "", "pods", "", "x", "", ""};
	setup(&w);
	assert_string_equal(rbac_reason(&s, &bob, &a, arena),
			    "RBAC: allowed by ClusterRoleBinding \"v\" of ClusterRole \"view\" to "
			    "Group \"viewers\"");
	a = (struct rbac_attributes){"get", true, "g", "widgets", "", "a", "", ""};
	assert_string_equal(rbac_reason(&s, &alice, &a, arena),
			    "RBAC: allowed by RoleBinding \"rb/a\" of Role \"r\" to User "
			    "\"alice\"");
	teardown(&w);
}

static const char *missing(struct rbac_source *s, const struct user_info *u, const char *rules,
			   struct arena *arena)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(json_parse(str_of(rules), &o, &err), &err);
	return rbac_missing(s, u, "a", obj_keep(arena, o), arena);
}

static void test_rbac__nobody_grants_what_he_lacks(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
	setup(&w);
	assert_null(missing(&s, &alice,
			    "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"g\"],\"resources\":["
			    "\"widgets\"]},{\"verbs\":[\"get\"],\"apiGroups\":[\"g\"],"
			    "\"resources\":[\"gears\"],\"resourceNames\":[\"one\"]},{\"verbs\":["
			    "\"patch\"],\"apiGroups\":[\"x\"],\"resources\":[\"y/scale\"]}]",
			    arena));
	assert_string_equal(missing(&s, &alice,
				    "[{\"verbs\":[\"get\",\"delete\"],\"apiGroups\":[\"g\"],"
				    "\"resources\":[\"widgets\"]}]",
				    arena),
			    "{APIGroups:[\"g\"], Resources:[\"widgets\"], Verbs:[\"delete\"]}");
	assert_non_null(missing(&s, &alice,
				"[{\"verbs\":[\"get\"],\"apiGroups\":[\"g\"],\"resources\":["
				"\"gears\"]}]",
				arena));
	assert_non_null(missing(
		&s, &alice,
		"[{\"verbs\":[\"*\"],\"apiGroups\":[\"g\"],\"resources\":[\"widgets\"]}]", arena));
	assert_non_null(missing(
		&s, &bob, "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/metrics\"]}]", arena));
	assert_null(missing(&s, &bob, "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/version\"]}]",
			    arena));
	assert_null(missing(&s, &root, "[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"]}]", arena));
	teardown(&w);
}

static void print_list(struct strbuf *b, const char *key, const char *prefix, size_t n)
{
	strbuf_addf(b, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(b, "%s\"%s%zu\"", i ? "," : "", prefix, i);
	strbuf_addc(b, ']');
}

static void print_rule(struct strbuf *b, size_t n)
{
	strbuf_addc(b, '{');
	print_list(b, "verbs", "v", n);
	strbuf_adds(b, ",\"apiGroups\":[\"g\"],");
	print_list(b, "resources", "r", n);
	strbuf_addc(b, '}');
}

/* 300 verbs of 300 resources are 90,000 single rights against lists of 300. */
static void test_rbac__the_work_of_a_comparison_is_bounded(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 20);
	CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(1 << 20);
	setup(&w);
	print_rule(&rule, 300);
	strbuf_addf(&b,
		    "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"many\"},\"rules\":[%s]}",
		    rule.buf);
	add(&w, b.buf);
	add(&w, "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"many\"},\"subjects\":[{"
		"\"kind\":\"User\",\"name\":\"alice\"}],\"roleRef\":{\"kind\":\"ClusterRole\","
		"\"name\":\"many\"}}");
	strbuf_clear(&b);
	strbuf_addf(&b, "[%s]", rule.buf);
	assert_string_equal(missing(&s, &alice, b.buf, arena),
			    "too many rights to compare: write them as several roles");
	strbuf_clear(&b);
	strbuf_clear(&rule);
	print_rule(&rule, 30);
	strbuf_addf(&b, "[%s]", rule.buf);
	assert_null(missing(&s, &alice, b.buf, arena));
	teardown(&w);
}

/* A chain of aggregated roles that gather each other ends, and each role counts once. */
static void test_rbac__aggregated_roles_count_once(void **state)
{
	(void)state;
	struct world w;
	struct rbac_source s = {&w, each_role, each_binding, get};
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
	setup(&w);
	for (int i = 0; i < 40; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		strbuf_addf(&b,
			    "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"n%d\",\"labels\":{"
			    "\"x\":\"y\"}},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"g\"],"
			    "\"resources\":[\"n%d\"]}],\"aggregationRule\":{"
			    "\"clusterRoleSelectors\":[",
			    i, i);
		for (int j = 0; j < 40; j++)
			strbuf_addf(&b, "%s{\"matchLabels\":{\"x\":\"y\"}}", j ? "," : "");
		strbuf_adds(&b, "]}}");
		add(&w, b.buf);
	}
	const struct obj *first = get(&w, "clusterroles", "", "n0");
	assert_int_equal(obj_len(rbac_rules(&s, first, arena)), 40);
	teardown(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rbac__rules_match_as_documented),
		cmocka_unit_test(test_rbac__paths),
		cmocka_unit_test(test_rbac__the_reason_names_the_binding),
		cmocka_unit_test(test_rbac__nobody_grants_what_he_lacks),
		cmocka_unit_test(test_rbac__the_work_of_a_comparison_is_bounded),
		cmocka_unit_test(test_rbac__aggregated_roles_count_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
