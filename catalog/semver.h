/*
 * semver: ranges of versions (charts.md 7 "Semver"), as catalogs, the resolver and the charts'
 * semverCompare have them.
 */
#ifndef CATALOG_SEMVER_H
#define CATALOG_SEMVER_H

#include "alm/base/arena.h"
#include "alm/base/version.h"

#define RANGE_TERMS_MAX 64

enum range_op {
	RANGE_EQ,
	RANGE_NE,
	RANGE_GT,
	RANGE_LT,
	RANGE_GE,
	RANGE_LE,
	RANGE_TILDE,
	RANGE_CARET
};

struct range_term {
	enum range_op op;
	struct version v;
	bool any, minor_any, patch_any; /* x, * or missing at that place */
	bool or_next;                   /* ends an and-group */
};

/* = != < <= >= > ~ ^ (=> =< ~> too), x X *, a - b; comma or blank is and, || is or. A pre-release
 * matches an and-group only if one of its terms names one. */
struct range {
	size_t n;
	struct range_term terms[RANGE_TERMS_MAX];
};

/* Versions point into a. "" is refused. E_INVALID "improper constraint: X". */
int range_parse(struct str text, struct arena *a, struct range *ret, struct error *err);
bool range_matches(const struct range *r, const struct version *v);
bool range_names_prerelease(const struct range *r);

#endif
