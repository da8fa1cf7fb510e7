/* `alm bundle set-version`: a version in a repository is changed, committed and pushed. */
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/cli/bundle/bundle_git.h"
#include "alm/cli/bundle/bundle_revision.h"
#include "alm/cli/bundle/cmd_bundle.h"
#include "alm/cli/bundle/set_version.h"
#include "alm/cli/term.h"

#define PUSHES_MAX 5 /* somebody else was faster that often: enough */
#define INDEX      "alm-set-version"

struct change {
	struct cli *c;
	struct bundle_git git;
	const char *dir, *name, *version, *message;
	const char *prefix;                  /* of dir in the repository: "apps/", "" */
	const char *branch, *remote, *merge; /* "main", "origin", "refs/heads/main" */
	bool is_signed;                      /* commit.gpgSign */
	struct set_version found;
	const char *ref;    /* where the branch of the server is fetched to */
	const char *commit; /* that was made */
};

/* --- the variables: the user's own, as he commits and pushes --- */

static const char *const *environment_of(struct arena *a, const char *index)
{
	size_t all = 0, n = 0;
	while (environ[all])
		all++;
	const char **list = ARENA_ARRAY(a, const char *, all + 3);
	for (size_t i = 0; i < all; i++) /* of two of a name the first counts */
		if (!cstr_has_prefix(environ[i], "GIT_TERMINAL_PROMPT=") &&
		    (!index || !cstr_has_prefix(environ[i], "GIT_INDEX_FILE=")))
			list[n++] = environ[i];
	list[n++] = "GIT_TERMINAL_PROMPT=0"; /* there is none */
	if (index)
		list[n++] = arena_fmt(a, "GIT_INDEX_FILE=%s", index);
	list[n] = NULL;
	return list;
}

/* --- where it is --- */

/* The one line of an answer. */
static int ask_line(struct change *x, const char *const *args, const char **ret, struct error *err)
{
	if (bundle_git_must(&x->git, STR_NONE, args, err) < 0)
		return -err->code;
	struct str line = str_trim(x->git.output);
	*ret = arena_strndup(x->git.a, line.ptr ? line.ptr : "", line.len);
	return 0;
}

static int find_upstream(struct change *x, struct error *err)
{
	struct arena *a = x->git.a;
	const char *flag = "";
	struct error ignored = ERROR_INIT;
	x->is_signed = ask_line(x, GIT_ARGS("config", "--type=bool", "commit.gpgSign"), &flag,
				&ignored) == 0 &&
		       cstr_eq(flag, "true");
	if (ask_line(x, GIT_ARGS("symbolic-ref", "-q", "--short", "HEAD"), &x->branch, &ignored) <
	    0)
		return error_set(err, E_INVALID, "%s is on no branch", x->dir);
	if (ask_line(x, GIT_ARGS("config", arena_fmt(a, "branch.%s.remote", x->branch)), &x->remote,
		     &ignored) < 0 ||
	    ask_line(x, GIT_ARGS("config", arena_fmt(a, "branch.%s.merge", x->branch)), &x->merge,
		     &ignored) < 0)
		return error_set(err, E_INVALID,
				 "branch %s of %s follows none of a server: git push -u REMOTE %s",
				 x->branch, x->dir, x->branch);
	return 0;
}

/* --- one change --- */

static int find(struct change *x, const char *rev, struct error *err)
{
	struct files files = {.a = x->git.a};
	struct bundle_revision revision;
	if (bundle_revision_read(x->dir, "", rev, &files, &revision, err) < 0)
		return -err->code;
	if (!revision.commit)
		return error_set(err, E_INVALID, "%s is in no repository of git", x->dir);
	files_sort(&files);
	return set_version_find(&files, x->name, x->version, cli_value(x->c, "file"), &x->found,
				err);
}

/* The commit of base with another text of that file, of objects alone: neither the work tree nor the
 * index of the clone is touched. */
