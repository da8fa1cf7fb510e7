/* What verify tells, in words and for programs: every fact of a report stands in both where it holds, and in none where not. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/verify.h"
#include "alm/obj/json.h"

static struct verify_report clean(void)
{
	return (struct verify_report){.first = 3,
				      .last = 12,
				      .rows = 10,
				      .checkpoints = 4,
				      .blobs = 5,
				      .transitions = 6,
				      .statuses = 7,
				      .objects = 8,
				      .good_checkpoint = 9,
				      .decisions = 21,
				      .decisions_without_inputs = 22,
				      .replayed = 23};
}

static void tells(const struct verify_report *r, const char *words, const char *json, int code)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	CLEANUP(obj_unrefp) struct obj *o = verify_obj(r);
	CLEANUP(xfreep) char *text = json_text(o);
	verify_print(r, &b);
	assert_string_equal(b.buf, words);
	assert_string_equal(text, json);
	assert_int_equal(verify_exit(r), code);
}

static void test_verify_report__an_intact_log(void **state)
{
	(void)state;
	struct verify_report r = clean();
	tells(&r,
	      "10 entries: chain, tree, 4 checkpoints, 5 blobs ok; no anchor, so a cut-off end "
	      "would not "
	      "show; 6 transitions, statuses not compared\n",
	      "{\"outcome\":\"Intact\",\"rows\":10,\"firstRow\":3,\"lastRow\":12,\"checkpoints\":4,"
	      "\"rowsAfterLastCheckpoint\":0,\"blobs\":5,\"transitions\":6,\"anchors\":[],"
	      "\"findings\":[],\"findingsOmitted\":0,\"notChecked\":[]}",
	      0);
}

static void test_verify_report__all_that_was_compared(void **state)
{
	(void)state;
	struct verify_report r = clean();
	r.unsigned_rows = 1;
	r.statuses_compared = r.objects_compared = r.is_replayed = true;
	r.n_anchors = 2;
	(void)snprintf(r.anchor_texts[0], sizeof(r.anchor_texts[0]), "anchor one");
	(void)snprintf(r.anchor_texts[1], sizeof(r.anchor_texts[1]), "anchor two");
	(void)snprintf(r.pruned, sizeof(r.pruned), "entries 1..2 were pruned");
	r.n_unchecked = 1;
	(void)snprintf(r.unchecked[0], sizeof(r.unchecked[0]), "this and that");
	tells(&r,
	      "10 entries: chain, tree, 4 checkpoints, 5 blobs ok; 1 entries after the last "
	      "checkpoint; "
	      "anchor one; anchor two; 6 transitions = 7 statuses; 8 objects as logged; replayed: "
	      "21 "
	      "decisions and 23 transitions are what their inputs give, 22 named no inputs\n"
	      "entries 1..2 were pruned\nNOT CHECKED this and that\n",
	      "{\"outcome\":\"NotAllChecked\",\"rows\":10,\"firstRow\":3,\"lastRow\":12,"
	      "\"pruned\":\"entries 1..2 were "
	      "pruned\",\"checkpoints\":4,\"rowsAfterLastCheckpoint\":1,"
	      "\"blobs\":5,\"transitions\":6,\"statuses\":7,\"objects\":8,\"replayedDecisions\":21,"
	      "\"decisionsWithoutInputs\":22,\"replayedTransitions\":23,\"anchors\":[\"anchor "
	      "one\","
	      "\"anchor two\"],\"findings\":[],\"findingsOmitted\":0,\"notChecked\":[\"this and "
	      "that\"]}",
	      1);
}

/* A log of runs has no statuses, and one that is read from its last checkpoint says up to where it was not. */
static void test_verify_report__what_is_not_compared(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	struct verify_report r = clean();
	r.is_of_runs = true;
	verify_print(&r, &b);
	assert_non_null(strstr(b.buf, "; 6 transitions of runs, which have no statuses\n"));
	strbuf_clear(&b);
	r.since_checkpoint = true;
	verify_print(&r, &b);
	assert_non_null(strstr(b.buf, "; entries up to 2 not read again\n"));
	assert_null(strstr(b.buf, "transitions"));
}

