/* resolve_internal: shared by resolve.c (predicates) and resolve_package.c (package, candidates,
 * paths). */
#ifndef CATALOG_RESOLVE_INTERNAL_H
#define CATALOG_RESOLVE_INTERNAL_H

#include "catalog/resolve.h"

struct resolver {
	const struct resolve_input *in;
	struct arena *a;
	struct version installed;  /* parsed, if in->installed_version */
	const struct range *range; /* of spec.version; NULL: * */
	struct candidate *candidates;
	size_t n;
	bool has_edges; /* some version of the package declares upgrade edges */
};

void resolver_judge(const struct resolver *r, struct candidate *c);
bool resolver_is_stop(const struct resolver *r, const struct candidate *c);
/* What a candidate manages, and what CRD versions it brings along. */
const char *const *resolver_managed(const struct candidate *c, size_t *ret_n);
bool resolver_manages(const struct candidate *c, const char *resource);
bool resolver_brings(const struct candidate *c, const char *resource);
/* Number of hops from the installed version, 0: none; path gets the versions in order if not NULL.
 */
size_t resolver_path(const struct resolver *r, const struct candidate *c, const char ***ret_path);

#endif
