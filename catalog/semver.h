/*
 * semver: versions and ranges (semver.org 2.0; lifecycle.md 1.2; charts.md 7 "Semver"). One
 * implementation serves catalogs, the resolver and the charts' semverCompare.
 *
 * A version keeps its text as written: that is its identity ("1" and "1.0.0" are two texts of equal
 * precedence). The order of version_cmp() is total: major, minor, patch as unsigned 64-bit, a
 * pre-release before its release, identifiers left to right (numeric below alphanumeric, numeric by
 * value, fewer first), and build metadata as the last tie breaker by the same rule (none first).
 */
#ifndef CATALOG_SEMVER_H
#define CATALOG_SEMVER_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

#define VERSION_BYTES_MAX 128 /* as written, and as printed with all three numbers */

struct version {
	uint64_t major, minor, patch;
	struct str pre, build; /* without '-' and '+'; slices of text */
	struct str text;       /* as written; borrowed */
};

enum version_rules {
	VERSION_STRICT, /* catalogs: no leading zero in a number */
	VERSION_LOOSE,  /* templates: 01.2 is 1.2 */
};

/* A leading v and the short forms N and N.M are accepted. Borrows text. E_INVALID: "invalid
 * semantic version", "version segment starts with 0". */
int version_parse(struct str text, enum version_rules rules, struct version *ret,
		  struct error *err);
int version_cmp(const struct version *a, const struct version *b);
/* Without build metadata: what ranges see. */
int version_precedence(const struct version *a, const struct version *b);
bool version_is_prerelease(const struct version *v);
/* "1.2.3-rc.1+b5", normalised. */
void version_print(const struct version *v, struct strbuf *b);

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
