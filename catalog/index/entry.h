/*
 * entry: one version of a package as one line of JSON. What the children of the sandbox answer,
 * what a revision is kept as in the database, and what every source is turned into:
 *
 *	{"where": "etcd 0.9.4", "chart": {name, version, ...}, "descriptor": "...",
 *	 "package": {...}, "ownCrds": [...], "unread": true, "digest": "64 hex digits",
 *	 "locator": "https://..."}
 *	{..., "unusable": "its archive cannot be used: ..."}      as it was read last
 *	{"where": "etcd 0.9.5", "error": "MissingDigest: ...", "reason": "MissingDigest"}
 *	{"catalogYaml": "deprecations: ...", "notices": {...}}
 *	{"olm": {"schema": "olm.bundle", ...}, "where": "etcd/catalog.yaml"}
 *	{"generated": "2026-11-22T09:00:00Z"}     when the source made its index
 *
 * Of a registry an entry has "manifest" and "provenance" too, the digests of the manifest and of
 * the layer that is its provenance; where a Catalog has a policy, "verified": {"by", "until"}: the
 * policy and the second until which the signature is valid (0: no end).
 *
 * The locator is an address, or the name of a file of the source's folder. What a child answers is
 * sealed: foreign YAML is in it as the map that it means ("package" for the descriptor, "notices"
 * for catalog.yaml), so that nobody else parses it; its text stays for its digest.
 */
#ifndef CATALOG_INDEX_ENTRY_H
#define CATALOG_INDEX_ENTRY_H

#include "catalog/index/index.h"

/* Of Chart.yaml only what the resolver and people ask for; a new map. */
struct obj *entry_chart(const struct obj *chart);
struct obj *entry_error(const char *where, const char *why, enum error_reason reason);
/* plural.group/version of what the CRDs serve, as a list of strings. */
int entry_own_crds(const struct obj *const *crds, size_t n, struct obj **ret, struct error *err);
void entry_print(const struct obj *entry, struct strbuf *lines);
/* Sets "package", or "error" if the descriptor cannot be read. */
void entry_seal(struct obj *entry);
/* The line of catalog.yaml. */
void entry_print_notices(struct str text, struct strbuf *lines);

/* Takes lines off the front, at most max; 1: there are more. E_CORRUPT for a line that is none. */
int entry_read_lines(struct catalog_index *x, struct str *rest, size_t max, struct error *err);

#endif