static int make_commit(struct change *x, const char *base, struct error *err)
{
	struct arena *a = x->git.a;
	const char *path = arena_fmt(a, "%s%s", x->prefix, x->found.path), *entry, *tree;
	if (ask_line(x, GIT_ARGS("--literal-pathspecs", "ls-tree", "--full-tree", base, "--", path),
		     &entry, err) < 0 ||
	    bundle_git_must(&x->git, x->found.text, GIT_ARGS("hash-object", "-w", "--stdin"), err) <
		    0)
		return -err->code;
	struct str blob = str_trim(x->git.output);
	const char *info = arena_fmt(a, "%.6s,%.*s,%s", entry, STR_ARG(blob), path);
	if (bundle_git_must(&x->git, STR_NONE, GIT_ARGS("read-tree", base), err) < 0 ||
	    bundle_git_must(&x->git, STR_NONE, GIT_ARGS("update-index", "--cacheinfo", info), err) <
		    0 ||
	    ask_line(x, GIT_ARGS("write-tree"), &tree, err) < 0)
		return -err->code;
	return ask_line(x,
			GIT_ARGS("commit-tree", x->is_signed ? "-S" : "--no-gpg-sign", "-p", base,
				 "-m", x->message, tree),
			&x->commit, err);
}

/* "!\tCOMMIT:refs/heads/main\t[remote rejected] (pre-receive hook declined)" */
static int push_refused(const struct change *x, struct error *err)
{
	struct str rest = x->git.output, line, before, why;
	while (x->git.status > 0 && str_next_line(&rest, &line))
		if (line.len && line.ptr[0] == '!' && str_rcut(line, '\t', &before, &why))
			return error_set(err, E_REFUSED, "git push: %.*s", STR_ARG(why));
	return bundle_git_said(&x->git, "push", err);
}

/* 1; 0: somebody else has pushed meanwhile. */
static int push(struct change *x, struct error *err)
{
	static const char *const faster[] = {"[rejected]", "cannot lock ref", "incorrect old value",
					     NULL};
	bundle_git_ask(&x->git, STR_NONE,
		       GIT_ARGS("push", "--porcelain", x->remote,
				arena_fmt(x->git.a, "%s:%s", x->commit, x->merge)));
	if (x->git.status > 0 &&
	    (git_says(x->git.output, faster) || git_says(x->git.errors, faster)))
		return 0;
	return x->git.status ? push_refused(x, err) : 1;
}

static int try_push(struct change *x, struct error *err)
{
	const char *base = NULL;
	x->commit = NULL;
	const char *to = arena_fmt(x->git.a, "+%s:%s", x->merge, x->ref);
	if (bundle_git_must(&x->git, STR_NONE,
			    GIT_ARGS("fetch", "-q", "--no-write-fetch-head", x->remote, to),
			    err) < 0 ||
	    ask_line(x,
		     GIT_ARGS("rev-parse", "--verify", "-q",
			      arena_fmt(x->git.a, "%s^{commit}", x->ref)),
		     &base, err) < 0 ||
	    find(x, base, err) < 0)
		return -err->code;
	if (!x->found.text.ptr)
		return 1;
	return make_commit(x, base, err) < 0 ? -err->code : push(x, err);
}

static int push_all(struct change *x, struct error *err)
{
	int done = 0;
	if (find_upstream(x, err) < 0)
		return -err->code;
	for (size_t i = 0; i < PUSHES_MAX && !done; i++)
		done = try_push(x, err);
	return done ? done
		    : error_set(
			      err, E_CONFLICT,
			      "others have pushed to %s %s %d times meanwhile: nothing is changed; "
			      "try again",
			      x->remote, x->merge, PUSHES_MAX);
}

/* Of the branch that is checked out, with the file on disk. */
static int commit_here(struct change *x, struct error *err)
{
	struct arena *a = x->git.a;
	if (find(x, "HEAD", err) < 0)
		return -err->code;
	if (!x->found.text.ptr)
		return 0;
	const char *path = arena_fmt(a, "%s/%s", x->dir, x->found.path);
	if (bundle_git_must(&x->git, STR_NONE,
			    GIT_ARGS("--literal-pathspecs", "status", "--porcelain", "--", path),
			    err) < 0)
		return -err->code;
	if (str_trim(x->git.output).len)
		return error_set(err, E_INVALID, "%s has changes that are not committed", path);
	struct file_info info;
	struct error ignored = ERROR_INIT;
	if (file_info(path, &info, err) < 0 ||
	    file_write_atomic(path, x->found.text, info.mode, err) < 0)
		return -err->code;
	if (bundle_git_must(
		    &x->git, STR_NONE,
		    GIT_ARGS("--literal-pathspecs", "commit", "-q", "-m", x->message, "--", path),
		    err) < 0) {
		(void)bundle_git_must(
			&x->git, STR_NONE,
			GIT_ARGS("--literal-pathspecs", "checkout", "-q", "HEAD", "--", path),
			&ignored); /* as it was */
		return -err->code;
	}
	return ask_line(x, GIT_ARGS("rev-parse", "HEAD"), &x->commit, err);
}

