#include "alm/client/git_mirror.h"

#include <assert.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/client/git_address.h"

#define READ_BYTES    ((size_t)256 << 20) /* of the arena */
#define FETCH_NS      (5 * NS_PER_MIN)
#define ASK_NS        (30 * NS_PER_S)
#define RESOLVE_NS    (15 * NS_PER_S)
#define MIRROR_BYTES  ((size_t)256 << 20) /* each file of it */
#define MEMORY_BYTES  ((size_t)512 << 20)
#define CPU_S         120
#define BATCH_BYTES   (FILES_BYTES_MAX + ((size_t)FILES_MAX * 128))
#define SMALL_BYTES   ((size_t)1 << 20)
#define MESSAGE_BYTES 300
#define ARGS_MAX      12
#define HEAD          "refs/alm/head"
#define DEPTH_NEAR    50
#define DEPTH_FAR     1000

struct git_read {
	struct programs *programs;
	struct program_run *run;
	struct git_request rq;
	git_read_fn done;
	void *arg;
	struct arena *a;
	const char *repo;
	const char **env;
	struct git_host host; /* of https */
	const char *pin;      /* "HOST:PORT:ADDRESS,..."; NULL: an address, or no network */
	const char *next;     /* the head that the server named */
	bool retried;         /* the mirror was made anew */
	size_t depth;         /* that was asked for beyond the head; 0: nothing was */
	struct git_tree tree;
	struct str listing;
	struct files files;
	struct git_result result;
};

struct stage {
	const char *what; /* for messages */
	size_t output_bytes;
	int64_t wall_ns;
	program_done done;
	bool remote; /* it talks to the server: it alone gets the credentials */
};

static void finish(struct git_read *g, const struct error *err)
{
	g->result.files = &g->files;
	g->done(g->arg, &g->result, err);
	arena_free(g->a);
	xfree(g);
}

static const char log_format[] = "--format=" GIT_LOG_FORMAT;

/* --- what git says --- */

static bool says(struct str errors, const char *const *words)
{
	for (; *words; words++)
		if (str_contains(errors, str_of(*words)))
			return true;
	return false;
}

/* The first line that says what is fatal, else the last one. */
static struct str fatal_line(struct str errors)
{
	struct str line, last = STR_NONE;
	while (str_next_line(&errors, &line)) {
		line = str_trim(line);
		if (str_has_prefix(line, STR("fatal: ")))
			return str_clip(str_skip(line, 7), MESSAGE_BYTES);
		if (line.len)
			last = line;
	}
	return str_clip(last, MESSAGE_BYTES);
}

/* A server that was shown a password may say it: then nothing of what it said is told. */
static struct str without_secrets(struct str errors, const char *const *hidden)
{
	for (; hidden && *hidden; hidden++)
		if (str_contains(errors, str_of(*hidden)))
			return STR("what the server said has the credentials in it");
	return fatal_line(errors);
}

/* What git says when it fails, as an error with its reason. */
static int git_failure(const struct git_read *g, struct str errors, const char *what,
		       struct error *err)
{
	static const char *const rejected[] = {"Authentication failed",   "could not read Username",
					       "could not read Password", "returned error: 401",
					       "returned error: 403",     NULL};
	static const char *const absent[] = {"couldn't find remote ref", NULL};
	struct str line = without_secrets(errors, g->rq.hidden);
	if (says(errors, rejected))
		return error_because(err, E_UNAUTHORIZED, REASON_CREDENTIALS_REJECTED,
				     "git %s: %.*s", what, STR_ARG(line));
	if (says(errors, absent))
		return error_because(err, E_NOTFOUND, REASON_BRANCH_NOT_FOUND, "git %s: %.*s", what,
				     STR_ARG(line));
	return error_because(err, E_UNAVAILABLE, REASON_SOURCE_UNREACHABLE, "git %s: %.*s", what,
			     STR_ARG(line));
}

/* Did it end well? Else err says why. */
static bool is_well(const struct git_read *g, const struct stage *s, const struct program_result *r,
		    const struct error *failed, struct error *err)
{
	if (failed && failed->code == E_NOTFOUND) {
		error_because(err, E_NOTFOUND, REASON_GIT_MISSING,
			      "there is no " GIT_PROGRAM "; install the package git");
		return false;
	}
	if (failed) {
		*err = *failed;
		error_wrap(err, "git %s", s->what);
		error_set_reason(err, REASON_SOURCE_UNREACHABLE);
		return false;
	}
	if (r->status != 0)
		git_failure(g, r->errors, s->what, err);
	return r->status == 0;
}

