/* discovery_docs: the discovery documents as text, made from the table of kinds (kube-api.md 4.1).
 * Pure; discovery.c caches them. */
#ifndef ALM_APISERVER_DOCS_DISCOVERY_DOCS_H
#define ALM_APISERVER_DOCS_DISCOVERY_DOCS_H

#include "alm/apiserver/kinds/kinds.h"
#include "alm/base/strbuf.h"

#define DISCOVERY_BYTES_MAX ((size_t)32 << 20)

/* APIVersions of /api; address is host:port. */
void discovery_versions(const char *address, struct strbuf *b);
/* APIGroupList of /apis: built-in groups first, so that a short name means the built-in kind. */
void discovery_group_list(struct kinds *k, struct strbuf *b);
/* APIGroup of /apis/G and APIResourceList of /apis/G/V; false if there is none. */
bool discovery_group(struct kinds *k, const char *group, struct strbuf *b);
bool discovery_resources(struct kinds *k, const char *group, const char *version, struct strbuf *b);
/* APIGroupDiscoveryList: of /api (core) or /apis; version is "v2" or "v2beta1". */
void discovery_aggregated(struct kinds *k, bool core, const char *version, struct strbuf *b);

#endif
