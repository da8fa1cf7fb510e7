/* What became of objects between two rows: net, by field, from the Write records alone. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alm/audit/changes.h"
#include "alm/base/arena.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

static struct audit_log l;
static struct strbuf out;

static int setup(void **state)
{
	(void)state;
	strbuf_init(&out, STRBUF_SMALL);
	audit_log_open(&l, ":memory:", NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_close(&l);
	strbuf_release(&out);
	return 0;
}

static void wrote(const char *reason, const char *name, const char *uid, const char *body)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	int64_t seq;
	assert_ok(json_parse(str_of(body), &o, &err), &err);
	struct audit_row row = {.type = "Write",
				.reason = reason,
				.subject = {.kind = "Thing", .ns = "a", .name = name, .uid = uid},
				.body = o};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	obj_unref(o);
}

static int print(void *arg, const struct obj *change, struct error *err)
{
	const struct obj *fields = obj_get(change, "fields");
	(void)arg;
	(void)err;
	strbuf_addf(&out, "%s %s #%" PRId64, obj_str(change, "change"), obj_str(change, "name"),
		    obj_i64(change, "seq", 0));
	for (size_t i = 0; i < obj_len(fields); i++) {
		CLEANUP(xfreep) char *text = json_text(obj_at(fields, i));
		strbuf_addf(&out, " %s", text);
	}
	strbuf_addc(&out, '\n');
	return 0;
}

static const char *changes(int64_t from, int64_t to)
{
	struct error err = ERROR_INIT;
	struct query_selector sel = {0};
	strbuf_clear(&out);
	assert_ok(changes_read(l.db, &sel, from, to, print, NULL, &err), &err);
	return out.buf;
}

#define UPDATE(path, pointer, was, is, before, after)                                            \
	"{\"outcome\":\"Applied\",\"verb\":\"update\",\"before\":\"" before                      \
	"\",\"after\":\"" after "\",\"changed\":[\"" path "\"],\"was\":\"{\\\"" path "\\\":" was \
	"}\",\"patch\":"                                                                         \
	"\"[{\\\"op\\\":\\\"replace\\\",\\\"path\\\":\\\"" pointer "\\\",\\\"value\\\":" is      \
	"}]\"}"
#define REPLICAS(was, is, before, after) \
	UPDATE("spec.replicas", "/spec/replicas", was, is, before, after)
#define CREATED "{\"outcome\":\"Applied\",\"verb\":\"create\",\"code\":201,\"after\":\"d1\"}"
#define DELETED "{\"outcome\":\"Applied\",\"verb\":\"delete\",\"code\":200,\"before\":\"d1\"}"

static void test_audit_changes__net_of_several(void **state)
{
	(void)state;
	wrote("Updated", "x", "1", REPLICAS("1", "2", "d1", "d2")); /* 2 */
	wrote("Updated", "x", "1", REPLICAS("2", "5", "d2", "d5"));
	assert_string_equal(changes(1, 3), "changed x #3 {\"path\":\"spec.replicas\",\"from\":1,"
					   "\"seq\":3,\"to\":5}\n");
	assert_string_equal(changes(1, 2), "changed x #2 {\"path\":\"spec.replicas\",\"from\":1,"
					   "\"seq\":2,\"to\":2}\n");
	wrote("Updated", "x", "1", REPLICAS("5", "1", "d5", "d1")); /* back: no change */
	assert_string_equal(changes(1, 4), "");
	assert_string_equal(changes(4, 4), "");
	assert_string_equal(changes(4, 2), "");
}

static void test_audit_changes__what_came_and_went(void **state)
{
	(void)state;
	wrote("Created", "new", "1", CREATED); /* 2 */
	wrote("Updated", "new", "1", REPLICAS("1", "2", "d1", "d2"));
	wrote("Created", "short", "2", CREATED); /* 4 */
	wrote("Deleted", "short", "2", DELETED);
	wrote("Deleted", "old", "3", DELETED); /* 6 */
	wrote("Created", "old", "4", CREATED); /* another uid: another object */
	wrote("Refused", "old", "4", "{\"outcome\":\"Denied\",\"verb\":\"delete\",\"code\":403}");
	assert_string_equal(changes(1, 8), "added new #2\nremoved old #6\nadded old #7\n");
}

