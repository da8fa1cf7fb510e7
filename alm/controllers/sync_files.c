/* dir:// and file://: what lies on this machine. */
#include <string.h>

#include "alm/controllers/sync_internal.h"

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

static void take_text(struct sync *s, const char *path, const char *name, struct error *err)
{
	struct file_info info;
	const struct source_files *fs = s->host.files;
	if (fs->info(fs->arg, path, &info, err) == 0 && info.is_regular)
		strbuf_addstr(&s->lines, source_lines(fs, s->cache, path, name, &info, err));
	if (err->code == E_NOTFOUND) /* went since the listing */
		*err = ERROR_INIT;
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

static void take_file(struct sync *s, const char *dir, const char *name, struct error *err)
{
	struct file_info info;
	const struct source_files *fs = s->host.files;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	bool known = is_known_kind(name);
	strbuf_addf(&path, "%s/%s", dir, name);
	if (*name == '.' || (!known && strchr(name, '.')))
		return;
	if (source_is_text(name)) {
		take_text(s, path.buf, name, err);
		return;
	}
	if (fs->info(fs->arg, path.buf, &info, err) < 0) {
		if (err->code == E_NOTFOUND) /* went since the listing */
			*err = ERROR_INIT;
		return;
	}
	if (!known && info.is_dir)
		take_folder(s, path.buf, name, err);
	else if (known && !is_fresh(s, path.buf, &info))
		strbuf_addstr(&s->lines, source_facts(fs, s->cache, path.buf, name, &info));
}

static void dir_some(struct sync *s)
{
	struct error err = ERROR_INIT;
	int64_t until = loop_mono(s->host.loop) + SYNC_SLICE_NS;
	const char *dir = s->url + strlen("dir://");
	while (s->at < s->n_names && !err.code) {
		take_file(s, dir, s->names[s->at++], &err);
		if (loop_mono(s->host.loop) >= until)
			break;
	}
	if (err.code) {
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
	} else if (s->at < s->n_names) {
		sync_next(s, dir_some);
	} else {
		source_cache_sweep(s->cache);
		sync_build(s);
	}
}

void sync_dir(struct sync *s)
{
	struct error err = ERROR_INIT;
	const struct source_files *fs = s->host.files;
	if (fs->list(fs->arg, s->url + strlen("dir://"), &s->names, &s->n_names, &err) < 0) {
		error_wrap(&err, "%s", s->url);
		sync_fail(s, &err);
		return;
	}
	dir_some(s);
}

void sync_file(struct sync *s)
{
	struct error err = ERROR_INIT;
	struct str lines;
	if (source_archive_lines(s->host.files, s->cache, s->url + strlen("file://"), &lines,
				 &err) < 0) {
		error_wrap(&err, "spec.source");
		sync_fail(s, &err);
		return;
	}
	source_cache_sweep(s->cache);
	strbuf_addstr(&s->lines, lines);
	sync_build(s);
}
