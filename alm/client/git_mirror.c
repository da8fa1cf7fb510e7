#include "alm/client/git_mirror.h"

#include <assert.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/git_mirror_internal.h"

#define READ_BYTES ((size_t)256 << 20) /* of the arena */
#define REPO       "repo"
#define REPO_NEW   "repo.new"

const char git_mirror_log[] = "--format=" GIT_LOG_FORMAT;

/* What only the server was to see is here no longer than it takes. */
static void clear(struct git_read *g)
{
	if (g->ssh.text)
		git_ssh_clear(g->rq.dir, g->a);
}

void git_mirror_finish(struct git_read *g, const struct error *err)
{
	clear(g);
	if (err)
		git_mirror_tidy(g);
	g->result.files = &g->files;
	g->done(g->arg, &g->result, err);
	arena_free(g->a);
	xfree(g);
}

void git_mirror_call(struct git_read *g, const struct git_stage *s, const char *const *args)
{
	g->run = git_run(&g->place, s, STR_NONE, args, g);
}

/* --- the stages, last one first --- */

static const struct git_stage stage_head, stage_fetch, stage_init, stage_remove, stage_remove_old,
	stage_replace;

static void renew(struct git_read *g, const struct error *why);

static void files_came(void *arg, const struct error *err)
{
	struct git_read *g = arg;
	g->tree = NULL;
	git_mirror_finish(g, err);
}

void git_mirror_read_tree(struct git_read *g)
{
	clear(g); /* the server is asked no more */
	g->tree = git_files_start(&g->place, g->result.head.commit, g->rq.path, &g->files,
				  files_came, g);
}

static void verified(void *arg, const char *signer, const struct error *err)
{
	struct git_read *g = arg;
	g->verify = NULL;
	g->result.signer = signer;
	if (err)
		git_mirror_finish(g, err);
	else
		git_mirror_history(g);
}

static void head_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n = 0;
	g->run = NULL;
	if (!git_is_well(&g->place, &stage_head, r, failed, &err) ||
	    git_log_read(r->output, g->a, &list, &n, &err) < 0 || !n) {
		if (!err.code)
			error_set(&err, E_CORRUPT, "git log says nothing of its head");
		git_mirror_finish(g, &err);
		return;
	}
	g->result.head = list[0];
	if (g->rq.keys)
		g->verify =
			git_verify_start(&g->place, list[0].commit, g->rq.keys, g->a, verified, g);
	else
		git_mirror_history(g);
}

static const struct git_stage stage_head = {"log", GIT_TEXT_BYTES, GIT_ASK_NS, head_came};

/* A loose ref, or one that git has packed. */
static bool has_head(const struct git_read *g)
{
	return file_exists(arena_fmt(g->a, "%s/" GIT_MIRROR_HEAD, g->repo)) ||
	       file_exists(arena_fmt(g->a, "%s/packed-refs", g->repo));
}

static void fetch(struct git_read *g)
{
	const char *ref = arena_fmt(g->a, "+refs/heads/%s:" GIT_MIRROR_HEAD, g->rq.branch);
	git_mirror_tidy(g); /* of a process that was killed */
	if (!has_head(g))   /* all of the history is fetched otherwise */
		git_mirror_call_remote(g, &stage_fetch,
				       GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
						"--depth=1", g->rq.url, ref));
	else
		git_mirror_call_remote(g, &stage_fetch,
				       GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
						g->rq.url, ref));
}

/* --- a mirror that may be damaged --- */

static void use_repo(struct git_read *g, const char *name)
{
	g->repo = arena_fmt(g->a, "%s/%s", g->rq.dir, name);
	g->place.repo = g->repo;
}

static void run_tool(struct git_read *g, const struct git_stage *s, const char *const *argv)
{
	const struct program_call c = {
		.path = argv[0], .argv = argv, .limits = {.wall_ns = s->wall_ns}};
	g->run = programs_run(g->programs, &c, s->done, g);
}

