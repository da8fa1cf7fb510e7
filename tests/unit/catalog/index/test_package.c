/* A package's own words: what each field means, and every way to be refused. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/index/package.h"

#define CHART "apiVersion: v2\nname: etcd\nversion: 2.0.0\n"
#define ROOM  ((size_t)16 << 20)

static struct package_version *read_package(struct arena *a, const char *chart,
					    const char *descriptor, struct error *err)
{
	struct package_version *p = NULL;
	struct package_source s = {.chart_yaml = str_of(chart),
				   .descriptor = str_of(descriptor),
				   .digest = "d",
				   .locator = "l",
				   .verified_by = "v",
				   .verified_until_s = 7};
	return package_read(&s, a, &p, err) < 0 ? NULL : p;
}

static void test_package__has_every_field_of_its_descriptor(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	const struct package_version *p = read_package(
		a, CHART "kubeVersion: \">=1.20\"\ndeprecated: true\n",
		"appType: etcd.x.io\nprovides: [a.x.io/v1, b.x.io/v2]\nrequires:\n"
		"- {resource: c.x.io/v1, versions: \"1.5\"}\n- {resource: d.x.io, optional: true}\n"
		"conflicts: [{package: e}, {package: f, versions: 1}]\nchannels: [g, h]\n"
		"replaces: \"1.5\"\nskips: [1.1.0, \"1.2\"]\nskipRange: 1\nminKubeVersion: "
		"\"1.30\"\n"
		"requirements: [{kind: Object, ref: x}]\nrollback: Unsafe\nimages: [i, j]\n",
		&err);
	if (!p)
		fail_msg("%s", err.msg);
	assert_string_equal(p->package, "etcd");
	assert_str(p->version.text, "2.0.0");
	assert_string_equal(p->digest, "d");
	assert_string_equal(p->locator, "l");
	assert_string_equal(p->verified_by, "v");
	assert_int_equal(p->verified_until_s, 7);
	assert_string_equal(p->app_type, "etcd.x.io");
	assert_int_equal(p->n_provides, 2);
	assert_string_equal(p->provides[1], "b.x.io/v2");
	assert_int_equal(p->n_requires, 2);
	assert_string_equal(p->requires[0].resource, "c.x.io/v1");
	assert_string_equal(p->requires[0].versions, "1.5");
	assert_false(p->requires[0].optional);
	assert_string_equal(p->requires[1].resource, "d.x.io");
	assert_null(p->requires[1].versions);
	assert_true(p->requires[1].optional);
	assert_int_equal(p->n_conflicts, 2);
	assert_string_equal(p->conflicts[0].versions, "*");
	assert_string_equal(p->conflicts[1].package, "f");
	assert_string_equal(p->conflicts[1].versions, "1");
	assert_true(package_has_channel(p, "g") && package_has_channel(p, "h"));
	assert_false(package_has_channel(p, "i"));
	assert_string_equal(p->replaces, "1.5");
	assert_int_equal(p->n_skips, 2);
	assert_string_equal(p->skips[1], "1.2");
	assert_string_equal(p->skip_range, "1");
	assert_string_equal(p->min_kube_version, "1.30");
	assert_string_equal(p->kube_version, ">=1.20");
	assert_true(p->deprecated && p->rollback_unsafe);
	assert_int_equal(obj_len(p->requirements), 1);
	assert_int_equal(p->n_images, 2);
	assert_string_equal(p->images[1], "j");
	assert_true(package_provides(p, "a.x.io/v1"));
	assert_false(package_provides(p, "a.x.io/v2"));
}

static void test_package__of_a_bare_chart_nothing_is_said(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	const struct package_version *p = read_package(a, CHART, " \n", &err);
	assert_non_null(p);
	assert_true(package_has_channel(p, "any"));
	assert_false(p->deprecated || p->rollback_unsafe || p->unread);
	assert_null(p->app_type);
	assert_null(p->kube_version);
	assert_int_equal(p->n_provides + p->n_requires + p->n_conflicts, 0);
}

static void test_package__what_is_wrong_is_named(void **state)
{
	static const char *const rows[][2] = {
		{"[a]", "alm.yaml: want a map"},
		{"a: [", "alm.yaml: yaml"},
		{"provide: []", "alm.yaml: unknown field provide"},
		{"rollback: safe", "rollback: \"safe\" is not Unsafe"},
		{"provides: [a.x.io]", "provides[0]: \"a.x.io\" is no plural.group/version"},
		{"provides: [a.x.io/v1, nothing/]", "provides[1]"},
		{"requires: [{versions: 1}]", "requires[0].resource: want plural.group/version"},
		{"requires: [{resource: a.x.io/v1}, {resource: a}]", "requires[1].resource"},
		{"requires: [a.x.io/v1]", "requires[0]: found string, wanted object"},
		{"requires: [{resource: a.x.io/v1, versions: \"<<\"}]", "requires[0].versions"},
		{"requires: [{resource: a.x.io/v1, version: 1}]",
		 "requires[0].version: there is no such field"},
		{"conflicts: [{package: a}, {versions: 1}]", "conflicts[1].package: want a name"},
		{"conflicts: [{package: a, versions: \"<<\"}]", "conflicts[0].versions"},
		{"conflicts: [{package: a, range: 1}]",
		 "conflicts[0].range: there is no such field"},
		{"conflicts: a", "conflicts"},
		{"requirements: [{kind: Object}, {kind: object}]",
		 "requirements[1].kind: \"object\" is none of Permission"},
		{"requirements: [{}]", "requirements[0].kind: \"\" is none"},
		{"replaces: x", "replaces: \"x\""},
		{"replaces: 2.0.0", "replaces: 2.0.0 is not below 2.0.0"},
		{"skips: [1.0.0, 3.0.0]", "skips: 3.0.0 is not below"},
		{"skips: [01.0.0]", "skips: \"01.0.0\""},
		{"skipRange: \"<<\"", "skipRange: "},
		{"minKubeVersion: 1.30", "minKubeVersion: the number 1.3 may have been written"},
		{"replaces: 1.10", "replaces: the number"},
		{"skipRange: 0.9", "skipRange: the number"},
		{"requires: [{resource: a.x.io/v1, versions: 1.10}]", "versions: the number"},
		{"requires: [{resource: a.x.io/v1, optional: \"yes\"}]", "optional: found string"},
		{"minKubeVersion: new", "minKubeVersion: \"new\""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		if (read_package(a, CHART, rows[i][0], &err))
			fail_msg("%s is taken", rows[i][0]);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

static void test_package__what_is_wrong_of_a_chart_is_named(void **state)
{
	static const char *const rows[][2] = {
		{"name: [", "Chart.yaml: yaml"},
		{"version: 1.0.0", "Chart.yaml: name"},
		{"{name: etcd, version: 1.10}", "Chart.yaml: version: the number 1.1 may"},
		{"name: etcd", "Chart.yaml: version: want a semantic version"},
		{"{name: etcd, version: new}", "Chart.yaml: version: \"new\""},
		{"{name: etcd, version: \"1.0.0\\0\"}", "U+0000"},
		{"{name: etcd, version: 1.0.0, kubeVersion: \"<<\"}", "kubeVersion"},
		{"{name: etcd, version: 1.0.0, annotations: {app.coreos.com/package: \"skips: "
		 "[]\"}}",
		 "alm.yaml and the annotation"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		assert_null(read_package(a, rows[i][0], "appType: a", &err));
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

/* "FIELD: [" and so many ITEMs "]" */
static char *list_of(struct arena *a, const char *field, const char *item, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	strbuf_addf(&b, "%s: [", field);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s%s", i ? "," : "", item);
	strbuf_adds(&b, "]\n");
	return arena_strdup(a, b.buf);
}

