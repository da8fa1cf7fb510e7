#include "alm/controllers/source.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/controllers/inspect.h"
#include "alm/obj/json.h"
#include "catalog/entry.h"
#include "catalog/fbc.h"
#include "installers/archive.h"

#define LINES_BYTES_MAX ((size_t)256 << 20)

static int real_list(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		     struct error *err)
{
	(void)arg;
	return dir_list(dir, SOURCE_FILES_MAX, ret_names, ret_n, err);
}

static int real_info(void *arg, const char *path, struct file_info *ret, struct error *err)
{
	(void)arg;
	return file_info(path, ret, err);
}

static int real_read(void *arg, const char *path, struct strbuf *b, struct error *err)
{
	(void)arg;
	return file_read(path, b, err);
}

const struct source_files source_files_real = {real_list, real_info, real_read, NULL};

/* --- what archives told, by file --- */

struct facts {
	struct file_info info;
	struct strbuf lines;
	unsigned seen; /* the round in which it was asked for */
};

struct source_cache {
	struct map *facts; /* by path */
	unsigned round;
};

static void facts_free(void *p)
{
	struct facts *f = p;
	strbuf_release(&f->lines);
	xfree(f);
}

struct source_cache *source_cache_new(void)
{
	struct source_cache *c = xcalloc(1, sizeof(*c));
	c->facts = map_new(facts_free);
	return c;
}

void source_cache_free(struct source_cache *c)
{
	if (!c)
		return;
	map_free(c->facts);
	xfree(c);
}

void source_cache_sweep(struct source_cache *c)
{
	for (struct map_entry *e = map_first(c->facts), *next; e; e = next) {
		const struct facts *f = e->value;
		next = map_next(e);
		if (f->seen != c->round)
			map_del(c->facts, e->key);
	}
	c->round++;
}

static bool is_same_file(const struct file_info *a, const struct file_info *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

/* What is known of the file; NULL: it changed, or is new. */
static struct facts *known(struct source_cache *c, const char *path, const struct file_info *info)
{
	struct facts *f = map_get(c->facts, path);
	if (!f || !is_same_file(&f->info, info))
		return NULL;
	f->seen = c->round;
	return f;
}

bool source_cache_has(struct source_cache *c, const char *path, const struct file_info *info)
{
	const struct facts *f = map_get(c->facts, path);
	return f && is_same_file(&f->info, info);
}

static struct facts *remember(struct source_cache *c, const char *path,
			      const struct file_info *info)
{
	struct facts *f = xcalloc(1, sizeof(*f));
	f->info = *info;
	f->seen = c->round;
	strbuf_init(&f->lines, LINES_BYTES_MAX);
	map_set(c->facts, path, f);
	return f;
}

static const struct file_info no_file;

struct str source_note(struct source_cache *c, const char *name)
{
	struct facts *f = known(c, name, &no_file);
	return f ? strbuf_str(&f->lines) : STR_NONE;
}

void source_note_set(struct source_cache *c, const char *name, struct str text)
{
	strbuf_addstr(&remember(c, name, &no_file)->lines, text);
}

static void add_line(struct strbuf *lines, struct str packed, const char *name, const char *locator)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	if (inspect_archive(packed, &entry, &err) < 0) {
		entry = entry_error(name, err.msg);
	} else {
		obj_set_str(entry, "where", name);
		obj_set_str(entry, "locator", locator);
	}
	entry_print(entry, lines);
}

struct str source_facts(const struct source_files *fs, struct source_cache *c, const char *path,
			const char *name, const struct file_info *info)
{
	struct facts *f = known(c, path, info);
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
	if (f)
		return strbuf_str(&f->lines);
	f = remember(c, path, info);
	if (fs->read(fs->arg, path, &packed, &err) == 0) {
		add_line(&f->lines, strbuf_str(&packed), name, path);
	} else {
		CLEANUP(obj_unrefp) struct obj *entry = entry_error(name, err.msg);
		entry_print(entry, &f->lines);
	}
	return strbuf_str(&f->lines);
}

/* --- text files: catalog.yaml, and catalogs of OLM --- */

bool source_is_text(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	return *base != '.' && (cstr_has_suffix(base, ".yaml") || cstr_has_suffix(base, ".yml") ||
				cstr_has_suffix(base, ".json"));
}

/* catalog.yaml is ours unless it is of OLM, whose files have that name too. Other texts are read
 * only if they are of OLM. */