static void test_verify_report__findings(void **state)
{
	(void)state;
	struct verify_report r = clean();
	r.n_findings = 4;
	r.n_omitted = 2;
	r.findings[0] = (struct verify_finding){.seq = 5, .to = 7, .text = "missing"};
	r.findings[1] = (struct verify_finding){.seq = 8, .to = 8, .text = "one"};
	r.findings[2] = (struct verify_finding){.seq = 9, .to = 9, .text = "two"};
	r.findings[3] = (struct verify_finding){.to = 9, .text = "no row"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	CLEANUP(obj_unrefp) struct obj *o = verify_obj(&r);
	CLEANUP(xfreep) char *text = json_text(obj_get(o, "findings"));
	verify_print(&r, &b);
	assert_string_equal(
		b.buf,
		"FAIL entries 5..7: missing; entries 3..4 and 10..12 intact; last checkpoint "
		"before it: 9\n"
		"FAIL entry 8: one\nFAIL entry 9: two\nFAIL: no row\nFAIL: 2 more findings\n");
	assert_string_equal(text,
			    "[{\"seq\":5,\"to\":7,\"message\":\"missing\"},{\"seq\":8,"
			    "\"message\":\"one\"},{\"seq\":9,\"message\":\"two\"},{\"message\":"
			    "\"no row\"}]");
	assert_string_equal(obj_str(o, "outcome"), "Altered");
	assert_int_equal(obj_i64(o, "findingsOmitted", 0), 2);
	assert_int_equal(verify_exit(&r), 4);
}

#define ENTRIES 32 /* more than findings are of */

/* Findings in any order, one over another or not; marks what they are of. */
static void draw_findings(struct verify_report *r, uint64_t *prng, bool bad[ENTRIES])
{
	for (size_t i = 0; i < r->n_findings; i++) {
		*prng = *prng * 6364136223846793005U + 1442695040888963407U;
		int64_t seq = (int64_t)(*prng >> 33) % 16, to = seq + (int64_t)(*prng >> 50) % 4;
		r->findings[i] = (struct verify_finding){.seq = seq, .to = seq ? to : 0};
		for (int64_t k = seq; seq && k <= to; k++)
			bad[k] = true;
	}
}

static void say_intact(const struct verify_report *r, const bool bad[ENTRIES], struct strbuf *b)
{
	for (int64_t k = r->first, begin; k <= r->last; k++) {
		if (bad[k])
			continue;
		for (begin = k; k < r->last && !bad[k + 1];)
			k++;
		strbuf_addf(b, "%s%d..%d", b->len ? " and " : "; entries ", (int)begin, (int)k);
	}
	strbuf_adds(b, b->len ? " intact;" : "; entries none intact;");
}

static void test_verify_report__what_is_intact(void **state)
{
	(void)state;
	uint64_t prng = 7;
	for (int turn = 0; turn < 2000; turn++) {
		struct verify_report r = {.first = 3, .last = 14, .n_findings = 4};
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16),
						      want = STRBUF_INIT(1 << 16);
		bool bad[ENTRIES] = {false};
		draw_findings(&r, &prng, bad);
		say_intact(&r, bad, &want);
		verify_print(&r, &b);
		if (!strstr(b.buf, want.buf))
			fail_msg("turn %d: %s is not in %s", turn, want.buf, b.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verify_report__an_intact_log),
		cmocka_unit_test(test_verify_report__all_that_was_compared),
		cmocka_unit_test(test_verify_report__what_is_not_compared),
		cmocka_unit_test(test_verify_report__findings),
		cmocka_unit_test(test_verify_report__what_is_intact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
