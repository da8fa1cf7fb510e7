/* spec.ignore: what it refuses, and which objects it is about. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/fleet/bundle_ignore.h"
#include "alm/controllers/run.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

static struct obj *bundle(const char *rules, struct arena *a)
{
	struct obj *o;
	struct error err = ERROR_INIT;
	const char *text = arena_fmt(a, "{\"spec\":{\"ignore\":%s}}", rules);
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_bundle_ignore__what_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *rules, *want; /* NULL: it is taken */
	} rows[] = {
		{"[]", NULL},
		{"[{\"kind\":\"A\",\"name\":\"a\",\"paths\":[\"spec.a\"]}]", NULL},
		{"{}", "spec.ignore: at most 64 entries are wanted"},
		{"[1]", "spec.ignore[0].kind: it is missing"},
		{"[{\"kind\":\"A\"}]", "spec.ignore[0].paths: 1 to 64 of them are wanted"},
		{"[{\"kind\":\"A\",\"paths\":[]}]", "spec.ignore[0].paths: 1 to 64"},
		{"[{\"kind\":\"A\",\"paths\":[\"a\",\"kind\"]}]",
		 "spec.ignore[0].paths[1]: \"kind\": which object it is"},
		{"[{\"kind\":\"A\",\"paths\":[7]}]", "spec.ignore[0].paths[0]: \"\" is no path"},
		{"[{\"kind\":\"A\",\"name\":\"\",\"paths\":[\"a\"]}]",
		 "spec.ignore[0].name: the name of an object is wanted"},
		{"[{\"kind\":\"CustomResourceDefinition\",\"paths\":[\"spec.a\"]}]",
		 "spec.ignore[0].kind: a definition is as it is declared"},
		{"[{\"kind\":\"Secret\",\"paths\":[\"data.a\",\"stringData.a\"]}]",
		 "spec.ignore[0].paths[1]: \"stringData.a\": a Secret has no stringData"},
		{"[{\"kind\":\"Secret\",\"paths\":[\"[\\\"stringData\\\"].a\"]}]",
		 "spec.ignore[0].paths[0]: \"[\"stringData\"].a\": a Secret has no stringData"},
		{"[{\"kind\":\"Secret\",\"paths\":[\"stringDatum\"]}]", NULL},
		{"[{\"kind\":\"A\",\"paths\":[\"stringData.a\"]}]", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		struct error err = ERROR_INIT;
		int got = bundle_ignore_check(bundle(rows[i].rules, a), &err);
		if ((got < 0) != (rows[i].want != NULL) ||
		    (got < 0 && strncmp(err.msg, rows[i].want, strlen(rows[i].want)) != 0))
			fail_msg("%s: %s", rows[i].rules, err.msg);
	}
}

static void add(struct flat *f, const char *kind, const char *name)
{
	struct error err = ERROR_INIT;
	const struct flat_place p = {
		.name = arena_fmt(f->a, "%s%s", kind, name), .file = "f", .alone = true};
	assert_ok(flat_add(f, &p, meta_skeleton("v1", kind, NULL, name), &err), &err);
}

static void test_bundle_ignore__of_which_objects(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct flat f;
	flat_init(&f, a);
	add(&f, "ConfigMap", "x");
	add(&f, "ConfigMap", "y");
	add(&f, "Secret", "x");
	const struct obj *o =
		bundle("[{\"kind\":\"ConfigMap\",\"paths\":[\"data.a\"]},"
		       "{\"kind\":\"ConfigMap\",\"name\":\"y\",\"paths\":[\"data.b\"]}]",
		       a);
	bundle_ignore_set(obj_path(o, "spec.ignore"), &f);
	static const char *const want[] = {"[\"data.a\"]", "[\"data.a\",\"data.b\"]", NULL};
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(xfreep) char *text =
			f.objects[i].ignore ? json_text(f.objects[i].ignore) : NULL;
		assert_true(cstr_eq(text, want[i]));
	}
}

/* A unit with another rule is another one: it is stored, and what a restart finds is not it. */
static void test_bundle_ignore__is_of_the_digest(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char digests[2][SHA256_HEX];
	for (int i = 0; i < 2; i++) {
		struct flat f;
		struct unit *u;
		struct error err = ERROR_INIT;
		const struct unit_options o = {.hub = "cli",
					       .bundle = "b",
					       .instance = "i",
					       .ns = "default",
					       .digest = run_digest};
		flat_init(&f, a);
		add(&f, "ConfigMap", "x");
		const struct obj *rules =
			bundle(i ? "[{\"kind\":\"ConfigMap\",\"paths\":[\"data.a\"]}]" : "[]", a);
		bundle_ignore_set(obj_path(rules, "spec.ignore"), &f);
		assert_ok(unit_make(&f, &o, &u, &err), &err);
		memcpy(digests[i], u->digest, SHA256_HEX);
	}
	assert_string_not_equal(digests[0], digests[1]);
}

static void write_as_theirs(struct unit_fixture *x, const char *v)
{
	CLEANUP(obj_unrefp) struct obj *live =
		obj_copy(view_fake_obj(&x->f, unit_fixture_map(x, "c0")));
	obj_set_path(live, "data.v", obj_string(v));
	view_fake_live_obj(&x->f, live);
}

static const char *value_of(struct unit_fixture *x)
{
	return obj_str(view_fake_obj(&x->f, unit_fixture_map(x, "c0")), "data.v");
}

/* For the pass that keeps the unit; without a rule it is. */
static void test_bundle_ignore__is_no_drift(void **state)
{
	(void)state;
	for (int ignored = 0; ignored < 2; ignored++) {
		struct unit_fixture x;
		unit_fixture_init(&x, 1);
		x.job.keeps = true;
		x.ignore = ignored ? "data.v" : NULL;
		assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
		assert_string_equal(value_of(&x), "1"); /* made as declared */
		write_as_theirs(&x, "theirs");
		unit_fixture_pass(&x);
		assert_int_equal(view_fake_count(&x.f, ACT_APPLY), !ignored);
		unit_fixture_release(&x);
	}
}

/* What ALM has written with a field of somebody else's is as it left it, and not what it wants once the rule is gone. */
static void test_bundle_ignore__a_rule_that_is_taken_out_has_an_effect(void **state)
{
	(void)state;
	struct unit_fixture x;
	char left[SHA256_HEX];
	unit_fixture_init(&x, 1);
	x.ignore = "data.v";
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	write_as_theirs(&x, "theirs");
	x.kept = true; /* something else of it is another one */
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_string_equal(value_of(&x), "theirs");
	const struct obj *live = view_fake_obj(&x.f, unit_fixture_map(&x, "c0"));
	assert_non_null(meta_annotation(live, ANNOTATION_PRUNE)); /* written */
	x.f.view.ops->digest(x.f.view.ops_arg, live, left);
	stash_set_applied(x.f.stash, meta_uid(live), left, x.f.view.now_ns);
	x.ignore = NULL;
	assert_string_equal(unit_fixture_run(&x, 1), "Succeeded");
	assert_string_equal(value_of(&x), "1");
	unit_fixture_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_ignore__what_is_refused),
		cmocka_unit_test(test_bundle_ignore__of_which_objects),
		cmocka_unit_test(test_bundle_ignore__is_of_the_digest),
		cmocka_unit_test(test_bundle_ignore__is_no_drift),
		cmocka_unit_test(test_bundle_ignore__a_rule_that_is_taken_out_has_an_effect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
