/* What was committed between the applied commit and the head; and is a commit one of the branch? */
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/git_mirror_internal.h"

#define DEPTH_NEAR 50
#define DEPTH_FAR  1000

static const struct git_stage stage_between, stage_ancestor, stage_deepen, stage_find;

static void between_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n = 0;
	g->run = NULL;
	if (!git_is_well(&g->place, &stage_between, r, failed, &err) ||
	    git_log_read(r->output, g->a, &list, &n, &err) < 0) {
		git_mirror_finish(g, &err);
		return;
	}
	if (n > 1) { /* the first one is the head */
		g->result.skipped = list + 1;
		g->result.n_skipped = n - 1;
	}
	git_mirror_read_tree(g);
}

static const struct git_stage stage_between = {"log", GIT_TEXT_BYTES, GIT_ASK_NS, between_came};

/* --- the commit that was asked for --- */

void git_mirror_find(struct git_read *g)
{
	git_mirror_call(g, &stage_find,
			GIT_ARGS("merge-base", "--is-ancestor", g->rq.commit, GIT_MIRROR_HEAD));
}

/* More than the limits of the call and of the mirror allow, and not a connection that was cut. */
static bool is_too_much(const struct error *err, const struct error *failed)
{
	return failed ? failed->code == E_LIMIT : err->reason == REASON_LIMIT_EXCEEDED;
}

static bool is_shallow(const struct git_read *g);
static void deepen(struct git_read *g);

static void not_found(struct git_read *g)
{
	struct error err = ERROR_INIT;
	error_because(&err, E_NOTFOUND, REASON_BRANCH_NOT_FOUND,
		      "commit %.12s is not the head of branch \"%s\", nor one of the %d before it",
		      g->rq.commit, g->rq.branch, DEPTH_FAR);
	git_mirror_finish(g, &err);
}

/* merge-base --is-ancestor: 0: it is one; 1: it is not, as far as the mirror knows. Another status is
 * that of a mirror that lacks the commit only if git says so: else nothing is known. */
static bool lacks_commit(const struct program_result *r)
{
	static const char *const words[] = {"Not a valid commit name", NULL};
	return r->status != 0 && r->status != 1 && git_says(r->errors, words);
}

static void find_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	bool told = !failed && (r->status == 1 || lacks_commit(r));
	if (!told && !git_is_well(&g->place, &stage_find, r, failed, &err))
		git_mirror_finish(g, &err);
	else if (!told)
		git_mirror_show(g);
	else if (is_shallow(g) && g->depth < DEPTH_FAR)
		deepen(g);
	else
		not_found(g);
}

static const struct git_stage stage_find = {"merge-base", GIT_TEXT_BYTES, GIT_ASK_NS, find_came};

/* --- the history --- */

static void ask_ancestor(struct git_read *g)
{
	git_mirror_call(
		g, &stage_ancestor,
		GIT_ARGS("merge-base", "--is-ancestor", g->rq.applied, g->result.head.commit));
}

enum history { HISTORY_KNOWN, HISTORY_REWRITTEN, HISTORY_UNKNOWN };

static void judge_history(struct git_read *g, enum history history)
{
	g->result.rewritten = history == HISTORY_REWRITTEN;
	g->result.unknown = history == HISTORY_UNKNOWN;
	if (history != HISTORY_KNOWN)
		git_mirror_read_tree(g);
	else
		git_mirror_call(
			g, &stage_between,
			GIT_ARGS("log", "--first-parent", "-n", "1000", git_mirror_log,
				 arena_fmt(g->a, "%s..%s", g->rq.applied, g->result.head.commit)));
}

/* More history than there is room for is no reason to read nothing: it is not known then. */
static void give_up_history(struct git_read *g)
{
	git_mirror_tidy(g);
	judge_history(g, HISTORY_UNKNOWN);
}

static void deepened(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	bool well = git_is_well(&g->place, &stage_deepen, r, failed, &err);
	if (well && g->rq.commit)
		git_mirror_find(g);
	else if (well)
		ask_ancestor(g);
	else if (is_too_much(&err, failed) && !g->rq.commit)
		give_up_history(g);
	else
		git_mirror_finish(g, &err);
}

static const struct git_stage stage_deepen = {"fetch", GIT_TEXT_BYTES, GIT_MIRROR_FETCH_NS,
					      deepened};

/* A mirror that was made anew has the head alone, and so cannot know the applied commit. */
static void deepen(struct git_read *g)
{
	g->depth = g->depth ? DEPTH_FAR : DEPTH_NEAR;
	git_mirror_call_remote(
		g, &stage_deepen,
		GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
			 arena_fmt(g->a, "--depth=%zu", g->depth), g->rq.url,
			 arena_fmt(g->a, "+refs/heads/%s:" GIT_MIRROR_HEAD, g->rq.branch)));
}

/* The mirror has not all of the history: what it lacks may be there. */
static bool is_shallow(const struct git_read *g)
{
	return file_exists(arena_fmt(g->a, "%s/shallow", g->repo));
}

static void ancestor_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (failed && !git_is_well(&g->place, &stage_ancestor, r, failed, &err)) {
		git_mirror_finish(g, &err);
		return;
	}
	/* nobody is accused for a mirror that is damaged */
	bool told = r->status == 1 || lacks_commit(r);
	if (r->status == 0)
		judge_history(g, HISTORY_KNOWN);
	else if (told && (r->status == 1 || !is_shallow(g)))
		judge_history(g, HISTORY_REWRITTEN);
	else if (told && g->depth < DEPTH_FAR)
		deepen(g);
	else
		judge_history(g, HISTORY_UNKNOWN);
}

static const struct git_stage stage_ancestor = {"merge-base", GIT_TEXT_BYTES, GIT_ASK_NS,
						ancestor_came};

void git_mirror_history(struct git_read *g)
{
	if (g->rq.applied && !g->rq.commit && strcmp(g->rq.applied, g->result.head.commit) != 0)
		ask_ancestor(g);
	else
		git_mirror_read_tree(g);
}
