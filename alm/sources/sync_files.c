/*
 * dir:// and file://: what lies on this machine. Nothing of it is parsed here: every new file is a
 * job of the sandbox, some at a time, and what they told is put together in the order of the names
 * when all have answered.
 */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/sources/sync_internal.h"
#include "catalog/index/entry.h"

#define FILES_AT_ONCE 4
#define TRIES_MAX     2 /* of a child that died or was killed */

struct local_file { /* arena of the sync */
	struct sync *s;
	const char *path;
	const char *name; /* "etcd-0.9.4.tgz", "etcd/catalog.yaml" */
	const char *job;
	struct file_info info;
	struct sandbox_run *child; /* NULL: none is under way */
	int tries;
	const char *problem; /* why nothing is known of it; or NULL */
	bool is_unread;      /* as it could not be looked at, which may pass */
};

void local_files_free(struct sync *s)
{
	for (size_t i = 0; i < s->n_files; i++)
		if (s->files[i]->child)
			sandbox_cancel(s->host.sandbox, s->files[i]->child);
	xfree(s->files);
}

/* A file that changed just now may still be written; not one that was read as it is, when the clock
 * has gone back to its time. */
static bool is_fresh(struct sync *s, const char *path, const struct file_info *info)
{
	int64_t age = loop_now(s->host.loop) - info->mtime_ns;
	if (s->host.take_fresh || age < 0 || age >= SOURCE_QUIET_NS ||
	    source_cache_has(s->cache, path, info))
		return false;
	if (SOURCE_QUIET_NS - age > s->result.wait_ns)
		s->result.wait_ns = SOURCE_QUIET_NS - age;
	return true;
}

static bool is_known_kind(const char *name)
{
	return *name != '.' && (cstr_has_suffix(name, ".tgz") || source_is_text(name));
}

/* --- one file --- */

static void step(struct sync *s);

/* What the child of an archive answers is an entry; where it lies is ours to say. */
static bool put_entry(struct local_file *f, struct str output)
{
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX * 2);
	if (json_parse(output, &entry, &ignored) < 0 || obj_type(entry) != OBJ_MAP)
		return false;
	obj_set_str(entry, "where", f->name);
	obj_set_str(entry, "locator", f->name);
	entry_print(entry, &line);
	source_cache_put(f->s->cache, f->path, &f->info, strbuf_str(&line));
	return true;
}

static void put_error(struct local_file *f, const struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(obj_unrefp) struct obj *entry = entry_error(f->name, err->msg, err->reason);
	entry_print(entry, &line);
	source_cache_put(f->s->cache, f->path, &f->info, strbuf_str(&line));
}

static void start_file(struct local_file *f);

static void unread(struct local_file *f, const char *why)
{
	f->problem = arena_strdup(f->s->a, why);
	f->is_unread = true;
}

/* The child did not come to a verdict: that says nothing of the file, however often it happens. The
 * next sync asks again, and until then what is known of it stands (sync_kept.c). */
static void died(struct local_file *f, const char *why)
{
	if (f->tries < TRIES_MAX)
		start_file(f);
	else
		unread(f, why);
}

static void told(void *arg, struct str output, const struct error *err)
{
	struct local_file *f = arg;
	struct sync *s = f->s;
	f->child = NULL;
	s->n_running--;
	if (s->err.code)
		return; /* the sync has failed and is about to say so */
	if (err && !sync_is_verdict(err))
		died(f, err->msg);
	else if (err && !strcmp(f->name, SOURCE_NOTICES))
		unread(f, err->msg); /* what they say counts for others: never left out */
	else if (err)
		put_error(f, err);
	else if (strcmp(f->job, SOURCE_JOB_ARCHIVE) != 0)
		source_cache_put(s->cache, f->path, &f->info, output);
	else if (!put_entry(f, output))
		died(f, "its inspection gave no answer that can be read");
	sync_next(s, step);
}

static void start_file(struct local_file *f)
{
	struct sync *s = f->s;
	struct error err = ERROR_INIT;
	bool is_archive = !strcmp(f->job, SOURCE_JOB_ARCHIVE);
	struct str text = strcmp(f->job, SOURCE_JOB_TEXT) != 0
				  ? STR("")
				  : str_of(arena_fmt(s->a, "%s\n", f->name));
	f->tries++;
	if (is_archive && f->info.size > SOURCE_ARCHIVE_BYTES_MAX) {
		error_set(&err, E_LIMIT, "larger than %zu bytes", SOURCE_ARCHIVE_BYTES_MAX);
		put_error(f, &err);
		return;
	}
	f->child = source_run(s->host.files, s->host.sandbox, f->job, text, f->path, told, f, &err);
	if (f->child)
		s->n_running++;
	else if (err.code != E_NOTFOUND) /* else it went since the listing */
		unread(f, err.msg);
}

static struct local_file *new_file(struct sync *s, const char *path, const char *name)
{
	struct local_file *f = ARENA_NEW(s->a, struct local_file);
	*f = (struct local_file){.s = s, .path = path, .name = name};
	ARRAY_GROW(s->files, s->cap_files, s->n_files + 1);
	s->files[s->n_files++] = f;
	return f;
}

static void add_file(struct sync *s, const char *path, const char *name, const char *job,
		     const struct file_info *info)
{
	struct str known;
	struct local_file *f = new_file(s, path, name);
	f->job = job;
	f->info = *info;
	if (!source_cache_get(s->cache, path, info, &known))
		start_file(f);
}

