/*
 * version: versions by semver.org 2.0 (lifecycle.md 1.2). One implementation serves catalogs, the
 * resolver, the charts' semverCompare and CEL's semver().
 *
 * A version keeps its text as written: that is its identity ("1" and "1.0.0" are two texts of equal
 * precedence). The order of version_cmp() is total: major, minor, patch as unsigned 64-bit, a
 * pre-release before its release, identifiers left to right (numeric below alphanumeric, numeric by
 * value, fewer first), and build metadata as the last tie breaker by the same rule (none first).
 */
#ifndef ALM_BASE_VERSION_H
#define ALM_BASE_VERSION_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
