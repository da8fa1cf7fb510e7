#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/prune_delete.h"
#include "alm/engine/chain.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"
#include "tests/lib/db_failing.h"

static const struct chain_rule rules[] = {{"", "AppType", "%s"}, {0}};

static const char *key_of(struct chain *c, const char *type, const struct audit_subject *about)
{
	struct error err = ERROR_INIT;
	const char *key = NULL;
	assert_ok(chain_key(c, type, about, &key, &err), &err);
	return key;
}

static int64_t head_of(struct chain *c, const char *name)
{
	struct error err = ERROR_INIT;
	int64_t seq = -1;
	assert_ok(chain_head(c, name, &seq, &err), &err);
	return seq;
}

/* More subjects than are kept: what was forgotten is read from the log again, so the same outcome
 * is not told twice, and causes stay what they are. */
static void test_chain__one_over_the_bound_is_read_again(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	int64_t seq;
	char text[32];
	audit_log_open(&l, ":memory:", NULL);
	struct chain *c = chain_new(l.audit, l.db, rules);
	const struct audit_subject first = {.kind = "AppType", .name = "first", .uid = "u"};
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "key", "outcome");
	struct audit_row row = {
		.type = "Decision", .reason = "Resolved", .subject = first, .body = body};
	assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	for (int round = 0; round < 2; round++) {
		assert_string_equal(key_of(c, "Decision", &first), "outcome");
		assert_int_equal(head_of(c, "first"), seq);
		for (int i = 0; i < 40000; i++) {
			snprintf(text, sizeof(text), "u%d", i);
			const struct audit_subject other = {
				.kind = "AppType", .name = text, .uid = text};
			chain_set_key(c, "Decision", &other, "x");
			chain_advance(c, text, 1);
			if (i % 1000 == 0)
				assert_string_equal(key_of(c, "Decision", &other), "x");
		}
	}
	chain_free(c);
	audit_log_close(&l);
}

/* Objects that are missing have no uid: what is told of one says nothing of the others, or each would be told again and
 * again, as often as it is looked at. */
static void test_chain__what_has_no_uid_is_known_by_its_name(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	struct chain *c = chain_new(l.audit, l.db, rules);
	const struct audit_subject some[] = {
		{.kind = "ConfigMap", .ns = "a", .name = "x"},
		{.kind = "ConfigMap", .ns = "a", .name = "y", .uid = ""},
		{.kind = "ConfigMap", .ns = "b", .name = "x"},
		{.kind = "Secret", .ns = "a", .name = "x"},
		{.kind = "Namespace", .name = "x"}};
	const char *const keys[] = {"0", "1", "2", "3", "4"};
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		chain_set_key(c, "Observe", &some[i], keys[i]);
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		assert_string_equal(key_of(c, "Observe", &some[i]), keys[i]);
	assert_string_equal(key_of(c, "Decision", &some[0]), "");
	chain_free(c);
	audit_log_close(&l);
}

/* A process that begins anew asks the log, of what is in a namespace, too. What was not there may have been made and
 * deleted since: that is told. */
static void test_chain__a_restart_tells_nothing_again(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log l;
	int64_t seq;
	audit_log_open(&l, ":memory:", NULL);
	const struct audit_subject some[] = {
		{.kind = "ConfigMap", .ns = "a", .name = "x", .uid = "u1"},
		{.kind = "ConfigMap", .ns = "b", .name = "x", .uid = "u2"},
		{.kind = "Namespace", .name = "y", .uid = "u3"},
		{.kind = "ConfigMap", .ns = "a", .name = "y"},
		{.kind = "ConfigMap", .ns = "b", .name = "y", .uid = ""}};
	const char *const keys[] = {"0", "1", "2", "3", "4"};
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		CLEANUP(obj_unrefp) struct obj *body = obj_map();
		obj_set_str(body, "key", keys[i]);
		struct audit_row row = {
			.type = "Observe", .reason = "Drifted", .subject = some[i], .body = body};
		assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	}
	struct chain *c = chain_new(l.audit, l.db, rules);
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		assert_string_equal(key_of(c, "Observe", &some[i]), i < 3 ? keys[i] : "");
	const struct audit_subject made = {
		.kind = "ConfigMap", .ns = "a", .name = "x", .uid = "u4"};
	assert_string_equal(key_of(c, "Observe", &made), "");
	chain_free(c);
	audit_log_close(&l);
}

