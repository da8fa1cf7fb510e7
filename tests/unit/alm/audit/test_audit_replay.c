/* What the log says was decided, made again from what it says was read. */
#include "tests/lib/test.h"

#include <inttypes.h>
#include <string.h>

#include "alm/audit/replay.h"
#include "alm/base/arena.h"
#include "alm/obj/json.h"
#include "catalog/resolve/resolve_record.h"
#include "tests/lib/audit_log.h"

static struct audit_log l;
static struct verify_report rep;

static int setup(void **state)
{
	(void)state;
	memset(&rep, 0, sizeof(rep));
	audit_log_open(&l, ":memory:", NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	audit_log_close(&l);
	return 0;
}

static struct obj *parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

static void append(const struct audit_row *row)
{
	struct error err = ERROR_INIT;
	int64_t seq;
	assert_ok(audit_append_now(l.audit, row, &seq, &err), &err);
}

static void replay(void)
{
	struct error err = ERROR_INIT;
	memset(&rep, 0, sizeof(rep));
	assert_ok(replay_log(l.db, &(struct verify_options){.is_archive = false}, &rep, &err),
		  &err);
	assert_true(rep.is_replayed);
}

/* Nothing is installed and no catalog has anything: a wait. */
static const struct resolve_input nothing = {.app = "etcd",
					     .self_ref = "etcd.com.tectonic.storage",
					     .mode = "Automatic",
					     .kube_version = "v1.36.0"};

/* The row that the controller writes of it, but for the members of instead. */
static void decide(const char *instead, const char *version, bool with_blob)
{
	struct error err = ERROR_INIT;
	struct resolution r;
	char hex[SHA256_HEX];
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(obj_unrefp) struct obj *body = parsed("{\"verdict\":\"wait\",\"candidates\":[]}");
	CLEANUP(obj_unrefp) struct obj *record = resolve_record(&nothing, a);
	CLEANUP(obj_unrefp) struct obj *other = parsed(instead);
	CLEANUP(xfreep) char *text = json_text(record);
	struct obj *list = obj_list(), *input = obj_map(), *digest = NULL;
	resolve_run(&nothing, a, &r);
	json_digest(body, hex);
	obj_set(body, "key", obj_stringf("ResolveFailed %s", hex));
	obj_set_str(body, "message", r.message);
	if (with_blob)
		assert_ok(audit_text_put(l.audit, str_of(text), &digest, &err), &err);
	else
		digest = obj_stringf("sha256:%064d", 7);
	obj_set_str(input, "name", "resolve");
	obj_set(input, "digest", digest);
	obj_set_str(input, "version", version);
	obj_append(list, input);
	obj_set(body, "inputs", list);
	OBJ_EACH (it, other)
		obj_set(body, it.key, obj_ref(it.value));
	append(&(struct audit_row){.type = "Decision",
				   .reason = "ResolveFailed",
				   .subject = {.kind = "AppType", .name = "etcd", .uid = "u"},
				   .body = body});
}

static void test_audit_replay__a_true_decision_replays(void **state)
{
	(void)state;
	decide("{}", ALM_VERSION, true);
	replay();
	assert_int_equal(rep.decisions, 1);
	assert_int_equal(rep.n_findings, 0);
	assert_int_equal(verify_exit(&rep), 0);
}

/* Each member, in a log whose chain and tree are in order. */
static void test_audit_replay__a_decision_that_its_inputs_do_not_give(void **state)
{
	(void)state;
	static const struct {
		const char *instead, *want;
	} lies[] = {
		{"{\"verdict\":\"allow\"}", "another decision: verdict"},
		{"{\"candidates\":[\"0.9.6 chosen\"]}", "another decision: candidates"},
		{"{\"version\":{\"to\":\"0.9.6\"}}", "another decision: version"},
		{"{\"message\":\"no\"}", "another decision: message"},
		{"{\"key\":\"ResolveFailed 0\"}", "another decision: key"},
	};
	for (size_t i = 0; i < ARRAY_LEN(lies); i++)
		decide(lies[i].instead, ALM_VERSION, true);
	audit_log_assert_intact(&l);
	replay();
	assert_int_equal(rep.n_findings, ARRAY_LEN(lies));
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		assert_non_null(strstr(rep.findings[i].text, lies[i].want));
		assert_int_equal(rep.findings[i].seq, (int64_t)i + 2);
	}
	assert_int_equal(verify_exit(&rep), 4);
}

