/*
 * source: where catalogs are read from (lifecycle.md 1.3), the part that touches files. Files are
 * read through a small table, so that the simulation has its own and controllers read below roots
 * only (source_roots.h). sync.h reads whole sources.
 */
#ifndef ALM_SOURCES_SOURCE_H
#define ALM_SOURCES_SOURCE_H

#include "alm/base/file.h"
#include "alm/obj/obj.h"
#include "alm/sources/source_jobs.h"

#define SOURCE_FILES_MAX 500000
#define SOURCE_QUIET_NS  INT64_C(500000000)  /* a file changed within this time waits */
#define SOURCE_LATE_NS   INT64_C(2000000000) /* notices are merged, but not for longer */

/* A folder has changed: how long until it is read, unless it changes again. first_ns is when the
 * first of the notices came that are being merged, 0 if none is. */
int64_t source_notice(int64_t *first_ns, int64_t now_ns);

struct source_files {
	int (*list)(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		    struct error *err);
	int (*info)(void *arg, const char *path, struct file_info *ret, struct error *err);
	int (*read)(void *arg, const char *path, struct strbuf *b, struct error *err);
	/* Regular, for reading; the caller closes it. NULL: read() instead. */
	int (*open)(void *arg, const char *path, int *ret_fd, struct error *err);
	void *arg;
};
/* All files: for commands, whose user reads with rights of his own. */
extern const struct source_files source_files_real;

/* What the files of one catalog told before, by path, size and time: unchanged files are not read
 * again. */
struct source_cache;
struct source_cache *source_cache_new(void);
void source_cache_free(struct source_cache *c);
DEFINE_FREEP(source_cache)

/* The lines of the file, borrowed, if it is as it was; asking keeps them. */
bool source_cache_get(struct source_cache *c, const char *path, const struct file_info *info,
		      struct str *ret);
void source_cache_put(struct source_cache *c, const char *path, const struct file_info *info,
		      struct str lines);
/* It was read as it is now; does not keep it. */
bool source_cache_has(const struct source_cache *c, const char *path, const struct file_info *info);
/* Forgets what was not asked for since the last call: files that are gone. */
void source_cache_sweep(struct source_cache *c);
void source_cache_clear(struct source_cache *c);

/* Texts by name that live as long as files do; asking keeps them. STR_NONE: unknown. */
struct str source_note(struct source_cache *c, const char *name);
void source_note_set(struct source_cache *c, const char *name, struct str text);

/* "/var/lib/alm/catalog" of dir:///var/lib/alm/catalog; NULL if it is another scheme. */
const char *source_path(const struct obj *catalog, const char *scheme);

/* The file's own name: all that a local locator is taken for, so it leads nowhere else. Locators
 * that an older alm has kept have its folder before it. */
const char *source_local_name(const char *locator);

/* A job on a local file, whose bytes follow the text; done comes in a later turn. NULL: the file
 * cannot be opened. */
struct sandbox_run *source_run(const struct source_files *f, struct sandbox *s, const char *job,
			       struct str text, const char *path, sandbox_done done, void *arg,
			       struct error *err);

#endif
