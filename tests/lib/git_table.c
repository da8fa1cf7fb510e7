#include "tests/lib/git_table.h"

#include <stdio.h>
#include <string.h>

#define BLOB_LEN (GIT_TABLE_OID - 1)

void git_table_oid(size_t n, char ret[GIT_TABLE_OID])
{
	(void)snprintf(ret, GIT_TABLE_OID, "c%039zx", n);
}

size_t git_table_find(const struct git_table *t, const char *oid)
{
	char name[GIT_TABLE_OID];
	const struct git_table_commit *c = t->commits;
	for (size_t n = 1; oid && c[n - 1].subject; n++) {
		git_table_oid(n, name);
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
static size_t resolve(const struct git_table *t, const char *name)
{
	return cstr_has_prefix(name, "refs/") ? t->pushed : git_table_find(t, name);
}

/* --- its commands; argv begins with the name of each --- */

static int ls_remote(struct git_table *t, struct strbuf *output)
{
	char oid[GIT_TABLE_OID];
	size_t n = t->pushed;
	git_table_oid(n, oid);
	if (n)
		strbuf_addf(output, "%s\trefs/heads/main\n", oid);
	return 0;
}

static void add_commit(const struct git_table *t, size_t n, struct strbuf *output)
{
	static const char author[] = "Ann";
	const char *subject = t->commits[n - 1].subject;
	char oid[GIT_TABLE_OID];
	git_table_oid(n, oid);
	strbuf_addstr(output, str_n(oid, sizeof(oid)));
	strbuf_addstr(output, str_n(author, sizeof(author)));
	strbuf_addstr(output, str_n(author, sizeof(author)));
	strbuf_addstr(output, str_n(subject, strlen(subject) + 1));
	strbuf_adds(output, "\n");
}

/* "A..B", newest first, or one. */
static int show_log(const struct git_table *t, const char *const *argv, struct strbuf *output,
		    struct strbuf *errors)
{
	const char *what = argv[0], *dots;
	while (*argv)
		what = *argv++;
	dots = strstr(what, "..");
	size_t from = dots ? resolve(t, what) : 0, to = resolve(t, dots ? dots + 2 : what);
	if (!to || (dots && !from))
		return fatal(errors, "Not a valid commit name");
	for (size_t n = to; n > (dots ? from : to - 1); n--)
		add_commit(t, n, output);
	return 0;
}

static int merge_base(const struct git_table *t, const char *const *argv, struct strbuf *errors)
{
	size_t old = resolve(t, argv[2]), new = resolve(t, argv[3]);
	return !old || !new ? fatal(errors, "Not a valid commit name") : old > new;
}

static const char *file_of(const struct git_table *t, size_t n, size_t i)
{
	const char *const *files = t->commits[n - 1].files;
	for (size_t at = 0; files[at]; at += 2)
		if (at == i * 2)
			return files[at];
	return NULL;
}

/* A blob is named by its commit and its place there. */
static int ls_tree(const struct git_table *t, const char *const *argv, struct strbuf *output,
		   struct strbuf *errors)
{
	const char *what = argv[0], *name;
	while (*argv)
		what = *argv++;
	size_t n = resolve(t, what);
	if (!n)
		return fatal(errors, "Not a valid object name");
	for (size_t i = 0; (name = file_of(t, n, i)); i++) {
		const char *text = t->commits[n - 1].files[i * 2 + 1];
		strbuf_addf(output, "100644 blob b%031zu%08zu %7zu\t%s", n, i, strlen(text), name);
		strbuf_addstr(output, str_n("", 1));
	}
	return 0;
}

static int cat_file(const struct git_table *t, struct str input, struct strbuf *output,
		    struct strbuf *errors)
{
	struct str line;
	while (str_next_line(&input, &line)) {
		uint64_t n, i;
		if (line.len != BLOB_LEN || !str_parse_u64(str_sub(line, 1, 31), &n) ||
		    !str_parse_u64(str_sub(line, 32, 8), &i) || !n || !file_of(t, n, i))
			return fatal(errors, "Not a valid object name");
		const char *text = t->commits[n - 1].files[i * 2 + 1];
		strbuf_addf(output, "%.*s blob %zu\n%s\n", STR_ARG(line), strlen(text), text);
	}
	return 0;
}

int git_table(void *arg, const struct program_call *call, struct strbuf *output,
	      struct strbuf *errors)
{
	struct git_table *t = arg;
	const char *const *argv = call->argv + 1;
	if (*argv && !strcmp(*argv, "--git-dir"))
		argv += 2;
	const char *verb = *argv ? *argv : "";
	bool is_head = !strcmp(verb, "ls-remote"), is_fetch = !strcmp(verb, "fetch");
	t->asked += is_head;
	if (t->says && (is_head || is_fetch))
		return fatal(errors, t->says);
	if (!strcmp(verb, "version"))
		strbuf_adds(output, "git version 2.45.0\n");
	if (is_head)
		return ls_remote(t, output);
	if (is_fetch || !strcmp(verb, "init") || !strcmp(verb, "version"))
		return 0;
	if (!strcmp(verb, "log"))
		return show_log(t, argv, output, errors);
	if (!strcmp(verb, "merge-base"))
		return merge_base(t, argv, errors);
	if (!strcmp(verb, "ls-tree"))
		return ls_tree(t, argv, output, errors);
	return !strcmp(verb, "cat-file")
		       ? cat_file(t, call->input, output, errors)
		       : fatal(errors, "this git is a table, and does not do that");
}

int git_table_nothing(void *arg, const struct program_call *call, struct strbuf *output,
		      struct strbuf *errors)
{
	(void)arg;
	(void)call;
	(void)output;
	(void)errors;
	return 0;
}