/* --- the environment --- */

struct environment {
	struct arena *a;
	const char **items;
	size_t n, n_config;
};

static void add(struct environment *e, const char *item)
{
	e->items[e->n++] = item;
}

static void config(struct environment *e, const char *key, const char *value)
{
	add(e, arena_fmt(e->a, "GIT_CONFIG_KEY_%zu=%s", e->n_config, key));
	add(e, arena_fmt(e->a, "GIT_CONFIG_VALUE_%zu=%s", e->n_config, value));
	e->n_config++;
}

/* "https://host:port/": where the header is sent, and nowhere else. */
static const char *origin_of(const char *url, struct arena *a)
{
	const char *host = strstr(url, "://");
	const char *slash = host ? strchr(host + 3, '/') : NULL;
	return slash ? arena_fmt(a, "%.*s/", (int)(slash - url), url) : url;
}

static void config_remote(struct environment *e, const struct git_request *rq, const char *pin)
{
	if (rq->header)
		config(e, arena_fmt(e->a, "http.%s.extraHeader", origin_of(rq->url, e->a)),
		       arena_fmt(e->a, "Authorization: %s", rq->header));
	if (rq->ca_pem)
		config(e, "http.sslCAInfo", arena_fmt(e->a, "%s/ca.crt", rq->dir));
	if (pin)
		config(e, "http.curloptResolve", pin);
}

static const char **environment(struct arena *a, const struct git_request *rq, bool remote,
				const char *pin)
{
	static const char *const fixed[][2] = {
		{"core.hooksPath", "/dev/null"},
		{"transfer.fsckObjects", "true"},
		{"fetch.recurseSubmodules", "false"},
		{"http.followRedirects", "false"},
		{"credential.helper", ""},
		{"gc.autoDetach", "false"},
		{"gc.pruneExpire", "now"},
	};
	struct environment e = {.a = a, .items = ARENA_ARRAY(a, const char *, 48)};
	bool is_file = cstr_has_prefix(rq->url, "file://");
	add(&e, arena_fmt(a, "HOME=%s", rq->dir));
	add(&e, "PATH=/usr/bin:/bin");
	add(&e, "LC_ALL=C");
	add(&e, "GIT_CONFIG_NOSYSTEM=1");
	add(&e, "GIT_CONFIG_GLOBAL=/dev/null");
	add(&e, "GIT_TERMINAL_PROMPT=0");
	add(&e, "GIT_ASKPASS=/bin/false");
	add(&e, "GIT_NO_REPLACE_OBJECTS=1");
	add(&e, is_file ? "GIT_ALLOW_PROTOCOL=file" : "GIT_ALLOW_PROTOCOL=https");
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		config(&e, fixed[i][0], fixed[i][1]);
	if (remote)
		config_remote(&e, rq, pin);
	add(&e, arena_fmt(a, "GIT_CONFIG_COUNT=%zu", e.n_config));
	return e.items;
}

/* --- one call --- */

static void call(struct git_read *g, const struct stage *s, struct str input,
		 const char *const *args)
{
	const char *argv[ARGS_MAX + 4] = {GIT_PROGRAM, "--git-dir", g->repo};
	size_t n = 3;
	for (; *args; args++)
		argv[n++] = *args;
	argv[n] = NULL;
	const struct program_call c = {.path = GIT_PROGRAM,
				       .argv = argv,
				       .env = s->remote ? environment(g->a, &g->rq, true, g->pin)
							: g->env,
				       .dir = g->rq.dir,
				       .input = input,
				       .limits = {.output_bytes = s->output_bytes,
						  .memory_bytes = MEMORY_BYTES,
						  .file_bytes = MIRROR_BYTES,
						  .cpu_s = CPU_S,
						  .wall_ns = s->wall_ns}};
	g->run = programs_run(g->programs, &c, s->done, g);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- the stages, last one first --- */

static struct str keep(struct git_read *g, struct str s)
{
	return str_n(arena_text(g->a, s.ptr ? s.ptr : "", s.len), s.len);
}

static const struct stage stage_files, stage_ignore, stage_tree, stage_between, stage_ancestor,
	stage_deepen, stage_head, stage_fetch, stage_init, stage_remove, stage_ask, stage_resolve,
	stage_version;

static void files_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_files, r, failed, &err))
		git_tree_files(&g->tree, r->output, &g->files, &err);
	finish(g, err.code ? &err : NULL);
}

