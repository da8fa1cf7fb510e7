/* coalesce: the parts that dependencies.c shares with coalesce.c; not for others. */
#ifndef INSTALLERS_CHART_COALESCE_H
#define INSTALLERS_CHART_COALESCE_H

#include "installers/chart/values.h"

struct coalesce {
	struct arena *a;
	struct warnings *w; /* may be NULL */
	bool merge;         /* nulls stay, for import-values */
	bool drop_nulls;    /* profile 4.2 */
};

/* Deep; NULL gives an empty map. */
struct vmap *coalesce_copy(struct coalesce *k, const struct vmap *m);
void coalesce_tables(struct coalesce *k, struct vmap *dst, const struct vmap *src,
		     const char *prefix, bool keep_nulls, int depth);
int coalesce_chart(struct coalesce *k, const struct chart *c, struct vmap *dst, const char *prefix,
		   struct strbuf *msg);

#endif
