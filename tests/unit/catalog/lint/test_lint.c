#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/lint/lint.h"

#define ONE_CRD "things.x.io/v1"
#define TWO_CRD "things.x.io/v2"

struct row {
	const char *package, *version, *descriptor;
	const char *serves; /* JSON list of what the archive's CRDs serve */
};

static struct catalog_index *index_of(const struct row *rows, size_t n)
{
	struct catalog_index *x = index_new("test", 0);
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct obj *own = NULL;
		char digest[SHA256_HEX];
		const char *chart =
			arena_fmt(x->arena, "{name: %s, version: %s}", r->package, r->version);
		const char *file = arena_fmt(x->arena, "/c/%s-%s.tgz", r->package, r->version);
		assert_ok(json_parse(str_of(r->serves ? r->serves : "[]"), &own, &err), &err);
		obj_keep(x->arena, own);
		sha256_hex(str_of(file), digest);
		struct package_source s = {.chart_yaml = str_of(chart),
					   .descriptor = str_of(r->descriptor),
					   .own_crds = own,
					   .digest = digest,
					   .locator = file};
		index_add(x, &s);
	}
	assert_ok(index_finish(x, STR_NONE, &err), &err);
	return x;
}

/* "rule file" of every finding, in order. */
static const char *rules(const struct lint *l)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	for (size_t i = 0; i < l->n; i++)
		strbuf_addf(&b, "%s%s%s %s", i ? "; " : "",
			    l->items[i].level == LINT_ERROR ? "!" : "", l->items[i].rule,
			    l->items[i].where);
	return arena_strdup(l->a, b.buf);
}

