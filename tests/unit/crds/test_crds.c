#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/defaults.h"
#include "crds/kinds.h"

#define EXAMPLES "tests/e2e/examples"

static void test_crds__every_definition_reads_strictly(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		const struct crd_kind *k = crd_kinds[i];
		struct error err = ERROR_INIT;
		struct obj *o;
		assert_ok(yaml_parse_carried(k->yaml, &o, &err), &err);
		assert_string_equal(meta_kind(o), "CustomResourceDefinition");
		assert_string_equal(obj_str(o, "spec.group"), k->group);
		assert_string_equal(obj_str(o, "spec.names.kind"), k->kind);
		assert_string_equal(obj_str(o, "spec.names.plural"), k->plural);
		assert_string_equal(obj_str(o, "spec.names.singular"), k->singular);
		assert_string_equal(obj_str(o, "spec.versions[0].name"), k->version);
		assert_int_equal(strcmp(obj_str(o, "spec.scope"), "Namespaced") == 0,
				 k->namespaced);
		obj_unref(o);
	}
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
		assert_ok(yaml_parse_carried(crd_kinds[i]->yaml, &o, &err), &err);
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

static void test_crds__fields_are_described(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_crd_kinds; i++) {
		struct error err = ERROR_INIT;
		struct obj *o;
		assert_ok(yaml_parse_carried(crd_kinds[i]->yaml, &o, &err), &err);
		const struct obj *schema = obj_path(o, "spec.versions[0].schema.openAPIV3Schema");
		assert_non_null(obj_str(schema, "description"));
		assert_described(schema, "");
		obj_unref(o);
	}
}

static void test_crds__examples_read_strictly(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	char **names;
	size_t n;
	assert_ok(dir_list(EXAMPLES, 100, &names, &n, &err), &err);
	assert_true(n > 12);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(4096);
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
		struct yaml_documents d;
		if (!strstr(names[i], ".yaml"))
			continue; /* a folder, for alm run */
		strbuf_addf(&path, EXAMPLES "/%s", names[i]);
		assert_ok(file_read(path.buf, &text, &err), &err);
		assert_ok(yaml_parse(strbuf_str(&text), &d, &err), &err);
		for (size_t j = 0; j < d.n; j++) {
			assert_int_equal(d.items[j].n_duplicates, 0);
			assert_non_null(meta_kind(d.items[j].value));
		}
		yaml_documents_release(&d);
	}
	dir_list_free(names, n);
}

static void test_crds__defaults_are_those_of_the_code(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *crd = NULL;
	assert_ok(yaml_parse_carried(crd_kinds[0]->yaml, &crd, &err), &err);
	const struct obj *spec =
		obj_path(crd, "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties");
	assert_string_equal(obj_str(spec, "channel.default"), APPTYPE_CHANNEL);
	assert_string_equal(obj_str(spec, "upgrade.properties.approvalTTL.default"),
			    APPTYPE_APPROVAL_TTL);
	assert_int_equal(obj_i64(spec, "historyLimit.default", 0), APPTYPE_HISTORY_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crds__every_definition_reads_strictly),
		cmocka_unit_test(test_crds__enum_words_are_strings),
		cmocka_unit_test(test_crds__fields_are_described),
		cmocka_unit_test(test_crds__examples_read_strictly),
		cmocka_unit_test(test_crds__defaults_are_those_of_the_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
