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

/* --- a model: what objects were at the one row and are at the other --- */

#define WRITES  60
#define OBJECTS 3
#define FIELDS  4

struct state {
	char uid[16];
	int fields[FIELDS]; /* 0: absent */
	bool exists;
};

/* After each write all objects; the log's own row is the first. */
static struct state states[WRITES + 1][OBJECTS];
static int64_t last_write[WRITES + 1][OBJECTS]; /* of each object until then */
static uint64_t random_state;

static int below(int n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((random_state >> 33) % (uint64_t)n);
}

static struct obj *object_of(const struct state *s)
{
	struct obj *o = obj_map();
	for (int i = 0; s->exists && i < FIELDS; i++)
		if (s->fields[i])
			obj_set(o, (char[]){(char)('a' + i), 0}, obj_int(s->fields[i]));
	return o;
}

static void write_one(int64_t seq)
{
	struct error err = ERROR_INIT;
	const int k = below(OBJECTS);
	struct state *s = &states[seq - 1][k], was;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	char hex[SHA256_HEX];
	memcpy(states[seq - 1], states[seq - 2], sizeof(states[0]));
	memcpy(last_write[seq - 1], last_write[seq - 2], sizeof(last_write[0]));
	was = *s;
	if (!s->exists) {
		s->exists = true;
		(void)snprintf(s->uid, sizeof(s->uid), "u%" PRId64, seq);
	} else if (!below(6)) {
		s->exists = false;
	}
	for (int i = 0; i < FIELDS; i++)
		s->fields[i] = !below(3) ? below(3) : was.exists ? was.fields[i] : 1;
	const char *verb = !was.exists ? "create" : s->exists ? "update" : "delete";
	CLEANUP(obj_unrefp) struct obj *before = object_of(&was), *after = object_of(s);
	obj_set_str(body, "outcome", below(4) ? "Applied" : "Recovered");
	obj_set_str(body, "verb", verb);
	json_digest(before, hex);
	if (was.exists)
		obj_set_str(body, "before", hex);
	json_digest(after, hex);
	if (s->exists)
		obj_set_str(body, "after", hex);
	if (was.exists && s->exists)
		changes_set(body, before, after, a);
	const char *name = arena_fmt(a, "o%d", k);
	const struct audit_row row = {
		.type = "Write",
		.reason = "Written",
		.subject = {.kind = "Thing", .ns = "a", .name = name, .uid = s->uid},
		.body = body};
	int64_t at;
	assert_ok(audit_append_now(l.audit, &row, &at, &err), &err);
	assert_int_equal(at, seq);
	last_write[seq - 1][k] = seq;
}

/* The row that made the object of this uid, or ended it. */
static int64_t turn_of(int k, const char *uid, bool made)
{
	for (int64_t seq = 2; seq <= WRITES + 1; seq++) {
		const struct state *was = &states[seq - 2][k], *is = &states[seq - 1][k];
		if (made ? !was->exists && is->exists && !strcmp(is->uid, uid)
			 : was->exists && !is->exists && !strcmp(was->uid, uid))
			return seq;
	}
	return 0;
}

struct told {
	int64_t from, to;
	bool seen[OBJECTS][2]; /* what was there has another in its place: two of one name */
};

static void check_fields(const struct obj *change, const struct state *was, const struct state *is)
{
	const struct obj *fields = obj_get(change, "fields");
	bool listed[FIELDS] = {false};
	for (size_t i = 0; i < obj_len(fields); i++) {
		const struct obj *field = obj_at(fields, i);
		int k = obj_str(field, "path")[0] - 'a';
		assert_false(listed[k]);
		listed[k] = true;
		assert_int_equal(obj_i64(field, "from", 0), was->fields[k]);
		assert_int_equal(obj_i64(field, "to", 0), is->fields[k]);
		/* one that came and went is named, without values */
		assert_true(was->fields[k] != is->fields[k] || !is->fields[k]);
	}
	for (int k = 0; k < FIELDS; k++)
		if (was->fields[k] != is->fields[k])
			assert_true(listed[k]);
}

static int check_change(void *arg, const struct obj *change, struct error *err)
{
	struct told *t = arg;
	const int k = obj_str(change, "name")[1] - '0';
	const struct state *was = &states[t->from - 1][k], *is = &states[t->to - 1][k];
	const char *uid = obj_str(change, "uid"), *what = obj_str(change, "change");
	bool there_before = was->exists && !strcmp(was->uid, uid);
	bool there_after = is->exists && !strcmp(is->uid, uid);
	(void)err;
	assert_true(there_before || there_after); /* what came and went is told to nobody */
	assert_string_equal(what, !there_before ? "added" : !there_after ? "removed" : "changed");
	assert_false(t->seen[k][there_after]);
	t->seen[k][there_after] = true;
	assert_string_equal(obj_str(change, "kind"), "Thing");
	assert_string_equal(obj_str(change, "namespace"), "a");
	if (there_before && there_after) {
		check_fields(change, was, is);
		assert_int_equal(obj_i64(change, "seq", 0), last_write[t->to - 1][k]);
	} else {
		assert_int_equal(obj_len(obj_get(change, "fields")), 0);
		assert_int_equal(obj_i64(change, "seq", 0), turn_of(k, uid, there_after));
	}
	return 0;
}

static void check_between(int64_t from, int64_t to)
{
	struct error err = ERROR_INIT;
	struct told t = {.from = from, .to = to};
	const struct query_selector sel = {0};
	assert_ok(changes_read(l.db, &sel, from, to, check_change, &t, &err), &err);
	for (int k = 0; k < OBJECTS; k++) {
		const struct state *was = &states[from - 1][k], *is = &states[to - 1][k];
		bool same = was->exists && is->exists && !strcmp(was->uid, is->uid);
		assert_int_equal(t.seen[k][0], was->exists && !same);
		if (same)
			assert_int_equal(t.seen[k][1],
					 memcmp(was->fields, is->fields, sizeof(is->fields)) != 0);
		else
			assert_int_equal(t.seen[k][1], is->exists);
	}
}

static void test_audit_changes__are_what_is_different_between_two_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		random_state = seed;
		memset(states, 0, sizeof(states));
		memset(last_write, 0, sizeof(last_write));
		audit_log_close(&l);
		audit_log_open(&l, ":memory:", NULL);
		for (int64_t seq = 2; seq <= WRITES + 1; seq++)
			write_one(seq);
		for (int64_t from = 1; from <= WRITES + 1; from += 3)
			for (int64_t to = from; to <= WRITES + 1; to++)
				check_between(from, to);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(test_audit_changes__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(net_of_several),
		T(what_came_and_went),
		T(paths_and_values),
		T(was_keeps_scalars_of_some_size),
		T(more_than_a_page),
		T(of_some_objects),
		T(are_what_is_different_between_two_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
