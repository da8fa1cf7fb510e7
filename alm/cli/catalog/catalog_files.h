/* catalog_files: a catalog as files: archives, catalog.yaml, and the index.yaml that describes
 * them. What `alm catalog index|pull|push|verify` share. */
#ifndef ALM_CLI_CATALOG_CATALOG_FILES_H
#define ALM_CLI_CATALOG_CATALOG_FILES_H

#include "alm/cli/catalog_source.h"

/* Chart.yaml of an archive, whole, with its descriptor as the annotation; owned. */
int catalog_chart(struct str archive, struct obj **ret, struct error *err);

/* An index.yaml in the making: same archives, same bytes. */
struct catalog_listing;
struct catalog_listing *catalog_listing_new(void);
void catalog_listing_free(struct catalog_listing *l);
DEFINE_FREEP(catalog_listing)
/* base_url NULL: a name beside the index. consumes chart. */
void catalog_listing_add(struct catalog_listing *l, struct obj *chart, const char *digest,
			 const char *base_url, const char *file);
/* generated: when, as an RFC 3339 time; NULL: it says nothing of it. */
void catalog_listing_print(const struct catalog_listing *l, const char *generated,
			   struct strbuf *b);

/* "etcd-operator-0.9.4.tgz" */
const char *catalog_file_name(const struct package_version *p, struct arena *a);

/* Calls fn with every archive of the source, checked, newest first; shows progress. Entries that
 * cannot be used are errors. */
typedef int (*catalog_archive_fn)(void *arg, const struct package_version *p, struct str bytes,
				  struct error *err);
int catalog_each(struct cli *c, struct catalog_source *s, catalog_archive_fn fn, void *arg,
		 struct error *err);

#endif