/* A head that is too large once is so again: it is told which one it was. */
static void give_up(struct git_read *g, const struct error *err)
{
	if (err->code == E_LIMIT && err->reason == REASON_LIMIT_EXCEEDED)
		g->result.head = (struct git_commit){g->wanted, "", "", ""};
	git_mirror_finish(g, err);
}

static void discarded(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	(void)r;
	(void)failed;
	g->run = NULL;
	give_up(g, &g->why);
}

static const struct git_stage stage_discard = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, discarded};

void git_mirror_show(struct git_read *g)
{
	const char *what = g->rq.commit ? g->rq.commit : GIT_MIRROR_HEAD;
	git_mirror_call(g, &stage_head, GIT_ARGS("log", "-n", "1", git_mirror_log, what));
}

static void ask_head(struct git_read *g)
{
	if (g->rq.commit)
		git_mirror_find(g);
	else
		git_mirror_show(g);
}

static void replaced(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_replace, r, failed, &err))
		ask_head(g);
	else
		git_mirror_finish(g, &err);
}

static const struct git_stage stage_replace = {"mv", GIT_TEXT_BYTES, GIT_ASK_NS, replaced};

static void old_removed(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	const char *fresh = g->repo;
	g->run = NULL;
	if (!git_is_well(&g->place, &stage_remove_old, r, failed, &err)) {
		git_mirror_finish(g, &err);
		return;
	}
	use_repo(g, REPO);
	run_tool(g, &stage_replace, GIT_ARGS("/bin/mv", "-T", "--", fresh, g->repo));
}

static const struct git_stage stage_remove_old = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, old_removed};

static void fetch_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	const char *old = arena_fmt(g->a, "%s/" REPO, g->rq.dir);
	g->run = NULL;
	bool well = git_is_well(&g->place, &stage_fetch, r, failed, &err);
	if (g->renewing && well)
		run_tool(g, &stage_remove_old, GIT_ARGS("/bin/rm", "-rf", "--", old));
	else if (g->renewing)
		run_tool(g, &stage_discard, GIT_ARGS("/bin/rm", "-rf", "--", g->repo));
	else if (well)
		ask_head(g);
	else if (!failed && (err.code == E_UNAVAILABLE || (err.code == E_LIMIT && has_head(g))))
		renew(g, &err); /* too large may be the history alone */
	else
		give_up(g, &err);
}

static const struct git_stage stage_fetch = {"fetch", GIT_TEXT_BYTES, GIT_MIRROR_FETCH_NS,
					     fetch_came};

static void init_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_init, r, failed, &err))
		fetch(g);
	else if (g->renewing)
		run_tool(g, &stage_discard, GIT_ARGS("/bin/rm", "-rf", "--", g->repo));
	else
		git_mirror_finish(g, &err);
}

static const struct git_stage stage_init = {"init", GIT_TEXT_BYTES, GIT_ASK_NS, init_came};

static void init(struct git_read *g)
{
	git_mirror_call(g, &stage_init, GIT_ARGS("init", "-q", "--bare", "--template="));
}

/* The server answered a moment ago, so the mirror may be what is wrong (kill -9 leaves locks): another
 * one is made beside it, and takes its place once it is there. If that cannot be fetched either, it
 * is the server, and the mirror stays with the history that it has. */
static void renew(struct git_read *g, const struct error *why)
{
	g->renewing = true;
	g->why = *why;
	git_mirror_tidy(g);
	use_repo(g, REPO_NEW);
	run_tool(g, &stage_remove, GIT_ARGS("/bin/rm", "-rf", "--", g->repo));
}

static void removed(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_remove, r, failed, &err))
		init(g);
	else
		git_mirror_finish(g, &err);
}

static const struct git_stage stage_remove = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, removed};

void git_mirror_asked(struct git_read *g)
{
	if (file_exists(arena_fmt(g->a, "%s/HEAD", g->repo)))
		fetch(g);
	else
		init(g);
}

/* --- life --- */

static const char *const *copy_texts(struct arena *a, const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	const char **copy = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		copy[i] = arena_strdup(a, list[i]);
	copy[n] = NULL;
	return copy;
}

