/* lint_internal: shared by lint.c (single versions and pairs) and lint_edges.c (paths). */
#ifndef CATALOG_LINT_LINT_INTERNAL_H
#define CATALOG_LINT_LINT_INTERNAL_H

#include "catalog/lint/lint.h"

/* Versions of one package, highest first. */
void lint_edges(struct lint *l, struct package_version *const *all, size_t n);
void lint_add_field(struct lint *l, enum lint_level level, const char *rule,
		    const struct package_version *p, const char *field, const char *text,
		    const char *remedy);

#endif
