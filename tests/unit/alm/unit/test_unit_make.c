/* A unit out of a flat map and a rollout: which objects each step has, in which order the others go,
 * and that equal inputs are equal units. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/unit/unit_make.h"

struct made {
	const char *key, *kind, *name;
};

static const struct made objects[] = {
	{"a/deploy.yaml", "Deployment", "web"},
	{"a/cm.yaml!0", "ConfigMap", "one"},
	{"a/cm.yaml!1", "ConfigMap", "two"},
	{"crd.yaml", "CustomResourceDefinition", "things.example.com"},
	{"ns.yaml", "Namespace", "apps"},
	{"s.yaml", "Secret", "s"},
};

struct row {
	const char *about, *rollout; /* spec of it; NULL: none */
	const char *want;            /* PART:GROUP/STEP=KEYS; or what is told */
};

/* clang-format off */
static const struct row rows[] = {
	{"without a rollout: a group a kind, in install order", NULL,
	 "2:CustomResourceDefinition/CustomResourceDefinition=crd.yaml "
	 "2:Namespace/Namespace=ns.yaml 2:Secret/Secret=s.yaml "
	 "2:ConfigMap/ConfigMap=a/cm.yaml!0,a/cm.yaml!1 2:Deployment/Deployment=a/deploy.yaml "},
	{"the rest before",
	 "{rest: Before, groups: [{name: g, steps: [{object: a/deploy.yaml, action: CreateOrUpdate}, {object: s.yaml, action: CreateOrUpdate}]}]}",
	 "0:CustomResourceDefinition/CustomResourceDefinition=crd.yaml 0:Namespace/Namespace=ns.yaml "
	 "0:ConfigMap/ConfigMap=a/cm.yaml!0,a/cm.yaml!1 1:g/a/deploy.yaml=a/deploy.yaml 1:g/s.yaml=s.yaml "},
	{"a file of several objects, a pattern, no rest",
	 "{rest: Ignore, groups: [{name: g, steps: [{object: a/cm.yaml, action: CreateOrUpdate}]}, {name: h, steps: [{object: '*.yaml', action: CreateOrUpdate}]}]}",
	 "1:g/a/cm.yaml=a/cm.yaml!0,a/cm.yaml!1 1:h/*.yaml=crd.yaml,ns.yaml,s.yaml "},
	{"a Job that is none",
	 "{rest: Ignore, groups: [{steps: [{object: s.yaml, action: Job}]}]}",
	 "spec.groups[0].steps[0].action: Job: \"s.yaml\" is neither a Job nor a Pod: nothing of it runs; CreateOrUpdate applies it"},
	{"an object that nothing is",
	 "{rest: Ignore, groups: [{steps: [{object: b.yaml, action: CreateOrUpdate}]}]}",
	 "spec.groups[0].steps[0].object: UnknownObject: nothing that was rendered is \"b.yaml\"; there are: crd.yaml, ns.yaml, s.yaml, a/cm.yaml!0, a/cm.yaml!1 and 1 more"},
};
/* clang-format on */

static void digest(void *arg, const struct obj *o, char out[SHA256_HEX])
{
	(void)arg;
	json_digest(o, out);
}

static void make_flat(struct arena *a, const struct made *of, size_t n, struct flat *f)
{
	struct error err = ERROR_INIT;
	flat_init(f, a);
	for (size_t i = 0; i < n; i++) {
		char name[64];
		struct obj *o = obj_map();
		const char *bang = strchr(of[i].key, '!');
		obj_set_str(o, "apiVersion", "v1");
		obj_set_str(o, "kind", of[i].kind);
		obj_set_path(o, "metadata.name", obj_string(of[i].name));
		if (!strcmp(of[i].kind, "Secret"))
			obj_set_path(o, "stringData.password", obj_string("one"));
		size_t len = bang ? (size_t)(bang - of[i].key) : strlen(of[i].key);
		memcpy(name, of[i].key, len);
		name[len] = '\0';
		const struct flat_place p = {.name = arena_strdup(a, name),
					     .file = arena_strdup(a, name),
					     .doc = bang && bang[1] == '1',
					     .alone = !bang};
		assert_ok(flat_add(f, &p, o, &err), &err);
	}
	assert_ok(flat_sort(f, "default", &err), &err);
}

static int make(struct arena *a, const char *spec, struct unit **ret, struct error *err)
{
	struct flat f;
	struct rollout *rollout = NULL;
	struct obj *parsed = NULL;
	make_flat(a, objects, ARRAY_LEN(objects), &f);
	if (spec) {
		const char *text = arena_fmt(a,
					     "{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, "
					     "metadata: {name: r}, spec: %s}",
					     spec);
		assert_ok(yaml_parse_one(str_of(text), &parsed, err), err);
		obj_keep(a, parsed);
		assert_ok(rollout_parse(parsed, &(struct rollout_options){0}, a, &rollout, err),
			  err);
	}
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .rollout = rollout,
				       .rollout_text = parsed,
				       .digest = {.fn = digest}};
	return unit_make(&f, &o, ret, err);
}

