/* The flat map: its keys, what is no object, and one object given twice. */
#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/flat.h"
#include "crds/marks.h"

#define ARENA_BYTES ((size_t)4 << 20)
#define CM(name) \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"}}"

static struct obj *parse(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static int add(struct flat *f, const char *name, size_t doc, bool alone, const char *object,
	       struct error *err)
{
	const struct flat_place p = {
		.name = name, .file = name, .doc = doc, .alone = alone, .line = 7};
	return flat_add(f, &p, parse(object), err);
}

static void test_flat__keys_are_sorted_bytewise(void **state)
{
	struct error err = ERROR_INIT;
	struct flat f;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	flat_init(&f, a);
	assert_ok(add(&f, "b.yaml", 1, false, CM("b1"), &err), &err);
	assert_ok(add(&f, "b.yaml", 0, false, CM("b0"), &err), &err);
	assert_ok(add(&f, "a/z.yaml", 0, true, CM("z"), &err), &err);
	assert_ok(add(&f, "B.yaml", 0, true, CM("c"), &err), &err);
	assert_ok(flat_sort(&f, "default", &err), &err);
	assert_int_equal(f.n, 4);
	assert_string_equal(f.objects[0].key, "B.yaml");
	assert_string_equal(f.objects[1].key, "a/z.yaml");
	assert_string_equal(f.objects[2].key, "b.yaml!0");
	assert_string_equal(f.objects[3].key, "b.yaml!1");
	assert_int_equal(f.objects[3].doc, 1);
	assert_ptr_equal(flat_get(&f, "a/z.yaml"), &f.objects[1]);
	assert_null(flat_get(&f, "a/z"));
}

static void test_flat__items_of_a_list_are_objects(void **state)
{
	struct error err = ERROR_INIT;
	struct flat f;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	flat_init(&f, a);
	assert_ok(
		add(&f, "l.yaml", 0, true,
		    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" CM("a") "," CM("b") "]}",
		    &err),
		&err);
	assert_ok(add(&f, "r.yaml", 2, false,
		      "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleList\","
		      "\"items\":[{\"metadata\":{\"name\":\"r\"}}]}",
		      &err),
		  &err);
	assert_ok(flat_sort(&f, NULL, &err), &err);
	assert_int_equal(f.n, 3);
	assert_string_equal(f.objects[1].key, "l.yaml!0.1");
	assert_string_equal(f.objects[2].key, "r.yaml!2.0");
	assert_string_equal(obj_str(f.objects[2].object, "kind"), "Role");
	assert_string_equal(obj_str(f.objects[2].object, "apiVersion"),
			    "rbac.authorization.k8s.io/v1");
}

static void test_flat__what_is_no_object_is_told_with_its_place(void **state)
{
	static const struct {
		const char *object, *says;
	} cases[] = {
		{"3", "a.yaml!1 (line 7): an API object is wanted, not integer"},
		{"[]", "a.yaml!1 (line 7): an API object is wanted, not array"},
		{"{\"kind\":\"X\",\"metadata\":{\"name\":\"x\"}}",
		 "a.yaml!1 (line 7): apiVersion or kind is missing or malformed"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":3}",
		 "a.yaml!1 (line 7): metadata is no object"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"generateName\":\"x\"}}",
		 "a.yaml!1 (line 7): metadata.name is missing (generateName does not do: each run "
		 "would make another object)"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":true}}",
		 "a.yaml!1 (line 7): metadata.name is of type boolean and not text: YAML 1.1 reads "
		 "y, no, on and the like as truth values, and 1 and 1e3 as numbers; write it in "
		 "quotes"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"x\",\"namespace\":"
		 "3}}",
		 "a.yaml!1 (line 7): metadata.namespace is of type integer and not text: YAML 1.1 "
		 "reads y, no, on and the like as truth values, and 1 and 1e3 as numbers; write it "
		 "in quotes"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" CM("a") ",4]}",
		 "a.yaml!1.1 (line 7): an API object is wanted, not integer"},
		{"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"kind\":\"List\","
		 "\"items\":[]}]}",
		 "a.yaml!1.0 (line 7): a List in a List: write its items out"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct flat f;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		flat_init(&f, a);
		assert_int_equal(add(&f, "a.yaml", 1, false, cases[i].object, &err), -E_INVALID);
		assert_string_equal(err.msg, cases[i].says);
	}
}

