/* In which fields an object is not as it is wanted, and who has changed them. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/yaml.h"
#include "alm/unit/drift.h"

#define MANAGERS                                                                    \
	"managedFields: ["                                                          \
	"{manager: 'alm:1:web', operation: Apply, time: '2026-01-01T00:00:09Z', "   \
	"fieldsV1: {'f:spec': {'f:replicas': {}}, 'f:data': {'f:a': {}}}}, "        \
	"{manager: kubectl-edit, operation: Update, time: '2026-01-01T00:00:02Z', " \
	"fieldsV1: {'f:spec': {'f:replicas': {}}}}, "                               \
	"{manager: old, operation: Update, time: '2026-01-01T00:00:01Z', "          \
	"fieldsV1: {'f:spec': {'f:replicas': {}}}}, "                               \
	"{manager: late, operation: Update, time: '2026-01-01T00:00:05Z', "         \
	"fieldsV1: {'f:metadata': {'f:labels': {'f:x': {}}}}}, "                    \
	"{manager: kubelet, operation: Update, subresource: status, time: "         \
	"'2026-01-01T00:00:08Z', "                                                  \
	"fieldsV1: {'f:spec': {'f:replicas': {}}}}]"

static const struct {
	const char *about, *want, *live, *paths, *manager;
} rows[] = {
	{"nothing", "{data: {a: 1}}", "{data: {a: 1, b: 2}}", "", NULL},
	{"a field", "{spec: {replicas: 1}}", "{metadata: {" MANAGERS "}, spec: {replicas: 3}}",
	 "spec.replicas ", "kubectl-edit"},
	{"one that is gone: the newest", "{data: {a: x}}", "{metadata: {" MANAGERS "}, data: {}}",
	 "data.a ", "late"},
	{"a label", "{metadata: {labels: {x: 1}}}", "{metadata: {labels: {x: 2}, " MANAGERS "}}",
	 "metadata.labels.x ", "late"},
	{"names with dots", "{metadata: {labels: {a.b/c: 1}}}",
	 "{metadata: {labels: {a.b/c: 2}, " MANAGERS "}}", "metadata.labels[\"a.b/c\"] ", "late"},
	{"items of lists, by name", "{spec: {c: [{name: a, image: x}, {name: b, image: y}]}}",
	 "{spec: {c: [{name: b, image: y}, {name: a, image: z}]}}", "spec.c[0].image ", NULL},
	{"a list that is shorter", "{spec: {c: [1, 2]}}", "{spec: {c: [1]}}", "spec.c ", NULL},
	{"another type", "{spec: {c: {d: 1}}}", "{spec: {c: 7}}", "spec.c ", NULL},
	{"several", "{a: 1, b: {c: 2, d: 3}}", "{a: 2, b: {c: 3, d: 4}}", "a b.c b.d ", NULL},
	{"no list of managers", "{a: 1}", "{a: 2, metadata: {managedFields: [7, {manager: x}]}}",
	 "a ", NULL},
};

static struct obj *read(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

static void test_drift__fields_and_managers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const char *got = "";
		struct drift d;
		drift_find(read(a, rows[i].want), read(a, rows[i].live), "alm:1:web", a, &d);
		for (size_t k = 0; k < d.n; k++)
			got = arena_fmt(a, "%s%s ", got, d.paths[k]);
		if (strcmp(got, rows[i].paths) != 0)
			fail_msg("%s: got %s", rows[i].about, got);
		if (!cstr_eq(d.manager, rows[i].manager) && (d.manager || rows[i].manager))
			fail_msg("%s: by %s", rows[i].about, d.manager ? d.manager : "nobody");
	}
}

/* A webhook has put a container in front: as it is declared, and as holder.h counts. */
static void test_drift__an_item_that_has_moved(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct drift d;
	drift_find(read(a, "{c: [{name: a, image: x, env: [{name: e, value: 1}]}]}"),
		   read(a, "{c: [{name: side}, {name: a, image: z, env: [{name: f}, {name: e}]}]}"),
		   "x", a, &d);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.paths[0], "c[0].image");
	assert_string_equal(d.live[0], "c[1].image");
	assert_string_equal(d.paths[1], "c[0].env[0].value");
	assert_string_equal(d.live[1], "c[1].env[1].value");
}

static void test_drift__many_are_cut(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT(1 << 16);
	struct drift d;
	strbuf_adds(&want, "{data: {");
	for (int i = 0; i < 30; i++)
		strbuf_addf(&want, "%sk%d: 1", i ? ", " : "", i);
	strbuf_adds(&want, "}}");
	drift_find(read(a, want.buf), read(a, "{data: {}}"), "x", a, &d);
	assert_int_equal(d.n, DRIFT_PATHS_MAX);
	assert_true(d.cut);
	drift_find(read(a, want.buf), NULL, "x", a, &d);
	assert_int_equal(d.n, 0);
}

static void test_drift__what_a_webhook_made_of_an_apply(void **state)
{
	(void)state;
	/* what ours has: replicas, the image of item a, a list as a whole, data.a */
	static const char *const fields =
		"{'f:spec': {'f:replicas': {}, 'f:atomic': {}, 'f:c': {'k:{\"name\":\"a\"}': {'.': "
		"{}, 'f:name': {}, 'f:image': {}}}}, 'f:data': {'f:a': {}}}";
	static const struct {
		const char *about, *want, *live;
		bool ours;
	} list[] = {
		{"as it is wanted", "spec: {replicas: 1}", "spec: {replicas: 1}", true},
		{"its own field", "spec: {replicas: 1}", "spec: {replicas: 3}", true},
		{"and one that somebody has taken", "spec: {replicas: 1, x: 1}",
		 "spec: {replicas: 3, x: 2}", false},
		{"one that somebody has deleted", "data: {a: x, b: y}", "data: {a: x}", false},
		{"all of them", "data: {a: x}", "spec: {}", false},
		{"an item, behind one that was put before it", "spec: {c: [{name: a, image: x}]}",
		 "spec: {c: [{name: z}, {name: a, image: y}]}", true},
		{"an item of somebody else", "spec: {c: [{name: z, image: x}]}",
		 "spec: {c: [{name: z, image: y}, {name: a, image: y}]}", false},
		{"an item that is gone", "spec: {c: [{name: a, image: x}, {name: b}]}",
		 "spec: {c: [{name: a, image: y}]}", false},
		{"a list as a whole", "spec: {atomic: [1]}", "spec: {atomic: [2, 3]}", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const struct obj *want = read(a, arena_fmt(a, "{%s}", list[i].want));
		const char *text = arena_fmt(
			a,
			"{metadata: {managedFields: [{manager: 'alm:1:web', operation: Apply, "
			"apiVersion: v1, time: '2026-01-01T00:00:09Z', fieldsType: FieldsV1, "
			"fieldsV1: %s}]}, %s}",
			fields, list[i].live);
		if (drift_is_ours(want, read(a, text), "alm:1:web") != list[i].ours)
			fail_msg("%s", list[i].about);
	}
	assert_false(drift_is_ours(NULL, NULL, "alm:1:web"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drift__fields_and_managers),
		cmocka_unit_test(test_drift__an_item_that_has_moved),
		cmocka_unit_test(test_drift__many_are_cut),
		cmocka_unit_test(test_drift__what_a_webhook_made_of_an_apply),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
