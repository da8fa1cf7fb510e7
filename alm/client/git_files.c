#include "alm/client/git_files.h"

#include "alm/source/git_tree.h"

#define BATCH_BYTES (FILES_BYTES_MAX + ((size_t)FILES_MAX * 128))

struct git_files {
	const struct git_place *place;
	struct program_run *run;
	const char *commit, *path;
	struct files *files;
	struct git_tree tree;
	struct str listing;
	struct error failed; /* of the listing, while it is asked whether there is a folder */
	git_files_fn done;
	void *arg;
};

static void finish(struct git_files *g, const struct error *err)
{
	git_files_fn done = g->done;
	void *arg = g->arg;
	xfree(g);
	done(arg, err);
}

static struct str keep(struct git_files *g, struct str s)
{
	return str_n(arena_text(g->files->a, s.ptr ? s.ptr : "", s.len), s.len);
}

/* --- the stages, last one first --- */

static const struct git_stage stage_files, stage_ignore, stage_entry, stage_tree;

static void files_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_files *g = arg;
	struct error err = ERROR_INIT;
	if (git_is_well(g->place, &stage_files, r, failed, &err))
		git_tree_files(&g->tree, r->output, g->files, &err);
	finish(g, err.code ? &err : NULL);
}

static const struct git_stage stage_files = {"cat-file", BATCH_BYTES, GIT_ASK_NS, files_came};

/* A branch without a manifest is no error of git: who asked knows whether it had some before. */
static void read_files(struct git_files *g, struct str rules)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	if (git_tree_read(g->listing, rules, g->files->a, &g->tree, &err) < 0 || !g->tree.n) {
		finish(g, err.code ? &err : NULL);
		return;
	}
	for (size_t i = 0; i < g->tree.n; i++)
		strbuf_addf(&b, "%s\n", g->tree.blobs[i].oid);
	g->run =
		git_run(g->place, &stage_files, strbuf_str(&b), GIT_ARGS("cat-file", "--batch"), g);
}

static void ignore_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_files *g = arg;
	struct error err = ERROR_INIT;
	if (git_is_well(g->place, &stage_ignore, r, failed, &err))
		read_files(g, keep(g, r->output));
	else
		finish(g, &err);
}

static const struct git_stage stage_ignore = {"cat-file", GIT_TEXT_BYTES, GIT_ASK_NS, ignore_came};

/* Of a tree that it cannot read git says the same as of one that is not there: the folder above it knows. */
static void entry_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_files *g = arg;
	if (!failed && r->status == 0 && !str_has_prefix(r->output, STR("040000 ")))
		error_because(&g->failed, E_NOTFOUND, REASON_SOURCE_EMPTY,
			      "%.12s has no folder \"%s\"", g->commit, g->path);
	const struct error err = g->failed;
	finish(g, &err);
}

static const struct git_stage stage_entry = {"ls-tree", GIT_TEXT_BYTES, GIT_ASK_NS, entry_came};

/* The commit is there: it is the folder that may not be. Whatever else it says may be otherwise the next time. */
static bool may_lack_folder(const struct program_result *r)
{
	static const char *const words[] = {"Not a valid object name", "not a tree object", NULL};
	return r->status != 0 && git_says(r->errors, words);
}

static void tree_came(void *arg, const struct program_result *r, const struct error *failed)
{
	struct git_files *g = arg;
	struct error err = ERROR_INIT;
	if (!git_is_well(g->place, &stage_tree, r, failed, &err)) {
		g->failed = err;
		if (!failed && may_lack_folder(r))
			g->run = git_run(g->place, &stage_entry, STR_NONE,
					 GIT_ARGS("ls-tree", g->commit, "--", g->path), g);
		else
			finish(g, &err);
		return;
	}
	g->listing = keep(g, r->output);
	sha256_hex(g->listing, g->files->tree);
	const char *oid = git_tree_ignore(g->listing, g->files->a);
	if (oid)
		g->run = git_run(g->place, &stage_ignore, STR_NONE,
				 GIT_ARGS("cat-file", "blob", oid), g);
	else
		read_files(g, STR_NONE);
}

static const struct git_stage stage_tree = {"ls-tree", GIT_LISTING_BYTES, GIT_ASK_NS, tree_came};

/* --- life --- */

struct git_files *git_files_start(const struct git_place *p, const char *commit, const char *path,
				  struct files *ret, git_files_fn done, void *arg)
{
	struct git_files *g = xcalloc(1, sizeof(*g));
	*g = (struct git_files){.place = p,
				.commit = commit,
				.path = path,
				.files = ret,
				.tree = {.flaws = ret->flaws, .refused = ret->refused},
				.done = done,
				.arg = arg};
	const char *tree = arena_fmt(ret->a, "%s:%s", commit, path);
	g->run = git_run(p, &stage_tree, STR_NONE, GIT_ARGS("ls-tree", "-r", "-z", "-l", tree), g);
	return g;
}

void git_files_cancel(struct git_files *g)
{
	if (!g)
		return;
	programs_cancel(g->place->programs, g->run);
	xfree(g);
}
