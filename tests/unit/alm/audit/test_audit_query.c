#include "tests/lib/test.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/export.h"
#include "alm/audit/query.h"
#include "alm/audit/query_select.h"
#include "alm/audit/row_text.h"
#include "alm/base/arena.h"
#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "tests/lib/audit_log.h"

static struct audit_log l;
static struct strbuf out;

struct row {
	const char *type, *reason, *kind, *name, *actor, *body;
	int64_t cause, tseq, after_s;
};

/* clang-format off */
static const struct row story[] = { /* seq 2.. */
	{"Observe", "CatalogChanged", "Catalog", "community", NULL,
	 "{\"catalog\":{\"name\":\"community\",\"from\":\"sha256:5e0cff\",\"to\":\"sha256:77abff\"}}", 0, 0, 0},
	{"Decision", "Resolved", "AppType", "etcd", NULL,
	 "{\"verdict\":\"allow\",\"message\":\"0.9.6, best of 3 candidates\",\"version\":{\"to\":\"0.9.6\"}}", 2, 0, 0},
	{"Decision", "ApprovalRequired", "InstallStrategy", "install.0.9.6", NULL,
	 "{\"verdict\":\"wait\",\"message\":\"mode Manual\"}", 3, 0, 1},
	{"Approval", "Approved", "InstallStrategy", "install.0.9.6", "alice",
	 "{\"approves\":\"sha256:91aa03c4d2e1f0b7\",\"justification\":\"CHG-4711\",\"who\":{\"trust\":\"admission\",\"via\":\"kubectl\",\"address\":\"10.0.0.7\"}}", 4, 0, 324},
	{"Plan", "Planned", "InstallStrategy", "install.0.9.6", NULL,
	 "{\"plan\":\"sha256:91aa03c4d2e1f0b7\",\"counts\":{\"update\":2,\"create\":10}}", 5, 0, 1},
	{"Transition", "Installed", "AppType", "etcd", NULL,
	 "{\"to\":\"Installed\",\"version\":{\"from\":\"0.9.5\",\"to\":\"0.9.6\"},\"plan\":\"sha256:91aa03c4d2e1f0b7\",\"revision\":3}", 5, 1, 40},
	{"Transition", "Refreshed", "AppType", "etcd", NULL, "{\"to\":\"Installed\",\"version\":{\"to\":\"0.9.6\"}}", 5, 2, 1},
	{"Decision", "UpgradeBlocked", "AppType", "etcd", NULL,
	 "{\"verdict\":\"deny\",\"version\":{\"to\":\"1.0.0\"},\"rules\":[{\"id\":\"Edge\",\"verdict\":\"allow\"},{\"id\":\"ResourceDropped\",\"verdict\":\"deny\",\"detail\":\"etcds.etcd.coreos.com/v1: 1 object, stored\"}]}", 2, 0, 100},
	{"Decision", "Resolved", "AppType", "etcd", NULL, "{\"verdict\":\"allow\",\"version\":{\"to\":\"1.0.0\"}}", 2, 0, 11520},
	{"Transition", "Deleted", "AppType", "etcd", "bob", "{\"to\":\"Deleted\"}", 10, 3, 5},
};
/* clang-format on */

