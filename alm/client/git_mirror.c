#include "alm/client/git_mirror.h"

#include <assert.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/git_address.h"
#include "alm/client/git_files.h"
#include "alm/client/git_run.h"
#include "alm/client/git_verify.h"

#define READ_BYTES ((size_t)256 << 20) /* of the arena */
#define FETCH_NS   (5 * NS_PER_MIN)
#define RESOLVE_NS (15 * NS_PER_S)
#define HEAD       "refs/alm/head"
#define REPO       "repo"
#define REPO_NEW   "repo.new"
#define DEPTH_NEAR 50
#define DEPTH_FAR  1000

struct git_read {
	struct programs *programs;
	struct program_run *run;
	struct git_request rq;
	git_read_fn done;
	void *arg;
	struct arena *a;
	const char *repo;
	struct git_place place; /* of what stays on this machine */
	struct git_host host;   /* of https */
	const char *pin;        /* "HOST:PORT:ADDRESS,..."; NULL: an address, or no network */
	const char *next;       /* the head that the server named */
	bool renewing;          /* another mirror is made beside the one that may be damaged */
	struct error why;       /* it may be */
	size_t depth;           /* that was asked for beyond the head; 0: nothing was */
	struct git_files *tree; /* under way */
	struct git_verify *verify;
	struct files files;
	struct git_result result;
};

static void finish(struct git_read *g, const struct error *err)
{
	g->result.files = &g->files;
	g->done(g->arg, &g->result, err);
	arena_free(g->a);
	xfree(g);
}

static const char log_format[] = "--format=" GIT_LOG_FORMAT;

/* --- the environment --- */

/* "https://host:port/": where the header is sent, and nowhere else. */
static const char *origin_of(const char *url, struct arena *a)
{
	const char *host = strstr(url, "://");
	const char *slash = host ? strchr(host + 3, '/') : NULL;
	return slash ? arena_fmt(a, "%.*s/", (int)(slash - url), url) : url;
}

static void config_remote(struct git_environment *e, const struct git_request *rq, const char *pin)
{
	if (rq->header)
		git_environment_config(
			e, arena_fmt(e->a, "http.%s.extraHeader", origin_of(rq->url, e->a)),
			arena_fmt(e->a, "Authorization: %s", rq->header));
	if (rq->ca_pem)
		git_environment_config(e, "http.sslCAInfo", arena_fmt(e->a, "%s/ca.crt", rq->dir));
	if (pin)
		git_environment_config(e, "http.curloptResolve", pin);
}

static const char *const *environment(struct arena *a, const struct git_request *rq, bool remote,
				      const char *pin)
{
	static const char *const fixed[][2] = {
		{"transfer.fsckObjects", "true"},  {"fetch.recurseSubmodules", "false"},
		{"http.followRedirects", "false"}, {"credential.helper", ""},
		{"gc.autoDetach", "false"},        {"gc.pruneExpire", "now"},
	};
	struct git_environment e;
	bool is_file = cstr_has_prefix(rq->url, "file://");
	git_environment_init(&e, a);
	git_environment_add(&e, arena_fmt(a, "HOME=%s", rq->dir));
	git_environment_add(&e, "GIT_CONFIG_NOSYSTEM=1");
	git_environment_add(&e, "GIT_CONFIG_GLOBAL=/dev/null");
	git_environment_add(&e, is_file ? "GIT_ALLOW_PROTOCOL=file" : "GIT_ALLOW_PROTOCOL=https");
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		git_environment_config(&e, fixed[i][0], fixed[i][1]);
	if (remote)
		config_remote(&e, rq, pin);
	return git_environment_end(&e);
}

/* --- one call --- */

/* What talks to the server alone gets the credentials. */
static void call(struct git_read *g, const struct git_stage *s, const char *const *args)
{
	g->run = git_run(&g->place, s, STR_NONE, args, g);
}

static void call_remote(struct git_read *g, const struct git_stage *s, const char *const *args)
{
	struct git_place p = g->place;
	p.env = environment(g->a, &g->rq, true, g->pin);
	g->run = git_run(&p, s, STR_NONE, args, g);
}

