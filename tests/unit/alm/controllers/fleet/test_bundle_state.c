/* The states of a Bundle: every edge is in one table, the facts lead along it, and what can never be
 * entered is known. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"

#include "alm/controllers/fleet/bundle_state.h"

/* fleet.md 2.5, by hand: what the table must say. -: to Deleting and Fetching besides. */
static const struct {
	enum bundle_state from;
	const char *to;
} edges[] = {
	{BUNDLE_NEW, "Fetching Deleting "},
	{BUNDLE_FETCHING, "SourceFailed Rendering Deleting "},
	{BUNDLE_SOURCE_FAILED, "Fetching Deleting "},
	{BUNDLE_RENDERING,
	 "Fetching Invalid Planning Blocked AwaitingApproval Stopped Synced Degraded Deleting "},
	{BUNDLE_INVALID, "Fetching Deleting "},
	{BUNDLE_PLANNING, "Fetching Blocked Rolling AwaitingApproval Synced Deleting "},
	{BUNDLE_BLOCKED, "Fetching Planning Deleting "},
	{BUNDLE_ROLLING, "Fetching Rolling Soaking AwaitingApproval Stopped RollingBack Synced "
			 "Degraded Deleting "},
	{BUNDLE_SOAKING, "Fetching Rolling AwaitingApproval Stopped Synced Deleting "},
	{BUNDLE_AWAITING_APPROVAL, "Fetching Planning Rolling Stopped Deleting "},
	{BUNDLE_STOPPED, "Fetching Planning Deleting "},
	{BUNDLE_ROLLING_BACK, "Stopped RolledBack Deleting "},
	{BUNDLE_ROLLED_BACK, "Fetching Planning Deleting "},
	{BUNDLE_SYNCED, "Fetching Degraded Deleting "},
	{BUNDLE_DEGRADED, "Fetching Synced Deleting "},
	{BUNDLE_DELETING, ""},
};

static void test_bundle_state__the_table_is_that_of_the_page(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(edges), BUNDLE_STATES);
	for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		for (size_t to = 0; to < BUNDLE_STATES; to++)
			if (bundle_edge(edges[i].from, (enum bundle_state)to))
				strbuf_addf(&b, "%s ", bundle_state_name((enum bundle_state)to));
		assert_string_equal(b.buf ? b.buf : "", edges[i].to);
	}
}

static void test_bundle_state__names_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < BUNDLE_STATES; i++)
		assert_int_equal(bundle_state_find(bundle_state_name((enum bundle_state)i)), i);
	assert_int_equal(bundle_state_find(NULL), BUNDLE_NEW);
	assert_int_equal(bundle_state_find("Anything"), BUNDLE_NEW);
}

/* From every state that can be entered, whatever becomes known, there is a way of edges alone; each
 * edge between states that are built is one of these ways. */
static void test_bundle_state__all_facts_lead_along_edges(void **state)
{
	(void)state;
	bool entered[BUNDLE_STATES] = {[BUNDLE_NEW] = true}, grows = true;
	while (grows) {
		grows = false;
		for (size_t from = 0; from < BUNDLE_STATES; from++)
			for (unsigned bits = 0; entered[from] && bits < 64 * BUNDLE_RUNS; bits++) {
				const struct bundle_facts f = {
					.deleting = bits & 1,
					.newer = bits & 2,
					.unhealthy = bits & 4,
					.drifts = bits & 8,
					.source = (enum bundle_source)(bits / 16 % 4),
					.run = (enum bundle_run)(bits / 64)};
				enum bundle_state way[BUNDLE_STATES], to = bundle_state_of(&f),
								      at = (enum bundle_state)from;
				size_t n = bundle_way(at, to, way);
				if (from == BUNDLE_DELETING)
					continue; /* it is not taken back */
				assert_true(n || at == to);
				for (size_t k = 0; k < n; k++) {
					if (!bundle_edge(at, way[k]))
						fail_msg("%s to %s is no edge",
							 bundle_state_name(at),
							 bundle_state_name(way[k]));
					at = way[k];
					grows = grows || !entered[at];
					entered[at] = true;
				}
				assert_int_equal(at, to);
			}
	}
	for (size_t i = 0; i < BUNDLE_STATES; i++)
		assert_int_equal(entered[i], i != BUNDLE_SOAKING);
}