static void test_flat__an_object_given_twice_names_both_places(void **state)
{
	static const struct {
		const char *one, *two, *ns, *says;
	} cases[] = {
		{CM("a"), CM("a"), NULL,
		 "DuplicateObject: ConfigMap a is in one.yaml (line 7) and in two.yaml (line 7); "
		 "leave it in one"},
		{CM("a"),
		 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
		 "\"namespace\":\"default\"}}",
		 "default",
		 "DuplicateObject: ConfigMap default/a is in one.yaml (line 7) and in two.yaml "
		 "(line "
		 "7); leave it in one"},
		/* another version is the same object */
		{"{\"apiVersion\":\"apps/"
		 "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"}}",
		 "{\"apiVersion\":\"apps/v1beta1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
		 "\"d\"}}",
		 NULL,
		 "DuplicateObject: Deployment d is in one.yaml (line 7) and in two.yaml (line 7); "
		 "leave it in one"},
		{CM("a"), CM("b"), NULL, NULL},
		{CM("a"),
		 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}", NULL,
		 NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct flat f;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		flat_init(&f, a);
		assert_ok(add(&f, "one.yaml", 0, true, cases[i].one, &err), &err);
		assert_ok(add(&f, "two.yaml", 0, true, cases[i].two, &err), &err);
		int r = flat_sort(&f, cases[i].ns, &err);
		assert_int_equal(r, cases[i].says ? -E_INVALID : 0);
		if (cases[i].says)
			assert_string_equal(err.msg, cases[i].says);
	}
}

static void test_flat__keys_are_there_once(void **state)
{
	struct error err = ERROR_INIT;
	struct flat f;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	flat_init(&f, a);
	assert_ok(add(&f, "a.yaml", 0, false, CM("a"), &err), &err);
	assert_ok(add(&f, "a.yaml!0", 0, true, CM("b"), &err), &err);
	assert_int_equal(flat_sort(&f, NULL, &err), -E_INVALID);
	assert_string_equal(err.msg,
			    "DuplicateObject: key a.yaml!0 is given by a.yaml and by a.yaml!0");
}

static void test_flat__objects_have_a_limit(void **state)
{
	struct error err = ERROR_INIT;
	struct flat f;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	flat_init(&f, a);
	for (size_t i = 0; i < FLAT_OBJECTS_MAX; i++)
		assert_ok(add(&f, "a.yaml", i, false, CM("a"), &err), &err);
	assert_int_equal(add(&f, "b.yaml", 0, true, CM("a"), &err), -E_LIMIT);
	assert_string_equal(err.msg, "b.yaml (line 7): there are more than 10000 objects");
}

static void test_flat__it_prints_sorted_and_survives_a_sandbox(void **state)
{
	struct error err = ERROR_INIT;
	struct flat f, back;
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *rollout = parse("{\"spec\":{},\"kind\":\"Rollout\"}");
	flat_init(&f, a);
	flat_init(&back, a);
	assert_ok(add(&f, "b.yaml", 0, true, CM("b"), &err), &err);
	assert_ok(add(&f, "a.yaml", 0, true, CM("a"), &err), &err);
	assert_ok(flat_sort(&f, NULL, &err), &err);
	CLEANUP(obj_unrefp) struct obj *list = flat_encode(&f);
	assert_ok(flat_decode(list, NULL, &back, &err), &err);
	flat_print(&f, rollout, &one);
	flat_print(&back, rollout, &two);
	assert_string_equal(one.buf, two.buf);
	assert_string_equal(back.objects[1].file, "b.yaml");
	assert_int_equal(back.objects[1].line, 7);
	CLEANUP(obj_unrefp) struct obj *o = parse(one.buf);
	CLEANUP(xfreep) char *text = json_text(o);
	assert_string_equal(text, "{\"objects\":{\"a.yaml\":" CM("a") ",\"b.yaml\":" CM(
					  "b") "},\"rollout\":{\"kind\":\"Rollout\",\"spec\":{}}}");
}

static void test_flat__a_malformed_list_is_refused(void **state)
{
	static const char *const cases[] = {
		"[3]",
		"[{\"key\":\"k\",\"file\":\"f\",\"doc\":-1,\"line\":0,\"object\":" CM("a") "}]",
		"[{\"key\":\"k\",\"doc\":0,\"line\":0,\"object\":" CM("a") "}]",
		"[{\"key\":\"k\",\"file\":\"f\",\"doc\":0,\"line\":0}]",
		"[{\"key\":\"\",\"file\":\"f\",\"doc\":0,\"line\":0,\"object\":" CM("a") "}]",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = ERROR_INIT;
		struct flat f;
		CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
		CLEANUP(obj_unrefp) struct obj *list = parse(cases[i]);
		flat_init(&f, a);
		assert_int_equal(flat_decode(list, NULL, &f, &err), -E_INVALID);
	}
}

/* --- instances --- */

static const struct flat_instance two[] = {
	{.name = "blue", .folder = "apps/web", .ns = "blue"},
	{.name = "green", .folder = "apps/web"},
	{.name = "db", .folder = "apps/web/db"},
};
static const struct flat_instances instances = {two, ARRAY_LEN(two)};

static void init_instances(struct flat *f, struct arena *a)
{
	flat_init(f, a);
	f->instances = &instances;
}