/* All that was told, in the order of the names. */
static void collect(struct sync *s)
{
	for (size_t i = 0; i < s->n_files; i++) {
		const struct local_file *f = s->files[i];
		struct str lines;
		if (f->problem) {
			CLEANUP(obj_unrefp) struct obj *entry =
				entry_error(f->name, f->problem, REASON_NONE);
			entry_print(entry, &s->lines);
			if (f->is_unread)
				kept_want(s, f->name, f->problem);
		} else if (source_cache_get(s->cache, f->path, &f->info, &lines)) {
			strbuf_addstr(&s->lines, lines);
		}
	}
	kept_take(s);
}

/* --- dir:// --- */

/* False: it went since the listing, leads out of the root, or err says why not. */
static bool look(struct sync *s, const char *path, const char *name, struct file_info *ret,
		 struct error *err)
{
	const struct source_files *fs = s->host.files;
	if (fs->info(fs->arg, path, ret, err) == 0)
		return true;
	if (err->code == E_NOTALLOWED && is_known_kind(name))
		new_file(s, path, name)->problem = arena_strdup(s->a, err->msg);
	if (err->code == E_NOTALLOWED || err->code == E_NOTFOUND)
		*err = ERROR_INIT;
	return false;
}

static void take_text(struct sync *s, const char *path, const char *name, struct error *err)
{
	struct file_info info;
	if (look(s, path, name, &info, err) && info.is_regular)
		add_file(s, path, name, SOURCE_JOB_TEXT, &info);
}

/* A folder of a package in a catalog of OLM. */
static void take_folder(struct sync *s, const char *path, const char *folder, struct error *err)
{
	char **names;
	size_t n;
	const struct source_files *fs = s->host.files;
	if (fs->list(fs->arg, path, &names, &n, err) < 0)
		return;
	for (size_t i = 0; i < n && !err->code; i++)
		if (source_is_text(names[i]))
			take_text(s, arena_fmt(s->a, "%s/%s", path, names[i]),
				  arena_fmt(s->a, "%s/%s", folder, names[i]), err);
	dir_list_free(names, n);
}

static void take_name(struct sync *s, const char *dir, const char *name, struct error *err)
{
	struct file_info info;
	bool known = is_known_kind(name);
	if (*name == '.' || (!known && strchr(name, '.')))
		return;
	const char *path = arena_fmt(s->a, "%s/%s", dir, name);
	name = path + strlen(dir) + 1;
	if (source_is_text(name)) {
		take_text(s, path, name, err);
		return;
	}
	if (!look(s, path, name, &info, err))
		return;
	if (!known && info.is_dir)
		take_folder(s, path, name, err);
	else if (known && !is_fresh(s, path, &info))
		add_file(s, path, name, SOURCE_JOB_ARCHIVE, &info);
}

static void check_room(const struct sync *s, struct error *err)
{
	if (!err->code && arena_over(s->a))
		error_set(err, E_LIMIT, "its file names are larger than %zu bytes",
			  SYNC_ARENA_BYTES);
}

/* The next names, until the children are busy or the turn is used up. */
static void step(struct sync *s)
{
	struct error err = ERROR_INIT;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	const char *dir = source_path(s->catalog, "dir://");
	while (s->at < s->n_names && s->n_running < FILES_AT_ONCE && !err.code) {
		take_name(s, dir, s->names[s->at++], &err);
		check_room(s, &err);
		if (loop_mono(s->host.loop) >= until)
			break;
	}
	if (err.code) {
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
	} else if (s->at < s->n_names && s->n_running < FILES_AT_ONCE) {
		sync_next(s, step);
	} else if (s->at == s->n_names && !s->n_running) {
		collect(s);
	} /* else a child that ends goes on */
}

void sync_dir(struct sync *s)
{
	struct error err = ERROR_INIT;
	const struct source_files *fs = s->host.files;
	if (fs->list(fs->arg, source_path(s->catalog, "dir://"), &s->names, &s->n_names, &err) <
	    0) {
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
		return;
	}
	step(s);
}

/* --- file:// --- */

/* One job tells all; where it fails, the revision is not used. */
static void folder_told(void *arg, struct str output, const struct error *err)
{
	struct local_file *f = arg;
	struct sync *s = f->s;
	struct error failed = err ? *err : ERROR_INIT;
	f->child = NULL;
	if (err) {
		error_wrap(&failed, "%s", s->url);
		sync_fail(s, &failed);
		return;
	}
	source_cache_put(s->cache, f->path, &f->info, output);
	collect(s);
}

void sync_file(struct sync *s)
{
	struct error err = ERROR_INIT;
	struct str known;
	const struct source_files *fs = s->host.files;
	struct local_file *f = new_file(s, source_path(s->catalog, "file://"), "");
	if (fs->info(fs->arg, f->path, &f->info, &err) == 0 &&
	    source_cache_get(s->cache, f->path, &f->info, &known)) {
		collect(s);
		return;
	}
	if (!err.code && f->info.size > SOURCE_FOLDER_BYTES_MAX)
		error_set(&err, E_LIMIT, "larger than %zu bytes", SOURCE_FOLDER_BYTES_MAX);
	if (!err.code)
		f->child = source_run(fs, s->host.sandbox, SOURCE_JOB_FOLDER, STR(""), f->path,
				      folder_told, f, &err);
	if (err.code) {
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
	}
}
