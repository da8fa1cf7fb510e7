/* Bodies and texts of any size: what a row cannot hold goes into blobs, and the row is written. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/large.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

static const char *const types[] = {"Observe", "Decision", "Approval", "Transition",
				    "Plan",    "Write",    "System"};

static struct obj *text_of(size_t n)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(n + 1);
	for (size_t i = 0; i < n; i++)
		strbuf_addc(&b, (char)('a' + (i * 7 + i / 1000) % 26));
	return obj_stringn(strbuf_str(&b));
}

/* Appends the body as a row; the row as the log has it. */
static struct obj *append(struct audit_log *l, const char *type, const struct obj *body)
{
	static int64_t tseq;
	struct error err = ERROR_INIT;
	struct obj *row = NULL;
	int64_t seq;
	struct audit_row r = {.type = type,
			      .reason = "Tested",
			      .subject = {.kind = "AppType", .name = "web", .uid = "u1"},
			      .body = body};
	r.transition_seq = !strcmp(type, "Transition") ? ++tseq : 0;
	assert_ok(audit_append_now(l->audit, &r, &seq, &err), &err);
	assert_ok(audit_row_get(l->audit, seq, &row, &err), &err);
	return row;
}

static void assert_names(const struct obj *row, const char *member)
{
	const struct obj *moved = obj_path(row, "body.moved");
	for (size_t i = 0; i < obj_len(moved); i++)
		if (!strcmp(obj_as_string(obj_at(moved, i)), member))
			return;
	fail_msg("%s was not moved", member);
}

static void assert_text(struct audit_log *l, const struct obj *ref, struct str want)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT((size_t)64 << 20);
	assert_ok(large_text(l->db, ref, &got, &err), &err);
	assert_true(str_eq(strbuf_str(&got), want));
}

