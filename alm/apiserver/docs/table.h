/*
 * table: meta.k8s.io Table and PartialObjectMetadata encodings of objects (kube-api.md 5.2).
 *
 *	table_begin(b, kind, accept, &meta, true);
 *	for each object: table_row(b, kind, accept, o, now, i == 0);
 *	table_end(b);
 */
#ifndef ALM_APISERVER_DOCS_TABLE_H
#define ALM_APISERVER_DOCS_TABLE_H

#include "alm/apiserver/request.h"
#include "alm/base/strbuf.h"

struct list_meta {
	const char *resource_version; /* "" leaves it out */
	const char *continue_token;   /* "" or NULL: none */
	int64_t remaining;            /* < 0: left out */
};

/* {"kind":"Table",...,"metadata":{...},"columnDefinitions":[...],"rows":[ ; without columns null
 * (all events of a watch but the first). */
void table_begin(struct strbuf *b, const struct kind *k, const struct accept *a,
		 const struct list_meta *m, bool columns);
void table_row(struct strbuf *b, const struct kind *k, const struct accept *a, const struct obj *o,
	       int64_t now_ns, bool first);
void table_end(struct strbuf *b);

/* {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{...}} */
void table_metadata(struct strbuf *b, const struct accept *a, const struct obj *o);

#endif