static void test_audit_replay__what_it_cannot_judge_it_says(void **state)
{
	(void)state;
	decide("{\"verdict\":\"allow\"}", "0.0.1", true);
	decide("{}", ALM_VERSION, false);
	replay();
	assert_int_equal(rep.n_findings, 0);
	assert_int_equal(rep.n_unchecked, 2);
	assert_non_null(strstr(rep.unchecked[0], "the entry is of alm 0.0.1"));
	assert_non_null(strstr(rep.unchecked[1], "entry 3: its inputs are not in the log"));
	assert_int_equal(verify_exit(&rep), 1);
}

static void test_audit_replay__inputs_that_are_no_inputs(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "{", "[]", "{\"app\":7}", "{\"indexes\":[null]}"};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(obj_unrefp) struct obj *body =
			parsed("{\"inputs\":[{\"name\":\"resolve\"}]}");
		struct obj *digest = NULL, *input = obj_map(), *list = obj_list();
		assert_ok(audit_text_put(l.audit, str_of(texts[i]), &digest, &err), &err);
		obj_set_str(input, "name", "resolve");
		obj_set(input, "digest", digest);
		obj_set_str(input, "version", ALM_VERSION);
		obj_append(list, input);
		obj_set(body, "inputs", list);
		append(&(struct audit_row){.type = "Decision",
					   .reason = "Resolved",
					   .subject = {.kind = "AppType", .name = "e", .uid = "u"},
					   .body = body});
	}
	replay();
	int64_t rows = 0; /* the same of rows that follow each other is one finding */
	for (size_t i = 0; i < rep.n_findings; i++)
		rows += rep.findings[i].to - rep.findings[i].seq + 1;
	assert_int_equal(rows, ARRAY_LEN(texts));
}

static void transition(int64_t tseq, const char *reason, const char *body)
{
	CLEANUP(obj_unrefp) struct obj *o = parsed(body);
	append(&(struct audit_row){.type = "Transition",
				   .reason = reason,
				   .subject = {.kind = "AppType", .name = "etcd", .uid = "u"},
				   .transition_seq = tseq,
				   .body = o});
}

#define READY(status, reason)                                                        \
	"\\\"conditions\\\":[{\\\"type\\\":\\\"Ready\\\",\\\"status\\\":\\\"" status \
	"\\\",\\\"reason\\\":\\\"" reason "\\\"}]"

static void first_two(const char *second)
{
	transition(1, "Resolving",
		   "{\"to\":\"Resolving\",\"turned\":[\"Ready False\"],\"status\":"
		   "\"{\\\"transitionSeq\\\":1," READY("False", "Resolving") "}\"}");
	transition(2, "Installed", second);
}

static void test_audit_replay__a_true_transition_replays(void **state)
{
	(void)state;
	first_two("{\"from\":\"Resolving\",\"to\":\"Installed\",\"turned\":[\"Ready True\"],"
		  "\"version\":{\"to\":\"0.9.6\"},\"status\":\"{\\\"transitionSeq\\\":2,"
		  "\\\"installedVersion\\\":\\\"0.9.6\\\"," READY("True", "Installed") "}\"}");
	transition(3, "Deleted", "{\"from\":\"Installed\",\"to\":\"Deleted\"}");
	replay();
	assert_int_equal(rep.n_findings, 0);
	assert_int_equal(rep.n_unchecked, 0);
	assert_int_equal(rep.replayed, 3);
}

static void test_audit_replay__a_transition_that_its_statuses_do_not_give(void **state)
{
	(void)state;
	first_two("{\"from\":\"Failed\",\"to\":\"Installed\",\"turned\":[\"Ready True\"],"
		  "\"status\":\"{\\\"transitionSeq\\\":2," READY("True", "Installed") "}\"}");
	transition(3, "Installed",
		   "{\"from\":\"Installed\",\"to\":\"Installed\",\"turned\":[\"Ready True\"],"
		   "\"status\":\"{\\\"transitionSeq\\\":9," READY("True", "Installed") "}\"}");
	transition(4, "Refreshed",
		   "{\"from\":\"Installed\",\"turned\":[\"Ready False\"],"
		   "\"status\":\"{\\\"transitionSeq\\\":4," READY("True", "Installed") "}\"}");
	replay();
	assert_int_equal(rep.n_findings, 3);
	assert_non_null(strstr(rep.findings[0].text, "another transition: from"));
	assert_non_null(strstr(rep.findings[1].text, "transitionSeq of the status"));
	assert_non_null(strstr(rep.findings[2].text, "another transition: turned"));
}

/* --- a transition in every part, each of them a lie in turn --- */

