/* source_access: what Catalogs may reach, as the administrator says it on the command line of `alm
 * up` and `alm controller`. */
#ifndef ALM_MAIN_SOURCE_ACCESS_H
#define ALM_MAIN_SOURCE_ACCESS_H

#include "alm/cli/cli.h"
#include "alm/controllers/manager.h"
#include "alm/sources/source_roots.h"

struct source_access {
	struct source_roots *roots;
	struct address_policy *addresses;
	char *git_dir; /* of the mirrors of Bundles, in the data folder */
};

/* What is refused is refused before the data folder is made: changes nothing. E_USAGE. */
int source_access_check(const struct cli *c, const char *data_dir, struct error *err);
/* data_dir exists. */
int source_access_open(struct source_access *s, const struct cli *c, const char *data_dir,
		       struct error *err);
void source_access_close(struct source_access *s);
void source_access_set(const struct source_access *s, struct manager_config *mc);

/* Rows for the option tables. */
/* clang-format off */
#define SOURCE_ACCESS_OPTIONS                                                                       \
	{"catalog-root", "DIR",                                                                    \
	 "catalogs of dir:// and file:// lie below it, and no others are read (default "           \
	 SOURCE_ROOT_DEFAULT "); may be given again", 0},                                          \
	{"allow-source", "HOST[:PORT]|CIDR",                                                       \
	 "catalogs of https:// and oci:// may lie in this network that is not public: loopback, "   \
	 "private, link-local (default: none); may be given again", 0}
/* clang-format on */

#endif
