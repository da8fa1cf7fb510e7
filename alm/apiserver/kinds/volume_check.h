/* volume_check: what is wrong with PersistentVolumes, and what of them may not change, in the words of Kubernetes 1.36
 * (builtin_check.h), but for the difference that it prints behind them. Pure. */
#ifndef ALM_APISERVER_KINDS_VOLUME_CHECK_H
#define ALM_APISERVER_KINDS_VOLUME_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_volume(struct field_errors *e, const struct obj *o);
void volume_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

/* What is wrong with where it is: the source, a field of the spec at the path. */
void volume_check_source(struct field_errors *e, const char *at, const char *source,
			 const struct obj *o);
/* The portal of one by iSCSI is told to its nodes with the name of the volume. */
void volume_check_portal(struct field_errors *e, const char *at, const struct obj *iscsi,
			 const char *name);

/* The spec of a volume, at the path; name: of the volume, NULL: it is within the attachment it is made for. */
void check_volume_spec(struct field_errors *e, const char *at, const struct obj *spec,
		       const char *name);

#endif