/* --- the command --- */

static void tell(const struct change *x, bool pushed)
{
	if (!x->commit) {
		term_print("%s is %s already (%s)\n", x->name, x->version, x->found.key);
		return;
	}
	term_print("%s: %s -> %s (%s), commit %.12s%s\n", x->name, x->found.from, x->version,
		   x->found.key, x->commit,
		   pushed ? arena_fmt(x->git.a, " is on %s %s", x->remote, x->merge)
			  : "; git push sends it");
}

static int perform(struct change *x, struct error *err)
{
	const char *repo = NULL;
	bool pushes = cli_flag(x->c, "push");
	x->git.place.env = environment_of(x->git.a, NULL);
	x->git.place.is_users = true;
	if (ask_line(x, GIT_ARGS("rev-parse", "--absolute-git-dir"), &repo, err) < 0 ||
	    ask_line(x, GIT_ARGS("rev-parse", "--show-prefix"), &x->prefix, err) < 0)
		return -err->code;
	/* of this process: another one may change something else at the same time */
	const char *index = arena_fmt(x->git.a, "%s/" INDEX ".%d.index", repo, (int)getpid());
	x->ref = arena_fmt(x->git.a, "refs/alm/" INDEX ".%d", (int)getpid());
	if (pushes)
		x->git.place.env = environment_of(x->git.a, index);
	int r = pushes ? push_all(x, err) : commit_here(x, err);
	struct error ignored = ERROR_INIT;
	if (pushes) {
		(void)bundle_git_must(&x->git, STR_NONE, GIT_ARGS("update-ref", "-d", x->ref),
				      &ignored);
		(void)file_remove(index, &ignored);
	}
	if (r >= 0)
		tell(x, pushes);
	return r < 0 ? r : 0;
}

static int run_set_version(struct cli *c, struct error *err)
{
	struct change x = {.c = c, .name = c->args[0], .version = c->args[1]};
	CLEANUP(strbuf_release) struct strbuf dir = STRBUF_INIT(STRBUF_SMALL);
	const char *asked = cli_value(c, "filename"), *message = cli_value(c, "message");
	if (file_absolute(asked ? asked : ".", &dir, err) < 0)
		return -err->code;
	x.dir = dir.buf;
	x.message = message ? message : arena_fmt(c->arena, "%s %s", x.name, x.version);
	if (bundle_git_open(&x.git, x.dir, c->arena, err) < 0)
		return -err->code;
	int r = perform(&x, err);
	bundle_git_close(&x.git);
	return r;
}

static const struct cmd_option options[] = {
	{"filename", "DIR", "a folder of a clone (.)", 'f'},
	{"push", NULL, "change the branch on its server, and not the one that is checked out", 0},
	{"file", "PATH", "the file below DIR, where several objects have the name", 0},
	{"message", "TEXT", "of the commit (NAME VERSION)", 'm'},
	{0}};

const struct cmd cmd_bundle_set_version = {
	.name = "set-version",
	.usage = "alm bundle set-version NAME VERSION [-f DIR] [--push] [--file PATH] [-m TEXT]",
	.summary = "change a version in a repository: commit, and push",
	.description =
		"The version is spec.version of the AppType NAME, or the tag of the image of the "
		"workload NAME: of its container NAME, or of its only one. Nothing else of the "
		"file "
		"changes. Without --push the change is committed on the branch that is checked "
		"out. "
		"With it the branch of its server is fetched, changed and pushed, and that again, "
		"at "
		"most 5 times, when somebody else was faster; work tree and index are not looked "
		"at. "
		"git runs as in a shell of this user, with his names, signing, credentials and "
		"hooks, and what it leaves running goes on; but there is no terminal to ask for a "
		"password, and a step of it ends after an hour.",
	.examples = "alm bundle set-version my-app 1.4.2 --push",
	.options = options,
	.args = {2, 2},
	.run = run_set_version,
};
