#include "alm/controllers/source.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/base/map.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "installers/archive.h"

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

/* --- what an archive tells: two texts, its CRDs, its digest --- */

struct facts {
	struct file_info info;
	char digest[SHA256_HEX];
	char *chart_yaml, *descriptor; /* descriptor NULL: none */
	struct obj **crds;
	size_t n_crds, cap_crds;
	char *problem; /* the archive cannot be read: why */
};

struct source_cache {
	struct map *facts; /* by path */
};

static void facts_free(void *p)
{
	struct facts *f = p;
	xfree(f->chart_yaml);
	xfree(f->descriptor);
	xfree(f->problem);
	for (size_t i = 0; i < f->n_crds; i++)
		obj_unref(f->crds[i]);
	xfree(f->crds);
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

static bool is_crd_file(const char *path)
{
	const char *dir = strstr(path, "crds/");
	return dir && (dir == path || dir[-1] == '/') &&
	       (cstr_has_suffix(path, ".yaml") || cstr_has_suffix(path, ".yml") ||
		cstr_has_suffix(path, ".json"));
}

static int add_crds(struct facts *f, const struct archive_file *file, struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(file->data, &docs, err) < 0)
		return error_wrap(err, "%s", file->path);
	for (size_t i = 0; i < docs.n; i++) {
		if (!cstr_eq(meta_kind(docs.items[i].value), "CustomResourceDefinition"))
			continue;
		ARRAY_GROW(f->crds, f->cap_crds, f->n_crds + 1);
		f->crds[f->n_crds++] = obj_ref(docs.items[i].value);
	}
	yaml_documents_release(&docs);
	return 0;
}

static int read_facts(struct facts *f, struct str packed, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files = {0};
	sha256_hex(packed, f->digest);
	if (archive_read(a, packed, &budget, &files, err) < 0)
		return -err->code;
	const struct archive_file *chart = archive_find(&files, "Chart.yaml");
	const struct archive_file *descriptor = archive_find(&files, "alm.yaml");
	if (!chart)
		return error_set(
			err, E_INVALID,
			"the archive has no Chart.yaml; pack a chart with `alm package build`");
	f->chart_yaml = str_dup(chart->data);
	f->descriptor = descriptor ? str_dup(descriptor->data) : NULL;
	for (size_t i = 0; i < files.n; i++)
		if (is_crd_file(files.items[i].path) && add_crds(f, &files.items[i], err) < 0)
			return -err->code;
	return 0;
}

static bool is_same_file(const struct file_info *a, const struct file_info *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

static const struct facts *facts_of(const struct source_files *fs, struct source_cache *cache,
				    const char *path, const struct file_info *info)
{
	struct facts *f = map_get(cache->facts, path);
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
	if (f && is_same_file(&f->info, info))
		return f;
	f = xcalloc(1, sizeof(*f));
	f->info = *info;
	if (fs->read(fs->arg, path, &packed, &err) < 0 ||
	    read_facts(f, strbuf_str(&packed), &err) < 0)
		f->problem = xstrdup(err.msg);
	map_set(cache->facts, path, f);
	return f;
}

/* --- dir:// --- */

static const char *url_path(const struct obj *catalog, const char *scheme)
{
	const char *url = obj_str(catalog, "spec.source.url");
	return url && cstr_has_prefix(url, scheme) ? url + strlen(scheme) : NULL;
}

const char *source_dir(const struct obj *catalog)
{
	return url_path(catalog, "dir://");
}

static void add_archive(struct catalog_index *x, const char *name, const char *path,
			const struct facts *f)
{
	if (f->problem) {
		index_reject(x, name, f->problem);
		return;
	}
	struct package_source s = {.chart_yaml = str_of(f->chart_yaml),
				   .descriptor = str_of(f->descriptor),
				   .crds = (const struct obj *const *)f->crds,
				   .n_crds = f->n_crds,
				   .digest = f->digest,
				   .locator = path};
	index_add(x, &s);
}

struct dir_reading {
	const struct source_files *fs;
	struct source_cache *cache;
	struct catalog_index *x;
	const char *dir;
	int64_t now_ns, wait_ns;
	struct strbuf catalog_yaml;
};

static int read_entry(struct dir_reading *r, const char *name, struct error *err)
{
	struct file_info info;
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&path, "%s/%s", r->dir, name);
	if (!strcmp(name, "catalog.yaml"))
		return r->fs->read(r->fs->arg, path.buf, &r->catalog_yaml, err);
	if (*name == '.' || !cstr_has_suffix(name, ".tgz"))
		return 0;
	if (r->fs->info(r->fs->arg, path.buf, &info, err) < 0)
		return err->code == E_NOTFOUND ? 0 : -err->code; /* went since the listing */
	int64_t age = r->now_ns - info.mtime_ns;
	if (age >= 0 && age < SOURCE_QUIET_NS) {
		int64_t left = SOURCE_QUIET_NS - age;
		if (left > r->wait_ns)
			r->wait_ns = left;
		return 0;
	}
	add_archive(r->x, name, path.buf, facts_of(r->fs, r->cache, path.buf, &info));
	return 0;
}

static int read_dir(struct dir_reading *r, struct error *err)
{
	char **names = NULL;
	size_t n = 0;
	if (r->fs->list(r->fs->arg, r->dir, &names, &n, err) < 0)
		return -err->code;
	int code = 0;
	for (size_t i = 0; i < n && !code; i++)
		code = read_entry(r, names[i], err);
	dir_list_free(names, n);
	return code;
}

int source_read(const struct source_files *f, struct source_cache *cache, const struct obj *catalog,
		int64_t now_ns, struct catalog_index **ret, int64_t *ret_wait_ns, struct error *err)
{
	const char *dir = source_dir(catalog), *url = obj_str(catalog, "spec.source.url");
	if (!dir)
		return error_set(err, E_UNSUPPORTED,
				 "spec.source.url: %s is not supported yet; use dir:// with a "
				 "folder of archives",
				 url ? url : "(none)");
	CLEANUP(index_freep) struct catalog_index *x =
		index_new(meta_name(catalog), obj_i64(catalog, "spec.priority", 0));
	struct dir_reading r = {.fs = f,
				.cache = cache,
				.x = x,
				.dir = dir,
				.now_ns = now_ns,
				.catalog_yaml = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX)};
	int code = read_dir(&r, err);
	if (!code)
		code = index_finish(x, strbuf_str(&r.catalog_yaml), err);
	strbuf_release(&r.catalog_yaml);
	if (code < 0)
		return error_wrap(err, "%s", url);
	*ret_wait_ns = r.wait_ns;
	*ret = STEAL(x);
	return 0;
}

int source_read_archive(const struct source_files *f, const char *path, const char *digest,
			struct strbuf *ret, struct error *err)
{
	char actual[SHA256_HEX];
	if (f->read(f->arg, path, ret, err) < 0)
		return -err->code;
	sha256_hex(strbuf_str(ret), actual);
	if (strcmp(actual, digest) != 0)
		return error_set(err, E_INVALID, "%s: sha256 is %s, wanted %s", path, actual,
				 digest);
	return 0;
}
