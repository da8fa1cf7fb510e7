/* warn: what a real 1.36 tells the client of a valid object of a built-in kind, with the answer: what has no effect, what is
 * deprecated, what hides something else (its WarningsOnCreate and WarningsOnUpdate). Pure. */
#ifndef ALM_APISERVER_KINDS_WARN_H
#define ALM_APISERVER_KINDS_WARN_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* Into w, each as "PATH: MESSAGE", or MESSAGE alone if the path is "". before: NULL: create. */
void warn_of(struct field_errors *w, const char *group, const char *plural, const struct obj *o,
	     const struct obj *before);

#endif
