/* The documents of 2017, and what of them has no form today. */
#include "tests/lib/test.h"

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "crds/legacy.h"

struct case_of {
	const char *old, *now; /* NULL: it is not old */
	size_t n_warnings;
};

static const struct obj *read_yaml(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void check(const struct case_of *c)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	struct legacy now;
	assert_ok(legacy_convert(read_yaml(a, c->old), a, &now, &err), &err);
	assert_int_equal(now.o != NULL, c->now != NULL);
	if (!c->now)
		return;
	json_print_canonical(now.o, &got);
	json_print_canonical(read_yaml(a, c->now), &want);
	assert_string_equal(got.buf, want.buf);
	assert_int_equal(now.n_warnings, c->n_warnings);
	assert_ok(legacy_convert(now.o, a, &now, &err), &err);
	assert_null(now.o);
}

#define APP   "apiVersion: app.coreos.com/v1beta1\nkind: AppType\n"
#define IST   "apiVersion: opinstaller.coreos.com/v1beta1\nkind: InstallStrategy\n"
#define CRD   "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n"
#define CRD_1 "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"

static void test_legacy__every_old_form_has_a_new_one(void **state)
{
	static const struct case_of cases[] = {
		{APP "metadata: {name: etcd, type: com.tectonic.storage, selfRef: "
		     "etcd.com.tectonic.storage}",
		 APP "metadata: {name: etcd}\nspec: {type: com.tectonic.storage}", 2},
		{IST "metadata: {ownerReference: e.com.a, version: 1}\nspec: {resources: "
		     "[etcds.1.etcd.coreos.com, x.y.com/v1]}",
		 IST "metadata: {name: install.1.e.com.a}\nspec: {appTypeRef: {name: e.com.a}, "
		     "version: '1', resources: [etcds.etcd.coreos.com/v1, x.y.com/v1]}",
		 4},
		{IST "metadata: {name: a, ownerRef: e.com.a, version: 1.2.3}",
		 IST "metadata: {name: a}\nspec: {appTypeRef: {name: e.com.a}, version: 1.2.3}", 2},
		{"apiVersion: v1alpha1.etcd.coreos.com/v1alpha1\nkind: EtcdCluster\n"
		 "metadata: {name: a}\nspec: {outputs: {serviceName: s}}",
		 "apiVersion: etcd.coreos.com/v1\nkind: EtcdCluster\nmetadata: {name: a}\n"
		 "spec: {outputs: {serviceName: s}}\nstatus: {outputs: {serviceName: s}}",
		 2},
		/* a definition of v1beta1 as Kubernetes took it until 1.21 */
		{CRD
		 "metadata: {name: as.b.com}\nspec: {group: b.com, versions: [{name: v1, served: "
		 "true, storage: true}], names: {plural: as, kind: A}, "
		 "additionalPrinterColumns: [{name: X, JSONPath: .x}], subresources: {scale: "
		 "{}}, validation: {openAPIV3Schema: {properties: {x: {type: string}}}}}",
		 CRD_1 "metadata: {name: as.b.com}\nspec: {group: b.com, names: {plural: as, kind: "
		       "A}, versions: [{name: v1, served: true, storage: true, "
		       "additionalPrinterColumns: [{name: X, jsonPath: .x}], subresources: {scale: "
		       "{}}, schema: {openAPIV3Schema: {type: object, properties: {x: {type: "
		       "string}}, x-kubernetes-preserve-unknown-fields: true}}}]}",
		 1},
		{CRD "metadata: {name: as.b.com}\nspec: {group: b.com, version: v1, "
		     "preserveUnknownFields: false, names: {plural: as}, conversion: {strategy: "
		     "Webhook, webhookClientConfig: {url: u}}}",
		 CRD_1 "metadata: {name: as.b.com}\nspec: {group: b.com, names: {plural: as}, "
		       "versions: [{name: v1, served: true, storage: true, schema: "
		       "{openAPIV3Schema: {type: object}}}], conversion: {strategy: Webhook, "
		       "webhook: {clientConfig: {url: u}, conversionReviewVersions: [v1beta1]}}}",
		 2},
		/* said twice, and the same */
		{APP "metadata: {name: etcd, type: a}\nspec: {type: a}",
		 APP "metadata: {name: etcd}\nspec: {type: a}", 1},
		/* resources by their plural or singular, and what needs no other name */
		{APP "metadata: {name: etcd, type: a}\nspec: {resources: [{name: cup, spec: "
		     "{group: x.io, names: "
		     "{plural: cups}}}, {name: mugs.x.io, spec: {group: x.io, names: {plural: "
		     "mugs}}}, {name: odd}, "
		     "{spec: {group: x.io, names: {plural: jars}}}]}",
		 APP "metadata: {name: etcd}\nspec: {type: a, resources: [{name: cups.x.io, spec: "
		     "{group: x.io, names: "
		     "{plural: cups}}}, {name: mugs.x.io, spec: {group: x.io, names: {plural: "
		     "mugs}}}, {name: odd}, "
		     "{name: jars.x.io, spec: {group: x.io, names: {plural: jars}}}]}",
		 2},
		/* what is of today, or of somebody else */
		{APP "metadata: {name: etcd}\nspec: {type: a}", NULL, 0},
		{IST "metadata: {name: a}\nspec: {resources: [etcds.1.etcd.coreos.com]}", NULL, 0},
		{"apiVersion: v2.com/v1\nkind: A\nmetadata: {name: a}", NULL, 0},
		{"apiVersion: v1.api.acme.com.example/v1\nkind: AppType\nmetadata: {type: a}",
		 "apiVersion: api.acme.com.example/v1\nkind: AppType\nmetadata: {type: a}", 1},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a, type: b}", NULL, 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&cases[i]);
}