static void test_package__lists_have_limits(void **state)
{
	static const struct {
		const char *field, *item;
		size_t max;
	} rows[] = {{"provides", "a.x.io/v1", PACKAGE_RESOURCES_MAX},
		    {"requirements", "{kind: CRD}", PACKAGE_REQUIREMENTS_MAX}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
		struct error err = ERROR_INIT;
		const char *field = rows[i].field, *item = rows[i].item;
		assert_non_null(read_package(a, CHART, list_of(a, field, item, rows[i].max), &err));
		assert_null(read_package(a, CHART, list_of(a, field, item, rows[i].max + 1), &err));
		assert_int_equal(err.code, E_LIMIT);
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	struct error err = ERROR_INIT;
	strbuf_adds(&b, "appType: a\n#");
	while (b.len < PACKAGE_DESCRIPTOR_BYTES_MAX)
		strbuf_addc(&b, 'x');
	assert_non_null(read_package(a, CHART, b.buf, &err));
	strbuf_addc(&b, 'x');
	assert_null(read_package(a, CHART, b.buf, &err));
	assert_int_equal(err.code, E_LIMIT);
}

static struct obj *yaml(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return mem_unconst(obj_keep(a, o));
}

/* Declared, or what its CRDs serve, or what was learned of it later. */
static void test_package__provides_what_its_crds_serve(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(ROOM);
	const struct obj *crds[] = {
		yaml(a, "spec: {group: x.io, names: {plural: as}, versions: [{name: v1, served: "
			"true}, {name: v2}, {served: true}]}"),
		yaml(a, "spec: {group: x.io, names: {plural: bs}, versions: [{name: v1, served: "
			"true}]}")};
	struct package_source s = {.chart_yaml = STR(CHART),
				   .digest = "d",
				   .locator = "l",
				   .crds = crds,
				   .n_crds = 2,
				   .unread = true};
	struct package_version *p = NULL;
	assert_ok(package_read(&s, a, &p, &err), &err);
	assert_true(p->unread);
	assert_int_equal(p->n_provides, 2);
	assert_string_equal(p->provides[0], "as.x.io/v1");
	assert_string_equal(p->own_crds[1], "bs.x.io/v1");
	assert_ok(package_learn(p, yaml(a, "[cs.x.io/v1, 7]"), a, &err), &err);
	assert_false(p->unread);
	assert_int_equal(p->n_own_crds, 1);
	assert_int_equal(p->n_provides, 1);
	assert_string_equal(p->provides[0], "cs.x.io/v1");
	s.descriptor = STR("provides: [ds.x.io/v1]");
	assert_ok(package_read(&s, a, &p, &err), &err);
	assert_ok(package_learn(p, yaml(a, "[cs.x.io/v1]"), a, &err), &err);
	assert_int_equal(p->n_provides, 1); /* declared: it stays */
	assert_string_equal(p->provides[0], "ds.x.io/v1");
	crds[1] = yaml(a, "spec: {group: x.io}");
	assert_int_equal(package_read(&s, a, &p, &err), -E_INVALID);
	const char *many = list_of(a, "items", "a.x.io/v1", PACKAGE_RESOURCES_MAX + 1);
	assert_int_equal(package_learn(p, obj_get(yaml(a, many), "items"), a, &err), -E_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_package__has_every_field_of_its_descriptor),
		cmocka_unit_test(test_package__of_a_bare_chart_nothing_is_said),
		cmocka_unit_test(test_package__what_is_wrong_is_named),
		cmocka_unit_test(test_package__what_is_wrong_of_a_chart_is_named),
		cmocka_unit_test(test_package__lists_have_limits),
		cmocka_unit_test(test_package__provides_what_its_crds_serve),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