static void test_audit_large__one_byte_over_the_limit_in_every_type(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (size_t over = 0; over < 2; over++) {
			CLEANUP(obj_unrefp) struct obj *body = obj_map();
			/* {"text":"..."} */
			obj_set(body, "text", text_of(AUDIT_BODY_BYTES_MAX - 11 + over));
			CLEANUP(obj_unrefp) struct obj *row = append(&l, types[t], body);
			if (!over) {
				assert_false(obj_has(obj_get(row, "body"), "moved"));
				continue;
			}
			assert_names(row, "text");
			assert_int_equal(obj_i64(row, "body.blobs", 0), 1);
			assert_text(&l, obj_path(row, "body.text"),
				    obj_as_str(obj_get(body, "text")));
		}
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

/* 150 findings of half a KiB: what stopped an operator with large CRDs. */
static void test_audit_large__the_largest_goes_and_the_rest_stays(void **state)
{
	(void)state;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	struct obj *findings = obj_list();
	audit_log_open(&l, ":memory:", NULL);
	for (int i = 0; i < 150; i++) {
		struct obj *f = obj_map();
		obj_set_int(f, "n", i);
		obj_set(f, "message", text_of(500));
		obj_append(findings, f);
	}
	obj_set_str(body, "what", "CRDJudged");
	obj_set_str(body, "key", "warn 0123");
	obj_set(body, "findings", findings);
	CLEANUP(obj_unrefp) struct obj *row = append(&l, "Observe", body);
	CLEANUP(xfreep) char *text = json_text(findings);
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT((size_t)64 << 20);
	CLEANUP(obj_unrefp) struct obj *back = NULL;
	struct error err = ERROR_INIT;
	assert_int_equal(obj_len(obj_path(row, "body.moved")), 1);
	assert_names(row, "findings");
	assert_string_equal(obj_str(row, "body.what"), "CRDJudged");
	assert_string_equal(obj_str(row, "body.key"), "warn 0123");
	assert_ok(large_text(l.db, obj_path(row, "body.findings"), &got, &err), &err);
	assert_ok(json_parse(strbuf_str(&got), &back, &err), &err);
	assert_true(obj_equal(back, findings));
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static void test_audit_large__over_a_blob_is_split(void **state)
{
	(void)state;
	static const size_t sizes[] = {AUDIT_BLOB_BYTES_MAX, AUDIT_BLOB_BYTES_MAX + 1,
				       AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX};
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		CLEANUP(obj_unrefp) struct obj *body = obj_map();
		obj_set(body, "patch", text_of(sizes[i]));
		CLEANUP(obj_unrefp) struct obj *row = append(&l, "Write", body);
		const struct obj *ref = obj_path(row, "body.patch");
		assert_int_equal(obj_type(ref) == OBJ_STRING, i == 0);
		assert_text(&l, ref, obj_as_str(obj_get(body, "patch")));
	}
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static void test_audit_large__what_no_row_can_name_is_cut_and_says_so(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT((size_t)64 << 20);
	size_t n = AUDIT_TEXT_PARTS_MAX * AUDIT_BLOB_BYTES_MAX + 1;
	audit_log_open(&l, ":memory:", NULL);
	obj_set(body, "patch", text_of(n));
	CLEANUP(obj_unrefp) struct obj *row = append(&l, "Write", body);
	const struct obj *ref = obj_path(row, "body.patch");
	char digest[SHA256_HEX];
	sha256_hex(obj_as_str(obj_get(body, "patch")), digest);
	assert_true(obj_flag(ref, "cut", false));
	assert_int_equal(obj_i64(ref, "bytes", 0), (int64_t)n);
	assert_string_equal(obj_str(ref, "digest") + strlen("sha256:"), digest);
	assert_int_equal(obj_len(obj_get(ref, "parts")), AUDIT_TEXT_PARTS_MAX);
	assert_int_equal(large_text(l.db, ref, &got, &err), -E_NOTFOUND);
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

static void test_audit_large__many_small_members(void **state)
{
	(void)state;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	audit_log_open(&l, ":memory:", NULL);
	for (int i = 0; i < 5000; i++) {
		char key[32];
		snprintf(key, sizeof(key), "member-%05d", i);
		obj_set(body, key, obj_string(key));
	}
	CLEANUP(obj_unrefp) struct obj *row = append(&l, "Observe", body);
	assert_names(row, "body");
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

/* Blobs of the caller count: a row can name only so many. */
static void test_audit_large__no_room_for_more_blobs(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	CLEANUP(obj_unrefp) struct obj *body = obj_map(), *refs = obj_list();
	audit_log_open(&l, ":memory:", NULL);
	assert_ok(db_begin(l.db, &err), &err);
	for (int i = 0; i < 64; i++) {
		struct obj *ref = NULL;
		char text[32];
		snprintf(text, sizeof(text), "blob %d", i);
		assert_ok(audit_text_put(l.audit, str_of(text), &ref, &err), &err);
		obj_append(refs, ref);
	}
	obj_set(body, "refs", obj_ref(refs));
	obj_set(body, "text", text_of((size_t)3 << 20));
	int64_t seq;
	struct audit_row r = {.type = "Decision", .reason = "Tested", .body = body};
	assert_ok(audit_append(l.audit, &r, &seq, &err), &err);
	assert_ok(db_commit(l.db, &err), &err);
	audit_committed(l.audit);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	assert_ok(audit_row_get(l.audit, seq, &row, &err), &err);
	assert_true(obj_flag(row, "body.text.cut", false));
	audit_log_assert_intact(&l);
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_large__one_byte_over_the_limit_in_every_type),
		cmocka_unit_test(test_audit_large__the_largest_goes_and_the_rest_stays),
		cmocka_unit_test(test_audit_large__over_a_blob_is_split),
		cmocka_unit_test(test_audit_large__what_no_row_can_name_is_cut_and_says_so),
		cmocka_unit_test(test_audit_large__many_small_members),
		cmocka_unit_test(test_audit_large__no_room_for_more_blobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
