#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/apptype.h"
#include "crds/catalog.h"
#include "crds/kinds.h"
#include "crds/strategy.h"

#define EXAMPLES "tests/e2e/examples"

static void test_crds__every_definition_reads_strictly(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		const struct crd_kind *k = crd_kinds[i];
		struct error err = ERROR_INIT;
		struct obj *o;
		assert_ok(yaml_parse_one(str_of(k->yaml), &o, &err), &err);
		assert_string_equal(meta_kind(o), "CustomResourceDefinition");
		assert_string_equal(obj_str(o, "spec.group"), k->group);
		assert_string_equal(obj_str(o, "spec.names.kind"), k->kind);
		assert_string_equal(obj_str(o, "spec.names.plural"), k->plural);
		assert_string_equal(obj_str(o, "spec.names.singular"), k->singular);
		assert_string_equal(obj_str(o, "spec.versions[0].name"), k->version);
		assert_int_equal(strcmp(obj_str(o, "spec.scope"), "Namespaced") == 0,
				 k->namespaced);
		assert_ptr_equal(crd_kind_find(k->group, k->kind), k);
		obj_unref(o);
	}
	assert_null(crd_kind_find("", "Pod"));
}

/* YAML traps (story.md 12): an unquoted comma or Off in a schema would change its meaning. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as our CRDs */
static void assert_words_are_strings(const struct obj *o)
{
	const struct obj *words = obj_get(o, "enum");
	for (size_t i = 0; i < obj_len(words); i++)
		assert_non_null(obj_as_string(obj_at(words, i)));
	OBJ_EACH (it, o)
		assert_words_are_strings(it.value);
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		assert_words_are_strings(obj_at(o, i));
}

static void test_crds__enum_words_are_strings(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		struct error err = ERROR_INIT;
		struct obj *o;
		assert_ok(yaml_parse_one(str_of(crd_kinds[i]->yaml), &o, &err), &err);
		assert_words_are_strings(o);
		obj_unref(o);
	}
}

/* kubectl explain has no other source. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as our CRDs */
static void assert_described(const struct obj *schema, const char *path)
{
	const struct obj *properties = obj_get(schema, "properties");
	OBJ_EACH (it, properties) {
		char sub[512];
		snprintf(sub, sizeof(sub), "%s.%s", path, it.key);
		if (strcmp(sub, ".metadata") != 0 && !obj_str(it.value, "description"))
			fail_msg("%s has no description", sub);
		assert_described(it.value, sub);
		assert_described(obj_get(it.value, "items"), sub);
	}
}

static void test_crds__fields_of_the_kinds_with_controllers_are_described(void **state)
{
	(void)state;
	static const char *const kinds[][2] = {{"app.coreos.com", "AppType"},
					       {"opinstaller.coreos.com", "InstallStrategy"},
					       {"app.coreos.com", "Catalog"}};
	for (size_t i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		struct obj *o;
		const struct crd_kind *k = crd_kind_find(kinds[i][0], kinds[i][1]);
		assert_non_null(k);
		assert_ok(yaml_parse_one(str_of(k->yaml), &o, &err), &err);
		const struct obj *schema = obj_path(o, "spec.versions[0].schema.openAPIV3Schema");
		assert_non_null(obj_str(schema, "description"));
		assert_described(schema, "");
		obj_unref(o);
	}
}

static void decode_by_kind(const struct obj *o, size_t *n)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct apptype t;
	struct strategy s;
	struct catalog c;
	if (cstr_eq(meta_kind(o), "AppType"))
		assert_ok(apptype_decode(o, a, &t, &err), &err);
	else if (cstr_eq(meta_kind(o), "InstallStrategy"))
		assert_ok(strategy_decode(o, a, &s, &err), &err);
	else if (cstr_eq(meta_kind(o), "Catalog"))
		assert_ok(catalog_decode(o, a, &c, &err), &err);
	else
		return;
	(*n)++;
}

static void test_crds__examples_decode(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	char **names;
	size_t n, decoded = 0;
	assert_ok(dir_list(EXAMPLES, 100, &names, &n, &err), &err);
	assert_true(n > 15);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(4096);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
		struct yaml_documents d;
		strbuf_addf(&path, EXAMPLES "/%s", names[i]);
		assert_ok(file_read(path.buf, &text, &err), &err);
		assert_ok(yaml_parse(strbuf_str(&text), &d, &err), &err);
		for (size_t j = 0; j < d.n; j++) {
			assert_int_equal(d.items[j].n_duplicates, 0);
			assert_non_null(meta_kind(d.items[j].value));
			decode_by_kind(d.items[j].value, &decoded);
		}
		yaml_documents_release(&d);
	}
	dir_list_free(names, n);
	assert_int_equal(decoded, 5);
}

