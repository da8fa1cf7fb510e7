/* Packages that stand in their AppType (inplace.h): what is accepted, the CRD of the example, its chart and version. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "alm/sources/inplace.h"
#include "alm/sources/inspect.h"
#include "installers/chart/archive.h"

#define EXAMPLES "tests/e2e/examples/"
#define SELF_REF "coreos-website.com.tectonic.web"
#define ROOM     ((size_t)1 << 20)
#define DIGEST   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new(ROOM * 64);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

/* One document of YAML; in the arena, and the test's own. */
static struct obj *parsed(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static struct obj *example(const char *name)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	assert_ok(file_read(arena_fmt(a, EXAMPLES "%s", name), &b, &err), &err);
	return parsed(arena_text(a, b.buf, b.len));
}

/* The example with its resources alone: the digest of its operator is none. */
static struct obj *website(void)
{
	struct obj *o = example("website-apptype.yaml");
	obj_del_path(o, "spec.operator");
	obj_set_path(o, "metadata.generation", obj_int(3));
	return o;
}

static const struct obj *resource(const struct obj *apptype)
{
	return obj_at(obj_path(apptype, "spec.resources"), 0);
}

static void test_inplace__crd_of_the_example(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *crd = inplace_crd(resource(website()), SELF_REF);
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(ROOM), want = STRBUF_INIT(ROOM);
	json_print_canonical(crd, &got);
	json_print_canonical(example("website-crd.yaml"), &want);
	assert_string_equal(got.buf, want.buf);
}

#define DOCUMENT                   "metadata: {name: a}\nspec: "
#define RESOURCE(name, spec, more) "{resources: [{name: " name ", spec: {" spec "}" more "}]}"
#define SPEC                       "group: g.io, version: v1, names: {plural: xs, kind: X}"
#define OPERATOR(chart)            "{operator: {type: helm, helmChart: {" chart "}}}"

