#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/engine/chain.h"
#include "tests/lib/audit_log.h"

static const struct chain_rule rules[] = {{"", "AppType", "%s"}, {0}};

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
		assert_string_equal(chain_key(c, "Decision", &first), "outcome");
		assert_int_equal(chain_head(c, "first"), seq);
		for (int i = 0; i < 40000; i++) {
			snprintf(text, sizeof(text), "u%d", i);
			const struct audit_subject other = {
				.kind = "AppType", .name = text, .uid = text};
			chain_set_key(c, "Decision", &other, "x");
			chain_advance(c, text, 1);
			if (i % 1000 == 0)
				assert_string_equal(chain_key(c, "Decision", &other), "x");
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
		assert_string_equal(chain_key(c, "Observe", &some[i]), keys[i]);
	assert_string_equal(chain_key(c, "Decision", &some[0]), "");
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
		assert_string_equal(chain_key(c, "Observe", &some[i]), i < 3 ? keys[i] : "");
	const struct audit_subject made = {
		.kind = "ConfigMap", .ns = "a", .name = "x", .uid = "u4"};
	assert_string_equal(chain_key(c, "Observe", &made), "");
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
	const struct audit_subject about = {
		.kind = "InstallStrategy", .name = "install", .uid = "u"};
	audit_log_open(&l, ":memory:", NULL);
	write_by(&l, "alice", "Updated", "patch");
	write_by(&l, "mallory", "Refused", "patch");
	write_by(&l, "mallory", "Unchanged", "patch");
	assert_by(chain_last_row(l.audit, l.db, "Write", about.kind, about.name, true), "alice");
	assert_by(chain_last_write(l.audit, l.db, &about, "/spec/approved"), "alice");
	write_by(&l, "alice", "Updated", "delete");
	write_by(&l, "mallory", "Unchanged", "delete");
	assert_by(chain_last_write(l.audit, l.db, &about, NULL), "alice");
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain__one_over_the_bound_is_read_again),
		cmocka_unit_test(test_chain__what_has_no_uid_is_known_by_its_name),
		cmocka_unit_test(test_chain__a_restart_tells_nothing_again),
		cmocka_unit_test(test_chain__a_write_that_changed_nothing_names_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
