/*
 * crd: CustomResourceDefinitions (kube-api.md 11): checks, names, conditions, and the rows of the
 * table of kinds they stand for. A kind is served from the commit of its CRD on, and no longer when
 * the last of its objects and the CRD are gone.
 */
#ifndef ALM_APISERVER_KINDS_CRD_H
#define ALM_APISERVER_KINDS_CRD_H

#include "alm/apiserver/request.h"
#include "alm/apiserver/store/store.h"

struct crds;

#define CRD_SELECTABLE_MAX 8 /* fields of one version */

#define CRD_GROUP     "apiextensions.k8s.io"
#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* Its objects are converted by a webhook (converting.h). */
bool crd_has_converter(const struct obj *o);

/* Defaults of a CRD that is about to be written, in place. */
void crd_default(struct obj *o);
/* As that of one whose names nobody has accepted. */
void crd_empty_status(struct obj *o);
void crd_validate(const struct obj *o, const struct obj *before, struct field_errors *e);
/* Of a write of the status alone: which names it says are accepted. */
void crd_validate_status(const struct obj *o, const struct obj *before, struct field_errors *e);
/* If the status is written apart, the root of a schema says what its fields say, and no more (crd_check.c). */
void crd_check_root(const struct obj *schema, const char *at, struct field_errors *e);
/* Columns and subresources of a version, at that path. */
void crd_check_columns(const struct obj *version, const char *at, struct field_errors *e);
void crd_check_scale(const struct obj *version, const char *at, struct field_errors *e);
/* Are the names of a definition names? */
void crd_check_names(const struct obj *names, const char *path, struct field_errors *e);
/* ".spec.a" is in "spec". */
bool crd_path_is_in(const char *path, const char *field);
/* status.acceptedNames, storedVersions and conditions, in place. before NULL on create. */
void crd_set_status(struct crds *c, struct obj *o, const struct obj *before, int64_t now_ns);
void crd_set_terminating(struct obj *o, int64_t now_ns);
/* Is the CRD of this kind being deleted? */
bool crd_is_terminating(struct crds *c, const struct kind *k);

#endif
