/*
 * rollout_next: whose turn it is. Pure: groups of steps, and how far each step is, give the steps
 * that may act now and the state of each group.
 *
 * Groups follow each other, and so do the steps of a group; what is below a "parallel" goes at
 * once. A failed step ends the run when its group has come to rest: steps that were begun go on,
 * none begins. With continue_on_error the rest runs, and the run has failed at its end all the
 * same. Nothing is remembered here: the caller tells anew in each reconcile how far a step is.
 */
#ifndef ALM_UNIT_ROLLOUT_NEXT_H
#define ALM_UNIT_ROLLOUT_NEXT_H

#include <stdbool.h>
#include <stddef.h>

enum step_state {
	STEP_NOT_BEGUN,
	STEP_ACTING,  /* begun: has something to write */
	STEP_WAITING, /* written, and its checks wait */
	STEP_DONE,
	STEP_FAILED,
};

enum group_state { GROUP_NOT_STARTED, GROUP_IN_PROGRESS, GROUP_FINISHED, GROUP_FAILED };

struct turn_step {
	enum step_state state;
	bool continue_on_error;
	bool go; /* returned: it may act now */
};

struct turn_group {
	bool parallel; /* its steps */
	struct turn_step *steps;
	size_t n;
	enum group_state state; /* returned */
};

enum rollout_end { ROLLOUT_GOES_ON, ROLLOUT_DONE, ROLLOUT_FAILED };

/* parallel: the groups. */
enum rollout_end rollout_next(struct turn_group *groups, size_t n, bool parallel);

#endif
