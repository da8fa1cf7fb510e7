/*
 * source_roots: the folders below which Catalogs may lie, and nowhere else (--catalog-root of
 * `alm up` and `alm controller`).
 *
 * Whoever may write a Catalog chooses a path that ALM reads with its own rights. So a path outside
 * of the roots is refused by its text alone, before anything is looked up: whether it exists is
 * told to nobody. Below a root no link leads out (beneath.h), and the data folder of ALM is below
 * no root: one that is the data folder or holds it is refused.
 */
#ifndef ALM_SOURCES_SOURCE_ROOTS_H
#define ALM_SOURCES_SOURCE_ROOTS_H

#include "alm/sources/source.h"

#define SOURCE_ROOT_DEFAULT "/var/lib/alm/catalog"
#define SOURCE_ROOTS_MAX    64

struct source_roots;

/* No roots: the default one. E_USAGE for a root that is not absolute, or is or holds the data
 * folder. Neither need exist yet; a link that comes later is seen through only where the data
 * folder existed. */
int source_roots_new(const char *const *dirs, size_t n, const char *data_dir,
		     struct source_roots **ret, struct error *err);
void source_roots_free(struct source_roots *r);
DEFINE_FREEP(source_roots)

/* Reads below the roots; lives as long as r. E_NOTALLOWED for other paths. */
const struct source_files *source_roots_files(const struct source_roots *r);

#endif