/* --- the stages, last one first --- */

static const struct git_stage stage_between, stage_ancestor, stage_deepen, stage_head, stage_fetch,
	stage_init, stage_remove, stage_remove_old, stage_replace, stage_ask, stage_resolve,
	stage_version;

static void renew(struct git_read *g, const struct error *why);

static void files_came(void *arg, const struct error *err)
{
	struct git_read *g = arg;
	g->tree = NULL;
	finish(g, err);
}

static void read_tree(struct git_read *g)
{
	g->tree = git_files_start(&g->place, g->result.head.commit, g->rq.path, &g->files,
				  files_came, g);
}

static void between_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n = 0;
	g->run = NULL;
	if (!git_is_well(&g->place, &stage_between, r, failed, &err) ||
	    git_log_read(r->output, g->a, &list, &n, &err) < 0) {
		finish(g, &err);
		return;
	}
	if (n > 1) { /* the first one is the head */
		g->result.skipped = list + 1;
		g->result.n_skipped = n - 1;
	}
	read_tree(g);
}

static const struct git_stage stage_between = {"log", GIT_TEXT_BYTES, GIT_ASK_NS, between_came};

static void ask_ancestor(struct git_read *g)
{
	call(g, &stage_ancestor,
	     GIT_ARGS("merge-base", "--is-ancestor", g->rq.applied, g->result.head.commit));
}

enum history { HISTORY_KNOWN, HISTORY_REWRITTEN, HISTORY_UNKNOWN };

static void judge_history(struct git_read *g, enum history history)
{
	g->result.rewritten = history == HISTORY_REWRITTEN;
	g->result.unknown = history == HISTORY_UNKNOWN;
	if (history != HISTORY_KNOWN)
		read_tree(g);
	else
		call(g, &stage_between,
		     GIT_ARGS("log", "--first-parent", "-n", "1000", log_format,
			      arena_fmt(g->a, "%s..%s", g->rq.applied, g->result.head.commit)));
}

/* More than the limits of the call and of the mirror allow, and not a connection that was cut. */
static bool is_too_much(const struct program_result *r, const struct error *failed)
{
	static const char *const words[] = {"File too large", "died of signal", NULL};
	return failed ? failed->code == E_LIMIT : git_says(r->errors, words);
}

/* More history than there is room for is no reason to read nothing: it is not known then. */
static void deepened(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_deepen, r, failed, &err))
		ask_ancestor(g);
	else if (g->depth == DEPTH_FAR && is_too_much(r, failed))
		judge_history(g, HISTORY_UNKNOWN);
	else
		finish(g, &err);
}

static const struct git_stage stage_deepen = {"fetch", GIT_TEXT_BYTES, FETCH_NS, deepened};

/* A mirror that was made anew has the head alone, and so cannot know the applied commit. */
static void deepen(struct git_read *g)
{
	g->depth = g->depth ? DEPTH_FAR : DEPTH_NEAR;
	call_remote(g, &stage_deepen,
		    GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
			     arena_fmt(g->a, "--depth=%zu", g->depth), g->rq.url,
			     arena_fmt(g->a, "+refs/heads/%s:" HEAD, g->rq.branch)));
}

/* The mirror has not all of the history: what it lacks may be there. */
static bool is_shallow(const struct git_read *g)
{
	return file_exists(arena_fmt(g->a, "%s/shallow", g->repo));
}

/* 0: it is one; 1: it is not; more: the mirror does not have that commit. */
static void ancestor_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (failed && !git_is_well(&g->place, &stage_ancestor, r, failed, &err)) {
		finish(g, &err);
		return;
	}
	if (r->status == 0)
		judge_history(g, HISTORY_KNOWN);
	else if (r->status == 1 || !is_shallow(g))
		judge_history(g, HISTORY_REWRITTEN);
	else if (g->depth < DEPTH_FAR)
		deepen(g);
	else
		judge_history(g, HISTORY_UNKNOWN);
}

static const struct git_stage stage_ancestor = {"merge-base", GIT_TEXT_BYTES, GIT_ASK_NS,
						ancestor_came};

