/*
 * source: where catalogs are read from (lifecycle.md 1.3), the part that touches files. Files are
 * read through a small table, so that the simulation has its own. sync.h reads whole sources.
 */
#ifndef ALM_CONTROLLERS_SOURCE_H
#define ALM_CONTROLLERS_SOURCE_H

#include "alm/base/file.h"
#include "alm/obj/obj.h"

#define SOURCE_ARCHIVE_BYTES_MAX ((size_t)32 << 20)
#define SOURCE_FILE_BYTES_MAX    ((size_t)512 << 20) /* a whole catalog in one archive */
#define SOURCE_FILES_MAX         500000
#define SOURCE_QUIET_NS          INT64_C(500000000) /* a file changed within this time waits */

struct source_files {
	int (*list)(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		    struct error *err);
	int (*info)(void *arg, const char *path, struct file_info *ret, struct error *err);
	int (*read)(void *arg, const char *path, struct strbuf *b, struct error *err);
	void *arg;
};
/* All files: for commands, whose user reads with rights of his own. Controllers: source_roots.h */
extern const struct source_files source_files_real;

/* What was read of the archives of one catalog before, by path, size and time: unchanged files are
 * not read again. */
struct source_cache;
struct source_cache *source_cache_new(void);
void source_cache_free(struct source_cache *c);
DEFINE_FREEP(source_cache)

/* The entry line of the archive in a file. */
struct str source_facts(const struct source_files *f, struct source_cache *c, const char *path,
			const char *name, const struct file_info *info);
/* Lines of catalog.yaml and of catalogs of OLM; none for other texts. */
bool source_is_text(const char *name);
struct str source_lines(const struct source_files *f, struct source_cache *c, const char *path,
			const char *name, const struct file_info *info, struct error *err);
/* The lines of an archive of archives (file://). */
int source_archive_lines(const struct source_files *f, struct source_cache *c, const char *path,
			 struct str *ret, struct error *err);
/* It was read as it is now. */
bool source_cache_has(struct source_cache *c, const char *path, const struct file_info *info);
/* Forgets what was not asked for since the last call: files that are gone. */
void source_cache_sweep(struct source_cache *c);

/* Texts by name that live as long as files do; asking keeps them. STR_NONE: unknown. */
struct str source_note(struct source_cache *c, const char *name);
void source_note_set(struct source_cache *c, const char *name, struct str text);

/* "/var/lib/alm/catalog" of dir:///var/lib/alm/catalog; NULL if it is another scheme. */
const char *source_path(const struct obj *catalog, const char *scheme);
/* The bytes at a locator "/dir/x.tgz" or "/catalog.tgz#x.tgz". */
int source_read_local(const struct source_files *f, const char *locator, struct strbuf *ret,
		      struct error *err);

#endif
