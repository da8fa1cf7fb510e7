/* legacy_crd: a CustomResourceDefinition of apiextensions.k8s.io/v1beta1 becomes one of v1. */
#ifndef CRDS_LEGACY_CRD_H
#define CRDS_LEGACY_CRD_H

#include "crds/legacy.h"

#define LEGACY_CRD_VERSION "apiextensions.k8s.io/v1beta1"
#define LEGACY_CRD_KIND    "CustomResourceDefinition"

/* Changes o. E_INVALID names the field that has no new form. */
int legacy_crd(struct obj *o, struct arena *a, struct legacy *ret, struct error *err);

#endif