static const struct {
	const char *about;
	struct bundle_facts facts;
	enum bundle_state want;
} cases[] = {
	{"nothing is known", {0}, BUNDLE_FETCHING},
	{"read, and not run", {.source = SOURCE_READ, .newer = true}, BUNDLE_ROLLING},
	{"it is there", {.source = SOURCE_READ, .run = RUN_DONE}, BUNDLE_SYNCED},
	{"what is there stays when the source goes",
	 {.source = SOURCE_FAILED, .run = RUN_DONE},
	 BUNDLE_SOURCE_FAILED},
	{"a parse error is told, whatever runs before",
	 {.source = SOURCE_INVALID, .run = RUN_DONE},
	 BUNDLE_INVALID},
	{"what has begun is told until it ends",
	 {.source = SOURCE_INVALID, .run = RUN_GOES},
	 BUNDLE_ROLLING},
	{"deletes beyond the limit wait",
	 {.source = SOURCE_READ, .run = RUN_HELD},
	 BUNDLE_AWAITING_APPROVAL},
	{"refused before a write", {.source = SOURCE_READ, .run = RUN_REFUSED}, BUNDLE_BLOCKED},
	{"a step failed", {.source = SOURCE_READ, .run = RUN_FAILED}, BUNDLE_STOPPED},
	{"the next push after that",
	 {.source = SOURCE_READ, .run = RUN_FAILED, .newer = true},
	 BUNDLE_ROLLING},
	{"drift that stays",
	 {.source = SOURCE_READ, .run = RUN_DONE, .drifts = true},
	 BUNDLE_DEGRADED},
	{"back to the revision before, whatever was pushed",
	 {.source = SOURCE_READ, .run = RUN_GOES_BACK, .newer = true},
	 BUNDLE_ROLLING_BACK},
	{"there again", {.source = SOURCE_READ, .run = RUN_WENT_BACK}, BUNDLE_ROLLED_BACK},
	{"deleted", {.deleting = true, .source = SOURCE_READ, .run = RUN_GOES}, BUNDLE_DELETING},
};

static void test_bundle_state__by_what_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (bundle_state_of(&cases[i].facts) != cases[i].want)
			fail_msg("%s: %s", cases[i].about,
				 bundle_state_name(bundle_state_of(&cases[i].facts)));
}

static void test_bundle_state__when_the_same_is_run_again(void **state)
{
	(void)state;
	static const struct {
		struct bundle_ended ended;
		int64_t want;
	} retries[] = {
		{{.run = RUN_NONE, .is_other = true}, -1},
		{{.run = RUN_GOES, .is_other = true}, -1},
		{{.run = RUN_DONE, .is_other = true}, 0},
		{{.run = RUN_WENT_BACK, .is_other = true}, 0},
		{{.run = RUN_FAILED, .is_asked = true}, 0},
		{{.run = RUN_WENT_BACK, .is_asked = true}, 0},
		{{.run = RUN_REFUSED, .is_asked = true, .failures = 9}, 0},
		{{.run = RUN_DONE, .is_asked = true}, -1},
		{{.run = RUN_HELD, .is_asked = true}, -1},
		{{.run = RUN_GOES, .is_asked = true}, -1},
		{{.run = RUN_DONE}, -1},
		{{.run = RUN_FAILED, .failures = 1}, -1},
		{{.run = RUN_HELD}, -1},
		{{.run = RUN_REFUSED, .failures = 1}, NS_PER_MIN},
		{{.run = RUN_REFUSED, .failures = 3, .since_ns = NS_PER_MIN}, 3 * NS_PER_MIN},
		{{.run = RUN_REFUSED, .failures = 3, .since_ns = NS_PER_HOUR}, 0},
		{{.run = RUN_REFUSED, .failures = 99}, NS_PER_HOUR},
	};
	for (size_t i = 0; i < ARRAY_LEN(retries); i++)
		assert_int_equal(bundle_retry_in(&retries[i].ended), retries[i].want);
}

static void test_bundle_state__what_a_record_says_of_its_run(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct { const char *state, *reason; bool refused; enum bundle_run want; } rows[] = {
		{"Succeeded",   NULL,         false, RUN_DONE},
		{"Succeeded",   "PruneHeld",  true,  RUN_DONE},
		{"RollingBack", "StepFailed", true,  RUN_GOES_BACK},
		{"RolledBack",  "StepFailed", true,  RUN_WENT_BACK},
		{"Failed",      NULL,         false, RUN_FAILED},
		{"Failed",      "StepFailed", true,  RUN_REFUSED},
		{"Failed",      "PruneHeld",  false, RUN_HELD},
		{"Failed",      "PruneHeld",  true,  RUN_HELD},
		{"Running",     "PruneHeld",  true,  RUN_GOES},
		{NULL,          NULL,         false, RUN_GOES},
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *record = obj_map();
		if (rows[i].state)
			obj_set_str(record, "state", rows[i].state);
		if (rows[i].reason)
			obj_set_str(record, "reason", rows[i].reason);
		if (rows[i].refused)
			obj_set_bool(record, "refused", true);
		assert_int_equal(bundle_run_of(record), rows[i].want);
	}
	assert_int_equal(bundle_run_of(NULL), RUN_GOES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_state__when_the_same_is_run_again),
		cmocka_unit_test(test_bundle_state__the_table_is_that_of_the_page),
		cmocka_unit_test(test_bundle_state__names_are_found),
		cmocka_unit_test(test_bundle_state__what_a_record_says_of_its_run),
		cmocka_unit_test(test_bundle_state__all_facts_lead_along_edges),
		cmocka_unit_test(test_bundle_state__by_what_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