static int setup(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	strbuf_init(&out, STRBUF_SMALL);
	audit_log_open(&l, ":memory:", NULL);
	for (size_t i = 0; i < ARRAY_LEN(story); i++) {
		const struct row *s = &story[i];
		int64_t seq;
		CLEANUP(obj_unrefp) struct obj *body = NULL;
		l.loop.now_ns += s->after_s * INT64_C(1000000000);
		assert_ok(json_parse(str_of(s->body), &body, &err), &err);
		struct audit_row row = {
			.type = s->type,
			.reason = s->reason,
			.subject = {.kind = s->kind, .name = s->name, .uid = s->name},
			.actor = s->actor,
			.cause = s->cause,
			.transition_seq = s->tseq,
			.body = body};
		assert_ok(db_begin(l.db, &err), &err);
		assert_ok(audit_append(l.audit, &row, &seq, &err), &err);
		assert_ok(db_commit(l.db, &err), &err);
		audit_committed(l.audit);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_close(&l);
	strbuf_release(&out);
	return 0;
}

static int print(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	struct db *d = arg;
	CLEANUP(obj_unrefp) struct obj *plan = NULL;
	CLEANUP(obj_unrefp) struct obj *cause = NULL;
	int r = query_plan(d, row, &plan, err);
	if (r >= 0 && obj_i64(row, "cause", 0))
		r = query_row(d, obj_i64(row, "cause", 0), &cause, err);
	strbuf_pad(&out, ' ', depth);
	row_head(row, false, &out);
	strbuf_adds(&out, " | ");
	row_detail(row, plan, cause, &out);
	strbuf_addc(&out, '\n');
	return r;
}

static struct query_selector etcd(struct arena *a)
{
	struct error err = ERROR_INIT;
	struct query_selector sel = {0};
	assert_ok(query_subject(l.db, "apptype/etcd", a, &sel, &err), &err);
	assert_string_equal(sel.kind, "AppType");
	return sel;
}

static void test_audit_query__why_walks_the_causes(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	struct query_selector sel = etcd(a);
	strbuf_clear(&out);
	assert_ok(query_why(l.db, &sel, "0.9.6", print, l.db, &err), &err);
	assert_string_equal(
		out.buf,
		"#7 08:06:06 Transition Installed 0.9.6 | 41 s, 12 objects, plan 91aa03c4\n"
		" #5 08:05:25 Approval Approved | alice (admission, kubectl 10.0.0.7) \"CHG-4711\","
		" plan 91aa03c4\n"
		"  #4 08:00:01 Decision ApprovalRequired | wait: mode Manual\n"
		"   #3 08:00:00 Decision Resolved | allow: 0.9.6, best of 3 candidates\n"
		"    #2 08:00:00 Observe CatalogChanged | community 5e0c -> 77ab\n");
	assert_int_equal(query_why(l.db, &sel, "7.7.7", print, l.db, &err), -E_NOTFOUND);
}

static void test_audit_query__forward_is_the_tree(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	strbuf_clear(&out);
	assert_ok(query_forward(l.db, 5, print, l.db, &err), &err);
	assert_non_null(
		strstr(out.buf, "\n #6 08:05:26 Plan Planned | 10 to create, 2 to update,"));
	assert_non_null(strstr(out.buf, "\n #8 "));
	assert_null(strstr(out.buf, "#4"));
}

static void test_audit_query__why_not_names_the_rule(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	struct query_selector sel = etcd(a);
	strbuf_clear(&out);
	assert_int_equal(query_why_not(l.db, &sel, "1.0.0", print, l.db, &err), 1);
	assert_string_equal(out.buf, "#9 08:07:47 Decision UpgradeBlocked | deny: ResourceDropped  "
				     "etcds.etcd.coreos.com/v1: 1 object, stored\n");
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	int64_t again = 0;
	assert_ok(query_row(l.db, 9, &row, &err), &err);
	assert_ok(query_decided_again(l.db, row, &again, &err), &err);
	strbuf_clear(&out);
	row_span(again - obj_i64(row, "time", 0), &out);
	assert_string_equal(out.buf, "3 h 12 min");
}

static void test_audit_query__state_is_of_the_time(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct query_selector all = {0};
	int64_t seq = 0;
	assert_ok(query_seq_at(l.db, 1893571200000000 + 400000000, &seq, &err), &err);
	assert_int_equal(seq, 8);
	strbuf_clear(&out);
	assert_int_equal(query_state(l.db, &all, seq, print, l.db, &err), 1);
	assert_non_null(strstr(out.buf, "#7 "));
	assert_int_equal(query_state(l.db, &all, 3, print, l.db, &err), 0);
	assert_int_equal(query_state(l.db, &all, 11, print, l.db, &err), 0); /* deleted */
	assert_ok(query_seq_at(l.db, 5, &seq, &err), &err);
	assert_int_equal(seq, 0);
}

static void test_audit_query__selectors_narrow(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct query_selector sel = {.type = "Decision", .name = "etcd"};
	strbuf_clear(&out);
	assert_int_equal(query_rows(l.db, &sel, print, l.db, &err), 3);
	sel = (struct query_selector){.actor = "alice"};
	assert_int_equal(query_rows(l.db, &sel, print, l.db, &err), 1);
	sel = (struct query_selector){.from_seq = 5, .limit = 2};
	assert_int_equal(query_rows(l.db, &sel, print, l.db, &err), 2);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(obj_unrefp) struct obj *who = NULL;
	assert_ok(query_row(l.db, 7, &row, &err), &err);
	assert_ok(query_authority(l.db, row, &who, &err), &err);
	assert_string_equal(obj_str(who, "actor"), "alice");
}

static int collect(void *arg, struct str line, struct error *err)
{
	(void)err;
	strbuf_addstr(arg, line);
	return 0;
}

static size_t findings(struct str text)
{
	struct error err = ERROR_INIT;
	struct db *d = NULL;
	struct db_config c = {.path = ":memory:"};
	struct verify_options o = {.is_archive = true};
	struct verify_report *rep = xcalloc(1, sizeof(*rep));
	size_t n = 1;
	assert_ok(db_open(&c, &d, &err), &err);
	if (export_read(d, text, &err) >= 0) {
		assert_ok(verify_log(d, &o, rep, &err), &err);
		n = rep->n_findings;
	}
	db_close(d);
	xfree(rep);
	return n;
}

static void test_audit_query__archives_verify_and_show_every_flip(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct audit_log own;
	int64_t last = 0;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	audit_log_open(&own, ":memory:", NULL);
	audit_log_fill(&own, 6, 6);
	own.loop.now_ns += INT64_C(2000000000);
	loop_run_due(&own.loop.base);
	assert_ok(export_write(own.db, 1, collect, &text, &last, &err), &err);
	audit_log_close(&own);
	assert_int_equal(last, 7);
	assert_int_equal(findings(strbuf_str(&text)), 0);
	for (size_t i = 0; i < text.len; i++) {
		CLEANUP(xfreep) char *copy = str_dup(strbuf_str(&text));
		copy[i] = (char)(copy[i] ^ 1);
		if (!findings(str_n(copy, text.len)))
			fail_msg("flip of byte %zu: %.60s", i, text.buf + i);
	}
}

static void test_audit_query__a_refusal_tells_how_many_there_were(void **state)
{
	(void)state;
	static const char text[] =
		"{\"type\":\"Write\",\"reason\":\"Refused\",\"actor\":\"bob\",\"subject\":{"
		"\"kind\":"
		"\"Secret\",\"namespace\":\"a\",\"name\":\"s\"},\"body\":{\"verb\":\"delete\","
		"\"outcome\":\"Denied\",\"code\":403,\"suppressed\":498,\"who\":{\"trust\":"
		"\"authenticated\"}}}";
	struct error err = ERROR_INIT;
	struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(json_parse(str_of(text), &row, &err), &err);
	row_detail(row, NULL, NULL, &b);
	assert_string_equal(b.buf, "delete Secret/a/s Denied (403) by bob (authenticated), and 498 "
				   "more like it");
	obj_unref(row);
}

static void test_audit_query__what_was_seen_names_who_did_it(void **state)
{
	(void)state;
	static const char text[] =
		"{\"type\":\"Observe\",\"reason\":\"SpecChanged\",\"actor\":\"bob\",\"subject\":{"
		"\"kind\":\"AppType\",\"name\":\"etcd\"},\"body\":{\"generation\":3,\"changed\":["
		"\"spec.a\",\"spec.b\"],\"who\":{\"trust\":\"authenticated\"}}}";
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	assert_ok(json_parse(str_of(text), &row, &err), &err);
	row_detail(row, NULL, NULL, &b);
	assert_string_equal(b.buf, "generation 3 spec.a, spec.b by bob (authenticated)");
}

/* Beside its subject, too, a word is said of what happened. */
static void test_audit_query__what_was_seen_has_its_words(void **state)
{
	(void)state;
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"{\"type\":\"Observe\",\"reason\":\"InstallIgnored\",\"body\":{\"message\":"
		 "\"ALM alone makes Installs\"}}",
		 "ALM alone makes Installs"},
		{"{\"type\":\"Observe\",\"reason\":\"LogBehindStatus\",\"body\":{\"what\":"
		 "\"LogBehindStatus\",\"message\":\"its status has 2, the log 1\"}}",
		 "its status has 2, the log 1"},
		{"{\"type\":\"Observe\",\"reason\":\"Drifted\",\"body\":{\"what\":\"it changed\","
		 "\"message\":\"no\"}}",
		 "it changed"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		assert_ok(json_parse(str_of(rows[i].text), &row, &err), &err);
		row_detail_beside(row, NULL, NULL, &b);
		assert_string_equal(b.buf, rows[i].said);
	}
}