static const struct {
	const char *name;
	struct row rows[6];
	const char *want;
} cases[] = {
	{"nothing", {{"a", "1.0.0", "", NULL}, {"a", "1.1.0", "", NULL}}, ""},
	{"a declared resource that no CRD serves",
	 {{"a", "1.0.0", "provides: [" TWO_CRD "]", "[\"" ONE_CRD "\"]"}},
	 "!provides a-1.0.0.tgz"},
	{"no CRD at all: made while it runs?",
	 {{"a", "1.0.0", "provides: [" ONE_CRD "]", NULL}},
	 "provides a-1.0.0.tgz"},
	{"dropped in a minor",
	 {{"a", "1.0.0", "", "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
	  {"a", "1.1.0", "", "[\"" TWO_CRD "\"]"}},
	 "!drop-in-minor a-1.1.0.tgz"},
	{"dropped in a patch",
	 {{"a", "1.0.0", "", "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
	  {"a", "1.0.1", "", "[\"" TWO_CRD "\"]"}},
	 "!drop-in-minor a-1.0.1.tgz"},
	{"dropped in a major, and plain integers are majors",
	 {{"a", "1", "", "[\"" ONE_CRD "\"]"}, {"a", "2", "", "[\"" TWO_CRD "\"]"}},
	 ""},
	{"one version twice",
	 {{"a", "1", "", NULL}, {"a", "1.0.0", "", NULL}},
	 "!duplicate a-1.tgz; !duplicate a-1.0.0.tgz"},
	{"a version that nothing newer takes",
	 {{"a", "1.0.0", "", NULL},
	  {"a", "1.1.0", "", NULL},
	  {"a", "1.2.0", "replaces: 1.1.0", NULL},
	  {"a", "0.9.0", "", NULL}},
	 ""},
	{"two heads",
	 {{"a", "1.0.0", "", NULL},
	  {"a", "1.1.0", "replaces: 1.0.0", NULL},
	  {"a", "1.2.0", "replaces: 1.0.0", NULL}},
	 "several-heads a-1.1.0.tgz"},
	{"a path that ends below the head",
	 {{"a", "1.0.0", "", NULL},
	  {"a", "1.1.0", "replaces: 1.0.0", NULL},
	  {"a", "1.2.0", "replaces: 1.1.0", NULL},
	  {"a", "1.3.0", "skipRange: \"<1.0.0\"", NULL}},
	 "several-heads a-1.2.0.tgz; dead-end a-1.1.0.tgz; dead-end a-1.0.0.tgz"},
	{"each channel has its head",
	 {{"a", "1.0.0", "channels: [old]", NULL},
	  {"a", "1.1.0", "{channels: [old], replaces: 1.0.0}", NULL},
	  {"a", "2.0.0", "channels: [new]", NULL},
	  {"a", "2.1.0", "{channels: [new], replaces: 2.0.0}", NULL}},
	 ""},
	{"replaces what is not there",
	 {{"a", "1.0.0", "", NULL}, {"a", "1.2.0", "replaces: 1.1.0", NULL}},
	 "several-heads a-1.0.0.tgz; shadowed a-1.2.0.tgz"},
	{"nobody gets to it",
	 {{"a", "1.0.0", "skipRange: \"<0.1.0\"", NULL},
	  {"a", "1.1.0", "skipRange: \"<0.5.0\"", NULL},
	  {"a", "1.2.0", "skipRange: \">=1.0.0 <1.2.0\"", NULL}},
	 "shadowed a-1.1.0.tgz; shadowed a-1.0.0.tgz"},
	{"nobody provides it",
	 {{"a", "1.0.0", "requires: [{resource: others.y.io/v1}]", NULL}},
	 "requires-nobody a-1.0.0.tgz"},
	{"optional, or there",
	 {{"a", "1.0.0",
	   "requires: [{resource: others.y.io/v1, optional: true}, {resource: " ONE_CRD "}]", NULL},
	  {"b", "1.0.0", "", "[\"" ONE_CRD "\"]"}},
	 ""},
	{"two packages provide one CRD, in other versions",
	 {{"a", "1.0.0", "", "[\"" ONE_CRD "\"]"},
	  {"b", "1.0.0", "", "[\"" TWO_CRD "\"]"},
	  {"b", "1.1.0", "", "[\"" TWO_CRD "\"]"}},
	 "two-providers b-1.1.0.tgz"},
	{"... of which the newest that has it is named",
	 {{"a", "1.0.0", "", "[\"" ONE_CRD "\"]"},
	  {"b", "1.0.0", "", "[\"" TWO_CRD "\"]"},
	  {"b", "1.1.0", "", "[\"" TWO_CRD "\"]"},
	  {"b", "2.0.0", "", "[\"others.y.io/v1\"]"}},
	 "two-providers b-1.1.0.tgz"},
};

static void test_lint__rules_over_the_index(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		size_t n = 0;
		while (n < ARRAY_LEN(cases[i].rows) && cases[i].rows[n].package)
			n++;
		CLEANUP(index_freep) struct catalog_index *x = index_of(cases[i].rows, n);
		struct lint l = lint_new(a);
		lint_index(&l, x);
		if (strcmp(rules(&l), cases[i].want) != 0)
			fail_msg("%s: %s, want %s", cases[i].name, rules(&l), cases[i].want);
		for (size_t k = 0; k < l.n; k++)
			assert_true(*l.items[k].text && *l.items[k].remedy);
	}
}

/* Public operators drop served versions in minor versions; what is lost by it the gate says. */
static void test_lint__load_keeps_plain_charts_that_drop(void **state)
{
	static const struct row rows[] = {
		{"a", "0.16.2", "", "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
		{"a", "0.17.0", "", "[\"" TWO_CRD "\"]"},
		{"b", "1.0.0", "", "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
		{"b", "1.1.0", "provides: [" TWO_CRD "]", "[\"" TWO_CRD "\"]"},
	};
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, ARRAY_LEN(rows));
	lint_reject(x);
	assert_int_equal(x->n, 3);
	assert_int_equal(x->n_rejected, 1);
	assert_string_equal(x->rejected[0], "b-1.1.0.tgz: drop-in-minor: " ONE_CRD
					    " of 1.0.0 is gone; publish it as 2.0.0");
}

#define BOTH "provides: [" ONE_CRD ", " TWO_CRD "]"

static void test_lint__load_leaves_out_what_has_an_error_and_names_it(void **state)
{
	static const struct row rows[] = {
		{"a", "1.0.0", BOTH, "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
		{"a", "1.1.0", "provides: [" TWO_CRD "]", "[\"" TWO_CRD "\"]"},
		{"a", "1.2.0", BOTH, "[\"" ONE_CRD "\", \"" TWO_CRD "\"]"},
		{"a", "2.0.0", "provides: [" TWO_CRD "]", "[\"" TWO_CRD "\"]"},
		{"b", "1.0.0", "provides: [" TWO_CRD "]", "[\"" ONE_CRD "\"]"},
	};
	(void)state;
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, ARRAY_LEN(rows));
	lint_reject(x);
	assert_int_equal(x->n, 3);
	assert_string_equal(x->versions[0]->version.text.ptr, "2.0.0");
	assert_string_equal(x->versions[2]->version.text.ptr, "1.0.0");
	assert_int_equal(x->n_rejected, 2);
	assert_string_equal(x->rejected[0],
			    "b-1.0.0.tgz: provides: " TWO_CRD " is served by no CRD of the chart");
	assert_string_equal(x->rejected[1], "a-1.1.0.tgz: drop-in-minor: " ONE_CRD
					    " of 1.0.0 is gone; publish it as 2.0.0");
}

#define CRD(schema)                                                                                \
	"[{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " \
	"things.x.io}, spec: {group: x.io, scope: Namespaced, names: {plural: things, kind: "      \
	"Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: "    \
	"{type: object, properties: {spec: {type: object, properties: {" schema "}}}}}}]}}]"

static struct obj *crds(const char *text)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return o;
}

static void test_lint__a_change_that_no_object_could_survive_breaks(void **state)
{
	static const struct row rows[] = {
		{"a", "1.0.0", "", NULL}, {"a", "1.1.0", "", NULL}, {"a", "2.0.0", "", NULL}};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, 3);
	CLEANUP(obj_unrefp) struct obj *before = crds(CRD("n: {type: integer}"));
	CLEANUP(obj_unrefp) struct obj *wider = crds(CRD("n: {type: integer}, m: {type: string}"));
	CLEANUP(obj_unrefp) struct obj *namespaced = crds(CRD("n: {type: integer}"));
	struct lint l = lint_new(a);
	lint_crds(&l, x->versions[2], before, x->versions[1], wider);
	assert_int_equal(l.n, 0);
	obj_set_path(obj_get_mut(obj_at_mut(namespaced, 0), "spec"), "scope",
		     obj_string("Cluster"));
	lint_crds(&l, x->versions[2], before, x->versions[1], namespaced);
	assert_true(l.n_errors > 0);
	assert_string_equal(l.items[0].rule, "crd-break");
	assert_string_equal(l.items[0].where, "a-1.1.0.tgz");
	size_t errors = l.n_errors;
	lint_crds(&l, x->versions[2], before, x->versions[0], namespaced);
	assert_int_equal(l.n_errors, errors); /* across majors it warns */
	assert_true(l.n_warnings > 0);
}