/* Who may push is asked first. */
static void go_on(struct git_read *g)
{
	if (g->rq.applied && strcmp(g->rq.applied, g->result.head.commit) != 0)
		ask_ancestor(g);
	else
		read_tree(g);
}

static void verified(void *arg, const char *signer, const struct error *err)
{
	struct git_read *g = arg;
	g->verify = NULL;
	g->result.signer = signer;
	if (err)
		finish(g, err);
	else
		go_on(g);
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
		finish(g, &err);
		return;
	}
	g->result.head = list[0];
	if (g->rq.keys)
		g->verify =
			git_verify_start(&g->place, list[0].commit, g->rq.keys, g->a, verified, g);
	else
		go_on(g);
}

static const struct git_stage stage_head = {"log", GIT_TEXT_BYTES, GIT_ASK_NS, head_came};

/* A loose ref, or one that git has packed. */
static bool has_head(const struct git_read *g)
{
	return file_exists(arena_fmt(g->a, "%s/" HEAD, g->repo)) ||
	       file_exists(arena_fmt(g->a, "%s/packed-refs", g->repo));
}

static void fetch(struct git_read *g)
{
	const char *ref = arena_fmt(g->a, "+refs/heads/%s:" HEAD, g->rq.branch);
	if (!has_head(g)) /* all of the history is fetched otherwise */
		call_remote(g, &stage_fetch,
			    GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
				     "--depth=1", g->rq.url, ref));
	else
		call_remote(g, &stage_fetch,
			    GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head", g->rq.url,
				     ref));
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

static void discarded(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	(void)r;
	(void)failed;
	g->run = NULL;
	finish(g, &g->why);
}

static const struct git_stage stage_discard = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, discarded};

static void ask_head(struct git_read *g)
{
	call(g, &stage_head, GIT_ARGS("log", "-n", "1", log_format, HEAD));
}

static void replaced(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_replace, r, failed, &err))
		ask_head(g);
	else
		finish(g, &err);
}

static const struct git_stage stage_replace = {"mv", GIT_TEXT_BYTES, GIT_ASK_NS, replaced};

static void old_removed(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	const char *fresh = g->repo;
	g->run = NULL;
	if (!git_is_well(&g->place, &stage_remove_old, r, failed, &err)) {
		finish(g, &err);
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
	else if (err.reason == REASON_SOURCE_UNREACHABLE && !failed)
		renew(g, &err);
	else
		finish(g, &err);
}

static const struct git_stage stage_fetch = {"fetch", GIT_TEXT_BYTES, FETCH_NS, fetch_came};

static void init_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_init, r, failed, &err))
		fetch(g);
	else
		finish(g, &err);
}

static const struct git_stage stage_init = {"init", GIT_TEXT_BYTES, GIT_ASK_NS, init_came};

static void init(struct git_read *g)
{
	call(g, &stage_init, GIT_ARGS("init", "-q", "--bare", "--template="));
}

/* The server answered a moment ago, so the mirror may be what is wrong (kill -9 leaves locks): another
 * one is made beside it, and takes its place once it is there. If that cannot be fetched either, it
 * is the server, and the mirror stays with the history that it has. */
static void renew(struct git_read *g, const struct error *why)
{
	g->renewing = true;
	g->why = *why;
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
		finish(g, &err);
}

static const struct git_stage stage_remove = {"rm", GIT_TEXT_BYTES, GIT_ASK_NS, removed};

/* "OID\trefs/heads/BRANCH\n" of that name alone, as a pattern may match more. */
static const char *head_of(const struct git_read *g, struct str output)
{
	struct str line, oid, ref;
	const char *want = arena_fmt(g->a, "refs/heads/%s", g->rq.branch);
	while (str_next_line(&output, &line))
		if (str_cut(line, '\t', &oid, &ref) && str_is(ref, want) && git_is_oid(oid))
			return arena_strndup(g->a, oid.ptr, oid.len);
	return NULL;
}

