/*
 * source: where catalogs are read from (lifecycle.md 1.3). dir:// and file:// here; https:// and
 * oci:// give a clear error until they come. Files are read through a small table, so that the
 * simulation has its own.
 */
#ifndef ALM_CONTROLLERS_SOURCE_H
#define ALM_CONTROLLERS_SOURCE_H

#include "alm/base/file.h"
#include "alm/obj/obj.h"
#include "catalog/index.h"

#define SOURCE_ARCHIVE_BYTES_MAX ((size_t)32 << 20)
#define SOURCE_FILES_MAX         500000
#define SOURCE_QUIET_NS          INT64_C(500000000) /* a file changed within this time waits */

struct source_files {
	int (*list)(void *arg, const char *dir, char ***ret_names, size_t *ret_n,
		    struct error *err);
	int (*info)(void *arg, const char *path, struct file_info *ret, struct error *err);
	int (*read)(void *arg, const char *path, struct strbuf *b, struct error *err);
	void *arg;
};
extern const struct source_files source_files_real;

/* What was read of an archive before, by path, size and time: unchanged files are not read again.
 */
struct source_cache;
struct source_cache *source_cache_new(void);
void source_cache_free(struct source_cache *c);

/* Reads the whole source of a Catalog object into a new index. *ret_wait_ns > 0: a file was too
 * fresh and shall be looked at again then. */
int source_read(const struct source_files *f, struct source_cache *cache, const struct obj *catalog,
		int64_t now_ns, struct catalog_index **ret, int64_t *ret_wait_ns,
		struct error *err);
/* "/var/lib/alm/catalog" of dir:///var/lib/alm/catalog; NULL if it is no folder. */
const char *source_dir(const struct obj *catalog);
/* Reads an archive and checks it: E_INVALID "... sha256 is X, wanted Y". */
int source_read_archive(const struct source_files *f, const char *path, const char *digest,
			struct strbuf *ret, struct error *err);

#endif
