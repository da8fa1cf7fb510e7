/* scaler_check: what is wrong with a HorizontalPodAutoscaler of v2 (builtin_check.h). Pure. */
#ifndef ALM_APISERVER_KINDS_SCALER_CHECK_H
#define ALM_APISERVER_KINDS_SCALER_CHECK_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

void check_autoscaler(struct field_errors *e, const struct obj *o);

#endif