static void write_by(struct audit_log *l, const char *actor, const char *reason, const char *verb)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	CLEANUP(obj_unrefp) struct obj *changed = obj_list();
	obj_append(changed, obj_string("/spec/approved"));
	obj_set_str(body, "verb", verb);
	if (!strcmp(reason, "Updated"))
		obj_set(body, "changed", obj_ref(changed));
	struct audit_row row = {.type = "Write",
				.reason = reason,
				.subject = {.kind = "InstallStrategy",
					    .name = "install",
					    .uid = strcmp(reason, "Refused") != 0 ? "u" : ""},
				.actor = actor,
				.body = body};
	assert_ok(audit_append_now(l->audit, &row, &seq, &err), &err);
}

static struct obj *last_row(struct audit_log *l)
{
	struct error err;
	struct obj *row = NULL;
	int rc = chain_last_row(l->audit, l->db, "Write", "InstallStrategy", "install", true, &row,
				&err);
	assert_true(rc >= 0 || !row);
	return row;
}

static struct obj *write_of(struct audit_log *l, const char *path)
{
	const struct audit_subject about = {
		.kind = "InstallStrategy", .name = "install", .uid = "u"};
	struct error err;
	struct obj *row = NULL;
	int rc = chain_last_write(l->audit, l->db, &about, path, &row, &err);
	assert_true(rc >= 0 || !row);
	return row;
}

static void assert_by(struct obj *row, const char *actor)
{
	assert_non_null(row);
	assert_string_equal(obj_str(row, "actor"), actor);
	obj_unref(row);
}

/* Who approved, or deleted, is who changed something: not who was refused it, or wrote the same
 * again. */
static void test_chain__a_write_that_changed_nothing_names_nobody(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	write_by(&l, "alice", "Updated", "patch");
	write_by(&l, "mallory", "Refused", "patch");
	write_by(&l, "mallory", "Unchanged", "patch");
	assert_by(last_row(&l), "alice");
	assert_by(write_of(&l, "/spec/approved"), "alice");
	write_by(&l, "alice", "Updated", "delete");
	write_by(&l, "mallory", "Unchanged", "delete");
	assert_by(write_of(&l, NULL), "alice");
	audit_log_close(&l);
}

/* --- a log that cannot be read --- */

static struct obj *last_reason(struct audit_log *l)
{
	return chain_last_reason(l->audit, l->db, "Write", "Updated", "InstallStrategy", "install");
}

static struct obj *last_observed(struct audit_log *l)
{
	return chain_last_observed(l->audit, l->db, "ConfigMap", "n", "c");
}

static struct obj *last_write(struct audit_log *l)
{
	return write_of(l, "/spec/approved");
}

static void add_name(void *arg, const char *ns, const char *name)
{
	obj_append(arg, obj_stringf("%s/%s", ns, name));
}

static struct obj *each_observed(struct audit_log *l)
{
	struct obj *names = obj_list();
	chain_each_observed(l->audit, l->db, "ConfigMap", add_name, names);
	return names;
}

/* Asked twice: one that could not be read is not kept as none. */
static struct obj *key_and_head(struct audit_log *l)
{
	const struct audit_subject about = {
		.kind = "ConfigMap", .ns = "n", .name = "c", .uid = "c"};
	struct error err;
	struct chain *c = chain_new(l->audit, l->db, rules);
	struct obj *both = obj_list();
	const char *key = "";
	int64_t head = 0;
	size_t failed = chain_key(c, "Observe", &about, &key, &err) < 0;
	assert_int_equal(failed, !*key);
	if (!failed)
		obj_append(both, obj_string(key));
	assert_true(chain_is_told(c, "Observe", &about, "k") || !failed);
	failed += chain_head(c, "etcd", &head, &err) < 0;
	if (head)
		obj_append(both, obj_int(head));
	assert_int_equal(failed + obj_len(both), 2);
	if (failed) {
		assert_string_equal(key_of(c, "Observe", &about), "k");
		assert_true(head_of(c, "etcd") > 0);
	}
	chain_free(c);
	return both;
}