static void test_inplace__what_is_accepted(void **state)
{
	(void)state;
	static const struct {
		const char *spec, *want; /* NULL: nothing is wrong */
	} cases[] = {
		{"{}", NULL},
		{"{resources: []}", NULL},
		{RESOURCE("xs.g.io", SPEC, ""), NULL},
		{RESOURCE("xs.g.io", SPEC ", scope: Cluster", ""), NULL},
		{RESOURCE("xs.g.io", SPEC, ", outputs: [{name: a}, {name: b, type: boolean}]"),
		 NULL},
		{OPERATOR("template: \"h.io/x@sha256:" DIGEST "\", values: {a: 1}"), NULL},
		{OPERATOR("template: \"oci://h.io/x@sha256:" DIGEST "\""), NULL},
		{RESOURCE("xs.g.io", "version: v1", ""), "spec.resources[0].spec.group: required"},
		{RESOURCE("xs.g.io", "group: g.io, version: v1, names: {kind: X}", ""),
		 "spec.resources[0].spec.names.plural: required"},
		{RESOURCE("xs", SPEC, ""), "spec.resources[0].name: want xs.g.io"},
		{RESOURCE("xs.g.io", SPEC ", scope: none", ""), "use Namespaced or Cluster"},
		{RESOURCE("Xs.g.io", "group: g.io, version: v1, names: {plural: Xs, kind: X}", ""),
		 "spec.resources[0].spec.names.plural: Xs: a DNS-1035 label"},
		{RESOURCE("a/../b.g.io",
			  "group: g.io, version: v1, names: {plural: a/../b, kind: X}", ""),
		 "spec.resources[0].spec.names.plural: a/../b: "},
		{RESOURCE("xs.g io", "group: g io, version: v1, names: {plural: xs, kind: X}", ""),
		 "spec.resources[0].spec.group: g io: "},
		{RESOURCE("xs.g.io", "group: g.io, version: V 1, names: {plural: xs, kind: X}", ""),
		 "spec.resources[0].spec.version: V 1: "},
		{RESOURCE("xs.g.io", "group: g.io, version: v1, names: {plural: xs, kind: my x}",
			  ""),
		 "spec.resources[0].spec.names.kind: my x: "},
		{RESOURCE("xs.g.io",
			  "group: g.io, version: v1, names: {plural: xs, kind: X, shortNames: [a, "
			  "B]}",
			  ""),
		 "spec.resources[0].spec.names.shortNames[1]: B: "},
		{RESOURCE("xs.g.io", SPEC ", validation: {}", ""), "spec.validation: not known"},
		{RESOURCE("xs.g.io", SPEC, ", outputs: [{name: a, type: uri}]"),
		 "outputs[0].type: uri is none"},
		{RESOURCE("xs.g.io", SPEC, ", outputs: [{name: a}, {name: a}]"),
		 "outputs[1].name: a is there twice"},
		{RESOURCE("xs.g.io", SPEC, ", outputs: [{type: url}]"),
		 "outputs[0].name: required"},
		{OPERATOR("values: {}"), "spec.operator.helmChart.template: required"},
		{OPERATOR("template: h.io/x"), "name the chart as HOST/NAME:TAG"},
		{OPERATOR("template: \"h.io/x:1\""), NULL},
		{"{resources: [{name: xs.g.io, secretRef: {name: s, namespace: default}, spec: "
		 "{" SPEC "}}]}",
		 "spec.resources[0].secretRef: want the name of a Secret in namespace alm-system"},
		{OPERATOR("template: \"h.io/x@sha256:asdf123\""), "64 hex digits of its manifest"},
		{OPERATOR("template: \"h.io/x@sha256:" DIGEST "\", values: 1"), "want an object"},
		{OPERATOR("template: \"h.io/x@sha256:" DIGEST "\", version: 1"),
		 "version is not known"},
		{"{operator: {type: jsonnet}}", "spec.operator.type: jsonnet"},
		{"{operator: {secretRef: {name: s, namespace: default}}}",
		 "in namespace alm-system"},
		{"{package: p, resources: [{name: xs.g.io, spec: {" SPEC "}}]}", "spec.package:"},
		{"{channel: fast, resources: [{name: xs.g.io, spec: {" SPEC "}}]}",
		 "spec.channel:"},
		{"{channel: stable, resources: [{name: xs.g.io, spec: {" SPEC "}}]}", NULL},
		{"{resources: [{name: xs.g.io, spec: {" SPEC "}}, {name: xs.g.io, spec: {" SPEC
		 "}}]}",
		 "spec.resources[1].name: xs.g.io is there twice"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got =
			inplace_problem(parsed(arena_fmt(a, DOCUMENT "%s\n", cases[i].spec)), a);
		if (!got != !cases[i].want || (got && !strstr(got, cases[i].want)))
			fail_msg("%s: %s", cases[i].spec, got ? got : "accepted");
	}
}

static void test_inplace__limits(void **state)
{
	(void)state;
	struct obj *o = website();
	struct obj *list = obj_copy_list(obj_path(o, "spec.resources"));
	while (obj_len(list) <= INPLACE_RESOURCES_MAX)
		obj_append(list, obj_ref(resource(o)));
	obj_set_path(o, "spec.resources", list);
	assert_non_null(strstr(inplace_problem(o, a), "spec.resources: 65 of them, at most 64"));
	char name[122];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	o = website();
	obj_set_path(o, "metadata.name", obj_string(name));
	assert_non_null(
		strstr(inplace_problem(o, a), "metadata.name: a package in place has at most 120"));
}

/* It changes with what the package is, and with nothing else. */
static void test_inplace__version(void **state)
{
	(void)state;
	struct obj *o = website();
	struct obj *first = obj_keep(a, inplace_of(o, SELF_REF, NULL, NULL));
	assert_string_equal(obj_str(first, "version"), "1.0.3");
	obj_set_path(o, "metadata.generation", obj_int(4));
	obj_set_path(o, "spec.paused", obj_bool(true));
	struct obj *same = obj_keep(a, inplace_of(o, SELF_REF, NULL, first));
	assert_true(obj_equal(first, same));
	struct obj *spec = obj_copy(obj_path(o, "spec"));
	obj_set_path(spec, "operator.helmChart.template", obj_string("h.io/x@sha256:" DIGEST));
	obj_set(o, "spec", spec);
	struct obj *other = obj_keep(a, inplace_of(o, SELF_REF, NULL, same));
	assert_string_equal(obj_str(other, "version"), "1.0.4");
	obj_set_path(o, "metadata.generation", obj_int(5));
	obj_set_path(o, "spec.operator.secretRef.name", obj_string("s"));
	assert_true(obj_equal(other, obj_keep(a, inplace_of(o, SELF_REF, NULL, other))));
}

/* What a tag stands for is the package; another digest is another version, and none is given twice. */
static void test_inplace__a_tag_that_moves(void **state)
{
	(void)state;
	char other[] = DIGEST;
	other[0] = other[0] == '0' ? '1' : '0';
	struct obj *o = website();
	struct obj *spec = obj_copy(obj_path(o, "spec"));
	obj_set_path(spec, "operator.helmChart.template", obj_string("h.io/x:stable"));
	obj_set(o, "spec", spec);
	assert_string_equal(inplace_tag(o, a), "oci://h.io/x:stable");
	struct obj *first = obj_keep(a, inplace_of(o, SELF_REF, DIGEST, NULL));
	assert_non_null(strstr(obj_str(first, "package"), "\"h.io/x:stable@sha256:" DIGEST "\""));
	assert_true(obj_equal(first, obj_keep(a, inplace_of(o, SELF_REF, DIGEST, first))));
	struct obj *moved = obj_keep(a, inplace_of(o, SELF_REF, other, first));
	assert_string_equal(obj_str(moved, "version"), "1.0.4"); /* of generation 3 */
	obj_set_path(o, "metadata.generation", obj_int(4));
	obj_set_path(o, "spec.resources", obj_list());
	assert_string_equal(obj_str(obj_keep(a, inplace_of(o, SELF_REF, other, moved)), "version"),
			    "1.0.5");
	/* its Catalog was deleted: what is installed tells how far it was */
	obj_set_path(o, "status.installedVersion", obj_string("1.0.9"));
	assert_string_equal(obj_str(obj_keep(a, inplace_of(o, SELF_REF, other, NULL)), "version"),
			    "1.0.9");
	obj_set_path(o, "spec.operator.helmChart.template", obj_string("h.io/x@sha256:" DIGEST));
	assert_null(inplace_tag(o, a));
}

/* How the charts of instances are read is no part of the package. */
static void test_inplace__secrets_are_not_the_package(void **state)
{
	(void)state;
	struct obj *o = website();
	struct obj *first = obj_keep(a, inplace_of(o, SELF_REF, NULL, NULL));
	struct obj *list = obj_list(), *row = obj_copy(resource(o));
	obj_set_path(row, "secretRef.name", obj_string("s"));
	obj_append(list, row);
	obj_set_path(o, "spec.resources", list);
	obj_set_path(o, "metadata.generation", obj_int(4));
	assert_true(obj_equal(first, obj_keep(a, inplace_of(o, SELF_REF, NULL, first))));
}

static struct obj *entry_of(const struct obj *inplace, struct str operator_chart,
			    char digest[SHA256_HEX])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	struct obj *entry = NULL, *crds = NULL;
	assert_ok(inplace_archive(inplace, operator_chart, &b, &err), &err);
	sha256_hex(strbuf_str(&b), digest);
	assert_ok(inspect_rendered(strbuf_str(&b), &entry, &crds, &err), &err);
	obj_keep(a, crds);
	return obj_keep(a, entry);
}

