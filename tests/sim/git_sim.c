#include "tests/sim/git_sim.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/map.h"
#include "tests/sim/world.h"

#define BLOB_LEN (GIT_SIM_OID - 1)

size_t git_sim_pushed(const struct world *w)
{
	const struct world_file *f = map_get(w->files, GIT_SIM_HEAD);
	int64_t n = 0;
	return f && str_parse_i64(str_n(f->bytes, f->n), &n) ? (size_t)n : 0;
}

void git_sim_oid(size_t n, char ret[GIT_SIM_OID])
{
	(void)snprintf(ret, GIT_SIM_OID, "c%039zx", n);
}

size_t git_sim_find(const struct world *w, const char *oid)
{
	char name[GIT_SIM_OID];
	const struct git_sim_commit *c = w->scenario->commits;
	for (size_t n = 1; oid && c[n - 1].subject; n++) {
		git_sim_oid(n, name);
		if (!strncmp(oid, name, BLOB_LEN))
			return n;
	}
	return 0;
}

static int fatal(struct strbuf *errors, const char *why)
{
	strbuf_addf(errors, "fatal: %s\n", why);
	return 128;
}

/* What a name stands for; 0: nothing. */
static size_t resolve(const struct world *w, const char *name)
{
	return cstr_has_prefix(name, "refs/") ? git_sim_pushed(w) : git_sim_find(w, name);
}

/* --- its commands; argv begins with the name of each --- */

static int ls_remote(const struct world *w, const char *const *argv, struct strbuf *output)
{
	char oid[GIT_SIM_OID];
	size_t n = git_sim_pushed(w);
	(void)argv;
	git_sim_oid(n, oid);
	if (n)
		strbuf_addf(output, "%s\trefs/heads/main\n", oid);
	return 0;
}

static void add_commit(const struct world *w, size_t n, struct strbuf *output)
{
	static const char author[] = "Ann";
	const char *subject = w->scenario->commits[n - 1].subject;
	char oid[GIT_SIM_OID];
	git_sim_oid(n, oid);
	strbuf_addstr(output, str_n(oid, sizeof(oid)));
	strbuf_addstr(output, str_n(author, sizeof(author)));
	strbuf_addstr(output, str_n(author, sizeof(author)));
	strbuf_addstr(output, str_n(subject, strlen(subject) + 1));
	strbuf_adds(output, "\n");
}

/* "A..B", newest first, or one. */
static int show_log(const struct world *w, const char *const *argv, struct strbuf *output,
		    struct strbuf *errors)
{
	const char *what = argv[0], *dots;
	while (*argv)
		what = *argv++;
	dots = strstr(what, "..");
	size_t from = dots ? resolve(w, what) : 0, to = resolve(w, dots ? dots + 2 : what);
	if (!to || (dots && !from))
		return fatal(errors, "Not a valid commit name");
	for (size_t n = to; n > (dots ? from : to - 1); n--)
		add_commit(w, n, output);
	return 0;
}

static int merge_base(const struct world *w, const char *const *argv, struct strbuf *errors)
{
	size_t old = resolve(w, argv[2]), new = resolve(w, argv[3]);
	return !old || !new ? fatal(errors, "Not a valid commit name") : old > new;
}

static const char *file_of(const struct world *w, size_t n, size_t i)
{
	const char *const *files = w->scenario->commits[n - 1].files;
	for (size_t at = 0; files[at]; at += 2)
		if (at == i * 2)
			return files[at];
	return NULL;
}

/* A blob is named by its commit and its place there. */
static int ls_tree(const struct world *w, const char *const *argv, struct strbuf *output,
		   struct strbuf *errors)
{
	const char *what = argv[0], *name;
	while (*argv)
		what = *argv++;
	size_t n = resolve(w, what);
	if (!n)
		return fatal(errors, "Not a valid object name");
	for (size_t i = 0; (name = file_of(w, n, i)); i++) {
		const char *text = w->scenario->commits[n - 1].files[i * 2 + 1];
		strbuf_addf(output, "100644 blob b%031zu%08zu %7zu\t%s", n, i, strlen(text), name);
		strbuf_addstr(output, str_n("", 1));
	}
	return 0;
}

static int cat_file(const struct world *w, struct str input, struct strbuf *output,
		    struct strbuf *errors)
{
	struct str line;
	while (str_next_line(&input, &line)) {
		uint64_t n, i;
		if (line.len != BLOB_LEN || !str_parse_u64(str_sub(line, 1, 31), &n) ||
		    !str_parse_u64(str_sub(line, 32, 8), &i) || !n || !file_of(w, n, i))
			return fatal(errors, "Not a valid object name");
		const char *text = w->scenario->commits[n - 1].files[i * 2 + 1];
		strbuf_addf(output, "%.*s blob %zu\n%s\n", STR_ARG(line), strlen(text), text);
	}
	return 0;
}

int git_sim(void *arg, const struct program_call *call, struct strbuf *output,
	    struct strbuf *errors)
{
	const struct world *w = arg;
	const char *const *argv = call->argv + 1;
	if (*argv && !strcmp(*argv, "--git-dir"))
		argv += 2;
	const char *verb = *argv ? *argv : "";
	if (!strcmp(verb, "ls-remote"))
		return ls_remote(w, argv, output);
	if (!strcmp(verb, "init") || !strcmp(verb, "fetch"))
		return 0;
	if (!strcmp(verb, "log"))
		return show_log(w, argv, output, errors);
	if (!strcmp(verb, "merge-base"))
		return merge_base(w, argv, errors);
	if (!strcmp(verb, "ls-tree"))
		return ls_tree(w, argv, output, errors);
	return !strcmp(verb, "cat-file")
		       ? cat_file(w, call->input, output, errors)
		       : fatal(errors, "this git is a table, and does not do that");
}

int git_sim_nothing(void *arg, const struct program_call *call, struct strbuf *output,
		    struct strbuf *errors)
{
	(void)arg;
	(void)call;
	(void)output;
	(void)errors;
	return 0;
}
