/* declared_form: a live object as somebody would write it into git. Pure. */
#ifndef ALM_CLI_KUBE_DECLARED_FORM_H
#define ALM_CLI_KUBE_DECLARED_FORM_H

#include "alm/obj/obj.h"

/* Without status, what the server keeps, the marks of ALM and of kubectl apply. hides: values of a Secret are "***".
 * Owned. */
struct obj *declared_form(const struct obj *live, bool hides);

#endif