static void status_row(int64_t tseq, const char *reason, const char *status, const char *body,
		       const char *ns)
{
	CLEANUP(obj_unrefp) struct obj *o = parsed(body);
	obj_set_str(o, "status", status);
	append(&(struct audit_row){
		.type = "Transition",
		.reason = reason,
		.subject = {.kind = "AppType", .ns = ns, .name = "etcd", .uid = "u"},
		.transition_seq = tseq,
		.body = o});
}

static void again(void)
{
	audit_log_close(&l);
	audit_log_open(&l, ":memory:", NULL);
}

static const char first_status[] =
	"{\"transitionSeq\":1,\"phase\":\"Resolving\",\"installedVersion\":\"0.9\","
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}";
static const char first_body[] =
	"{\"to\":\"Resolving\",\"version\":{\"to\":\"0.9\"},\"turned\":[\"Ready False\"]}";
static const char second_status[] =
	"{\"transitionSeq\":2,\"phase\":\"Installed\",\"installedVersion\":\"1.0\",\"revision\":3,"
	"\"plan\":{"
	"\"digest\":\"sha256:aa\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}";
static const char second_body[] =
	"{\"from\":\"Resolving\",\"to\":\"Installed\",\"version\":{\"from\":\"0.9\",\"to\":\"1.0\"}"
	","
	"\"revision\":3,\"plan\":\"sha256:aa\",\"turned\":[\"Ready True\"]}";

static void test_audit_replay__every_part_of_a_transition_is_compared(void **state)
{
	static const struct {
		const char *member, *value; /* value NULL: left out */
		const char *want;           /* NULL: that is no lie */
	} rows[] = {
		{"from", "\"Resolving\"", NULL},
		{"from", "\"Failed\"", "another transition: from"},
		{"from", NULL, "another transition: from"},
		{"to", "\"Failed\"", "another transition: to"},
		{"to", NULL, "another transition: to"},
		{"revision", "4", "another transition: revision"},
		{"revision", NULL, "another transition: revision"},
		{"plan", "\"sha256:bb\"", "another transition: plan"},
		{"plan", NULL, "another transition: plan"},
		{"turned", "[]", NULL}, /* written as none */
		{"turned", "[\"Ready False\"]", "another transition: turned"},
		{"turned", NULL, NULL}, /* of before it was written */
		{"version", "{\"from\":\"0.9\",\"to\":\"2.0\"}", "another transition: version.to"},
		{"version", NULL, "another transition: version.to"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *body = parsed(second_body);
		obj_del(body, rows[i].member);
		if (rows[i].value)
			obj_set(body, rows[i].member, parsed(rows[i].value));
		CLEANUP(xfreep) char *text = json_text(body);
		for (int restored = 0; restored < 2;
		     restored++) { /* it repeats what was: nothing more is reported */
			again();
			status_row(1, "Resolving", first_status, first_body, NULL);
			status_row(2, restored ? "StatusRestored" : "Installed", second_status,
				   text, NULL);
			replay();
			assert_int_equal(rep.replayed, 2);
			assert_int_equal(rep.n_unchecked, 0);
			if (rep.n_findings != (rows[i].want && !restored))
				fail_msg("row %zu: %zu findings", i, rep.n_findings);
			if (rep.n_findings)
				assert_non_null(strstr(rep.findings[0].text, rows[i].want));
			if (rep.n_findings)
				assert_int_equal(rep.findings[0].seq, 3);
		}
	}
}

/* Another's status excuses what ALM says of its own last one: of the same object, in a record before it. */
static const struct {
	const char *ns, *type, *reason;
	struct audit_subject subject;
	bool later, excuses;
} contests[] = {
	{NULL, "Observe", "StatusContested", {.kind = "AppType", .name = "etcd"}, false, true},
	{NULL, "Observe", "StatusEdited", {.kind = "AppType", .name = "etcd"}, false, true},
	{"a",
	 "Observe",
	 "StatusEdited",
	 {.kind = "AppType", .ns = "a", .name = "etcd"},
	 false,
	 true},
	{"a", "Observe", "StatusEdited", {.kind = "AppType", .name = "etcd"}, false, false},
	{NULL,
	 "Observe",
	 "StatusEdited",
	 {.kind = "AppType", .ns = "a", .name = "etcd"},
	 false,
	 false},
	{NULL, "Observe", "Drifted", {.kind = "AppType", .name = "etcd"}, false, false},
	{NULL, "System", "StatusEdited", {.kind = "AppType", .name = "etcd"}, false, false},
	{NULL, "Observe", "StatusEdited", {.kind = "Catalog", .name = "etcd"}, false, false},
	{NULL, "Observe", "StatusEdited", {.kind = "AppType", .name = "vault"}, false, false},
	{NULL,
	 "Observe",
	 "StatusEdited",
	 {.cluster = "far", .kind = "AppType", .name = "etcd"},
	 false,
	 false},
	{NULL, "Observe", "StatusEdited", {.kind = "AppType", .name = "etcd"}, true, false},
};

static void test_audit_replay__whose_status_stood_there_is_asked_of_the_log(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(contests); i++) {
		CLEANUP(obj_unrefp) struct obj *body = parsed("{\"message\":\"another wrote it\"}");
		const struct audit_row seen = {.type = contests[i].type,
					       .reason = contests[i].reason,
					       .subject = contests[i].subject,
					       .body = body};
		again();
		status_row(1, "Resolving", first_status, first_body, contests[i].ns);
		if (!contests[i].later)
			append(&seen);
		status_row(
			2, "Installed", second_status,
			"{\"from\":\"Failed\",\"to\":\"Installed\",\"version\":{\"to\":\"1.0\"}}",
			contests[i].ns);
		if (contests[i].later)
			append(&seen);
		replay();
		if (rep.n_findings != !contests[i].excuses ||
		    rep.n_unchecked != contests[i].excuses)
			fail_msg("row %zu: %zu findings", i, rep.n_findings);
		if (contests[i].excuses)
			assert_non_null(strstr(rep.unchecked[0],
					       "entry 4: somebody else wrote the status"));
	}
}