static void asked(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	bool well = git_is_well(&g->place, &stage_ask, r, failed, &err);
	if (well)
		g->next = head_of(g, r->output);
	if (well && !g->next)
		error_because(&err, E_NOTFOUND, REASON_BRANCH_NOT_FOUND,
			      "the repository has no branch \"%s\"", g->rq.branch);
	g->result.unchanged = !err.code && cstr_eq(g->next, g->rq.known);
	if (err.code || g->result.unchanged)
		finish(g, err.code ? &err : NULL);
	else if (file_exists(arena_fmt(g->a, "%s/HEAD", g->repo)))
		fetch(g);
	else
		init(g);
}

static const struct git_stage stage_ask = {"ls-remote", GIT_TEXT_BYTES, GIT_ASK_NS, asked};

/* Of no repository: what is wrong with the mirror is no reason to ask nothing. */
static void ask(struct git_read *g)
{
	struct git_place p = g->place;
	p.repo = arena_fmt(g->a, "%s/none", g->rq.dir);
	p.env = environment(g->a, &g->rq, true, g->pin);
	g->run = git_run(&p, &stage_ask, STR_NONE,
			 GIT_ARGS("ls-remote", "-q", "--heads", g->rq.url,
				  arena_fmt(g->a, "refs/heads/%s", g->rq.branch)),
			 g);
}

/* --- the addresses of a name --- */

static void resolved(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (failed) {
		err = *failed;
		error_set_reason(&err, REASON_SOURCE_UNREACHABLE);
	} else {
		(void)git_pin(&g->host, r->output, g->rq.addresses, g->a, &g->pin, &err);
	}
	if (err.code)
		finish(g, &err);
	else
		ask(g);
}

static const struct git_stage stage_resolve = {"getent", GIT_TEXT_BYTES, RESOLVE_NS, resolved};

static void resolve(struct git_read *g)
{
	const char *argv[] = {RESOLVE_PROGRAM, "ahosts", g->host.name, NULL};
	const struct program_call c = {.path = argv[0],
				       .argv = argv,
				       .dir = g->rq.dir,
				       .limits = {.output_bytes = stage_resolve.output_bytes,
						  .wall_ns = stage_resolve.wall_ns}};
	g->run = programs_run(g->programs, &c, stage_resolve.done, g);
}

/* One that does not know the setting would take it for somebody else's, and resolve by itself. */
static void version_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (git_is_well(&g->place, &stage_version, r, failed, &err) && !git_can_pin(r->output))
		error_because(&err, E_UNSUPPORTED, REASON_GIT_MISSING,
			      GIT_PROGRAM " is older than 2.37; install a newer one");
	if (err.code)
		finish(g, &err);
	else
		resolve(g);
}

static const struct git_stage stage_version = {"version", GIT_TEXT_BYTES, GIT_ASK_NS, version_came};

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

static void copy(struct git_read *g, const struct git_request *rq)
{
	struct arena *a = g->a;
	g->rq = (struct git_request){.url = arena_strdup(a, rq->url),
				     .branch = arena_strdup(a, rq->branch),
				     .path = arena_strdup(a, rq->path),
				     .dir = arena_strdup(a, rq->dir),
				     .known = rq->known ? arena_strdup(a, rq->known) : NULL,
				     .applied = rq->applied ? arena_strdup(a, rq->applied) : NULL,
				     .header = rq->header ? arena_strdup(a, rq->header) : NULL,
				     .ca_pem = rq->ca_pem ? arena_strdup(a, rq->ca_pem) : NULL,
				     .hidden = copy_texts(a, rq->hidden),
				     .keys = copy_keys(a, rq->keys),
				     .addresses = rq->addresses};
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
	g->place = (struct git_place){.programs = p,
				      .dir = g->rq.dir,
				      .env = environment(g->a, &g->rq, false, NULL),
				      .hidden = g->rq.hidden};
	use_repo(g, REPO);
	prepare(g);
	struct error err = ERROR_INIT;
	bool is_remote = !cstr_has_prefix(g->rq.url, "file://");
	int r = is_remote ? git_host_read(g->rq.url, g->a, &g->host, &err) : 0;
	assert(r == 0); /* who asks has looked */
	if (is_remote && !g->host.literal)
		call(g, &stage_version, GIT_ARGS("version"));
	else
		ask(g);
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
