#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "alm/sources/inspect.h"
#include "installers/chart/chart.h"

#define CRD(name)                                                                           \
	"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"             \
	"metadata: {name: " name "s.x.io}\nspec:\n  group: x.io\n  scope: Cluster\n"        \
	"  names: {plural: " name "s, kind: K}\n  versions:\n  - {name: v1, served: true, " \
	"storage: true, schema: {openAPIV3Schema: {type: object}}}\n"

/* What helm 3.18 and 4.1 print with --include-crds, and what they do not. */
static void test_chart_crds__a_path_decides_as_in_helm(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		bool is_crd;
	} cases[] = {
		{"crds/a.yaml", true},          {"crds/b.YAML", true},
		{"crds/c.Json", true},          {"crds/sub/d.yml", true},
		{"crds/.hidden.yaml", true},    {"crds/_under.yaml", true},
		{"crds/e.txt", false},          {"crds/yaml", false},
		{"crds/a.yaml/x", false},       {"crds", false},
		{"crds.yaml", false},           {"xcrds/a.yaml", false},
		{"files/crds/a.yaml", false},   {"templates/crds/a.yaml", false},
		{"templates/crds.yaml", false}, {"Crds/a.yaml", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (chart_is_crd(cases[i].path) != cases[i].is_crd)
			fail_msg("%s: want %d", cases[i].path, cases[i].is_crd);
}

struct files {
	struct archive_file items[32];
	struct archive_files list;
};

static void add(struct files *f, const char *path, const char *text)
{
	f->list.items = f->items;
	f->items[f->list.n++] = (struct archive_file){path, str_of(text)};
}

static void pack(const struct files *f, struct strbuf *ret)
{
	struct error err = ERROR_INIT;
	assert_ok(archive_write(&f->list, "c", ret, &err), &err);
}

static void test_chart_crds__those_of_subcharts_packed_ones_included(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(strbuf_release) struct strbuf inner = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf outer = STRBUF_INIT(STRBUF_SMALL);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct error err = ERROR_INIT;
	struct chart_crds found;
	struct files leaf = {0}, middle = {0}, root = {0};
	add(&leaf, "Chart.yaml", "name: leaf\nversion: 1.0.0\n");
	add(&leaf, "crds/leaf.yaml", CRD("leaf"));
	pack(&leaf, &inner);
	add(&middle, "Chart.yaml", "name: middle\nversion: 1.0.0\n");
	add(&middle, "charts/leaf-1.0.0.tgz", "");
	middle.items[1].data = strbuf_str(&inner);
	add(&middle, "crds/middle.yaml", CRD("middle"));
	pack(&middle, &outer);
	add(&root, "charts/crds/templates/x.yaml", "a: b");
	add(&root, "charts/crds/crds/of-crds.yaml", CRD("of-crds"));
	add(&root, "charts/middle-1.0.0.tgz", "");
	root.items[2].data = strbuf_str(&outer);
	add(&root, "charts/plain/charts/deep/crds/deep.yml", CRD("deep"));
	add(&root, "charts/_off/crds/off.yaml", CRD("off"));
	add(&root, "charts/plain/crds/x.prov", "no");
	add(&root, "templates/crds/t.yaml", "a: b");
	assert_ok(chart_crds(a, &root.list, &budget, &found, &err), &err);
	static const char *const want[] = {
		"charts/crds/crds/of-crds.yaml",
		"charts/middle-1.0.0.tgz:charts/leaf-1.0.0.tgz:crds/leaf.yaml",
		"charts/middle-1.0.0.tgz:crds/middle.yaml",
		"charts/plain/charts/deep/crds/deep.yml",
	};
	assert_int_equal(found.files.n, ARRAY_LEN(want));
	for (size_t i = 0; i < found.files.n; i++)
		assert_string_equal(found.files.items[i].path, want[i]);
	assert_false(found.in_templates);
	assert_int_equal(budget.depth, 0);
}

static void test_chart_crds__a_damaged_subchart_is_named(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct error err = ERROR_INIT;
	struct chart_crds found;
	struct files root = {0};
	add(&root, "charts/bad-1.0.0.tgz", "no archive");
	assert_true(chart_crds(a, &root.list, &budget, &found, &err) < 0);
	assert_non_null(strstr(err.msg, "charts/bad-1.0.0.tgz: "));
}

static void test_chart_crds__templates_that_make_crds_are_noticed(void **state)
{
	(void)state;
	static const struct {
		const char *path, *text;
		bool want;
	} cases[] = {
		{"templates/crds/a.yaml", "kind: CustomResourceDefinition\n", true},
		{"templates/a.yaml", "kind:  \"CustomResourceDefinition\"\n", true},
		{"templates/_a.tpl", "a\nkind: CustomResourceDefinition", true},
		{"files/a.yaml", "kind: CustomResourceDefinition", true},
		{"charts/s/templates/a.yaml", "kind: CustomResourceDefinition", true},
		{"charts/_s/templates/a.yaml", "kind: CustomResourceDefinition", false},
		{"README.md", "kind: CustomResourceDefinition", false},
		{"values.yaml", "# installs CustomResourceDefinitions\n", false},
		{"templates/rbac.yaml", "resources: [customresourcedefinitions]", false},
		{"crds/a.yaml", CRD("a"), false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
		struct error err = ERROR_INIT;
		struct chart_crds found;
		struct files f = {0};
		add(&f, cases[i].path, cases[i].text);
		assert_ok(chart_crds(a, &f.list, &budget, &found, &err), &err);
		if (found.in_templates != cases[i].want)
			fail_msg("%s: %s", cases[i].path, cases[i].text);
	}
}

/* The public way: a folder templates/crds with conditions around each definition. */
static void keda_like(struct strbuf *packed)
{
	struct files f = {0};
	add(&f, "Chart.yaml", "apiVersion: v2\nname: k\nversion: 2.20.0\n");
	add(&f, "values.yaml", "crds: {install: true, extra: false}\n");
	add(&f, "templates/crds/a.yaml",
	    "{{- if .Values.crds.install }}\n" CRD("a") "{{- end }}\n");
	add(&f, "templates/crds/b.yaml", "{{- if .Values.crds.extra }}\n" CRD("b") "{{- end }}\n");
	add(&f, "templates/need.yaml", "a: {{ required \"want it\" .Values.none }}\n");
	pack(&f, packed);
}

static void test_chart_crds__an_archive_with_crds_in_templates_is_read(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *entry = NULL, *rendered = NULL, *crds = NULL;
	struct error err = ERROR_INIT;
	keda_like(&packed);
	assert_ok(inspect_archive(strbuf_str(&packed), &entry, &err), &err);
	assert_true(obj_flag(entry, "unread", false));
	assert_int_equal(obj_len(obj_get(entry, "ownCrds")), 0);
	assert_ok(inspect_rendered(strbuf_str(&packed), &rendered, &crds, &err), &err);
	assert_false(obj_has(rendered, "unread"));
	assert_int_equal(obj_len(obj_get(rendered, "ownCrds")), 1);
	assert_string_equal(obj_as_string(obj_at(obj_get(rendered, "ownCrds"), 0)), "as.x.io/v1");
	assert_int_equal(obj_len(crds), 1);
	assert_string_equal(meta_name(obj_at(crds, 0)), "as.x.io");
}

static void test_chart_crds__what_does_not_render_has_those_of_crds(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *entry = NULL, *crds = NULL;
	struct error err = ERROR_INIT;
	struct files f = {0};
	add(&f, "Chart.yaml", "apiVersion: v2\nname: k\nversion: 2.20.0\n");
	add(&f, "crds/a.yaml", CRD("a"));
	add(&f, "templates/b.yaml", "kind: CustomResourceDefinition\n{{ .Values.a.b.c }}\n");
	pack(&f, &packed);
	assert_ok(inspect_rendered(strbuf_str(&packed), &entry, &crds, &err), &err);
	assert_int_equal(obj_len(crds), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chart_crds__a_path_decides_as_in_helm),
		cmocka_unit_test(test_chart_crds__those_of_subcharts_packed_ones_included),
		cmocka_unit_test(test_chart_crds__a_damaged_subchart_is_named),
		cmocka_unit_test(test_chart_crds__templates_that_make_crds_are_noticed),
		cmocka_unit_test(test_chart_crds__an_archive_with_crds_in_templates_is_read),
		cmocka_unit_test(test_chart_crds__what_does_not_render_has_those_of_crds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