static void test_audit_query__any_time_is_printed(void **state)
{
	static const int64_t times[] = {INT64_MAX, INT64_MIN, INT64_MAX / NS_PER_US + 1};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(obj_unrefp) struct obj *row = obj_map();
		obj_set_int(row, "time", times[i]);
		row_head(row, true, &b);
		assert_non_null(strstr(b.buf, times[i] > 0 ? "#0 2262-04-11T" : "#0 1677-09-21T"));
	}
}

static int none(void *arg, unsigned depth, const struct obj *row, struct error *err)
{
	(void)arg;
	(void)depth;
	(void)row;
	return error_set(err, E_CORRUPT, "told of a row");
}

/* The error of the database, in every question. */
static void test_audit_query__a_database_without_a_log(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct db_config c = {.path = ":memory:"};
	const struct query_selector sel = {.kind = "AppType", .name = "etcd"};
	struct db *d;
	struct obj *row = NULL;
	assert_ok(db_open(&c, &d, &err), &err);
	assert_true(query_row(d, 1, &row, &err) < 0);
	assert_non_null(strstr(err.msg, "no such table"));
	assert_null(row);
	assert_true(query_give(d, 1, 0, none, NULL, &err) < 0);
	assert_true(query_rows(d, &sel, none, NULL, &err) < 0);
	assert_true(query_state(d, &sel, 1, none, NULL, &err) < 0);
	assert_non_null(strstr(err.msg, "no such table"));
	db_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_query__what_was_seen_names_who_did_it),
		cmocka_unit_test(test_audit_query__what_was_seen_has_its_words),
		cmocka_unit_test(test_audit_query__any_time_is_printed),
		cmocka_unit_test(test_audit_query__why_walks_the_causes),
		cmocka_unit_test(test_audit_query__a_database_without_a_log),
		cmocka_unit_test(test_audit_query__forward_is_the_tree),
		cmocka_unit_test(test_audit_query__why_not_names_the_rule),
		cmocka_unit_test(test_audit_query__state_is_of_the_time),
		cmocka_unit_test(test_audit_query__selectors_narrow),
		cmocka_unit_test(test_audit_query__a_refusal_tells_how_many_there_were),
		cmocka_unit_test(test_audit_query__archives_verify_and_show_every_flip),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