static void test_audit_replay__the_end_of_an_object_is_compared(void **state)
{
	static const struct {
		const char *body;
		size_t n_findings;
	} rows[] = {{"{\"from\":\"Installed\",\"to\":\"Deleted\"}", 0},
		    {"{\"to\":\"Deleted\"}", 0}, /* it says nothing of it */
		    {"{\"from\":\"Resolving\",\"to\":\"Deleted\"}", 1}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		again();
		status_row(1, "Resolving", first_status, first_body, NULL);
		status_row(2, "Installed", second_status, second_body, NULL);
		transition(3, "Deleted", rows[i].body);
		replay();
		assert_int_equal(rep.replayed, 3);
		assert_int_equal(rep.n_findings, rows[i].n_findings);
		if (rep.n_findings)
			assert_non_null(strstr(rep.findings[0].text, "another transition: from"));
	}
}

/* What secrets.h hid when it was written is made anew in clear: the two need not be equal. */
static void test_audit_replay__what_was_hidden_is_no_lie(void **state)
{
	(void)state;
	decide("{\"message\":\"the password is (hidden)\"}", ALM_VERSION, true);
	replay();
	assert_int_equal(rep.decisions, 1);
	assert_int_equal(rep.n_findings, 0);
}

/* After an accepted gap, or pruned, there is nothing to compare with: that is no alteration. */
static void test_audit_replay__a_predecessor_that_is_gone(void **state)
{
	(void)state;
	transition(7, "Installed",
		   "{\"from\":\"Failed\",\"status\":\"{\\\"transitionSeq\\\":7}\"}");
	replay();
	assert_int_equal(rep.n_findings, 0);
	assert_int_equal(rep.n_unchecked, 1);
}

static void counts(void *arg, int64_t at, int64_t n)
{
	int64_t *told = arg;
	told[0]++;
	assert_true(told[1] < at && at <= n);
	told[1] = at;
}

/* A line each 1024 entries, not one an entry. */
static void test_audit_replay__how_far_it_is_is_told_now_and_then(void **state)
{
	struct error err = ERROR_INIT;
	int64_t told[2] = {0}, n = 0;
	(void)state;
	audit_log_fill(&l, 5000, 500);
	assert_ok(db_number(l.db,
			    "SELECT count(*) FROM audit WHERE type IN ('Transition', 'Decision')",
			    NULL, &n, &err),
		  &err);
	memset(&rep, 0, sizeof(rep));
	rep.last = audit_last_seq(l.audit);
	struct verify_options o = {.progress = counts, .progress_arg = told};
	assert_ok(replay_log(l.db, &o, &rep, &err), &err);
	assert_true(n > 2048);
	assert_int_equal(told[0], n / 1024);
}

#define T(name) cmocka_unit_test_setup_teardown(test_audit_replay__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_true_decision_replays),
		T(a_decision_that_its_inputs_do_not_give),
		T(what_it_cannot_judge_it_says),
		T(inputs_that_are_no_inputs),
		T(a_true_transition_replays),
		T(a_transition_that_its_statuses_do_not_give),
		T(a_predecessor_that_is_gone),
		T(every_part_of_a_transition_is_compared),
		T(whose_status_stood_there_is_asked_of_the_log),
		T(the_end_of_an_object_is_compared),
		T(what_was_hidden_is_no_lie),
		T(how_far_it_is_is_told_now_and_then),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