static const struct git_keys *copy_keys(struct arena *a, const struct git_keys *k)
{
	struct git_keys *copy = k ? ARENA_NEW(a, struct git_keys) : NULL;
	if (copy)
		*copy = (struct git_keys){.ssh = arena_strdup(a, k->ssh),
					  .pgp = arena_strdup(a, k->pgp)};
	return copy;
}

static const struct git_ssh *copy_ssh(struct arena *a, const struct git_ssh *s)
{
	struct git_ssh *copy = s ? ARENA_NEW(a, struct git_ssh) : NULL;
	if (copy)
		*copy = (struct git_ssh){.key = arena_strdup(a, s->key),
					 .known_hosts = arena_strdup(a, s->known_hosts)};
	return copy;
}

static void copy(struct git_read *g, const struct git_request *rq)
{
	struct arena *a = g->a;
	g->rq = (struct git_request){.url = arena_strdup(a, rq->url),
				     .branch = arena_strdup(a, rq->branch),
				     .path = arena_strdup(a, rq->path),
				     .dir = arena_strdup(a, rq->dir),
				     .commit = rq->commit ? arena_strdup(a, rq->commit) : NULL,
				     .known = rq->known ? arena_strdup(a, rq->known) : NULL,
				     .applied = rq->applied ? arena_strdup(a, rq->applied) : NULL,
				     .header = rq->header ? arena_strdup(a, rq->header) : NULL,
				     .ca_pem = rq->ca_pem ? arena_strdup(a, rq->ca_pem) : NULL,
				     .ssh = copy_ssh(a, rq->ssh),
				     .hidden = copy_texts(a, rq->hidden),
				     .keys = copy_keys(a, rq->keys),
				     .addresses = rq->addresses};
}

static void read_ssh(struct git_read *g)
{
	struct error err = ERROR_INIT;
	if (!git_url_is_ssh(g->rq.url))
		return;
	int r = git_url_ssh(g->rq.url, g->a, &g->ssh, &err);
	assert(r == 0 && g->rq.ssh); /* who asks has looked */
	g->place.faults = git_ssh_faults(&g->ssh, g->a);
}

/* A folder that cannot be made is told by git, which then cannot begin in it. */
static void prepare(const struct git_read *g)
{
	struct error ignored = ERROR_INIT;
	(void)dir_make(g->rq.dir, 0700, &ignored);
	if (g->rq.ca_pem)
		(void)file_replace(arena_fmt(g->a, "%s/ca.crt", g->rq.dir), str_of(g->rq.ca_pem),
				   0600, &ignored);
}

struct git_read *git_read_start(struct programs *p, const struct git_request *rq, git_read_fn done,
				void *arg)
{
	struct git_read *g = xcalloc(1, sizeof(*g));
	g->a = arena_new(READ_BYTES);
	g->programs = p;
	g->done = done;
	g->arg = arg;
	copy(g, rq);
	g->files.a = g->a;
	g->files.refused = rq->is_program ? obj_keep(g->a, obj_map()) : NULL;
	g->place = (struct git_place){.programs = p, .dir = g->rq.dir, .hidden = g->rq.hidden};
	read_ssh(g);
	g->place.env = git_mirror_environment(g, false);
	use_repo(g, REPO);
	prepare(g);
	git_mirror_begin(g);
	return g;
}

void git_read_cancel(struct git_read *g)
{
	if (!g)
		return;
	if (g->run)
		programs_cancel(g->programs, g->run);
	git_files_cancel(g->tree);
	git_verify_cancel(g->verify);
	clear(g);
	arena_free(g->a);
	xfree(g);
}

static void forgotten(void *arg, const struct program_result *r, const struct error *err)
{
	(void)arg;
	(void)r;
	(void)err;
}

void git_mirror_remove(struct programs *p, const char *dir)
{
	const char *argv[] = {"/bin/rm", "-rf", "--", dir, NULL};
	const struct program_call c = {.path = argv[0], .argv = argv};
	(void)programs_run(p, &c, forgotten, NULL);
}
