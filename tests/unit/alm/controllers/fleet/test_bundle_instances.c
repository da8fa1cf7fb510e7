/* spec.instances: what may be said, and where their objects lie. */
#include "tests/lib/test.h"

#define READ_MAX 4

#include <time.h>

#include "alm/controllers/fleet/bundle_instances.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

#define PACKAGE                                                                                    \
	"spec.instances[0].package: file://FOLDER is wanted, a folder below spec.source.git.path " \
	"with manifests, as file://apps/web; charts, oci:// and packages of a Catalog are not "    \
	"built yet"
#define UNBUILT                                                                               \
	"this is not built yet: nothing is applied while it is there; remove it, and do not " \
	"count on it"

/* clang-format off */
static const struct { const char *list, *want; } rows[] = {
	{"[]", NULL},
	{"[{name: web, package: 'file://apps/web'}]", NULL},
	{"[{name: web, package: 'file://apps/web//', namespace: blue}, {name: db, package: 'file://apps/web'}]", NULL},
	{"{}", "spec.instances: a list of at most 200 is wanted"},
	{"[web]", "spec.instances[0]: {name, namespace, package} is wanted"},
	{"[{package: 'file://web'}]", "spec.instances[0].name: 1 to 50 of a-z, 0-9 and - are wanted"},
	{"[{name: Web, package: 'file://web'}]", "spec.instances[0].name: 1 to 50 of a-z, 0-9 and - are wanted"},
	{"[{name: a/b, package: 'file://web'}]", "spec.instances[0].name: 1 to 50 of a-z, 0-9 and - are wanted"},
	{"[{name: -a, package: 'file://web'}]", "spec.instances[0].name: 1 to 50 of a-z, 0-9 and - are wanted"},
	{"[{name: files, package: 'file://web'}]",
	 "spec.instances[0].name: \"files\" is what is below no instance's folder; take another one"},
	{"[{name: a, package: 'file://a'}, {name: a, package: 'file://b'}]",
	 "spec.instances[1].name: another instance has it already"},
	{"[{name: a, package: 'file://a', namespace: A}]", "spec.instances[0].namespace: the name of a Namespace is wanted"},
	{"[{name: a, package: 'file://a', namespace: 1}]", "spec.instances[0].namespace: the name of a Namespace is wanted"},
	{"[{name: a}]", PACKAGE},
	{"[{name: a, package: 'oci://x/y'}]", PACKAGE},
	{"[{name: a, package: 'file://'}]", PACKAGE},
	{"[{name: a, package: 'file:///etc'}]", PACKAGE},
	{"[{name: a, package: 'file://../x'}]", PACKAGE},
	{"[{name: a, package: 'file://x/./y'}]", PACKAGE},
	{"[{name: a, package: 'file://x//y'}]", PACKAGE},
	{"[{name: a, package: 'file://a', values: {}}]", "spec.instances[0].values: " UNBUILT},
	{"[{name: a, package: 'file://a', needs: b}]", "spec.instances[0].needs: a list of other instances is wanted, by name"},
	{"[{name: a, package: 'file://a', needs: [b]}]",
	 "spec.instances[0].needs[0]: b: want the name of another instance of this Bundle"},
	{"[{name: a, package: 'file://a', needs: [a]}]",
	 "spec.instances[0].needs[0]: a: want the name of another instance of this Bundle"},
	{"[{name: a, package: 'file://a', needs: [{}]}]",
	 "spec.instances[0].needs[0]: no text: want the name of another instance of this Bundle"},
	{"[{name: a, package: 'file://a'}, {name: b, package: 'file://b', needs: [a, a]}]",
	 "spec.instances[1].needs[1]: a: it is there twice; take one away"},
	{"[{name: a, package: 'file://a'}, {name: b, package: 'file://b', needs: [a, c]}, {name: c, package: 'file://c', needs: [b]}]",
	 "spec.instances[1].needs: a circle: what it needs needs it, by way of others; take one of these needs away"},
};
/* clang-format on */

static struct obj *bundle_of(const char *list, struct arena *a)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	const char *text = arena_fmt(a, "{metadata: {name: web}, spec: {instances: %s}}", list);
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_bundle_instances__what_may_be_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		struct flat_instances got = {0};
		int r = bundle_instances_read(bundle_of(rows[i].list, a), a, &got, &err);
		assert_string_equal(err.msg, rows[i].want ? rows[i].want : "");
		assert_int_equal(r, rows[i].want ? -E_INVALID : 0);
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct flat_instances got = {0};
	assert_ok(bundle_instances_read(bundle_of(rows[2].list, a), a, &got, &err), &err);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.items[0].folder, "apps/web");
	assert_string_equal(got.items[0].ns, "blue");
	assert_null(got.items[1].ns);
}

