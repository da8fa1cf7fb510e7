#include "tests/sim/points.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/digests.h"
#include "tests/sim/digest.h"
#include "tests/sim/home.h"

#define POINTS_MAX 4096
#define JOBS_MAX   8
#define KINDS_MAX  9
#define RUNS_MAX   (KINDS_MAX * POINTS_MAX)

/* One kind of fault at writes ('w') or commits ('c'). */
struct kind {
	const char *fault;
	char at;
	bool is_crash;
	uint64_t n_failed, n_runs;
};

struct child {
	pid_t pid;
	struct kind *kind;
};

struct points {
	const struct points_config *c;
	struct kind kinds[KINDS_MAX];
	size_t n_kinds;
	/* the turn that makes the n-th, from 1 */
	uint64_t write_turn[POINTS_MAX], commit_turn[POINTS_MAX];
	uint64_t writes, first_commit, commits;
	uint64_t asked_turn; /* a turn that was asked for twice is one turn */
	struct child children[JOBS_MAX];
	size_t n_children, jobs;
	uint64_t failed;
	bool is_child;
	/* The trace of each child, which it writes itself; they end in any order. */
	char (*traces)[SHA256_HEX];
	size_t n_forked; /* in the child: its own */
};

static void note(uint64_t *turns, uint64_t *known, uint64_t n, uint64_t turn)
{
	while (*known < n && *known + 1 < POINTS_MAX)
		turns[++*known] = turn;
}

/* Before a turn: whatever is new was made by the one before. Once the faults have stopped there are
 * no points. */
static void note_turn(struct world *w, void *arg)
{
	struct points *p = arg;
	if (!w->faults.on)
		return;
	note(p->write_turn, &p->writes, net_stats(w->net)->writes, w->sim.n_turns);
	note(p->commit_turn, &p->commits, disk_commits(w->disk), w->sim.n_turns);
}

static void reap(struct points *p)
{
	int status;
	pid_t pid = wait(&status);
	for (size_t i = 0; i < p->n_children; i++) {
		struct child *c = &p->children[i];
		if (c->pid != pid && pid >= 0)
			continue;
		bool held = pid >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
		c->kind->n_failed += !held;
		p->failed += !held;
		*c = p->children[--p->n_children];
		return;
	}
}

/* True in the child, which goes on with the fault armed. */
static bool forked(struct points *p, struct world *w, struct kind *k, uint64_t n)
{
	struct error err = ERROR_INIT;
	char text[64];
	snprintf(text, sizeof(text), "%s@%c%" PRIu64, k->fault, k->at, n);
	while (p->n_children >= p->jobs)
		reap(p);
	(void)fflush(stdout);
	assert(p->n_forked < RUNS_MAX);
	p->n_forked++;
	k->n_runs++;
	CLEANUP(xfreep) char *home = NULL;
	if (w->home && home_copy(w->home, &home, &err) < 0) { /* NULL: not begun */
		printf("not ok %s\n", err.msg);
		p->failed++;
		return false;
	}
	pid_t pid = fork();
	if (pid != 0) {
		p->children[p->n_children++] = (struct child){pid, k};
		if (pid < 0)
			reap(p);
		return false;
	}
	p->is_child = true;
	w->before_turn = NULL;
	(void)p->c->replay(p->c->arg, text);
	(void)faults_parse(text, &w->faults, &w->point, &err);
	if (home && home_enter(home, &err) < 0) {
		printf("not ok %s\n", err.msg);
		(void)fflush(stdout);
		_exit(1);
	}
	if (home) {
		xfree(w->home);
		w->home = STEAL(home);
	}
	return true;
}

/* True in a child. */
static bool fork_points(struct points *p, struct world *w, uint64_t turn)
{
	for (size_t i = 0; i < p->n_kinds; i++) {
		struct kind *k = &p->kinds[i];
		bool is_commit = k->at == 'c';
		const uint64_t *turns = is_commit ? p->commit_turn : p->write_turn;
		uint64_t n = is_commit ? p->first_commit + 1 : 1;
		uint64_t last = is_commit ? p->commits : p->writes;
		/* Kinds take turns; before and after are one: after n is all but before n + 1. */
		n += i / 2 % p->c->every;
		for (; n <= last; n += p->c->every)
			if (turns[n] == turn && (!p->failed || p->c->keep_going) &&
			    forked(p, w, k, n))
				return true;
	}
	return false;
}

