/* The states of an Install: every edge is in one table, all that may become known leads along it, and no edge of it
 * is one that nothing takes. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/controllers/fleet/install_state.h"

/* fleet.md 2.4 as far as one cluster goes, by hand: what the table must say. */
static const struct {
	enum install_state from;
	const char *phase, *to;
} edges[] = {
	{INSTALL_PLANNING, "pending", "Blocked Applying Superseded "},
	{INSTALL_BLOCKED, "pending", "Planning Superseded "},
	{INSTALL_APPLYING, "running", "Planning Verifying RollingBack Failed Superseded "},
	{INSTALL_VERIFYING, "running", "Planning Pruning RollingBack Failed Superseded "},
	{INSTALL_PRUNING, "running",
	 "Planning Verifying RollingBack Succeeded Deleted Failed Superseded "},
	{INSTALL_ROLLING_BACK, "running", "Planning RolledBack Failed "},
	{INSTALL_SUCCEEDED, "completed", "Planning "},
	{INSTALL_DELETED, "completed", ""},
	{INSTALL_ROLLED_BACK, "failed", "Planning "},
	{INSTALL_FAILED, "failed", "Planning "},
	{INSTALL_SUPERSEDED, "failed", ""},
};

static void test_install_state__the_table_is_that_of_the_page(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(edges), INSTALL_STATES);
	for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		for (size_t to = 0; to < INSTALL_STATES; to++)
			if (install_edge(edges[i].from, (enum install_state)to))
				strbuf_addf(&b, "%s ", install_state_name((enum install_state)to));
		assert_string_equal(b.buf ? b.buf : "", edges[i].to);
		assert_string_equal(install_phase(edges[i].from), edges[i].phase);
		assert_int_equal(install_state_find(install_state_name(edges[i].from)),
				 edges[i].from);
	}
	assert_int_equal(install_state_find(NULL), INSTALL_PLANNING);
	assert_int_equal(install_state_find("Offline"), INSTALL_PLANNING);
}

/* What may become known of one that is in that state, on its own attempt or on another. */
static enum install_state next_of(unsigned bits)
{
	const struct install_facts f = {.run = (enum bundle_run)(bits / 32 % BUNDLE_RUNS),
					.deleting = bits & 1,
					.told = bits & 2,
					.tries = bits & 4,
					.steps = 2,
					.begun = bits / 8 % 3,
					.finished = bits / 32 / BUNDLE_RUNS};
	return install_state_of(&f);
}

/* The edges of a shortest way are taken. False: there is none. */
static bool go(enum install_state from, enum install_state to,
	       bool taken[INSTALL_STATES][INSTALL_STATES])
{
	size_t before[INSTALL_STATES] = {0}, queue[INSTALL_STATES], head = 0, tail = 0;
	bool seen[INSTALL_STATES] = {false};
	seen[from] = true;
	queue[tail++] = from;
	while (head < tail && !seen[to]) {
		size_t at = queue[head++];
		for (size_t i = 0; i < INSTALL_STATES; i++)
			if (!seen[i] &&
			    install_edge((enum install_state)at, (enum install_state)i)) {
				seen[i] = true;
				before[i] = at;
				queue[tail++] = i;
			}
	}
	for (size_t at = to; seen[to] && at != from; at = before[at])
		taken[before[at]][at] = true;
	return seen[to];
}

static void check_taken(enum install_state from, const bool taken[INSTALL_STATES])
{
	for (size_t to = 0; to < INSTALL_STATES; to++)
		if (install_edge(from, (enum install_state)to) && !taken[to])
			fail_msg("nothing goes from %s to %s", install_state_name(from),
				 install_state_name((enum install_state)to));
}

static void test_install_state__all_facts_lead_along_edges_and_each_is_taken(void **state)
{
	(void)state;
	bool taken[INSTALL_STATES][INSTALL_STATES] = {0};
	bool entered[INSTALL_STATES] = {[INSTALL_PLANNING] = true}, grows = true;
	while (grows) {
		grows = false;
		for (size_t from = 0; from < INSTALL_STATES; from++) {
			for (unsigned bits = 0; entered[from] && bits < 32 * BUNDLE_RUNS * 3;
			     bits++) {
				enum install_state to = next_of(bits);
				bool leads = go((enum install_state)from, to, taken);
				assert_int_equal(leads,
						 install_leads((enum install_state)from, to));
				/* these two end: another Install is made */
				if (!leads && from != INSTALL_SUPERSEDED && from != INSTALL_DELETED)
					fail_msg("no way from %s to %s",
						 install_state_name((enum install_state)from),
						 install_state_name(to));
				grows = grows || (leads && !entered[to]);
				entered[to] = entered[to] || leads;
			}
			enum install_state left = install_replaced((enum install_state)from);
			if (entered[from] && left != from) {
				assert_true(install_edge((enum install_state)from, left));
				taken[from][left] = entered[left] = true;
			}
		}
	}
	for (size_t from = 0; from < INSTALL_STATES; from++) {
		assert_true(entered[from]);
		check_taken((enum install_state)from, taken[from]);
	}
}

static void test_install_state__by_what_is_known(void **state)
{
	(void)state;
	static const struct {
		struct install_facts facts;
		enum install_state want;
	} cases[] = {
		{{.run = RUN_GOES, .steps = 2}, INSTALL_PLANNING},
		{{.run = RUN_GOES, .told = true, .steps = 2}, INSTALL_PLANNING},
		{{.run = RUN_GOES, .told = true, .steps = 2, .begun = 1}, INSTALL_APPLYING},
		{{.run = RUN_GOES, .told = true, .steps = 2, .begun = 2, .finished = 1},
		 INSTALL_VERIFYING},
		/* what there is is not written while a canary of it is tried */
		{{.run = RUN_GOES, .told = true, .tries = true, .steps = 1, .begun = 1},
		 INSTALL_APPLYING},
		{{.run = RUN_GOES, .told = true, .steps = 2, .begun = 2, .finished = 2},
		 INSTALL_PRUNING},
		/* nothing is wanted: it is deleted */
		{{.run = RUN_GOES, .told = true, .deleting = true}, INSTALL_PRUNING},
		{{.run = RUN_DONE, .told = true, .deleting = true}, INSTALL_DELETED},
		{{.run = RUN_DONE, .told = true, .steps = 2}, INSTALL_SUCCEEDED},
		{{.run = RUN_REFUSED, .told = true, .steps = 2}, INSTALL_BLOCKED},
		{{.run = RUN_HELD, .told = true, .steps = 2}, INSTALL_BLOCKED},
		{{.run = RUN_FAILED, .told = true, .steps = 2, .begun = 1}, INSTALL_FAILED},
		{{.run = RUN_GOES_BACK, .told = true, .steps = 2}, INSTALL_ROLLING_BACK},
		{{.run = RUN_WENT_BACK, .told = true, .steps = 2}, INSTALL_ROLLED_BACK},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(install_state_name(install_state_of(&cases[i].facts)),
				    install_state_name(cases[i].want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install_state__the_table_is_that_of_the_page),
		cmocka_unit_test(test_install_state__all_facts_lead_along_edges_and_each_is_taken),
		cmocka_unit_test(test_install_state__by_what_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
