#include "alm/unit/rollout_next.h"

static bool is_open(const struct turn_step *s)
{
	return s->state == STEP_NOT_BEGUN || s->state == STEP_ACTING || s->state == STEP_WAITING;
}

static bool is_under_way(const struct turn_step *s)
{
	return s->state == STEP_ACTING || s->state == STEP_WAITING;
}

/* Has it failed so that nothing new begins? */
static bool stops(const struct turn_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->steps[i].state == STEP_FAILED && !g->steps[i].continue_on_error)
			return true;
	return false;
}

static void go(struct turn_group *g, bool none_begins)
{
	for (size_t i = 0; i < g->n; i++) {
		struct turn_step *s = &g->steps[i];
		if (!is_open(s))
			continue;
		s->go = s->state != STEP_WAITING && (is_under_way(s) || !none_begins);
		if (!g->parallel)
			return;
	}
}

static enum group_state state_of(const struct turn_group *g, bool ended)
{
	size_t open = 0, begun = 0, failed = 0, left = 0;
	for (size_t i = 0; i < g->n; i++) {
		open += is_open(&g->steps[i]) && (is_under_way(&g->steps[i]) || !ended);
		begun += g->steps[i].state != STEP_NOT_BEGUN || g->steps[i].go;
		failed += g->steps[i].state == STEP_FAILED;
		left += g->steps[i].state == STEP_NOT_BEGUN;
	}
	if (open)
		return begun ? GROUP_IN_PROGRESS : GROUP_NOT_STARTED;
	if (failed || (left && begun)) /* the rest of it never begins */
		return GROUP_FAILED;
	return left ? GROUP_NOT_STARTED : GROUP_FINISHED;
}

enum rollout_end rollout_next(struct turn_group *groups, size_t n, bool parallel)
{
	bool stop = false, held = false, failed = false, open = false;
	for (size_t i = 0; i < n; i++)
		stop = stop || stops(&groups[i]);
	for (size_t i = 0; i < n; i++) {
		struct turn_group *g = &groups[i];
		for (size_t k = 0; k < g->n; k++)
			g->steps[k].go = false;
		if (!held)
			go(g, stop);
		g->state = state_of(g, stop);
		failed = failed || g->state == GROUP_FAILED;
		bool rests = g->state == GROUP_FINISHED || g->state == GROUP_FAILED;
		open = open || g->state == GROUP_IN_PROGRESS || (!rests && !stop);
		held = held || (!parallel && !rests);
	}
	return open ? ROLLOUT_GOES_ON : failed ? ROLLOUT_FAILED : ROLLOUT_DONE;
}