static void fork_turn(struct world *w, void *arg)
{
	struct points *p = arg;
	uint64_t turn = w->sim.n_turns + 1;
	if (turn == p->asked_turn || w->next_action < p->c->scenario->points_from)
		return;
	p->asked_turn = turn;
	if (fork_points(p, w, turn))
		world_arm_point(w);
}

static int play(struct points *p, void (*before_turn)(struct world *w, void *arg),
		struct error *err)
{
	CLEANUP(xfreep) struct world *w = xcalloc(1, sizeof(*w));
	w->together = p->c->together;
	/* Writes of the start itself: their runs begin at the beginning, too. */
	if (before_turn != fork_turn || p->c->scenario->points_from || !fork_points(p, w, 0))
		w->before_turn = before_turn;
	w->hook_arg = p;
	int r = world_init(w, p->c->scenario, p->c->seed, TRACE_NOTHING, err);
	if (before_turn == note_turn)
		note(p->commit_turn, &p->commits, p->first_commit = disk_commits(w->disk), 0);
	if (r == 0)
		r = world_run(w, err);
	digest_world(w);
	if (p->is_child) {
		trace_final(&w->sim.trace, p->traces[p->n_forked - 1]);
		home_remove(w->home);
		if (r < 0)
			printf("not ok %s; replay: %s\n", err->msg, p->c->replay(p->c->arg, NULL));
		(void)fflush(stdout);
		_exit(r < 0);
	}
	char trace[SHA256_HEX];
	trace_final(&w->sim.trace, trace);
	digest_adds(p->c->digest, trace);
	world_free(w);
	return r;
}

/* The run without a fault. */
static bool play_whole(struct points *p, void (*before_turn)(struct world *w, void *arg))
{
	struct error err = ERROR_INIT;
	if (play(p, before_turn, &err) == 0)
		return true;
	printf("not ok %s; replay: %s\n", err.msg, p->c->replay(p->c->arg, NULL));
	p->failed++;
	return false;
}

static void add_kinds(struct points *p)
{
	static const struct kind all[] = {
		{"crash-before", 'w', true, 0, 0}, {"crash-after", 'w', true, 0, 0},
		{"crash-before", 'c', true, 0, 0}, {"crash-after", 'c', true, 0, 0},
		{"reply-lost", 'w', false, 0, 0},  {"409", 'w', false, 0, 0},
		{"500", 'w', false, 0, 0},         {"duplicate", 'w', false, 0, 0},
		{"revoked", 'w', false, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if ((all[i].is_crash || !p->c->crash_only) &&
		    (all[i].at == 'w' || !p->c->writes_only) &&
		    (p->c->only ? !strcmp(p->c->only, all[i].fault)
				: strcmp(all[i].fault, "revoked") != 0)) /* where it is asked for */
			p->kinds[p->n_kinds++] = all[i];
}

uint64_t points_run(const struct points_config *c)
{
	CLEANUP(xfreep) struct points *p = xcalloc(1, sizeof(*p));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	p->c = c;
	size_t bytes = RUNS_MAX * sizeof(p->traces[0]);
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(shared != MAP_FAILED);
	p->traces = shared;
	p->jobs = cpus < 1 ? 1 : cpus > JOBS_MAX ? JOBS_MAX : (size_t)cpus;
	add_kinds(p);
	(void)c->replay(c->arg, "none");
	if (play_whole(p, note_turn) || c->keep_going)
		play_whole(p, fork_turn);
	while (p->n_children)
		reap(p);
	for (size_t i = 0; i < p->n_forked; i++)
		digest_adds(c->digest, p->traces[i]);
	munmap(shared, bytes);
	for (size_t i = 0; i < p->n_kinds; i++) {
		const struct kind *k = &p->kinds[i];
		bool is_commit = k->at == 'c';
		printf("# %s: %s at %c%" PRIu64 "..%" PRIu64 ", %" PRIu64 " runs, %" PRIu64
		       " failed\n",
		       c->scenario->name, k->fault, k->at, is_commit ? p->first_commit + 1 : 1,
		       is_commit ? p->commits : p->writes, k->n_runs, k->n_failed);
	}
	return p->failed;
}
