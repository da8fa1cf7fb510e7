/* crd_kind: one version of a CustomResourceDefinition as a row of the table of kinds. */
#ifndef ALM_APISERVER_KINDS_CRD_KIND_H
#define ALM_APISERVER_KINDS_CRD_KIND_H

#include "alm/apiserver/kinds/kinds.h"

/* The schemas of all versions of a definition, which its kinds share; of those that are none, none. */
struct crd_forms *crd_forms_new(const struct obj *crd);
void crd_forms_unref(struct crd_forms *f);

/* version is an element of spec.versions. Owned by the caller, who gives it to kinds_add() with
 * crd_kind_free. */
int crd_kind_new(const struct obj *crd, const struct obj *version, struct crd_forms *forms,
		 uint32_t stamp, struct kind **ret, struct error *err);
/* The door of group and version to the version v of the definition, as above: an object by its name,
 * and create; modern.h leads through it. */
struct kind *crd_door_new(const struct obj *crd, const char *group, const char *version,
			  const char *v);
void crd_kind_free(struct kind *k);

/* The v1beta1 form of a definition, for readers of old. */
void crd_to_v1beta1(struct obj *o);

#endif