static void observe_one(struct audit_log *l, const char *kind, const char *name)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "key", "k");
	const struct audit_row row = {
		.type = "Observe",
		.reason = "Seen",
		.subject = {.kind = kind, .ns = *name == 'c' ? "n" : "", .name = name, .uid = name},
		.body = body};
	assert_ok(audit_append_now(l->audit, &row, &seq, &err), &err);
}

/* How much of the whole answer it is; it has nothing else. */
static size_t part_of(const struct obj *answer, const struct obj *whole)
{
	size_t n = 0;
	if (obj_type(answer) != OBJ_LIST) {
		assert_true(!answer || obj_equal(answer, whole));
		return answer ? 1 : 0;
	}
	for (size_t i = 0; i < obj_len(answer); i++) {
		bool known = false;
		for (size_t k = 0; k < obj_len(whole); k++)
			known |= obj_equal(obj_at(answer, i), obj_at(whole, k));
		assert_true(known);
		n++;
	}
	return n;
}

/* Whatever call fails: what cannot be read is nothing, never something else; and then it is as it was. */
static void test_chain__what_cannot_be_read_is_nothing(void **state)
{
	static struct obj *(*const asks[])(struct audit_log *l) = {
		last_row, last_reason, last_observed, last_write, each_observed, key_and_head};
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	write_by(&l, "alice", "Updated", "patch");
	observe_one(&l, "ConfigMap", "c");
	observe_one(&l, "ConfigMap", "c2");
	observe_one(&l, "AppType", "etcd");
	db_failing_watch(l.db);
	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		for (int prepares = 0; prepares < 2; prepares++) {
			db_failing_begin(l.db, 0, prepares);
			CLEANUP(obj_unrefp) struct obj *whole = asks[i](&l);
			int n = db_failing_end();
			size_t least = SIZE_MAX, all = part_of(whole, whole);
			assert_true(n > 0 && all > 0);
			for (int at = 1; at <= n; at++) {
				db_failing_begin(l.db, at, prepares);
				CLEANUP(obj_unrefp) struct obj *answer = asks[i](&l);
				(void)db_failing_end();
				size_t part = part_of(answer, whole);
				least = part < least ? part : least;
				CLEANUP(obj_unrefp) struct obj *again = asks[i](&l);
				assert_true(obj_equal(again, whole));
			}
			assert_true(least < all);
		}
	audit_log_close(&l);
}

/* --- a log whose entries are pruned --- */

static void note(struct audit_log *l, const char *type, const char *reason, const char *name,
		 const char *key)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "key", key);
	const struct audit_row row = {.type = type,
				      .reason = reason,
				      .subject = {.kind = "AppType", .name = name, .uid = name},
				      .body = body};
	assert_ok(audit_append_now(l->audit, &row, &seq, &err), &err);
}

/* An entry that an operation of ours has made is nobody else's. */
static void test_chain__the_last_row_of_others(void **state)
{
	static const char *const ops[] = {NULL, "7-0-1"}, *const reasons[] = {"Updated", "Created"};
	(void)state;
	struct audit_log l;
	struct error err = ERROR_INIT;
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		int64_t seq;
		CLEANUP(obj_unrefp) struct obj *body = obj_map();
		const struct audit_row row = {
			.type = "Write",
			.reason = reasons[i],
			.subject = {.kind = "InstallStrategy", .name = "install", .uid = "u"},
			.op = ops[i],
			.body = body};
		assert_ok(audit_append_now(l.audit, &row, &seq, &err), &err);
	}
	for (size_t foreign = 0; foreign < 2; foreign++) {
		struct obj *row = NULL;
		assert_ok(chain_last_row(l.audit, l.db, "Write", "InstallStrategy", "install",
					 foreign, &row, &err),
			  &err);
		assert_non_null(row);
		assert_string_equal(obj_str(row, "reason"), reasons[!foreign]);
		obj_unref(row);
	}
	audit_log_close(&l);
}

