/* anchor_file: the newest note in a file. */
#include "alm/audit/anchor.h"

#include <string.h>

#include "alm/base/file.h"

struct anchor_file {
	struct anchor anchor;
	char *path;
};

static struct anchor_file *file_of(struct anchor *t)
{
	return CONTAINER_OF(t, struct anchor_file, anchor);
}

static void file_recall(struct anchor *t)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(CHECKPOINT_BYTES_MAX);
	int r = file_read(file_of(t)->path, &note, &err);
	if (r == -E_NOTFOUND)
		anchor_recalled(t, STR_NONE, NULL);
	else
		anchor_recalled(t, strbuf_str(&note), r < 0 ? &err : NULL);
}

static void file_keep(struct anchor *t, int64_t size, struct str note, bool last)
{
	struct error err = ERROR_INIT;
	(void)size;
	(void)last;
	int r = file_replace(file_of(t)->path, note, 0600, &err);
	anchor_kept(t, r < 0 ? &err : NULL);
}

static void file_free(struct anchor *t)
{
	struct anchor_file *f = file_of(t);
	xfree(f->path);
	xfree(f);
}

static const struct anchor_ops file_ops = {file_recall, file_keep, file_free};

const char *anchor_file_path(const char *path, const char *dir, struct arena *a)
{
	return cstr_has_prefix(path, "/") ? path : arena_fmt(a, "%s/%s", dir, path);
}

struct anchor *anchor_file_new(const char *path, const char *dir)
{
	struct anchor_file *f = xcalloc(1, sizeof(*f));
	CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&target, ANCHOR_TARGET_FILE "%s", path);
	anchor_init(&f->anchor, &file_ops, target.buf);
	strbuf_clear(&target);
	if (!cstr_has_prefix(path, "/"))
		strbuf_addf(&target, "%s/", dir);
	strbuf_adds(&target, path);
	f->path = xstrdup(target.buf);
	return &f->anchor;
}

bool anchor_file_is_weak(const char *path, const char *dir)
{
	struct error err = ERROR_INIT;
	struct file_info a, b;
	struct str folder, name;
	CLEANUP(strbuf_release) struct strbuf parent = STRBUF_INIT(STRBUF_SMALL);
	if (str_rcut(str_of(path), '/', &folder, &name))
		strbuf_addf(&parent, "%.*s/", STR_ARG(folder));
	else
		strbuf_adds(&parent, ".");
	return file_info(parent.buf, &a, &err) < 0 || file_info(dir, &b, &err) < 0 ||
	       a.device == b.device;
}