static const struct stage stage_files = {"cat-file", BATCH_BYTES, ASK_NS, files_came, false};

/* A branch without a manifest is no error of git: who asked knows whether it had some before. */
static void read_files(struct git_read *g, struct str rules)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	if (git_tree_read(g->listing, rules, g->a, &g->tree, &err) < 0 || !g->tree.n) {
		finish(g, err.code ? &err : NULL);
		return;
	}
	for (size_t i = 0; i < g->tree.n; i++)
		strbuf_addf(&b, "%s\n", g->tree.blobs[i].oid);
	call(g, &stage_files, strbuf_str(&b), ARGS("cat-file", "--batch"));
}

static void ignore_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_ignore, r, failed, &err))
		read_files(g, keep(g, r->output));
	else
		finish(g, &err);
}

static const struct stage stage_ignore = {"cat-file", SMALL_BYTES, ASK_NS, ignore_came, false};

static void tree_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (!failed && r->status != 0) /* the commit is there: it is the folder that is not */
		error_because(&err, E_NOTFOUND, REASON_SOURCE_EMPTY, "%.12s has no folder \"%s\"",
			      g->result.head.commit, g->rq.path);
	else
		(void)is_well(g, &stage_tree, r, failed, &err);
	if (err.code) {
		finish(g, &err);
		return;
	}
	g->listing = keep(g, r->output);
	const char *oid = git_tree_ignore(g->listing, g->a);
	if (oid)
		call(g, &stage_ignore, STR_NONE, ARGS("cat-file", "blob", oid));
	else
		read_files(g, STR_NONE);
}

static const struct stage stage_tree = {"ls-tree", GIT_LISTING_BYTES, ASK_NS, tree_came, false};

static void read_tree(struct git_read *g)
{
	const char *tree = arena_fmt(g->a, "%s:%s", g->result.head.commit, g->rq.path);
	call(g, &stage_tree, STR_NONE, ARGS("ls-tree", "-r", "-z", "-l", tree));
}

static void between_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n = 0;
	g->run = NULL;
	if (!is_well(g, &stage_between, r, failed, &err) ||
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

static const struct stage stage_between = {"log", SMALL_BYTES, ASK_NS, between_came, false};

static void ask_ancestor(struct git_read *g)
{
	call(g, &stage_ancestor, STR_NONE,
	     ARGS("merge-base", "--is-ancestor", g->rq.applied, g->result.head.commit));
}

static void judge_history(struct git_read *g, bool rewritten)
{
	g->result.rewritten = rewritten;
	if (rewritten)
		read_tree(g);
	else
		call(g, &stage_between, STR_NONE,
		     ARGS("log", "--first-parent", "-n", "1000", log_format,
			  arena_fmt(g->a, "%s..%s", g->rq.applied, g->result.head.commit)));
}

/* More history than the mirror has room for is no reason to read nothing: it is not known then. */
static void deepened(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_deepen, r, failed, &err))
		ask_ancestor(g);
	else if (g->depth == DEPTH_FAR)
		judge_history(g, true);
	else
		finish(g, &err);
}

static const struct stage stage_deepen = {"fetch", SMALL_BYTES, FETCH_NS, deepened, .remote = true};

/* A mirror that was made anew has the head alone, and so cannot know the applied commit. */
static void deepen(struct git_read *g)
{
	g->depth = g->depth ? DEPTH_FAR : DEPTH_NEAR;
	call(g, &stage_deepen, STR_NONE,
	     ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head",
		  arena_fmt(g->a, "--depth=%zu", g->depth), g->rq.url,
		  arena_fmt(g->a, "+refs/heads/%s:" HEAD, g->rq.branch)));
}