/* All that is asked of a log about three objects, one of which is gone. */
static struct obj *answers(struct audit_log *l)
{
	static const char *const names[] = {"a", "b", "gone"}, *const types[] = {"Decision",
										 "Observe"};
	struct obj *all = obj_list();
	struct chain *c = chain_new(l->audit, l->db, rules);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct audit_subject about = {
			.kind = "AppType", .name = names[i], .uid = names[i]};
		struct error err;
		struct obj *row = NULL;
		for (size_t k = 0; k < ARRAY_LEN(types); k++)
			obj_append(all, obj_string(key_of(c, types[k], &about)));
		assert_ok(chain_last_row(l->audit, l->db, "Approval", "AppType", names[i], false,
					 &row, &err),
			  &err);
		obj_append(all, obj_stringf("%s", row ? obj_str(row, "reason") : "none"));
		obj_unref(row);
		row = chain_last_reason(l->audit, l->db, "Observe", "SpecChanged", "AppType",
					names[i]);
		obj_append(all, obj_stringf("%s", row ? obj_str(row, "body.key") : "none"));
		obj_unref(row);
		row = chain_last_observed(l->audit, l->db, "AppType", NULL, names[i]);
		obj_append(all, obj_stringf("%s", row ? obj_str(row, "reason") : "none"));
		obj_unref(row);
	}
	chain_free(c);
	chain_each_observed(l->audit, l->db, "AppType", add_name, all);
	return all;
}

/* However much of it is: what an entry says of an object that is there holds until another one says otherwise. */
static void test_chain__what_is_pruned_is_known(void **state)
{
	(void)state;
	for (int64_t to = 1; to <= 12; to++) {
		struct audit_log l;
		audit_log_open(&l, ":memory:", NULL);
		note(&l, "Decision", "Resolved", "a", "one");
		note(&l, "Observe", "SpecChanged", "a", "first");
		note(&l, "Approval", "Approved", "a", "p1");
		note(&l, "Decision", "Resolved", "b", "other");
		note(&l, "Observe", "SpecChanged", "b", "second");
		note(&l, "Observe", "Drifted", "a", "drift");
		note(&l, "Decision", "Resolved", "a", "two");
		note(&l, "Approval", "Withdrawn", "a", "p1");
		note(&l, "Observe", "Deleted", "gone", "gone");
		note(&l, "Observe", "SpecChanged", "a", "third");
		note(&l, "Approval", "Approved", "b", "p2");
		CLEANUP(obj_unrefp) struct obj *before = answers(&l);
		audit_log_prune(&l, to);
		struct error err = ERROR_INIT;
		int r = prune_delete_slice(l.db, to + 1, &err);
		for (int i = 0; i < 20 && r > 0; i++)
			r = prune_delete_slice(l.db, to + 1, &err);
		assert_ok(r, &err);
		assert_int_equal(r, 0);

		CLEANUP(obj_unrefp) struct obj *after = answers(&l);
		if (!obj_equal(before, after)) {
			CLEANUP(xfreep) char *was = json_text(before), *is = json_text(after);
			fail_msg("pruned to %d:\n%s\n%s", (int)to, was, is);
		}
		audit_log_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain__the_last_row_of_others),
		cmocka_unit_test(test_chain__one_over_the_bound_is_read_again),
		cmocka_unit_test(test_chain__what_has_no_uid_is_known_by_its_name),
		cmocka_unit_test(test_chain__a_restart_tells_nothing_again),
		cmocka_unit_test(test_chain__a_write_that_changed_nothing_names_nobody),
		cmocka_unit_test(test_chain__what_cannot_be_read_is_nothing),
		cmocka_unit_test(test_chain__what_is_pruned_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