/* Keys with slashes, dots and tildes; values that are no scalars; rows of before `was`. */
static void test_audit_changes__paths_and_values(void **state)
{
	(void)state;
	wrote("Updated", "x", "1",
	      UPDATE("metadata.labels['a.b/c~d']", "/metadata/labels/a.b~1c~0d", "\\\"o\\\"",
		     "\\\"n\\\"", "1", "2"));
	wrote("Updated", "x", "1",
	      UPDATE("spec.list[2].name", "/spec/list/2/name", "\\\"\\\"", "true", "2", "3"));
	wrote("Updated", "x", "1",
	      "{\"outcome\":\"Applied\",\"verb\":\"update\",\"before\":\"3\",\"after\":\"4\","
	      "\"changed\":[\"spec.map\"]}");
	wrote("Updated", "x", "1",
	      "{\"outcome\":\"Applied\",\"changed\":[7,\"spec['x\",\"[\",\"a[9\"],"
	      "\"patch\":\"[7,{}\",\"was\":\"{\"}");
	assert_string_equal(
		changes(1, 5),
		"changed x #5 {\"path\":\"metadata.labels['a.b/c~d']\",\"from\":\"o\",\"seq\":2,"
		"\"to\":\"n\"} {\"path\":\"spec.list[2].name\",\"from\":\"\",\"seq\":3,\"to\":true}"
		" {\"path\":\"spec.map\",\"seq\":4} {\"path\":\"spec['x\",\"seq\":5}"
		" {\"path\":\"[\",\"seq\":5} {\"path\":\"a[9\",\"seq\":5}\n");
}

static void test_audit_changes__was_keeps_scalars_of_some_size(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *a = NULL, *b = NULL;
	CLEANUP(obj_unrefp) struct obj *body = obj_map(), *same = obj_map();
	CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 16);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&text, "{\"n\":1,\"s\":\"x\",\"m\":{\"y\":1},\"l\":[1],\"f\":1.5,\"big\":\"");
	strbuf_pad(&text, 'x', CHANGES_VALUE_MAX + 1);
	strbuf_adds(&text, "\"}");
	assert_ok(json_parse(strbuf_str(&text), &a, &err), &err);
	assert_ok(json_parse(STR("{\"n\":2,\"m\":7,\"l\":8,\"f\":2,\"new\":1}"), &b, &err), &err);
	changes_set(body, a, b, arena);
	assert_string_equal(obj_str(body, "was"), "{\"n\":1,\"s\":\"x\",\"f\":1.5}");
	changes_set(same, b, b, arena);
	assert_null(obj_str(same, "was"));
	assert_null(obj_str(same, "patch"));
	obj_unref(a);
	obj_unref(b);
}

/* ... than one, and than a query gives that has no limit of its own. */
static void test_audit_changes__more_than_a_page(void **state)
{
	(void)state;
	size_t lines = 0;
	for (int i = 0; i < QUERY_ROWS_MAX + 350; i++) {
		char uid[16];
		(void)snprintf(uid, sizeof(uid), "%d", i < 9200 ? i % 1150 : i);
		wrote("Updated", uid, uid, REPLICAS("1", "2", "d1", "d2"));
	}
	for (const char *p = changes(1, QUERY_ROWS_MAX + 351); *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 1150 + QUERY_ROWS_MAX + 350 - 9200);
}

static size_t lines_of(const struct query_selector *sel, int64_t from, int64_t to)
{
	struct error err = ERROR_INIT;
	size_t n = 0;
	strbuf_clear(&out);
	assert_ok(changes_read(l.db, sel, from, to, print, NULL, &err), &err);
	for (const char *p = out.len ? out.buf : ""; *p; p++)
		n += *p == '\n';
	return n;
}

static int refuse(void *arg, const struct obj *change, struct error *err)
{
	(void)arg;
	(void)change;
	return error_set(err, E_CANCELLED, "enough");
}

/* Each of what an object is chosen by, and where it is looked for. */
static void test_audit_changes__of_some_objects(void **state)
{
	static const struct audit_subject subjects[] = {
		{.kind = "Thing", .ns = "a", .name = "x", .uid = "1"},
		{.kind = "Other", .ns = "a", .name = "x", .uid = "2"},
		{.kind = "Thing", .ns = "b", .name = "x", .uid = "3"},
		{.kind = "Thing", .ns = "a", .name = "y", .uid = "4"},
		{.cluster = "far", .kind = "Thing", .ns = "a", .name = "x", .uid = "5"},
	};
	static const struct {
		struct query_selector sel;
		size_t n;
	} rows[] = {{{0}, 5},
		    {{.kind = "Other"}, 1},
		    {{.ns = "b"}, 1},
		    {{.name = "y"}, 1},
		    {{.cluster = "far"}, 1},
		    {{.kind = "Thing", .ns = "a", .name = "x"}, 2}};
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *body = NULL;
	assert_ok(json_parse(STR(REPLICAS("1", "2", "d1", "d2")), &body, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		int64_t seq;
		const struct audit_row row = {
			.type = "Write", .reason = "Updated", .subject = subjects[i], .body = body};
		assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(lines_of(&rows[i].sel, 1, 6), rows[i].n);
	for (int64_t from = 1; from < 7; from++)
		for (int64_t to = from; to < 8; to++)
			assert_int_equal(lines_of(&rows[0].sel, from, to),
					 (to > 6 ? 6 : to) - (from > 6 ? 6 : from));
	assert_int_equal(changes_read(l.db, &rows[0].sel, 1, 6, refuse, NULL, &err), -E_CANCELLED);
}

#define T(name) cmocka_unit_test_setup_teardown(test_audit_changes__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(net_of_several),   T(what_came_and_went),
		T(paths_and_values), T(was_keeps_scalars_of_some_size),
		T(more_than_a_page), T(of_some_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