static void test_legacy__the_schema_of_2017(void **state)
{
	static const struct case_of c = {
		CRD "metadata: {name: etcds.1.etcd.coreos.com, ownerRef: e.com.a}\nspec:\n"
		    "  group: 1.etcd.coreos.com\n  version: 1\n  names: {plural: etcds}\n"
		    "  validation:\n    openAPIv3: |\n"
		    "      { // a comment, \"quoted\"\n"
		    "        \"size\": \"int\", \"u//r\": \"string\", \"ok\": \"bool\",\n"
		    "        \"outputs\": { \"name\": \"string\" } }\n",
		CRD_1
		"metadata: {name: etcds.etcd.coreos.com, annotations: {app.coreos.com/owner: "
		"e.com.a}}\n"
		"spec: {group: etcd.coreos.com, names: {plural: etcds}, versions: [{name: v1, "
		"served: true, storage: true, subresources: {status: {}}, schema: "
		"{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: "
		"{size: {type: integer}, u//r: {type: string}, ok: {type: boolean}, outputs: "
		"{type: object, properties: {name: {type: string}}}}}, status: {type: object, "
		"properties: {outputs: {type: object, properties: {name: {type: "
		"string}}}}}}}}}]}",
		5};
	(void)state;
	check(&c);
}

static void test_legacy__what_has_no_new_form_is_named(void **state)
{
	static const char *const cases[][2] = {
		{APP "metadata: {name: a, type: b, selfRef: c.d}",
		 "metadata.selfRef is c.d, name and type make it a.b"},
		{APP "metadata: {name: a, type: b}\nspec: {type: c}",
		 "metadata.type is b and spec.type is c: keep spec.type alone"},
		/* the first of two is told */
		{APP "metadata: {name: a, type: b, selfRef: x.y}\nspec: {type: c}",
		 "metadata.type is b and spec.type is c: keep spec.type alone"},
		{CRD "metadata: {name: a}", "spec is missing"},
		{CRD "metadata: {name: a}\nspec: {group: b.com}", "spec.version is missing"},
		{CRD "metadata: {name: a}\nspec: {version: 1, validation: {openAPIv3: '{\"a\": "
		     "\"date\"}'}}",
		 "spec.validation.openAPIv3.a: date is no type of a field; write int, string, "
		 "bool, "
		 "number or an object of fields"},
		{CRD
		 "metadata: {name: a}\nspec: {version: 1, validation: {openAPIv3: '{\"a\": 1}'}}",
		 "spec.validation.openAPIv3.a: integer is no type of a field; write int, string, "
		 "bool, number or an object of fields"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct legacy now;
		assert_int_equal(legacy_convert(read_yaml(a, cases[i][0]), a, &now, &err),
				 -E_INVALID);
		assert_string_equal(err.msg, cases[i][1]);
	}
}

/* So many are told, and all are converted. */
static void test_legacy__more_warnings_than_are_told(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *list = "";
	struct error err = ERROR_INIT;
	struct legacy now;
	for (int i = 0; i < LEGACY_WARNINGS_MAX + 4; i++)
		list = arena_fmt(a, "%s%sr%d.1.etcd.coreos.com", list, i ? ", " : "", i);
	const char *text =
		arena_fmt(a, IST "metadata: {name: a, version: 1}\nspec: {resources: [%s]}", list);
	assert_ok(legacy_convert(read_yaml(a, text), a, &now, &err), &err);
	assert_int_equal(now.n_warnings, LEGACY_WARNINGS_MAX);
	const struct obj *resources = obj_path(now.o, "spec.resources");
	assert_int_equal(obj_len(resources), LEGACY_WARNINGS_MAX + 4);
	for (size_t i = 0; i < obj_len(resources); i++)
		assert_string_equal(obj_as_string(obj_at(resources, i)),
				    arena_fmt(a, "r%zu.etcd.coreos.com/v1", i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy__every_old_form_has_a_new_one),
		cmocka_unit_test(test_legacy__the_schema_of_2017),
		cmocka_unit_test(test_legacy__what_has_no_new_form_is_named),
		cmocka_unit_test(test_legacy__more_warnings_than_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
