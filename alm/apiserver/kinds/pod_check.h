/* pod_check: the PodSpec of Pods and templates (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_POD_CHECK_H
#define ALM_APISERVER_KINDS_POD_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* A PodSpec, which may be absent. claims: volumeClaimTemplates of a StatefulSet, or NULL. pod: its name; NULL of a template. */
void check_pod_spec(struct field_errors *e, const char *path, const struct obj *spec,
		    const struct obj *claims, const char *pod);

/* A template t of Pods. */
void check_pod_template(struct field_errors *e, const char *path, const struct obj *t,
			const struct obj *claims);
/* Of that the labels and annotations alone. */
void check_template_meta(struct field_errors *e, const char *path, const struct obj *t);

#endif