static void test_lint__objects_that_a_chart_should_not_make(void **state)
{
	static const struct row rows[] = {{"a", "1.0.0", "", NULL}};
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(index_freep) struct catalog_index *x = index_of(rows, 1);
	CLEANUP(obj_unrefp) struct obj *o = crds(
		"objects:\n"
		"- {kind: Namespace, metadata: {name: ns}}\n"
		"- {kind: CustomResourceDefinition, metadata: {name: things.x.io}}\n"
		"- kind: Deployment\n  metadata: {name: d}\n  spec: {template: {spec: "
		"{containers: [{image: \"a:1\"}, {image: \"a@sha256:00\"}], initContainers: "
		"[{image: b}]}}}\n"
		"- kind: CronJob\n  metadata: {name: c}\n  spec: {jobTemplate: {spec: {template: "
		"{spec: {containers: [{image: c}]}}}}}\n"
		"- {kind: Pod, metadata: {name: p}, spec: {containers: [{image: d}]}}\n"
		"warnings: [\"t.yaml: an object has the unknown hook \\\"x\\\" and is left out\", "
		"other]\n");
	static const char *const want[] = {
		"templates make Namespace ns",
		"templates make CRD things.x.io",
		"Deployment d runs a:1, which names no digest",
		"Deployment d runs b, which names no digest",
		"CronJob c runs c, which names no digest",
		"Pod p runs d, which names no digest",
		"t.yaml: an object has the unknown hook \"x\" and is left out",
	};
	struct lint l = lint_new(a);
	lint_objects(&l, x->versions[0], o);
	assert_int_equal(l.n, ARRAY_LEN(want));
	for (size_t i = 0; i < l.n; i++) {
		assert_string_equal(l.items[i].text, want[i]);
		assert_string_equal(l.items[i].rule, "unsafe-object");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lint__rules_over_the_index),
		cmocka_unit_test(test_lint__load_leaves_out_what_has_an_error_and_names_it),
		cmocka_unit_test(test_lint__load_keeps_plain_charts_that_drop),
		cmocka_unit_test(test_lint__a_change_that_no_object_could_survive_breaks),
		cmocka_unit_test(test_lint__objects_that_a_chart_should_not_make),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
