/* Where the branch is: the variables of the calls that talk to its server, its addresses, its head. */
#include <assert.h>
#include <string.h>

#include "alm/client/git_mirror_internal.h"

#define RESOLVE_NS (15 * NS_PER_S)

static const struct git_stage stage_ask, stage_resolve, stage_version;

/* --- the environment --- */

/* "https://host:port/": where the header is sent, and nowhere else. */
static const char *origin_of(const char *url, struct arena *a)
{
	const char *host = strstr(url, "://");
	const char *slash = host ? strchr(host + 3, '/') : NULL;
	return slash ? arena_fmt(a, "%.*s/", (int)(slash - url), url) : url;
}

static bool is_file(const struct git_read *g)
{
	return cstr_has_prefix(g->rq.url, "file://");
}

static void config_remote(struct git_environment *e, const struct git_read *g)
{
	const struct git_request *rq = &g->rq;
	if (g->ssh.text) {
		git_ssh_environment(e, &g->ssh, g->pin);
		return;
	}
	if (rq->header)
		git_environment_config(
			e, arena_fmt(e->a, "http.%s.extraHeader", origin_of(rq->url, e->a)),
			arena_fmt(e->a, "Authorization: %s", rq->header));
	if (rq->ca_pem)
		git_environment_config(e, "http.sslCAInfo", arena_fmt(e->a, "%s/ca.crt", rq->dir));
	if (g->pin)
		git_environment_config(e, "http.curloptResolve", g->pin);
}

const char *const *git_mirror_environment(const struct git_read *g, bool remote)
{
	static const char *const fixed[][2] = {
		{"transfer.fsckObjects", "true"},  {"fetch.recurseSubmodules", "false"},
		{"http.followRedirects", "false"}, {"credential.helper", ""},
		{"gc.autoDetach", "false"},        {"gc.pruneExpire", "now"},
	};
	struct git_environment e;
	const char *protocol = g->ssh.text ? "ssh" : is_file(g) ? "file" : "https";
	git_environment_init(&e, g->a);
	git_environment_add(&e, arena_fmt(g->a, "HOME=%s", g->rq.dir));
	git_environment_add(&e, "GIT_CONFIG_NOSYSTEM=1");
	git_environment_add(&e, "GIT_CONFIG_GLOBAL=/dev/null");
	git_environment_add(&e, arena_fmt(g->a, "GIT_ALLOW_PROTOCOL=%s", protocol));
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		git_environment_config(&e, fixed[i][0], fixed[i][1]);
	if (remote)
		config_remote(&e, g);
	return git_environment_end(&e);
}

void git_mirror_call_remote(struct git_read *g, const struct git_stage *s, const char *const *args)
{
	struct git_place p = g->place;
	p.env = git_mirror_environment(g, true);
	g->run = git_run(&p, s, STR_NONE, args, g);
}

/* --- which head --- */

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
	g->wanted = g->rq.commit ? g->rq.commit : g->next;
	g->result.unchanged = !err.code && cstr_eq(g->wanted, g->rq.known);
	if (err.code || g->result.unchanged)
		git_mirror_finish(g, err.code ? &err : NULL);
	else
		git_mirror_asked(g);
}

static const struct git_stage stage_ask = {"ls-remote", GIT_TEXT_BYTES, GIT_ASK_NS, asked};

/* Of no repository: what is wrong with the mirror is no reason to ask nothing. */
static void ask(struct git_read *g)
{
	struct git_place p = g->place;
	p.repo = arena_fmt(g->a, "%s/none", g->rq.dir);
	p.env = git_mirror_environment(g, true);
	g->run = git_run(&p, &stage_ask, STR_NONE,
			 GIT_ARGS("ls-remote", "-q", "--heads", g->rq.url,
				  arena_fmt(g->a, "refs/heads/%s", g->rq.branch)),
			 g);
}

/* --- the key of ssh, and the addresses of a name --- */

static void put_key(struct git_read *g)
{
	struct error err = ERROR_INIT;
	if (g->ssh.text && git_ssh_put(g->rq.dir, g->rq.ssh, g->a, &err) < 0)
		git_mirror_finish(g, &err);
	else
		ask(g);
}

/* git would take all that are allowed, ssh takes one. */
static int pin(struct git_read *g, struct str listing, struct error *err)
{
	struct git_addresses all;
	if (!g->ssh.text)
		return git_pin(&g->host, listing, g->rq.addresses, g->a, &g->pin, err);
	if (git_addresses(&g->host, listing, g->rq.addresses, &all, err) < 0)
		return -err->code;
	g->pin = arena_strndup(g->a, all.texts[0].ptr, all.texts[0].len);
	return 0;
}

static void resolved(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_read *g = arg;
	struct error err = ERROR_INIT;
	g->run = NULL;
	if (failed) {
		err = *failed;
		error_set_reason(&err, REASON_SOURCE_UNREACHABLE);
	} else {
		(void)pin(g, r->output, &err);
	}
	if (err.code)
		git_mirror_finish(g, &err);
	else
		put_key(g);
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
	if (git_is_well(&g->place, &stage_version, r, failed, &err) && !g->ssh.text &&
	    !git_can_pin(r->output))
		error_because(&err, E_UNSUPPORTED, REASON_GIT_MISSING,
			      GIT_PROGRAM " is older than 2.37; install a newer one");
	if (err.code)
		git_mirror_finish(g, &err);
	else if (g->host.literal)
		put_key(g);
	else
		resolve(g);
}

static const struct git_stage stage_version = {"version", GIT_TEXT_BYTES, GIT_ASK_NS, version_came};

/* --- the beginning --- */

void git_mirror_begin(struct git_read *g)
{
	struct error err = ERROR_INIT;
	bool is_remote = !is_file(g);
	int r = is_remote ? git_host_read(g->rq.url, g->a, &g->host, &err) : 0;
	assert(r == 0); /* who asks has looked */
	if (g->ssh.text || (is_remote && !g->host.literal))
		git_mirror_call(g, &stage_version, GIT_ARGS("version"));
	else
		ask(g);
}
