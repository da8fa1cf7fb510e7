/*
 * lint: what is wrong with a catalog before anybody installs from it (lifecycle.md 1.5). Pure, over
 * one index; run by `alm catalog lint`, and entries that load refuses are findings as well.
 */
#ifndef CATALOG_LINT_H
#define CATALOG_LINT_H

#include "catalog/index.h"

enum lint_level { LINT_WARN, LINT_ERROR };

struct lint_finding {
	enum lint_level level;
	const char *rule;  /* "drop-in-minor" */
	const char *where; /* file of the archive, or package */
	const char *text, *remedy;
};

struct lint {
	struct lint_finding *items; /* arena */
	size_t n, n_errors, n_warnings;
};

void lint_index(const struct catalog_index *x, struct arena *a, struct lint *ret);

#endif