static void print(const struct unit *u, struct strbuf *b)
{
	const struct obj *list = obj_get(u->doc, "objects");
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++) {
				const struct unit_step *s = &u->parts[p].groups[g].steps[i];
				strbuf_addf(b, "%zu:%s/%s=", p, u->parts[p].groups[g].name,
					    s->name);
				for (size_t k = 0; k < s->n; k++)
					strbuf_addf(b, "%s%s", k ? "," : "",
						    obj_str(obj_at(list, s->rows[k]), "key"));
				strbuf_addc(b, ' ');
			}
}

static void test_unit_make__each_step_has_its_objects(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		struct error err = ERROR_INIT;
		struct unit *u;
		if (make(a, rows[i].rollout, &u, &err) < 0)
			strbuf_adds(&b, err.msg);
		else
			print(u, &b);
		if (strcmp(b.buf, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].about, b.buf);
	}
}

/* R4, of files that are named the other way round. */
static void test_unit_make__what_others_need_comes_first(void **state)
{
	(void)state;
	static const struct made all[] = {
		{"01.yaml", "ValidatingWebhookConfiguration", "v"},
		{"02.yaml", "MutatingWebhookConfiguration", "m"},
		{"03.yaml", "ValidatingAdmissionPolicyBinding", "b"},
		{"04.yaml", "Thing", "custom"},
		{"05.yaml", "Ingress", "i"},
		{"06.yaml", "Job", "j"},
		{"07.yaml", "StatefulSet", "s"},
		{"08.yaml", "Deployment", "d"},
		{"09.yaml", "DaemonSet", "a"},
		{"10.yaml", "Service", "web"},
		{"11.yaml", "RoleBinding", "rb"},
		{"12.yaml", "Role", "r"},
		{"13.yaml", "ClusterRoleBinding", "cb"},
		{"14.yaml", "ClusterRole", "c"},
		{"15.yaml", "PersistentVolumeClaim", "p"},
		{"16.yaml", "ConfigMap", "cm"},
		{"17.yaml", "Secret", "secret"},
		{"18.yaml", "ServiceAccount", "sa"},
		{"19.yaml", "Namespace", "ns"},
		{"20.yaml", "CustomResourceDefinition", "things.example.com"},
	};
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .digest = {.fn = digest}};
	struct error err = ERROR_INIT;
	struct flat f;
	struct unit *u;
	make_flat(a, all, ARRAY_LEN(all), &f);
	assert_ok(unit_make(&f, &o, &u, &err), &err);
	for (size_t g = 0; g < u->parts[UNIT_PARTS - 1].n; g++)
		strbuf_addf(&b, "%s ", u->parts[UNIT_PARTS - 1].groups[g].name);
	assert_string_equal(b.buf,
			    "CustomResourceDefinition Namespace ServiceAccount Secret ConfigMap "
			    "PersistentVolumeClaim ClusterRole ClusterRoleBinding Role RoleBinding "
			    "Service DaemonSet Deployment StatefulSet Job Ingress Thing "
			    "MutatingWebhookConfiguration ValidatingWebhookConfiguration "
			    "ValidatingAdmissionPolicyBinding ");
}

static void test_unit_make__equal_inputs_are_equal_units(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	struct error err = ERROR_INIT;
	struct unit *x, *y, *z;
	assert_ok(make(a, rows[1].rollout, &x, &err), &err);
	assert_ok(make(a, rows[1].rollout, &y, &err), &err);
	assert_ok(make(a, NULL, &z, &err), &err);
	assert_string_equal(x->digest, y->digest);
	assert_string_not_equal(x->digest, z->digest);
	assert_string_equal(x->owner_id, "cli.b.i");
	/* what a server keeps of a Secret, so that it can be compared */
	const struct obj *list = obj_get(x->doc, "objects");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_get(obj_at(list, i), "object");
		if (!cstr_eq(obj_str(o, "kind"), "Secret"))
			continue;
		assert_false(obj_has(o, "stringData"));
		assert_string_equal(obj_str(obj_get(o, "data"), "password"), "b25l");
	}
}

/* As it was stored: out of its document alone, once through a text. */
static void test_unit_make__a_unit_is_the_same_out_of_its_document(void **state)
{
	(void)state;
	for (size_t i = 0; i + 2 < ARRAY_LEN(rows); i++) { /* the last two are refused */
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		struct error err = ERROR_INIT;
		struct obj *doc = NULL;
		struct unit *u, *again = NULL;
		assert_ok(make(a, rows[i].rollout, &u, &err), &err);
		CLEANUP(xfreep) char *text = json_text(u->doc);
		assert_ok(json_parse(str_of(text), &doc, &err), &err);
		assert_ok(unit_load(obj_keep(a, doc), a, &again, &err), &err);
		assert_string_equal(again->digest, u->digest);
		assert_string_equal(again->owner_id, u->owner_id);
		assert_true(again->goes_back);
		print(again, &b);
		assert_string_equal(b.buf, rows[i].want);
	}
}

