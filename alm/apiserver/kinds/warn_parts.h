/* warn_parts: what warn.c and warn_pod.c say alike, and what the second says for the first. Pure. */
#ifndef ALM_APISERVER_KINDS_WARN_PARTS_H
#define ALM_APISERVER_KINDS_WARN_PARTS_H

#include "alm/obj/field_error.h"
#include "alm/obj/obj.h"

/* why, as it stands. */
void warn_add(struct field_errors *w, const char *path, const char *why);
/* Of an amount of bytes that is none. */
void warn_of_fraction(struct field_errors *w, const char *path, const struct obj *amounts,
		      const char *name);
/* Of the terms of a node selector; values: of what they compare with, too. */
void warn_of_term(struct field_errors *w, const char *path, const struct obj *term, bool values);
/* What is said of the key of a label of nodes; NULL: nothing. */
const char *warn_of_label(const char *key);
/* Of files in volumes that hide each other, and sources that are of nothing. */
void warn_of_paths(struct field_errors *w, const struct obj *volumes);
/* A Pod (prefix "") or a template (prefix "spec.template."). */
void warn_of_pod(struct field_errors *w, const char *prefix, const struct obj *pod);

#endif