static void test_inplace__chart(void **state)
{
	(void)state;
	char digest[SHA256_HEX], again[SHA256_HEX];
	const struct obj *inplace = obj_keep(a, inplace_of(website(), SELF_REF, NULL, NULL));
	const struct obj *entry = entry_of(inplace, STR_NONE, digest);
	assert_string_equal(obj_str(entry, "chart.name"), "coreos-website");
	assert_string_equal(obj_str(entry, "chart.version"), "1.0.3");
	entry_of(inplace, STR_NONE, again);
	assert_string_equal(digest, again);
}

static void test_inplace__chart_with_an_operator(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(ROOM), b = STRBUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	struct archive_file sub[] = {
		{"Chart.yaml", STR("apiVersion: v2\nname: tool\nversion: 1.2.3\n")},
		{"templates/c.yaml", STR("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
					 "data: {n: \"{{ .Values.replicas }}\"}\n")}};
	const struct archive_files files = {
		.items = sub, .n = ARRAY_LEN(sub), .cap = ARRAY_LEN(sub)};
	assert_ok(archive_write(&files, "tool", &packed, &err), &err);
	struct obj *o = website();
	obj_set_path(o, "spec.operator.helmChart.template",
		     obj_string("h.io/charts/tool@sha256:" DIGEST));
	obj_set_path(o, "spec.operator.helmChart.values", obj_map());
	obj_set_path(o, "spec.operator.helmChart.values.replicas", obj_int(2));
	const struct obj *inplace = obj_keep(a, inplace_of(o, SELF_REF, NULL, NULL));
	const char *ref = NULL;
	assert_ok(inplace_operator(inplace, a, &ref, &err), &err);
	assert_string_equal(ref, "oci://h.io/charts/tool@sha256:" DIGEST);
	assert_ok(inplace_archive(inplace, strbuf_str(&packed), &b, &err), &err);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files got = {0};
	assert_ok(archive_read(a, strbuf_str(&b), &budget, &got, &err), &err);
	const struct archive_file *tgz = archive_find(&got, "charts/tool.tgz");
	assert_non_null(tgz);
	assert_true(str_eq(tgz->data, strbuf_str(&packed)));
	assert_string_equal(archive_find(&got, "values.yaml")->data.ptr,
			    "{\"tool\":{\"replicas\":2}}");
}

