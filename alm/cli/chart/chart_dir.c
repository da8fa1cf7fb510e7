#include "alm/cli/chart/chart_dir.h"

#include <stdlib.h>

#include "alm/base/file.h"

struct walk {
	struct arena *a;
	const char *root;
	struct str rules;
	struct warnings *links; /* NULL: none are followed */
	struct archive_budget *budget;
	struct archive_files *files;
	struct strbuf *msg;
	struct strbuf text; /* of one file, used again for the next */
	int depth;
};

static int fail(struct strbuf *msg, const struct error *err)
{
	strbuf_adds(msg, err->msg);
	return -err->code;
}

static int read_text(struct arena *a, const char *path, size_t limit, file_read_fn read,
		     struct str *ret, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(limit);
	struct error err = ERROR_INIT;
	if (read(path, &b, &err) < 0)
		return fail(msg, &err);
	*ret = str_n(arena_text(a, b.buf, b.len), b.len);
	return 0;
}

static int walk_dir(struct walk *w, const char *inside);

/* Both paths from the root; only the second without links. */
static void note_link(struct walk *w, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf here = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	if ((*path != '/' && file_absolute(".", &here, &err) < 0) ||
	    file_absolute(path, &to, &err) < 0)
		return;
	if (*path != '/')
		strbuf_addc(&here, '/');
	strbuf_adds(&here, path);
	warnings_add(w->links, "%s is a link: what it leads to is used", path);
	warnings_log(w->links, "INFO",
		     "found symbolic link in path. Contents of linked file included and used");
	warnings_attr(w->links, "path", strbuf_str(&here));
	warnings_attr(w->links, "resolved", strbuf_str(&to));
}

/* What the folder did not tell, as behind a link. */
static int find_kind(struct walk *w, const char *path, enum dir_kind *ret)
{
	struct error err = ERROR_INIT;
	struct file_info info;
	bool is_link = file_is_link(path);
	if (is_link && !w->links) {
		strbuf_addf(w->msg, "%s is a symbolic link", path);
		return -E_INVALID;
	}
	if (file_info(path, &info, &err) < 0)
		return fail(w->msg, &err);
	if (is_link)
		note_link(w, path);
	*ret = info.is_dir ? DIR_DIR : info.is_regular ? DIR_FILE : DIR_UNKNOWN;
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): walk_dir() bounds the depth by CHART_DIR_DEPTH_MAX */
static int walk_entry(struct walk *w, const char *inside, enum dir_kind kind)
{
	struct error err = ERROR_INIT;
	bool ignored = false;
	const char *path = arena_fmt(w->a, "%s/%s", w->root, inside);
	int rc = kind == DIR_UNKNOWN ? find_kind(w, path, &kind) : 0;
	if (rc == 0)
		rc = chart_ignores(w->rules, str_of(inside), kind == DIR_DIR, &ignored, w->msg);
	if (rc < 0 || ignored)
		return rc;
	if (kind == DIR_DIR)
		return walk_dir(w, inside);
	if (kind == DIR_UNKNOWN) {
		strbuf_addf(w->msg, "%s is neither a file nor a folder", path);
		return -E_INVALID;
	}
	strbuf_clear(&w->text);
	if (file_read(path, &w->text, &err) < 0 ||
	    archive_files_add(w->a, w->files, inside, strbuf_str(&w->text), w->budget, &err) < 0)
		return fail(w->msg, &err);
	return 0;
}

static int walk_dir(struct walk *w, const char *inside)
{
	struct error err = ERROR_INIT;
	struct dir_entry *entries;
	size_t n;
	const char *path = arena_fmt(w->a, "%s/%s", w->root, inside);
	if (++w->depth > CHART_DIR_DEPTH_MAX) {
		strbuf_addf(w->msg, "%s is nested too deep", path);
		return -E_LIMIT;
	}
	if (dir_entries(path, w->budget->limits->entries, &entries, &n, &err) < 0)
		return fail(w->msg, &err);
	const char *slash = *inside ? "/" : "";
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = walk_entry(w, arena_fmt(w->a, "%s%s%s", inside, slash, entries[i].name),
				entries[i].kind);
	dir_entries_free(entries, n);
	w->depth--;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

int chart_dir_files(struct arena *a, const char *path, struct warnings *links,
		    struct archive_budget *budget, struct archive_files *ret, struct strbuf *msg)
{
	struct walk w = {.a = a,
			 .root = path,
			 .rules = STR(""),
			 .links = links,
			 .budget = budget,
			 .files = ret,
			 .msg = msg,
			 .text = STRBUF_INIT(budget->limits->file_bytes)};
	const char *ignore = arena_fmt(a, "%s/.helmignore", path);
	*ret = (struct archive_files){0};
	if (file_exists(ignore)) {
		int rc = read_text(a, ignore, STRBUF_SMALL, file_read, &w.rules, msg);
		if (rc < 0)
			return rc;
	}
	int rc = walk_dir(&w, "");
	strbuf_release(&w.text);
	return rc;
}

int chart_dir_read(struct arena *a, const char *path, struct chart_source *ret, struct strbuf *msg)
{
	struct error err = ERROR_INIT;
	struct file_info info;
	*ret = (struct chart_source){.path = path,
				     .budget = ARCHIVE_BUDGET_INIT(&chart_limits_default),
				     .links = {.a = a}};
	if (!file_exists(path)) {
		strbuf_addf(msg, "path \"%s\" not found", path);
		return -E_NOTFOUND;
	}
	if (file_info(path, &info, &err) < 0)
		return fail(msg, &err);
	ret->is_dir = info.is_dir;
	if (!info.is_dir)
		return read_text(a, path, chart_limits_default.packed_bytes, file_read_input,
				 &ret->packed, msg);
	return chart_dir_files(a, path, &ret->links, &ret->budget, &ret->files, msg);
}

static int unpack(struct arena *a, struct chart_source *s, struct strbuf *msg)
{
	struct error err = ERROR_INIT;
	int rc = archive_read(a, s->packed, &s->budget, &s->files, &err);
	if (rc < 0)
		strbuf_addf(msg,
			    "%s: %s; it is no chart archive, or damaged: fetch it again, or make "
			    "it with `alm package build`",
			    s->path, err.msg);
	return rc;
}

/* Helm's texts, kept literally by chart_load, do not say which file they are about. */
static int check_chart(const struct chart_source *s, struct strbuf *msg)
{
	if (archive_find(&s->files, "Chart.yaml") || archive_find(&s->files, "requirements.yaml"))
		return 0;
	strbuf_addf(msg,
		    "%s: Chart.yaml file is missing; a chart is a folder with a Chart.yaml, or the "
		    "archive that `alm package build` makes of it",
		    s->path);
	return -E_INVALID;
}

int chart_dir_parse(struct arena *a, struct chart_source *s, enum tmpl_profile profile,
		    struct chart **ret, struct strbuf *msg)
{
	int rc = s->is_dir ? 0 : unpack(a, s, msg);
	if (rc >= 0)
		rc = check_chart(s, msg);
	return rc < 0 ? rc : chart_load(a, &s->files, &s->budget, profile, ret, msg);
}

int chart_dir_load(struct arena *a, const char *path, enum tmpl_profile profile, struct chart **ret,
		   struct strbuf *msg)
{
	struct chart_source source;
	int rc = chart_dir_read(a, path, &source, msg);
	return rc < 0 ? rc : chart_dir_parse(a, &source, profile, ret, msg);
}