/* 0: it is one; 1: it is not; more: the mirror does not have that commit. */
static void ancestor_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (failed && !is_well(g, &stage_ancestor, r, failed, &err)) {
		finish(g, &err);
		return;
	}
	if (r->status > 1 && g->depth < DEPTH_FAR)
		deepen(g);
	else
		judge_history(g, r->status != 0);
}

static const struct stage stage_ancestor = {"merge-base", SMALL_BYTES, ASK_NS, ancestor_came,
					    false};

static void head_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	struct git_commit *list;
	size_t n = 0;
	g->run = NULL;
	if (!is_well(g, &stage_head, r, failed, &err) ||
	    git_log_read(r->output, g->a, &list, &n, &err) < 0 || !n) {
		if (!err.code)
			error_set(&err, E_CORRUPT, "git log says nothing of its head");
		finish(g, &err);
		return;
	}
	g->result.head = list[0];
	if (g->rq.applied && strcmp(g->rq.applied, list[0].commit) != 0)
		ask_ancestor(g);
	else
		read_tree(g);
}

static const struct stage stage_head = {"log", SMALL_BYTES, ASK_NS, head_came, false};

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
		call(g, &stage_fetch, STR_NONE,
		     ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--depth=1",
			  g->rq.url, ref));
	else
		call(g, &stage_fetch, STR_NONE,
		     ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head", g->rq.url, ref));
}

static void remove_mirror(struct git_read *g)
{
	const char *argv[] = {"/bin/rm", "-rf", "--", g->repo, NULL};
	const struct program_call c = {.path = argv[0], .argv = argv};
	g->retried = true;
	g->run = programs_run(g->programs, &c, stage_remove.done, g);
}

static void fetch_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_fetch, r, failed, &err))
		call(g, &stage_head, STR_NONE, ARGS("log", "-n", "1", log_format, HEAD));
	else if (err.reason == REASON_SOURCE_UNREACHABLE && !g->retried && !failed)
		remove_mirror(g); /* it answered a moment ago: the mirror may be what is wrong */
	else
		finish(g, &err);
}

static const struct stage stage_fetch = {"fetch", SMALL_BYTES, FETCH_NS, fetch_came,
					 .remote = true};

static void init_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_init, r, failed, &err))
		fetch(g);
	else
		finish(g, &err);
}

static const struct stage stage_init = {"init", SMALL_BYTES, ASK_NS, init_came, false};

static void init(struct git_read *g)
{
	call(g, &stage_init, STR_NONE, ARGS("init", "-q", "--bare", "--template="));
}

static void removed(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (is_well(g, &stage_remove, r, failed, &err))
		init(g);
	else
		finish(g, &err);
}

static const struct stage stage_remove = {"rm", SMALL_BYTES, ASK_NS, removed, false};

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
	bool well = is_well(g, &stage_ask, r, failed, &err);
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

static const struct stage stage_ask = {"ls-remote", SMALL_BYTES, ASK_NS, asked, true};

static void ask(struct git_read *g)
{
	call(g, &stage_ask, STR_NONE,
	     ARGS("ls-remote", "-q", "--heads", g->rq.url,
		  arena_fmt(g->a, "refs/heads/%s", g->rq.branch)));
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

static const struct stage stage_resolve = {"getent", SMALL_BYTES, RESOLVE_NS, resolved, false};

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
	if (is_well(g, &stage_version, r, failed, &err) && !git_can_pin(r->output))
		error_because(&err, E_UNSUPPORTED, REASON_GIT_MISSING,
			      GIT_PROGRAM " is older than 2.37; install a newer one");
	if (err.code)
		finish(g, &err);
	else
		resolve(g);
}

static const struct stage stage_version = {"version", SMALL_BYTES, ASK_NS, version_came, false};

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
	g->repo = arena_fmt(g->a, "%s/repo", g->rq.dir);
	g->env = environment(g->a, &g->rq, false, NULL);
	prepare(g);
	struct error err = ERROR_INIT;
	bool is_remote = !cstr_has_prefix(g->rq.url, "file://");
	int r = is_remote ? git_host_read(g->rq.url, g->a, &g->host, &err) : 0;
	assert(r == 0); /* who asks has looked */
	if (is_remote && !g->host.literal)
		call(g, &stage_version, STR_NONE, ARGS("version"));
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
