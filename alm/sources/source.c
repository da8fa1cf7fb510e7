#include "alm/sources/source.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/pool.h"
#include "alm/sources/source_jobs.h"

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

static int real_open(void *arg, const char *path, int *ret_fd, struct error *err)
{
	(void)arg;
	return file_open(path, ret_fd, err);
}

const struct source_files source_files_real = {real_list, real_info, real_read, real_open, NULL};

int64_t source_notice(int64_t *first_ns, int64_t now_ns)
{
	if (!*first_ns)
		*first_ns = now_ns;
	int64_t left = *first_ns + SOURCE_LATE_NS - now_ns;
	left = left < SOURCE_QUIET_NS ? left : SOURCE_QUIET_NS;
	return left > 0 ? left : 0;
}

/* --- what files told --- */

struct facts {
	struct file_info info;
	struct str lines;
	unsigned seen; /* the round in which it was asked for */
};

struct source_cache {
	struct map *facts; /* by path */
	unsigned round;
};

static void facts_free(void *p)
{
	struct facts *f = p;
	pool_free(mem_unconst(f->lines.ptr), f->lines.len + 1);
	pool_free(f, sizeof(*f));
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

void source_cache_clear(struct source_cache *c)
{
	map_free(c->facts);
	c->facts = map_new(facts_free);
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

bool source_cache_has(const struct source_cache *c, const char *path, const struct file_info *info)
{
	const struct facts *f = map_get(c->facts, path);
	return f && is_same_file(&f->info, info);
}

static void remember(struct source_cache *c, const char *path, const struct file_info *info,
		     struct str lines)
{
	struct facts *f = pool_keep(sizeof(*f));
	if (lines.len > LINES_BYTES_MAX)
		lines = STR("");
	char *own = pool_keep(lines.len + 1);
	if (lines.len)
		memcpy(own, lines.ptr, lines.len);
	own[lines.len] = '\0';
	*f = (struct facts){.info = *info, .seen = c->round, .lines = str_n(own, lines.len)};
	map_set(c->facts, path, f);
}

bool source_cache_get(struct source_cache *c, const char *path, const struct file_info *info,
		      struct str *ret)
{
	struct facts *f = known(c, path, info);
	if (f)
		*ret = f->lines;
	return f != NULL;
}

void source_cache_put(struct source_cache *c, const char *path, const struct file_info *info,
		      struct str lines)
{
	remember(c, path, info, lines);
}

static const struct file_info no_file;

struct str source_note(struct source_cache *c, const char *name)
{
	struct facts *f = known(c, name, &no_file);
	return f ? f->lines : STR_NONE;
}

void source_note_set(struct source_cache *c, const char *name, struct str text)
{
	remember(c, name, &no_file, text);
}

const char *source_path(const struct obj *catalog, const char *scheme)
{
	const char *url = obj_str(catalog, "spec.source.url");
	return url && cstr_has_prefix(url, scheme) ? url + strlen(scheme) : NULL;
}

const char *source_local_name(const char *locator)
{
	const char *member = strrchr(locator, '#'), *slash = strrchr(locator, '/');
	return member ? member + 1 : slash ? slash + 1 : locator;
}

/* --- jobs --- */

/* One archive, or the whole of a source. */
static const struct sandbox_limits *limits_of(const char *job)
{
	bool is_one = !strcmp(job, SOURCE_JOB_ARCHIVE) || !strcmp(job, SOURCE_JOB_MEMBER);
	return is_one ? &source_limits_one : &source_limits_all;
}

/* Without descriptors (the simulation) the bytes go the way of the text. */
static struct sandbox_run *run_on_bytes(const struct source_files *f, struct sandbox *s,
					const char *job, struct str text, const char *path,
					sandbox_done done, void *arg, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf input =
		STRBUF_INIT(text.len + SOURCE_FOLDER_BYTES_MAX);
	strbuf_addstr(&input, text);
	if (f->read(f->arg, path, &input, err) < 0)
		return NULL;
	return sandbox_run(s, job, strbuf_str(&input), limits_of(job), done, arg);
}

struct sandbox_run *source_run(const struct source_files *f, struct sandbox *s, const char *job,
			       struct str text, const char *path, sandbox_done done, void *arg,
			       struct error *err)
{
	int fd;
	if (!f->open)
		return run_on_bytes(f, s, job, text, path, done, arg, err);
	if (f->open(f->arg, path, &fd, err) < 0)
		return NULL;
	return sandbox_run_file(s, job, text, fd, limits_of(job), done, arg);
}
