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

static int place(struct inventory *i, size_t bytes_max, struct arena *a, struct error *err)
{
	const struct inventory_pieces was = {.n = 1};
	struct inventory_pieces now = {.lines = *i};
	return inventory_place(&now, &was, bytes_max, a, err);
}

static void test_inventory__lines_come_back_sorted(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	struct error err = ERROR_INIT;
	struct inventory i;
	assert_ok(inventory_parse(STR(TEXT), 1, a, &i, &err), &err);
	assert_int_equal(i.n, 4);
	assert_string_equal(i.lines[0].key, "a b.yaml");
	assert_null(i.lines[1].uid);
	assert_null(i.lines[3].ns);
	struct inventory_line first = i.lines[0];
	i.lines[0] = i.lines[3];
	i.lines[3] = first;
	assert_ok(place(&i, 4096, a, &err), &err);
	inventory_print(&i, 1, &b);
	assert_string_equal(b.buf, TEXT);
}

static void test_inventory__a_damaged_line_is_told_by_its_number(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	struct error err = ERROR_INIT;
	struct inventory i;
	assert_int_equal(inventory_parse(STR("v1 Secret n s u d k\nv1 Secret n\n"), 1, a, &i, &err),
			 -E_CORRUPT);
	assert_non_null(strstr(err.msg, "line 2 "));
	assert_int_equal(inventory_parse(STR("v1  n s u d k\n"), 1, a, &i, &err), -E_CORRUPT);
}

#define LINE_BYTES 130 /* of lines_of(), at most */

static struct inventory lines_of(size_t from, size_t n, struct arena *a)
{
	struct inventory i = {.n = n};
	i.lines = ARENA_ARRAY(a, struct inventory_line, n + 1);
	for (size_t k = 0; k < n; k++)
		i.lines[k] = (struct inventory_line){.api_version = "v1",
						     .kind = "ConfigMap",
						     .ns = "n",
						     .name = arena_fmt(a, "c%04zu", from + k),
						     .digest = "d",
						     .key = "k"};
	return i;
}

static struct inventory_pieces pieces_of(struct inventory lines, struct inventory late, size_t n)
{
	return (struct inventory_pieces){.lines = lines, .late = late, .n = n};
}

static size_t piece_of(const struct inventory *i, const char *name)
{
	for (size_t k = 0; k < i->n; k++)
		if (!strcmp(i->lines[k].name, name))
			return i->lines[k].piece;
	return 0;
}

static struct inventory none;

static void test_inventory__has_a_limit(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	struct error err = ERROR_INIT;
	const struct inventory_pieces was = {.n = 1};
	/* a third of a piece is left to lines that grow */
	size_t most = INVENTORY_PIECES_MAX * 4;
	struct inventory_pieces now = pieces_of(lines_of(0, most, a), none, 0);
	assert_ok(inventory_place(&now, &was, (size_t)6 * LINE_BYTES, a, &err), &err);
	assert_int_equal(now.n, INVENTORY_PIECES_MAX);
	now = pieces_of(lines_of(0, most + INVENTORY_PIECES_MAX, a), none, 0);
	assert_int_equal(inventory_place(&now, &was, (size_t)6 * LINE_BYTES, a, &err), -E_LIMIT);
}

static void test_inventory__ten_thousand_objects_take_a_few_pieces(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(INVENTORY_BYTES_MAX);
	struct error err = ERROR_INIT;
	const struct inventory_pieces was = {.n = 1};
	struct inventory read[INVENTORY_PIECES_MAX];
	struct inventory_pieces now = pieces_of(lines_of(0, 10000, a), none, 0);
	assert_ok(inventory_place(&now, &was, INVENTORY_BYTES_MAX, a, &err), &err);
	assert_in_range(now.n, 2, 4);
	for (size_t n = 1; n <= now.n; n++) {
		strbuf_clear(&b);
		inventory_print(&now.lines, n, &b);
		assert_false(b.over);
		assert_ok(inventory_parse(strbuf_str(&b), n, a, &read[n - 1], &err), &err);
	}
	struct inventory all = inventory_join(read, now.n, a);
	assert_int_equal(all.n, 10000);
	struct inventory_pieces again = pieces_of(lines_of(0, 10000, a), none, 0);
	const struct inventory_pieces is = pieces_of(all, none, now.n);
	assert_ok(inventory_place(&again, &is, INVENTORY_BYTES_MAX, a, &err), &err);
	for (size_t k = 0; k < again.lines.n; k++)
		assert_int_equal(again.lines.lines[k].piece, now.lines.lines[k].piece);
}

