/* One version of a definition more: what fits the one that is there, and what the two come to together. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "crds/legacy_crd.h"

static struct obj *read_yaml(struct arena *a, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(a, o);
}

#define THERE                                                                     \
	"metadata: {name: cups.x.io, annotations: {app.coreos.com/owner: e.x}}\n" \
	"spec: {scope: Namespaced, names: {plural: cups, kind: Cup}}"

/* want: of the message; NULL: it fits */
static const char *const rows[][2] = {
	{"spec: {scope: Namespaced, names: {plural: cups, kind: Cup, singular: cup}}", NULL},
	{"spec: {scope: Cluster, names: {plural: cups, kind: Cup}}",
	 "cups.x.io is there, whose spec.scope is Namespaced and not Cluster"},
	{"spec: {scope: Namespaced, names: {plural: mugs, kind: Cup}}",
	 "cups.x.io is there, whose spec.names.plural is cups and not mugs"},
	{"spec: {scope: Namespaced, names: {plural: cups, kind: Mug}}",
	 "cups.x.io is there, whose spec.names.kind is Cup and not Mug"},
	{"metadata: {annotations: {app.coreos.com/owner: e.x}}\n"
	 "spec: {scope: Namespaced, names: {plural: cups, kind: Cup}}",
	 NULL},
	{"metadata: {annotations: {app.coreos.com/owner: f.x}}\n"
	 "spec: {scope: Namespaced, names: {plural: cups, kind: Cup}}",
	 "cups.x.io belongs to e.x and not to f.x"},
};

static void test_legacy_crd__what_is_another_definition_does_not_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct error err = ERROR_INIT;
		const struct obj *there = read_yaml(a, THERE), *said = read_yaml(a, rows[i][0]);
		assert_int_equal(legacy_crd_fits(there, said, &err), rows[i][1] ? -E_CONFLICT : 0);
		if (rows[i][1])
			assert_string_equal(err.msg, rows[i][1]);
	}
}

static const char *const names[] = {"a", "b", "c"};

/* One of the sets of versions, each a bit. */
struct sets {
	unsigned there, said, served;
};

static struct obj *version(size_t i, bool served, bool storage, const char *from)
{
	struct obj *o = obj_map();
	obj_set_str(o, "name", names[i]);
	obj_set_bool(o, "served", served);
	obj_set_bool(o, "storage", storage);
	obj_set_str(o, "from", from);
	return o;
}

/* b is stored, where it is there */
static bool is_served(struct sets s, size_t i)
{
	return !(s.there >> i & 1) || (s.served >> i & 1);
}

static bool is_stored(struct sets s, size_t i)
{
	return i == 1 && (s.there >> i & 1);
}

static struct obj *definition(struct arena *a, struct sets s, bool said)
{
	struct obj *o = obj_keep(a, obj_map()), *list = obj_list();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((said ? s.said : s.there) >> i & 1)
			obj_append(list,
				   said ? version(i, false, true, "said")
					: version(i, is_served(s, i), is_stored(s, i), "there"));
	obj_set_path(o, "spec.versions", list);
	return o;
}

/* Those that are there come first. */
static struct obj *joined(struct arena *a, struct sets s)
{
	struct obj *list = obj_keep(a, obj_list());
	for (size_t k = 0; k < 2 * ARRAY_LEN(names); k++) {
		size_t i = k % ARRAY_LEN(names);
		bool there = s.there >> i & 1, said = s.said >> i & 1;
		if (there == (k < ARRAY_LEN(names)) && (there || said))
			obj_append(list, version(i, is_served(s, i), is_stored(s, i),
						 said ? "said" : "there"));
	}
	return list;
}

/* A version that is said has its own schema, and what the definition that is there says of storing and serving. */
static void test_legacy_crd__of_two_definitions_every_version_stays(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 1U << 9; k++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const struct sets s = {.there = k & 7, .said = k >> 3 & 7, .served = k >> 6};
		const struct obj *there = definition(a, s, false);
		struct obj *said = definition(a, s, true);
		unsigned first = s.said & (~s.said + 1);
		if (s.said)
			assert_int_equal(legacy_crd_has(there, said), (s.there & first) != 0);
		legacy_crd_join(there, said);
		CLEANUP(xfreep) char *is = json_text(obj_path(said, "spec.versions"));
		if (!obj_equal(obj_path(said, "spec.versions"), joined(a, s)))
			fail_msg("%u: %s", k, is);
		assert_true(obj_equal(there, definition(a, s, false)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy_crd__what_is_another_definition_does_not_fit),
		cmocka_unit_test(test_legacy_crd__of_two_definitions_every_version_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
