#include "alm/cli/run/run_files.h"

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/source/files.h"

struct walk {
	const char *root;
	struct str rules;
	struct files files;
	int depth;
};

static enum files_kind kind_of(const char *path, enum dir_kind kind)
{
	struct file_info info;
	struct error err = ERROR_INIT;
	if (file_is_link(path))
		return FILES_LINK;
	if (kind == DIR_UNKNOWN && file_info(path, &info, &err) == 0)
		kind = info.is_dir ? DIR_DIR : info.is_regular ? DIR_FILE : DIR_UNKNOWN;
	return kind == DIR_DIR ? FILES_DIR : kind == DIR_FILE ? FILES_FILE : FILES_OTHER;
}

static int take_file(struct walk *w, const char *path, const char *inside, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(FILE_BYTES_MAX);
	if (file_read(path, &text, err) < 0)
		return -err->code;
	return files_add(&w->files, inside, strbuf_str(&text), err);
}

/* NOLINTBEGIN(misc-no-recursion): walk_dir() bounds the depth by FILES_DEPTH_MAX */
static int walk_dir(struct walk *w, const char *inside, struct error *err);

static int walk_entry(struct walk *w, const char *inside, enum dir_kind found, struct error *err)
{
	const char *path = arena_fmt(w->files.a, "%s/%s", w->root, inside);
	enum files_kind kind = kind_of(path, found);
	int taken = files_take(w->rules, inside, kind, err);
	if (taken <= 0)
		return taken;
	return kind == FILES_DIR ? walk_dir(w, inside, err) : take_file(w, path, inside, err);
}

static int walk_dir(struct walk *w, const char *inside, struct error *err)
{
	struct dir_entry *entries;
	size_t n;
	const char *slash = *inside ? "/" : "";
	if (++w->depth > FILES_DEPTH_MAX)
		return error_set(err, E_LIMIT, "%s: folders are nested deeper than %d", inside,
				 FILES_DEPTH_MAX);
	const char *path = arena_fmt(w->files.a, "%s%s%s", w->root, slash, inside);
	int rc = dir_entries(path, FILES_MAX, &entries, &n, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = walk_entry(w, arena_fmt(w->files.a, "%s%s%s", inside, slash, entries[i].name),
				entries[i].kind, err);
	dir_entries_free(entries, n);
	w->depth--;
	return rc < 0 ? rc : 0;
}
/* NOLINTEND(misc-no-recursion) */

int run_files_read(const char *dir, const char *ns, struct flat *ret, struct error *err)
{
	struct walk w = {.root = dir, .files = {.a = ret->a}};
	CLEANUP(strbuf_release) struct strbuf rules = STRBUF_INIT(STRBUF_SMALL);
	const char *ignore = arena_fmt(ret->a, "%s/" FILES_IGNORE, dir);
	if (file_exists(ignore) && file_read(ignore, &rules, err) < 0)
		return -err->code;
	w.rules = strbuf_str(&rules);
	if (walk_dir(&w, "", err) < 0)
		return -err->code;
	files_sort(&w.files);
	return files_flat(&w.files, ns, ret, err);
}
