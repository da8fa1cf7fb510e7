/* Whose turn it is, as a table: a line a group, a letter a step. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/mem.h"
#include "alm/unit/rollout_next.h"

#define GROUPS_MAX 4
#define STEPS_MAX  4

/*
 * Groups, separated by a space: "|" in front: its steps go at once. Steps: - not begun, a acting, w
 * waiting, d done, f failed, c failed with continueOnError. In what is wanted ! is a step that may
 * act, . one that may not.
 */
struct row {
	const char *about, *groups;
	bool parallel;
	const char *go;
	enum rollout_end end;
	const char *states; /* N I F X: not started, in progress, finished, failed */
};

/* clang-format off */
static const struct row rows[] = {
	{"the first step of the first group",      "-- -",    false, "!. .",  ROLLOUT_GOES_ON, "IN"},
	{"all steps of the first group",           "|-- -",   false, "!! .",  ROLLOUT_GOES_ON, "IN"},
	{"the first step of each group",           "-- --",   true,  "!. !.", ROLLOUT_GOES_ON, "II"},
	{"all at once",                            "|-- |--", true,  "!! !!", ROLLOUT_GOES_ON, "II"},
	{"one that waits holds the next",          "w- -",    false, ".. .",  ROLLOUT_GOES_ON, "IN"},
	{"one that acts goes on",                  "a- -",    false, "!. .",  ROLLOUT_GOES_ON, "IN"},
	{"the next step",                          "d- -",    false, ".! .",  ROLLOUT_GOES_ON, "IN"},
	{"the next group",                         "dd -",    false, ".. !",  ROLLOUT_GOES_ON, "FI"},
	{"an empty group is finished",             " -",      false, " !",    ROLLOUT_GOES_ON, "FI"},
	{"done",                                   "dd d",    false, ".. .",  ROLLOUT_DONE,    "FF"},
	{"nothing to do is done",                  "",        false, "",      ROLLOUT_DONE,    "F"},
	{"a failed step ends the run",             "f- -",    false, ".. .",  ROLLOUT_FAILED,  "XN"},
	{"... when what goes beside it has ended", "|fa- -",  false, ".!. .", ROLLOUT_GOES_ON, "IN"},
	{"... and its checks",                     "|fw- -",  false, "... .", ROLLOUT_GOES_ON, "IN"},
	{"... nothing else begins",                "|fd- -",  false, "... .", ROLLOUT_FAILED,  "XN"},
	{"... in no group",                        "f- -",    true,  ".. .",  ROLLOUT_FAILED,  "XN"},
	{"... other groups end what they began",   "f a-",    true,  ". !.",  ROLLOUT_GOES_ON, "XI"},
	{"... and have failed with it",            "f d-",    true,  ". ..",  ROLLOUT_FAILED,  "XX"},
	{"continueOnError: the next step",         "c- -",    false, ".! .",  ROLLOUT_GOES_ON, "IN"},
	{"continueOnError: the next group",        "cd -",    false, ".. !",  ROLLOUT_GOES_ON, "XI"},
	{"continueOnError: failed at the end",     "c d",     false, ". .",   ROLLOUT_FAILED,  "XF"},
	{"continueOnError of all, all at once",    "|cc |c-", true,  ".. .!", ROLLOUT_GOES_ON, "XI"},
	{"one of both",                            "|cf -",   false, ".. .",  ROLLOUT_FAILED,  "XN"},
};
/* clang-format on */

static enum step_state state_of(char c)
{
	static const char letters[] = "-awdf";
	return c == 'c' ? STEP_FAILED : (enum step_state)(strchr(letters, c) - letters);
}

static size_t parse(const char *text, struct turn_group *groups,
		    struct turn_step steps[GROUPS_MAX][STEPS_MAX])
{
	size_t n = 0;
	memset(groups, 0, GROUPS_MAX * sizeof(*groups));
	groups[n].steps = steps[n];
	for (const char *c = text; *c; c++) {
		struct turn_group *g = &groups[n];
		if (*c == ' ') {
			n++;
			groups[n].steps = steps[n];
		} else if (*c == '|') {
			g->parallel = true;
		} else {
			g->steps[g->n++] = (struct turn_step){.state = state_of(*c),
							      .continue_on_error = *c == 'c'};
		}
	}
	return n + 1;
}

static void test_rollout_next__order_parallel_and_continue_on_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct turn_group groups[GROUPS_MAX];
		struct turn_step steps[GROUPS_MAX][STEPS_MAX];
		size_t n = parse(r->groups, groups, steps);
		char go[64] = "", states[8] = "";
		size_t at = 0;
		enum rollout_end end = rollout_next(groups, n, r->parallel);
		for (size_t g = 0; g < n; g++) {
			if (g)
				go[at++] = ' ';
			for (size_t k = 0; k < groups[g].n; k++)
				go[at++] = groups[g].steps[k].go ? '!' : '.';
			states[g] = "NIFX"[groups[g].state];
		}
		if (strcmp(go, r->go) != 0 || end != r->end || strcmp(states, r->states) != 0)
			fail_msg("%s: \"%s\" gives \"%s\", states %s, end %d", r->about, r->groups,
				 go, states, (int)end);
	}
}

/* Every mix of two groups of two steps, played to its end: it ends, nothing acts after a failure
 * that ends the run, and all that can run has run. */
static void play(unsigned mix, bool groups_at_once, bool steps_at_once)
{
	struct turn_step steps[2][2] = {0};
	struct turn_group groups[2] = {{.parallel = steps_at_once, .steps = steps[0], .n = 2},
				       {.parallel = steps_at_once, .steps = steps[1], .n = 2}};
	bool fails[2][2], stopped = false;
	enum rollout_end end = ROLLOUT_GOES_ON;
	for (unsigned i = 0; i < 4; i++) {
		unsigned how = mix >> (2 * i) & 3; /* 0, 1: well; 2: fails; 3: and goes on */
		fails[i / 2][i % 2] = how >= 2;
		steps[i / 2][i % 2].continue_on_error = how == 3;
	}
	for (int turn = 0; turn < 20 && end == ROLLOUT_GOES_ON; turn++) {
		end = rollout_next(groups, 2, groups_at_once);
		for (unsigned i = 0; i < 4; i++) {
			struct turn_step *s = &steps[i / 2][i % 2];
			assert_false(s->go && s->state == STEP_NOT_BEGUN && stopped);
			if (s->state == STEP_WAITING)
				s->state = fails[i / 2][i % 2] ? STEP_FAILED : STEP_DONE;
			else if (s->go)
				s->state = STEP_WAITING;
		}
		for (unsigned i = 0; i < 4; i++)
			stopped = stopped || (steps[i / 2][i % 2].state == STEP_FAILED &&
					      !steps[i / 2][i % 2].continue_on_error);
	}
	bool failed = false;
	for (unsigned i = 0; i < 4; i++) {
		failed = failed || fails[i / 2][i % 2];
		assert_true(stopped || steps[i / 2][i % 2].state >= STEP_DONE);
	}
	assert_int_equal(end, failed ? ROLLOUT_FAILED : ROLLOUT_DONE);
}

static void test_rollout_next__every_mix_ends(void **state)
{
	(void)state;
	for (unsigned mix = 0; mix < 256; mix++)
		for (int at_once = 0; at_once < 4; at_once++)
			play(mix, at_once & 1, at_once & 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rollout_next__order_parallel_and_continue_on_error),
		cmocka_unit_test(test_rollout_next__every_mix_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
