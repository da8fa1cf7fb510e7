/*
 * entry: one version of a package as one line of JSON. What the children of the sandbox answer,
 * what a revision is kept as in the database, and what every source is turned into:
 *
 *	{"where": "etcd 0.9.4", "chart": {name, version, ...}, "descriptor": "...", "ownCrds":
 *[...], "unread": true, "digest": "64 hex digits", "locator": "https://..."}
 *	{"where": "etcd 0.9.5", "error": "MissingDigest: ..."}
 *	{"catalogYaml": "deprecations: ..."}
 *	{"olm": {"schema": "olm.bundle", ...}, "where": "etcd/catalog.yaml"}
 */
#ifndef CATALOG_ENTRY_H
#define CATALOG_ENTRY_H

#include "catalog/index.h"

/* Of Chart.yaml only what the resolver and people ask for; a new map. */
struct obj *entry_chart(const struct obj *chart);
struct obj *entry_error(const char *where, const char *why);
/* plural.group/version of what the CRDs serve, as a list of strings. */
int entry_own_crds(const struct obj *const *crds, size_t n, struct obj **ret, struct error *err);
void entry_print(const struct obj *entry, struct strbuf *lines);

/* Takes lines off the front, at most max; 1: there are more. E_CORRUPT for a line that is none. */
int entry_read_lines(struct catalog_index *x, struct str *rest, size_t max, struct error *err);
void entry_add(struct catalog_index *x, const struct obj *entry);

#endif
