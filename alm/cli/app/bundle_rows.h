/* bundle_rows: the objects of a Bundle as `alm status` tells of them (bundle_row.h), read from the cluster: its
 * inventory, the live objects of each kind, and of what is not ready its Pods. Nothing is written. */
#ifndef ALM_CLI_APP_BUNDLE_ROWS_H
#define ALM_CLI_APP_BUNDLE_ROWS_H

#include "alm/base/strbuf.h"
#include "alm/cli/session.h"

#define BUNDLE_ROWS_AROUND 50 /* whose Pods are read: of more it is said what is missing alone */

/* {bundle, objects: [...], incomplete}: by file, then what nobody has declared. incomplete: why the
 * inventory may not name all. Owned. */
int bundle_rows_read(struct session *s, const struct obj *bundle, struct arena *a, struct obj **ret,
		     struct error *err);
void bundle_rows_print(const struct obj *rows, int64_t now_ns, struct arena *a, struct strbuf *b);

#endif