/* Whatever else comes and goes, and from lines to what is late and back. */
static void test_inventory__a_line_stays_in_its_piece(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = ERROR_INIT;
	size_t bytes = (size_t)6 * LINE_BYTES;
	struct inventory_pieces was = pieces_of(lines_of(10, 6, a), lines_of(16, 2, a), 2);
	for (size_t k = 0; k < 6; k++)
		was.lines.lines[k].piece = k < 3 ? 2 : 1;
	was.late.lines[0].piece = was.late.lines[1].piece = 2;
	/* c0010, c0011 are late now, c0016 is wanted again, c0000 and c0001 are new */
	struct inventory now_lines = lines_of(0, 2, a), stay = lines_of(12, 5, a);
	struct inventory_pieces now = {.late = lines_of(10, 2, a)};
	now.lines.lines = ARENA_ARRAY(a, struct inventory_line, 8);
	(void)inventory_add_missing(&now.lines, &now_lines, &none, a);
	(void)inventory_add_missing(&now.lines, &stay, &none, a);
	assert_ok(inventory_place(&now, &was, bytes, a, &err), &err);
	assert_int_equal(now.n, 3);
	assert_false(now.moves);
	assert_int_equal(piece_of(&now.late, "c0010"), 2);
	assert_int_equal(piece_of(&now.late, "c0011"), 2);
	assert_int_equal(piece_of(&now.lines, "c0012"), 2);
	assert_int_equal(piece_of(&now.lines, "c0013"), 1);
	assert_int_equal(piece_of(&now.lines, "c0016"), 2);
	assert_int_equal(piece_of(&now.lines, "c0000"), 1);
	assert_int_equal(piece_of(&now.lines, "c0001"), 3); /* the others have no room */
	/* and all of it gone: the pieces stay */
	struct inventory_pieces empty = {.n = 0};
	assert_ok(inventory_place(&empty, &was, bytes, a, &err), &err);
	assert_int_equal(empty.n, 2);
}

/* What has grown out of its piece goes to a later one, and is there twice until it has left. */
static void test_inventory__what_does_not_fit_moves_to_a_later_piece(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)8 << 20);
	struct error err = ERROR_INIT;
	struct inventory_pieces was = pieces_of(lines_of(0, 5, a), none, 1);
	for (size_t k = 0; k < 5; k++)
		was.lines.lines[k].piece = 1;
	struct inventory_pieces now = pieces_of(lines_of(0, 5, a), none, 0);
	for (size_t k = 0; k < 5; k++)
		now.lines.lines[k].key = arena_fmt(a, "%0100d", 1);
	assert_ok(inventory_place(&now, &was, 600, a, &err), &err);
	assert_true(now.moves);
	assert_int_equal(piece_of(&now.lines, "c0000"), 1);
	assert_int_equal(piece_of(&now.lines, "c0004"), 2);
	/* the second is written, the first not yet */
	const struct inventory both[] = {was.lines, now.lines};
	struct inventory_pieces is = pieces_of(inventory_join(both, 2, a), none, now.n);
	assert_int_equal(is.lines.n, 5);
	struct inventory_pieces then = pieces_of(now.lines, none, 0);
	assert_ok(inventory_place(&then, &is, 600, a, &err), &err);
	assert_false(then.moves);
	assert_int_equal(piece_of(&then.lines, "c0004"), 2);
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
				  1, a, &had, &err),
		  &err);
	assert_ok(inventory_parse(STR("b.io/v2 Thing n x - d k\nv1 Thing n x - d k\n"), 1, a, &has,
				  &err),
		  &err);
	assert_int_equal(inventory_add_missing(&left, &had, &has, a), 2);
	assert_string_equal(inventory_id(&left.lines[0], a), "Thing.a.io/n/x");
	assert_string_equal(inventory_id(&left.lines[1], a), "Thing//x");
}