static void test_unit_make__a_damaged_document_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"format",           "owner.bundle",          "namespace",    "objects.0.key",
		"objects.0.digest", "objects.0.object.kind", "rollout.kind", "rollout.spec.groups",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
		struct error err = ERROR_INIT;
		struct obj *doc = NULL;
		struct unit *u = NULL;
		assert_ok(make(a, rows[1].rollout, &u, &err), &err);
		CLEANUP(xfreep) char *text = json_text(u->doc);
		assert_ok(json_parse(str_of(text), &doc, &err), &err);
		obj_keep(a, doc);
		struct obj *at = doc;
		const char *path = bad[i];
		for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
			const char *name = arena_strndup(a, path, (size_t)(dot - path));
			at = *name == '0' ? obj_at_mut(at, 0) : obj_get_mut(at, name);
		}
		obj_del(at, path);
		u = NULL;
		if (unit_load(doc, a, &u, &err) >= 0)
			fail_msg("without %s it is taken", bad[i]);
		assert_null(u);
	}
}

/* Instances follow each other as they are listed, whatever kinds they have, and what is of none is the
 * first; another order is another unit. */
static void test_unit_make__instances_follow_each_other(void **state)
{
	(void)state;
	static const struct flat_instance ab[] = {{.name = "z", .folder = "crds"},
						  {.name = "a", .folder = "a"}},
					  ba[] = {{.name = "a", .folder = "a"},
						  {.name = "z", .folder = "crds"}},
					  needs[] = {{.name = "a", .folder = "a", .rank = 2},
						     {.name = "z", .folder = "crds", .rank = 1}};
	static const struct {
		struct flat_instances instances;
		const char *want;
	} orders[] = {
		{{ab, 2},
		 "2:Secret/Secret=s.yaml "
		 "2:z/CustomResourceDefinition/CustomResourceDefinition=z/crd.yaml "
		 "2:a/ConfigMap/ConfigMap=a/cm.yaml 2:a/Deployment/Deployment=a/deploy.yaml "},
		{{ba, 2},
		 "2:Secret/Secret=s.yaml "
		 "2:a/ConfigMap/ConfigMap=a/cm.yaml 2:a/Deployment/Deployment=a/deploy.yaml "
		 "2:z/CustomResourceDefinition/CustomResourceDefinition=z/crd.yaml "},
		{{needs, 2},
		 "2:Secret/Secret=s.yaml "
		 "2:z/CustomResourceDefinition/CustomResourceDefinition=z/crd.yaml "
		 "2:a/ConfigMap/ConfigMap=a/cm.yaml 2:a/Deployment/Deployment=a/deploy.yaml "},
	};
	static const char *const files[][2] = {{"a/deploy.yaml", "Deployment"},
					       {"a/cm.yaml", "ConfigMap"},
					       {"crds/crd.yaml", "CustomResourceDefinition"},
					       {"s.yaml", "Secret"}};
	char first[SHA256_HEX] = "";
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		struct error err = ERROR_INIT;
		struct flat f;
		struct unit *u = NULL;
		CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		const struct unit_options o = {.hub = "cli",
					       .bundle = "b",
					       .instance = "files",
					       .ns = "default",
					       .digest = {.fn = digest}};
		flat_init(&f, a);
		f.instances = &orders[i].instances;
		for (size_t k = 0; k < ARRAY_LEN(files); k++) {
			const struct flat_place p = {
				.name = files[k][0], .file = files[k][0], .alone = true};
			struct obj *x = meta_skeleton("v1", files[k][1], NULL, "x");
			assert_ok(flat_add(&f, &p, x, &err), &err);
		}
		assert_ok(flat_sort(&f, "default", &err), &err);
		assert_ok(unit_make(&f, &o, &u, &err), &err);
		print(u, &b);
		assert_string_equal(b.buf, orders[i].want);
		assert_string_not_equal(u->digest, first);
		memcpy(first, u->digest, sizeof(first));
		/* as it was stored */
		struct unit *again = NULL;
		strbuf_clear(&b);
		assert_ok(unit_load(u->doc, a, &again, &err), &err);
		print(again, &b);
		assert_string_equal(b.buf, orders[i].want);
		assert_string_equal(again->digest, u->digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_make__instances_follow_each_other),
		cmocka_unit_test(test_unit_make__a_unit_is_the_same_out_of_its_document),
		cmocka_unit_test(test_unit_make__a_damaged_document_is_refused),
		cmocka_unit_test(test_unit_make__each_step_has_its_objects),
		cmocka_unit_test(test_unit_make__what_others_need_comes_first),
		cmocka_unit_test(test_unit_make__equal_inputs_are_equal_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