static const char *label_of(const struct flat *f, const char *key)
{
	const struct flat_object *o = flat_get(f, key);
	return o ? meta_label(o->object, LABEL_INSTANCE) : "absent";
}

/* What is below a folder is of each instance that names it, as a copy of its own. */
static void test_flat__instances_have_the_objects_below_their_folder(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct flat f;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	init_instances(&f, a);
	assert_ok(add(&f, "apps/web/a.yaml", 0, true, CM("a"), &err), &err);
	assert_ok(add(&f, "apps/web/db/b.yaml", 1, false, CM("b"), &err), &err);
	assert_ok(add(&f, "apps/website.yaml", 0, true, CM("c"), &err), &err);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < f.n; i++)
		strbuf_addf(&b, "%s %zu %s;", f.objects[i].key, f.objects[i].instance,
			    f.objects[i].file);
	assert_string_equal(b.buf, "blue/a.yaml 1 apps/web/a.yaml;"
				   "green/a.yaml 2 apps/web/a.yaml;"
				   "blue/db/b.yaml!1 1 apps/web/db/b.yaml;"
				   "green/db/b.yaml!1 2 apps/web/db/b.yaml;"
				   "db/b.yaml!1 3 apps/web/db/b.yaml;"
				   "apps/website.yaml 0 apps/website.yaml;");
	/* b is given twice without a namespace */
	assert_int_equal(flat_sort(&f, "default", &err), -E_INVALID);
	assert_string_equal(err.msg, "DuplicateObject: ConfigMap default/b is in db/b.yaml!1 "
				     "(apps/web/db/b.yaml, line 7) and in green/db/b.yaml!1 "
				     "(apps/web/db/b.yaml, line 7); leave it in one");
}

static void test_flat__an_instance_is_a_label_and_a_namespace(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct flat f, back;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	init_instances(&f, a);
	assert_ok(add(&f, "apps/web/a.yaml", 0, true, CM("a"), &err), &err);
	assert_ok(flat_sort(&f, "default", &err), &err); /* blue/a and default/a */
	assert_string_equal(label_of(&f, "blue/a.yaml"), "blue");
	assert_string_equal(label_of(&f, "green/a.yaml"), "green");
	/* out of the sandbox and back */
	struct obj *list = obj_keep(a, flat_encode(&f));
	init_instances(&back, a);
	assert_ok(flat_decode(list, "default", &back, &err), &err);
	assert_int_equal(back.objects[1].instance, 2);
	flat_init(&back, a); /* of which nobody knows */
	assert_int_equal(flat_decode(list, "default", &back, &err), -E_INVALID);
}

static void test_flat__an_instance_without_objects_is_refused(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct flat f;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_BYTES);
	init_instances(&f, a);
	assert_ok(add(&f, "apps/web/a.yaml", 0, true, CM("a"), &err), &err);
	assert_int_equal(flat_check_instances(&f, &err), -E_INVALID);
	assert_string_equal(
		err.msg, "spec.instances[2].package: there is no object in a .yaml, .yml or .json "
			 "file below apps/web/db/; name the folder that has some, or remove the "
			 "instance");
	struct flaws flaws = {.a = a}; /* found before: it may be why */
	assert_ok(flaws_add(&flaws, "x", &err), &err);
	f.flaws = &flaws;
	assert_ok(flat_check_instances(&f, &err), &err);
	assert_int_equal(flaws.n, 1);
	f.flaws = NULL;
	init_instances(&f, a);
	assert_ok(add(&f, "apps/web/db/a.yaml", 0, true, CM("a"), &err), &err);
	assert_ok(flat_check_instances(&f, &err), &err);
	assert_ok(add(&f, "green/x.yaml", 0, true, CM("x"), &err), &err);
	assert_int_equal(flat_check_instances(&f, &err), -E_INVALID);
	assert_string_equal(err.msg, "spec.instances[1].name: green/x.yaml is of no instance, and "
				     "would be taken for one of green; rename the instance, or the "
				     "folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat__instances_have_the_objects_below_their_folder),
		cmocka_unit_test(test_flat__an_instance_is_a_label_and_a_namespace),
		cmocka_unit_test(test_flat__an_instance_without_objects_is_refused),
		cmocka_unit_test(test_flat__keys_are_sorted_bytewise),
		cmocka_unit_test(test_flat__items_of_a_list_are_objects),
		cmocka_unit_test(test_flat__what_is_no_object_is_told_with_its_place),
		cmocka_unit_test(test_flat__an_object_given_twice_names_both_places),
		cmocka_unit_test(test_flat__keys_are_there_once),
		cmocka_unit_test(test_flat__objects_have_a_limit),
		cmocka_unit_test(test_flat__it_prints_sorted_and_survives_a_sandbox),
		cmocka_unit_test(test_flat__a_malformed_list_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
