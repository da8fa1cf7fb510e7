/*
 * crds_convert: CRDs that stay when their app goes, while the Service that converts their objects
 * goes with it (lifecycle.md 8): nobody could read an object any more, nor install the app again.
 * A CRD that needs no converter (no objects, versions that agree, or one version that is served and
 * stored) is without one from before the operator is deleted; of another one the removal waits:
 * ConversionNeeded.
 */
#ifndef ALM_CONTROLLERS_APPTYPE_CRDS_CONVERT_H
#define ALM_CONTROLLERS_APPTYPE_CRDS_CONVERT_H

#include "alm/controllers/apptype/uninstall.h"

/* services: those of the app that are being deleted, as "NAMESPACE/NAME". */
enum ensured crds_convert_ensure(struct uninstall *u, const struct obj *services);

#endif
