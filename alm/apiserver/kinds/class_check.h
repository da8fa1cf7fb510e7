/* class_check: kinds that are written once and named by others: classes of storage, Ingresses and priority, ControllerRevisions;
 * and the keys of ConfigMaps and Secrets. In the words of Kubernetes 1.36 (tests/golden/kube-api/differs.jsonl). Pure. */
#ifndef ALM_APISERVER_KINDS_CLASS_CHECK_H
#define ALM_APISERVER_KINDS_CLASS_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_ingress_class(struct field_errors *e, const struct obj *o);
void check_priority_class(struct field_errors *e, const struct obj *o);
void check_revision(struct field_errors *e, const struct obj *o);
void check_storage_class(struct field_errors *e, const struct obj *o);
/* The keys of a ConfigMap and its size, and those of the data of a Secret. */
void check_config_keys(struct field_errors *e, const struct obj *o);
void check_secret_data(struct field_errors *e, const struct obj *data);

/* What an update may not change. */
void ingress_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void priority_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void revision_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void role_ref_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void storage_class_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

#endif
