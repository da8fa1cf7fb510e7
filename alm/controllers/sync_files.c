/* dir:// and file://: what lies on this machine. */
#include <string.h>

#include "alm/controllers/sync_internal.h"
#include "catalog/entry.h"

static void take_catalog_yaml(struct sync *s, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	if (s->host.files->read(s->host.files->arg, path, &text, err) < 0)
		return;
	obj_set(o, "catalogYaml", obj_stringn(strbuf_str(&text)));
	entry_print(o, &s->lines);
}

/* A file that changed just now may still be written. */
static bool is_fresh(struct sync *s, const struct file_info *info)
{
	int64_t age = loop_now(s->host.loop) - info->mtime_ns;
	if (s->host.take_fresh || age < 0 || age >= SOURCE_QUIET_NS)
		return false;
	if (SOURCE_QUIET_NS - age > s->result.wait_ns)
		s->result.wait_ns = SOURCE_QUIET_NS - age;
	return true;
}

static void take_file(struct sync *s, const char *dir, const char *name, struct error *err)
{
	struct file_info info;
	const struct source_files *fs = s->host.files;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/%s", dir, name);
	if (!strcmp(name, "catalog.yaml")) {
		take_catalog_yaml(s, path.buf, err);
		return;
	}
	if (*name == '.' || !cstr_has_suffix(name, ".tgz"))
		return;
	if (fs->info(fs->arg, path.buf, &info, err) < 0) {
		if (err->code == E_NOTFOUND) /* went since the listing */
			*err = ERROR_INIT;
		return;
	}
	if (!is_fresh(s, &info))
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
