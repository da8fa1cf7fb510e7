#include "alm/cli/bundle/bundle_revision.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/bundle/bundle_git.h"
#include "alm/client/git_files.h"

#define NAMES_TOLD 5

/* --- the variables --- */

/* The user's own configuration says which repositories he trusts; a hook that runs before a push is
 * taken has its objects elsewhere. */
static void inherit(struct git_environment *e)
{
	static const char *const names[] = {"HOME",
					    "XDG_CONFIG_HOME",
					    "GIT_CONFIG_GLOBAL",
					    "GIT_CONFIG_SYSTEM",
					    "GIT_CONFIG_NOSYSTEM",
					    "GIT_CEILING_DIRECTORIES",
					    "GIT_OBJECT_DIRECTORY",
					    "GIT_ALTERNATE_OBJECT_DIRECTORIES"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (getenv(names[i]))
			git_environment_add(e,
					    arena_fmt(e->a, "%s=%s", names[i], getenv(names[i])));
}

static const char *const *environment(struct arena *a)
{
	struct git_environment e;
	git_environment_init(&e, a);
	inherit(&e);
	git_environment_add(&e, "GIT_ALLOW_PROTOCOL=none"); /* a partial clone would fetch */
	git_environment_add(&e, "GIT_NO_LAZY_FETCH=1");
	git_environment_add(&e, "GIT_OPTIONAL_LOCKS=0");
	git_environment_config(&e, "core.fsmonitor", "false");
	return git_environment_end(&e);
}

/* --- where it is --- */

struct where {
	const char *repo, *prefix; /* "apps/", "": its root */
	bool in_work_tree;
};

/* 1; 0: in no repository. */
static int find_repository(struct bundle_git *q, struct where *ret, struct bundle_revision *rev,
			   struct error *err)
{
	struct str repo, inside, prefix;
	bundle_git_ask(q, STR_NONE,
		       GIT_ARGS("rev-parse", "--absolute-git-dir", "--is-inside-work-tree",
				"--show-prefix"));
	if (q->err.code == E_NOTFOUND) {
		rev->why = "there is no " GIT_PROGRAM;
		return 0;
	}
	if (q->status == 128 && str_contains(q->errors, STR("not a git repository")))
		return 0;
	if (q->status || !str_next_line(&q->output, &repo) || !str_next_line(&q->output, &inside))
		return bundle_git_said(q, "rev-parse", err);
	if (!str_next_line(&q->output, &prefix))
		prefix = STR("");
	*ret = (struct where){.repo = arena_strndup(q->a, repo.ptr, repo.len),
			      .prefix = arena_strndup(q->a, prefix.ptr, prefix.len),
			      .in_work_tree = str_is(inside, "true")};
	return 1;
}

static int find_commit(struct bundle_git *q, const char *dir, const char *rev, const char **ret,
		       struct error *err)
{
	const char *name = arena_fmt(q->a, "%s^{commit}", rev ? rev : "HEAD");
	bundle_git_ask(q, STR_NONE,
		       GIT_ARGS("rev-parse", "--verify", "-q", "--end-of-options", name));
	if (q->status < 0)
		return bundle_git_said(q, "rev-parse", err);
	if (q->status && rev)
		return error_set(err, E_NOTFOUND, "--rev %s: %s has no such revision", rev, dir);
	if (q->status)
		return error_set(err, E_NOTFOUND,
				 "%s has no commit yet; commit, or judge what is on disk with "
				 "--worktree",
				 dir);
	struct str oid = str_trim(q->output);
	*ret = arena_strndup(q->a, oid.ptr, oid.len);
	return 0;
}

/* --- what is on disk besides --- */

static bool counts(const char *path)
{
	return files_is_manifest(path) || !strcmp(path, FILES_IGNORE) ||
	       cstr_has_suffix(path, "/" FILES_IGNORE);
}

static void tell_unjudged(struct bundle_git *q, bool all, struct bundle_revision *ret)
{
	struct str rest = q->output, line;
	const char *list = "";
	size_t n = 0;
	while (rest.len && str_next(&rest, '\0', &line)) {
		if (line.len < 4)
			continue;
		const char *path = arena_strndup(q->a, line.ptr + 3, line.len - 3);
		if ((all || counts(path)) && n++ < NAMES_TOLD)
			list = arena_fmt(q->a, "%s%s%s", list, *list ? ", " : "", path);
	}
	if (n > NAMES_TOLD)
		list = arena_fmt(q->a, "%s and %zu more", list, n - NAMES_TOLD);
	ret->unjudged = n ? list : NULL;
}

/* "XY PATH\0", from the root of the work tree. */
static int find_unjudged(struct bundle_git *q, const char *path, bool all,
			 struct bundle_revision *ret, struct error *err)
{
	bundle_git_ask(q, STR_NONE,
		       GIT_ARGS("--literal-pathspecs", "status", "--porcelain", "-z",
				"--no-renames", "--untracked-files=all", "--", *path ? path : "."));
	if (q->status)
		return bundle_git_said(q, "status", err);
	tell_unjudged(q, all, ret);
	return 0;
}

/* --- its files --- */

static void read_all(void *arg, const struct error *err)
{
	bundle_git_done(arg, err);
}

static int read_files(struct bundle_git *q, const struct where *w, const char *path,
		      const char *commit, struct files *files, struct error *err)
{
	struct str whole = str_of(arena_fmt(q->a, "%s%s", w->prefix, path));
	if (whole.len && whole.ptr[whole.len - 1] == '/')
		whole.len--;
	q->place.repo = w->repo;
	q->place.dir = w->repo;
	(void)git_files_start(&q->place, commit, arena_strndup(q->a, whole.ptr, whole.len), files,
			      read_all, q);
	bundle_git_wait(q);
	return q->err.code ? error_copy(err, &q->err) : 0;
}

static int read_revision(struct bundle_git *q, const char *dir, const char *path, const char *rev,
			 struct files *files, struct bundle_revision *ret, struct error *err)
{
	struct where w = {"", "", false};
	int r = find_repository(q, &w, ret, err);
	if (r < 0)
		return r;
	if (!r && rev)
		return error_set(err, E_INVALID, "--rev %s: %s %s", rev, dir,
				 ret->why ? ret->why : "is in no repository of git");
	if (!r)
		return 0;
	if (find_commit(q, dir, rev, &ret->commit, err) < 0)
		return -err->code;
	if (!rev && w.in_work_tree && find_unjudged(q, path, files->refused, ret, err) < 0)
		return -err->code;
	return read_files(q, &w, path, ret->commit, files, err);
}

int bundle_revision_read(const char *dir, const char *path, const char *rev, struct files *files,
			 struct bundle_revision *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf absolute = STRBUF_INIT(STRBUF_SMALL);
	struct bundle_git q;
	*ret = (struct bundle_revision){0};
	if (file_absolute(dir, &absolute, err) < 0)
		return err->code == E_NOTFOUND
			       ? error_set(err, E_NOTFOUND, "%s: there is no such folder", dir)
			       : -err->code;
	if (bundle_git_open(&q, absolute.buf, files->a, err) < 0)
		return -err->code;
	q.place.env = environment(q.a);
	int r = read_revision(&q, dir, path, rev, files, ret, err);
	bundle_git_close(&q);
	return r;
}
