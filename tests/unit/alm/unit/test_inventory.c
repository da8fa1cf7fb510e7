/* The inventory: what is printed is read again, and what is damaged is told. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"

#define TEXT                                                  \
	"apps/v1 Deployment default grafana u1 d1 a b.yaml\n" \
	"v1 ConfigMap apps a - d2 cm.yaml!0.1\n"              \
	"v1 ConfigMap apps b u3 d3 x\n"                       \
	"v1 Namespace - apps u4 d4 ns.yaml\n"

static void test_inventory__lines_come_back_sorted(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	struct error err = ERROR_INIT;
	struct inventory i;
	assert_ok(inventory_parse(STR(TEXT), a, &i, &err), &err);
	assert_int_equal(i.n, 4);
	assert_string_equal(i.lines[0].key, "a b.yaml");
	assert_null(i.lines[1].uid);
	assert_null(i.lines[3].ns);
	struct inventory_line first = i.lines[0];
	i.lines[0] = i.lines[3];
	i.lines[3] = first;
	assert_ok(inventory_print(&i, &b, &err), &err);
	assert_string_equal(b.buf, TEXT);
}

static void test_inventory__a_damaged_line_is_told_by_its_number(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct error err = ERROR_INIT;
	struct inventory i;
	assert_int_equal(inventory_parse(STR("v1 Secret n s u d k\nv1 Secret n\n"), a, &i, &err),
			 -E_CORRUPT);
	assert_non_null(strstr(err.msg, "line 2 "));
	assert_int_equal(inventory_parse(STR("v1  n s u d k\n"), a, &i, &err), -E_CORRUPT);
}

static void test_inventory__has_a_limit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * INVENTORY_BYTES_MAX);
	struct error err = ERROR_INIT;
	struct inventory i = {.n = 20000};
	i.lines = ARENA_ARRAY(a, struct inventory_line, i.n);
	for (size_t k = 0; k < i.n; k++)
		i.lines[k] = (struct inventory_line){
			"v1", "ConfigMap", "n", arena_fmt(a, "%060zu", k), NULL, "d", "k"};
	assert_int_equal(inventory_print(&i, &b, &err), -E_LIMIT);
}

static void test_inventory__objects_are_told_apart_by_group_not_by_version(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct error err = ERROR_INIT;
	struct inventory had, has, left = {.lines = ARENA_ARRAY(a, struct inventory_line, 8)};
	assert_ok(inventory_parse(STR("a.io/v1 Thing n x u d k\n"
				      "b.io/v1 Thing n x u d k\n"
				      "v1 Thing n x u d k\n"
				      "v1 Thing - x u d k\n"),
				  a, &had, &err),
		  &err);
	assert_ok(inventory_parse(STR("b.io/v2 Thing n x - d k\nv1 Thing n x - d k\n"), a, &has,
				  &err),
		  &err);
	assert_int_equal(inventory_add_missing(&left, &had, &has, a), 2);
	assert_string_equal(inventory_id(&left.lines[0], a), "Thing.a.io/n/x");
	assert_string_equal(inventory_id(&left.lines[1], a), "Thing//x");
}

static void test_inventory__since_when_nothing_was_created(void **state)
{
	(void)state;
	CLEANUP(obj_unrefp) struct obj *live = obj_map();
	obj_set_path(live, "metadata.creationTimestamp", obj_string("2026-01-02T00:00:00Z"));
	static const struct {
		const char *known;
		bool is_live;
		const char *want;
	} rows[] = {
		{NULL, false, "2026-01-09T00:00:00Z"}, /* nobody knows: from now on */
		{NULL, true, "2026-01-02T00:00:00Z"},
		{"2026-01-01T00:00:00Z", false, "2026-01-01T00:00:00Z"},
		{"2026-01-01T00:00:00Z", true, "2026-01-02T00:00:00Z"}, /* it came back */
		{"2026-01-03T00:00:00Z", true, "2026-01-03T00:00:00Z"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(inventory_since(rows[i].known, rows[i].is_live ? live : NULL,
						    "2026-01-09T00:00:00Z"),
				    rows[i].want);
}

/* What a lost inventory is rebuilt from: the owner's mark, no other owner, and an apply by the manager. */
static void test_inventory__claims_what_the_manager_applied_for_the_owner(void **state)
{
	(void)state;
	static const struct {
		const char *mark, *manager;
		bool has_owner, want;
	} rows[] = {
		{"id", "alm-run", false, true},
		{"id", "kubectl", false, false}, /* a copy that a person made with the annotation */
		{"other", "alm-run", false, false},
		{NULL, "alm-run", false, false},
		{"id", "alm-run", true, false}, /* its controller made it */
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		struct obj *managers = obj_list(), *manager = obj_map();
		if (rows[i].mark)
			meta_set_annotation(o, ANNOTATION_OWNER_ID, rows[i].mark);
		obj_set_str(manager, "manager", rows[i].manager);
		obj_append(managers, manager);
		obj_set_path(o, "metadata.managedFields", managers);
		if (rows[i].has_owner) {
			struct obj *owners = obj_list(), *owner = obj_map();
			obj_set_str(owner, "uid", "u");
			obj_append(owners, owner);
			obj_set_path(o, "metadata.ownerReferences", owners);
		}
		assert_int_equal(inventory_claims(o, "id", "alm-run"), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inventory__lines_come_back_sorted),
		cmocka_unit_test(test_inventory__a_damaged_line_is_told_by_its_number),
		cmocka_unit_test(test_inventory__has_a_limit),
		cmocka_unit_test(test_inventory__objects_are_told_apart_by_group_not_by_version),
		cmocka_unit_test(test_inventory__claims_what_the_manager_applied_for_the_owner),
		cmocka_unit_test(test_inventory__since_when_nothing_was_created),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
