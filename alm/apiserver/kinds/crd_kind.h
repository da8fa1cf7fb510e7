/* crd_kind: one version of a CustomResourceDefinition as a row of the table of kinds. */
#ifndef ALM_APISERVER_KINDS_CRD_KIND_H
#define ALM_APISERVER_KINDS_CRD_KIND_H

#include "alm/apiserver/kinds/kinds.h"

/* version is an element of spec.versions. Owned by the caller, who gives it to kinds_add() with
 * crd_kind_free. */
int crd_kind_new(const struct obj *crd, const struct obj *version, uint32_t stamp,
		 struct kind **ret, struct error *err);
void crd_kind_free(struct kind *k);

#endif
