/*
 * lint: what is wrong with a catalog before anybody installs from it (lifecycle.md 1.5). Pure: over
 * one index, over the CRDs of two versions, over what one version renders to. Run by
 * `alm catalog lint`; entries that load refuses are findings as well.
 *
 * Everything found lives in the arena.
 */
#ifndef CATALOG_LINT_LINT_H
#define CATALOG_LINT_LINT_H

#include "catalog/index/index.h"

#define LINT_FINDINGS_MAX 10000 /* the rest is only counted */

enum lint_level { LINT_WARN, LINT_ERROR };

struct lint_finding {
	enum lint_level level;
	const char *rule;                      /* "drop-in-minor" */
	const char *where;                     /* file of the archive */
	const char *field;                     /* of alm.yaml, where the line is; NULL: none */
	const struct package_version *version; /* NULL: an entry that was left out */
	const char *text, *remedy;
};

struct lint {
	struct arena *a;
	struct lint_finding *items;
	size_t n, cap, n_errors, n_warnings;
};

struct lint lint_new(struct arena *a);
void lint_index(struct lint *l, const struct catalog_index *x);
/* Would the gate refuse to go from one version's definitions to the next one's, whatever objects
 * there are? An error; a warning across majors. */
void lint_crds(struct lint *l, const struct package_version *old, const struct obj *old_crds,
	       const struct package_version *new, const struct obj *new_crds);
/* rendered: {objects, warnings}, as made with the chart's own values. */
void lint_objects(struct lint *l, const struct package_version *p, const struct obj *rendered);
void lint_add(struct lint *l, enum lint_level level, const char *rule,
	      const struct package_version *p, const char *text, const char *remedy);

/* At load: entries with an error of `provides` are left out and named; so are those with one of
 * `drop-in-minor` where a descriptor lists what is provided. */
void lint_reject(struct catalog_index *x);

#endif