static void add_text(struct strbuf *lines, struct str text, const char *name)
{
	struct error err = ERROR_INIT;
	size_t n = 0;
	if (fbc_is_likely(text) && fbc_lines(text, name, lines, &n, &err) < 0) {
		CLEANUP(obj_unrefp) struct obj *entry = entry_error(name, err.msg);
		entry_print(entry, lines);
	} else if (!n && !strcmp(name, "catalog.yaml")) {
		CLEANUP(obj_unrefp) struct obj *o = obj_map();
		obj_set(o, "catalogYaml", obj_stringn(text));
		entry_print(o, lines);
	}
}

struct str source_lines(const struct source_files *fs, struct source_cache *c, const char *path,
			const char *name, const struct file_info *info, struct error *err)
{
	struct facts *f = known(c, path, info);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(FBC_FILE_BYTES_MAX);
	if (f)
		return strbuf_str(&f->lines);
	if (fs->read(fs->arg, path, &text, err) < 0)
		return STR_NONE;
	f = remember(c, path, info);
	add_text(&f->lines, strbuf_str(&text), name);
	return strbuf_str(&f->lines);
}

/* --- file:// --- */

static const struct chart_limits catalog_limits = {
	.packed_bytes = SOURCE_FILE_BYTES_MAX,
	.unpacked_bytes = SOURCE_FILE_BYTES_MAX,
	.file_bytes = SOURCE_ARCHIVE_BYTES_MAX,
	.entries = 100000,
	.ratio = 1000,
	.depth = 1,
	.path_bytes = 512,
	.path_components = 8,
};

static int open_archive(const struct source_files *fs, const char *path, struct arena *a,
			struct archive_files *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(SOURCE_FILE_BYTES_MAX);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&catalog_limits);
	if (fs->read(fs->arg, path, &packed, err) < 0 ||
	    archive_read(a, strbuf_str(&packed), &budget, ret, err) < 0)
		return error_wrap(err, "%s", path);
	return 0;
}

static bool is_package(const char *name)
{
	return *name != '.' && cstr_has_suffix(name, ".tgz") && !strchr(name, '/');
}

int source_archive_lines(const struct source_files *fs, struct source_cache *c, const char *path,
			 struct str *ret, struct error *err)
{
	struct file_info info;
	if (fs->info(fs->arg, path, &info, err) < 0)
		return -err->code;
	struct facts *f = known(c, path, &info);
	if (f) {
		*ret = strbuf_str(&f->lines);
		return 0;
	}
	CLEANUP(arena_freep) struct arena *a = arena_new(SOURCE_FILE_BYTES_MAX * 2);
	struct archive_files files = {0};
	if (open_archive(fs, path, a, &files, err) < 0)
		return -err->code;
	f = remember(c, path, &info);
	for (size_t i = 0; i < files.n; i++) {
		const struct archive_file *file = &files.items[i];
		if (is_package(file->path))
			add_line(&f->lines, file->data, file->path,
				 arena_fmt(a, "%s#%s", path, file->path));
		else if (source_is_text(file->path))
			add_text(&f->lines, file->data, file->path);
	}
	*ret = strbuf_str(&f->lines);
	return 0;
}

int source_read_local(const struct source_files *fs, const char *locator, struct strbuf *ret,
		      struct error *err)
{
	struct str path, member;
	if (!str_rcut(str_of(locator), '#', &path, &member) || !str_has_suffix(path, STR(".tgz")))
		return fs->read(fs->arg, locator, ret, err);
	CLEANUP(arena_freep) struct arena *a = arena_new(SOURCE_FILE_BYTES_MAX * 2);
	struct archive_files files = {0};
	if (open_archive(fs, arena_strndup(a, path.ptr, path.len), a, &files, err) < 0)
		return -err->code;
	const struct archive_file *f =
		archive_find(&files, arena_strndup(a, member.ptr, member.len));
	if (!f)
		return error_set(err, E_NOTFOUND, "%.*s has no %.*s any more", STR_ARG(path),
				 STR_ARG(member));
	strbuf_addstr(ret, f->data);
	return 0;
}

const char *source_path(const struct obj *catalog, const char *scheme)
{
	const char *url = obj_str(catalog, "spec.source.url");
	return url && cstr_has_prefix(url, scheme) ? url + strlen(scheme) : NULL;
}
