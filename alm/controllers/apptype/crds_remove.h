/*
 * crds_remove: CRDs that go with their app, named with the number of custom resources seen
 * (named_crds.h). The custom resources go first, while the operator runs, as their finalizers need
 * it; the definitions when nothing else of the app is left. More custom resources than named, or a
 * CRD that does not name the app: InventoryChanged, and nothing is deleted until the annotation is
 * corrected. All is done as the account of the app (account.h gives the default one the right).
 */
#ifndef ALM_CONTROLLERS_APPTYPE_CRDS_REMOVE_H
#define ALM_CONTROLLERS_APPTYPE_CRDS_REMOVE_H

#include "alm/controllers/apptype/uninstall.h"

/* DONE: there is none left, or no CRD is named. */
enum ensured crds_remove_instances(struct uninstall *u);
enum ensured crds_remove_definitions(struct uninstall *u);
/* "etcds.etcd.coreos.com, ...": what went; NULL: nothing was named. */
const char *crds_removed(const struct obj *app, struct arena *a);

#endif