static struct obj *parsed(struct arena *a, const char *yaml)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(yaml), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_crds__apptype_defaults_and_fields(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct apptype t;
	assert_ok(apptype_decode(parsed(a, "{metadata: {name: x}, spec: {type: t}}"), a, &t, &err),
		  &err);
	assert_string_equal(t.channel, "stable");
	assert_string_equal(t.install_namespace, "x");
	assert_int_equal(t.upgrade.mode, MODE_AUTOMATIC);
	assert_int_equal(t.upgrade.approval_ttl_ns, 72 * NS_PER_HOUR);
	assert_int_equal(t.history_limit, 10);
	assert_false(t.drift_report || t.upgrade.approve_on_warn || t.upgrade.stay_on_failure);
	assert_ok(apptype_decode(
			  parsed(a, "metadata: {name: x}\nspec:\n  type: t\n  drift: Report\n"
				    "  upgrade:\n    mode: Manual\n    onWarn: Approve\n"
				    "    onFailure: Stay\n    windows:\n    - {days: [Mon], from: "
				    "\"22:00\", to: \"23:00\"}\n    waivers:\n    - {rule: R1, "
				    "resource: a.b/v1, reason: r, expires: 2030-01-01T00:00:00Z}\n"
				    "    deadlines: {pending: 1m}\n"),
			  a, &t, &err),
		  &err);
	assert_int_equal(t.upgrade.mode, MODE_MANUAL);
	assert_true(t.drift_report && t.upgrade.approve_on_warn && t.upgrade.stay_on_failure);
	assert_string_equal(t.upgrade.windows[0].days.items[0], "Mon");
	assert_string_equal(t.upgrade.windows[0].from, "22:00");
	assert_string_equal(t.upgrade.waivers[0].resource, "a.b/v1");
	assert_true(t.upgrade.waivers[0].expires_ns > 0);
	assert_int_equal(t.upgrade.pending_ns, NS_PER_MIN);
}

static void test_crds__invalid_manifests_name_the_field(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(65536);
	struct error err = ERROR_INIT;
	struct apptype t;
	struct strategy s;
	struct catalog c;
	assert_int_equal(apptype_decode(parsed(a, "{metadata: {name: x}, spec: {}}"), a, &t, &err),
			 -E_INVALID);
	assert_string_equal(err.msg, "spec.type: required, but absent");
	assert_int_equal(apptype_decode(parsed(a, "{metadata: {name: x}, spec: {type: t, upgrade: "
						  "{mode: Sometimes}}}"),
					a, &t, &err),
			 -E_INVALID);
	assert_non_null(strstr(err.msg, "spec.upgrade.mode: found Sometimes"));
	assert_int_equal(apptype_decode(parsed(a, "{metadata: {name: x}, spec: {type: t, upgrade: "
						  "{windows: [{from: a}]}}}"),
					a, &t, &err),
			 -E_INVALID);
	assert_string_equal(err.msg, "spec.upgrade.windows[0]: to: required, but absent");
	assert_int_equal(strategy_decode(parsed(a, "{metadata: {name: x}, spec: {version: 1}}"), a,
					 &s, &err),
			 -E_INVALID);
	assert_string_equal(err.msg, "spec.appTypeRef.name: required, but absent");
	assert_int_equal(
		catalog_decode(parsed(a, "{metadata: {name: x}, spec: {source: {url: 1}}}"), a, &c,
			       &err),
		-E_INVALID);
	assert_string_equal(err.msg, "spec.source.url: found integer, wanted string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crds__every_definition_reads_strictly),
		cmocka_unit_test(test_crds__enum_words_are_strings),
		cmocka_unit_test(test_crds__fields_of_the_kinds_with_controllers_are_described),
		cmocka_unit_test(test_crds__examples_decode),
		cmocka_unit_test(test_crds__apptype_defaults_and_fields),
		cmocka_unit_test(test_crds__invalid_manifests_name_the_field),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