/* What needs others comes after them, and else the list says it. */
static void test_bundle_instances__who_goes_first(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	static const struct {
		const char *list;
		size_t ranks[4];
	} cases[] = {
		{"[{name: a, package: 'file://a'}, {name: b, package: 'file://b'}]", {1, 2}},
		{"[{name: a, package: 'file://a', needs: [d]}, {name: b, package: 'file://b'}, "
		 "{name: c, package: 'file://c', needs: [b]}, {name: d, package: 'file://d', "
		 "needs: "
		 "[c, b]}]",
		 {4, 1, 2, 3}},
		{"[{name: a, package: 'file://a', needs: [b]}, {name: b, package: 'file://b'}, "
		 "{name: c, package: 'file://c'}]",
		 {2, 1, 3}},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct flat_instances got = {0};
		assert_ok(bundle_instances_read(bundle_of(cases[i].list, a), a, &got, &err), &err);
		for (size_t k = 0; k < got.n; k++)
			assert_int_equal(got.items[k].rank, cases[i].ranks[k]);
	}
}

/* As many as there may be, each of which needs all that come after it: a spec is read in the loop, in no more time than it
 * takes to make it. */
static void test_bundle_instances__many_needs_are_cheap(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	struct error err = ERROR_INIT;
	struct flat_instances got = {0};
	clock_t begun = clock();
	for (int i = 0; i < FLAT_INSTANCES_MAX; i++) {
		struct obj *o = obj_map(), *needs = obj_list();
		obj_set_str(o, "name", arena_fmt(a, "%045d", i));
		obj_set_str(o, "package", "file://a");
		for (int k = FLAT_INSTANCES_MAX - 1; k > i; k--)
			obj_append(needs, obj_string(arena_fmt(a, "%045d", k)));
		obj_set(o, "needs", needs);
		obj_append(list, o);
	}
	struct obj *bundle = obj_keep(a, obj_map());
	obj_set_path(bundle, "spec.instances", obj_ref(list));
	clock_t made = clock();
	assert_ok(bundle_instances_read(bundle, a, &got, &err), &err);
	clock_t took = clock() - made;
	if (took > READ_MAX * (made - begun))
		fail_msg("%ld, made in %ld", (long)took, (long)(made - begun));
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.items[i].rank, FLAT_INSTANCES_MAX - i);
}

/* --- where they lie --- */

static int scope(void *arg, const struct obj *o)
{
	(void)arg;
	const char *kind = meta_kind(o);
	return cstr_eq(kind, "ConfigMap") ? 1 : cstr_eq(kind, "ClusterRole") ? 0 : -1;
}

static const struct flat_instance two[] = {{.name = "blue", .folder = "web", .ns = "blue"},
					   {.name = "green", .folder = "web", .ns = "green"}};

static int place(struct arena *a, const char *kind, const char *ns, struct flaws *unsure,
		 struct flat *f, struct error *err)
{
	static const struct bundle_spec spec = {.ns = "default", .instances = {two, 2}};
	const struct bundle_scopes scopes = {.fn = scope, .unsure = unsure};
	const struct flat_place p = {.name = "web/a.yaml", .file = "web/a.yaml", .alone = true};
	flat_init(f, a);
	f->instances = &spec.instances;
	assert_ok(flat_add(f, &p, meta_skeleton("v1", kind, ns, "a"), err), err);
	int r = flat_sort(f, "default", err);
	return r < 0 ? r : bundle_instances_place(&spec, f, &scopes, err);
}

static void test_bundle_instances__where_their_objects_lie(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct flat f;
	assert_ok(place(a, "ConfigMap", NULL, NULL, &f, &err), &err);
	assert_string_equal(meta_namespace(flat_get(&f, "blue/a.yaml")->object), "blue");
	assert_string_equal(meta_namespace(flat_get(&f, "green/a.yaml")->object), "green");
	/* what both have, as it is in none or says where it is */
	assert_int_equal(place(a, "ClusterRole", NULL, NULL, &f, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "DuplicateObject: ClusterRole "));
	assert_int_equal(place(a, "ConfigMap", "x", NULL, &f, &err), -E_INVALID);
	assert_non_null(strstr(err.msg, "DuplicateObject: ConfigMap x/a is in blue/a.yaml"));
}

static void test_bundle_instances__a_kind_that_nobody_knows(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	struct flat f;
	struct flaws unsure = {.a = a};
	assert_int_equal(place(a, "Thing", NULL, NULL, &f, &err), -E_INVALID);
	assert_string_equal(err.msg,
			    "blue/a.yaml: Thing a names no namespace, and nobody knows yet "
			    "whether Thing has one, that of instance blue (blue): write "
			    "metadata.namespace, or put the definition into the tree");
	/* offline it is told, and so is that of two instances it may be the same */
	assert_int_equal(place(a, "Thing", NULL, &unsure, &f, &err), -E_INVALID);
	assert_int_equal(unsure.n, 2);
	assert_non_null(strstr(err.msg, "DuplicateObject: Thing "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_instances__what_may_be_said),
		cmocka_unit_test(test_bundle_instances__who_goes_first),
		cmocka_unit_test(test_bundle_instances__many_needs_are_cheap),
		cmocka_unit_test(test_bundle_instances__where_their_objects_lie),
		cmocka_unit_test(test_bundle_instances__a_kind_that_nobody_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
