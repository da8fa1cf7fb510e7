/* volume_check: what is wrong with PersistentVolumes, and what of them may not change, in the words of Kubernetes 1.36
 * (builtin_check.h), but for the difference that it prints behind them. Pure. */
#ifndef ALM_APISERVER_KINDS_VOLUME_CHECK_H
#define ALM_APISERVER_KINDS_VOLUME_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_volume(struct field_errors *e, const struct obj *o);
void volume_kept(struct field_errors *e, const struct obj *o, const struct obj *before);

/* What is wrong with where it is: the source, a field of spec. */
void volume_check_source(struct field_errors *e, const char *source, const struct obj *o);

/* Does it say where it is? */
bool volume_has_type(const struct obj *spec);

#endif
