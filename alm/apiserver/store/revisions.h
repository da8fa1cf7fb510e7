/*
 * revisions: the resource versions of a database that no server has open.
 *
 * A database that was put back to what it was begins to give out versions anew that the lost one had given out before:
 * who watches from one of these would be told nothing until they are reached, and nothing of what was in
 * between. So they go on far beyond (as etcdutl snapshot restore --bump-revision does), and whoever comes with an older one
 * is answered 410 Expired, and lists again.
 */
#ifndef ALM_APISERVER_STORE_REVISIONS_H
#define ALM_APISERVER_STORE_REVISIONS_H

#include "alm/io/db.h"

#define REVISIONS_SKIPPED INT64_C(1000000000)

/* Lets the next object written have a version above the present ones by REVISIONS_SKIPPED. A database without objects stays
 * as it is. E_LIMIT: there is no room for so many. */
int revisions_skip(struct db *d, struct error *err);

#endif
