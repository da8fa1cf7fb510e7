/* storage_check: drivers of storage and what they tell: CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment and
 * VolumeAttributesClass, in the words of Kubernetes 1.36 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_STORAGE_CHECK_H
#define ALM_APISERVER_KINDS_STORAGE_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_csi_driver(struct field_errors *e, const struct obj *o);
void check_csi_node(struct field_errors *e, const struct obj *o);
void check_storage_capacity(struct field_errors *e, const struct obj *o);
void check_volume_attachment(struct field_errors *e, const struct obj *o);
void check_volume_attributes(struct field_errors *e, const struct obj *o);
/* "driver.example.com/x", in any case, that makes volumes. */
void check_provisioner(struct field_errors *e, const char *path, const char *name);
/* As many and as long as a class may have; needed: one at least. */
void check_class_parameters(struct field_errors *e, const struct obj *o, bool needed);

void csi_driver_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void csi_node_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void storage_capacity_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void volume_attachment_kept(struct field_errors *e, const struct obj *o, const struct obj *before);
void volume_attributes_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

#endif