/* Whoever writes a Catalog by hand is told what is wrong, too. */
static void test_inplace__hostile_catalog(void **state)
{
	(void)state;
	static const struct {
		const char *inplace, *want;
	} cases[] = {
		{"{}", "spec.inPlace.name: required"},
		{"{name: a, appType: a.b, version: 1.0.0}", "spec.inPlace.package: required"},
		{"{name: a, appType: a.b, version: 1.0.0, package: \"{\"}",
		 "spec.inPlace.package: "},
		{"{name: a, appType: a.b, version: 1.0.0, package: '{\"resources\":[1]}'}",
		 "spec.resources[0].spec.group: required"},
		{"{name: a, appType: a.b, version: 1.0.0, package: '{\"resources\":{\"a\":1}}'}",
		 "spec.resources[0]"},
		{"{name: ../a, appType: a.b, version: 1.0.0, package: '{}'}", "../a"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROOM);
		struct error err = ERROR_INIT;
		int code = inplace_archive(parsed(cases[i].inplace), STR_NONE, &b, &err);
		if (code >= 0 || !strstr(err.msg, cases[i].want))
			fail_msg("%s: %d %s", cases[i].inplace, code, err.msg);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_inplace__crd_of_the_example),
		TEST(test_inplace__what_is_accepted),
		TEST(test_inplace__limits),
		TEST(test_inplace__version),
		TEST(test_inplace__a_tag_that_moves),
		TEST(test_inplace__secrets_are_not_the_package),
		TEST(test_inplace__chart),
		TEST(test_inplace__chart_with_an_operator),
		TEST(test_inplace__hostile_catalog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