/* What a deletion may be under way of: what is wanted no more, and what nobody has named. */
static void test_inventory__says_before_the_first_write_what_is_doubtful(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 20);
	static const struct {
		const char *had, *wanted, *named, *then; /* then: wanted, afterwards */
		bool deletes, changes;
	} rows[] = {
		{"v1 C n a u d k\n", "v1 C n a u e k\n", "v1 C n a u d k\n", "v1 C n a u e k\n",
		 true, false},
		{"v1 C n a u d k\n", "", "v1 C n a u -r2 k\n", "", true, true},
		{"v1 C n a u d k\n", "", "v1 C n a u d k\n", "", false, false},
		/* each run that deletes it */
		{"v1 C n a u -r1 k\n", "", "v1 C n a u -r2 k\n", "", true, true},
		{"v1 C n a u -r2 k\n", "", "v1 C n a u -r2 k\n", "", true, false},
		{"v1 C n a u -r1 k\n", "", "v1 C n a u -r1 k\n", "", false, false},
		/* who wants it marks it with that of the last one */
		{"v1 C n a u -r1 k\n", "v1 C n a u d k\n", "v1 C n a u -r1 k\n",
		 "v1 C n a u -r1 k\n", true, false},
		{"v1 C n a u - k\n", "v1 C n a u d k\n", "v1 C n a u -r2 k\n", "v1 C n a u -r2 k\n",
		 true, true},
		{"", "v1 C n a - d k\n", "v1 C n a - d k\n", "v1 C n a - d k\n", true, true},
		{"", "v1 C n a u d k\n", "v1 C n a u -r2 k\n", "v1 C n a u -r2 k\n", false, true},
		{"g/v1 C n a u d k\n", "g/v2 C n a u d k\n", "g/v1 C n a u d k\n",
		 "g/v2 C n a u d k\n", true, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf named = STRBUF_INIT(4096);
		CLEANUP(strbuf_release) struct strbuf then = STRBUF_INIT(4096);
		struct error err = ERROR_INIT;
		struct inventory had, wanted,
			to = {.lines = ARENA_ARRAY(a, struct inventory_line, 8)};
		assert_ok(inventory_parse(str_of(rows[i].had), 1, a, &had, &err), &err);
		assert_ok(inventory_parse(str_of(rows[i].wanted), 1, a, &wanted, &err), &err);
		const struct inventory_run run = {"r2", rows[i].deletes};
		assert_int_equal(inventory_begin(&to, &had, &wanted, &run, a), rows[i].changes);
		inventory_print(&to, 1, &named);
		inventory_print(&wanted, 1, &then);
		assert_string_equal(named.buf, rows[i].named);
		assert_string_equal(then.len ? then.buf : "", rows[i].then);
	}
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
		const char *owner, *main;
		bool want;
	} rows[] = {
		{"id", "alm-run", NULL, NULL, true},
		{"id", "alm-run", NULL, "m", true},
		{"id", "kubectl", NULL, NULL, false}, /* a copy that a person made of it */
		{"other", "alm-run", NULL, NULL, false},
		{NULL, "alm-run", NULL, NULL, false},
		{"id", "alm-run", "u", NULL, false}, /* its controller made it */
		{"id", "alm-run", "u", "m", false},
		{"id", "alm-run", "m", "m", true}, /* made for the object that it is run for */
		{"id", "kubectl", "m", "m", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		struct obj *managers = obj_list(), *manager = obj_map();
		if (rows[i].mark)
			meta_set_annotation(o, ANNOTATION_OWNER_ID, rows[i].mark);
		obj_set_str(manager, "manager", rows[i].manager);
		obj_append(managers, manager);
		obj_set_path(o, "metadata.managedFields", managers);
		if (rows[i].owner) {
			struct obj *owners = obj_list(), *owner = obj_map();
			obj_set_str(owner, "uid", rows[i].owner);
			obj_append(owners, owner);
			obj_set_path(o, "metadata.ownerReferences", owners);
		}
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 12);
		CLEANUP(obj_unrefp) struct obj *list = obj_list();
		const struct inventory_owner whose = {.id = "id",
						      .manager = "alm-run",
						      .main = rows[i].main,
						      .book_ns = "alm-system",
						      .book = "inv.b.i"};
		obj_append(list, obj_ref(o));
		/* the inventory itself has the marks, too */
		struct obj *book = obj_copy(o);
		obj_set_str(book, "kind", "ConfigMap");
		obj_set_path(book, "metadata.namespace", obj_string("alm-system"));
		obj_set_path(book, "metadata.name", obj_string("inv.b.i"));
		obj_append(list, book);
		const struct inventory found = inventory_found(list, &whose, a);
		assert_int_equal(found.n, rows[i].want);
		if (found.n)
			assert_string_equal(found.lines[0].digest, INVENTORY_DOUBTFUL);
	}
}

/* What counts more pieces than there can be, or none, is no count: who reads has to say that there may be more. */
static void test_inventory__a_count_of_pieces(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t want;
	} rows[] = {{"1", 1},  {"64", 64}, {"0", 0},
		    {"65", 0}, {"", 0},    {"x", 0},
		    {"-1", 0}, {"3 ", 0},  {"18446744073709551617", 0}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = 0;
		assert_int_equal(inventory_count(rows[i].text, &n), rows[i].want != 0);
		assert_int_equal(n, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inventory__lines_come_back_sorted),
		cmocka_unit_test(test_inventory__a_damaged_line_is_told_by_its_number),
		cmocka_unit_test(test_inventory__has_a_limit),
		cmocka_unit_test(test_inventory__a_count_of_pieces),
		cmocka_unit_test(test_inventory__ten_thousand_objects_take_a_few_pieces),
		cmocka_unit_test(test_inventory__a_line_stays_in_its_piece),
		cmocka_unit_test(test_inventory__what_does_not_fit_moves_to_a_later_piece),
		cmocka_unit_test(test_inventory__objects_are_told_apart_by_group_not_by_version),
		cmocka_unit_test(test_inventory__claims_what_the_manager_applied_for_the_owner),
		cmocka_unit_test(test_inventory__says_before_the_first_write_what_is_doubtful),
		cmocka_unit_test(test_inventory__since_when_nothing_was_created),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
