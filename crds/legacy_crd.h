/* legacy_crd: a CustomResourceDefinition of apiextensions.k8s.io/v1beta1 becomes one of v1. */
#ifndef CRDS_LEGACY_CRD_H
#define CRDS_LEGACY_CRD_H

#include "crds/legacy.h"

#define LEGACY_CRD_VERSION "apiextensions.k8s.io/v1beta1"
#define LEGACY_CRD_KIND    "CustomResourceDefinition"

/* Changes o. E_INVALID names the field that has no new form. */
int legacy_crd(struct obj *o, struct arena *a, struct legacy *ret, struct error *err);

/* In 2017 each version was a definition; today they are versions of one. said: what legacy_crd() made of
 * one that says one version; there: the definition of that name.
 *
 * May said be a version of it? Else E_CONFLICT names what contradicts. */
int legacy_crd_fits(const struct obj *there, const struct obj *said, struct error *err);
/* Has it that version? */
bool legacy_crd_has(const struct obj *there, const struct obj *said);
/* said gets the versions that there has besides; whether its own is served and stored is as there. */
void legacy_crd_join(const struct obj *there, struct obj *said);

#endif
