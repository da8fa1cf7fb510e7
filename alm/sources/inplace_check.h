/* inplace_check: is what an AppType says of its own package acceptable (inplace.h)? Pure. */
#ifndef ALM_SOURCES_INPLACE_CHECK_H
#define ALM_SOURCES_INPLACE_CHECK_H

#include "alm/sources/inplace.h"

/* What an output may be, and how a schema says so. */
struct inplace_output_type {
	const char *name, *type;
	const char *format; /* NULL: none */
};

/* NULL: there is none of the name. NULL is string. */
const struct inplace_output_type *inplace_output_type(const char *name);
/* Of what has the fields, as an "oci://" reference; NULL: it has no operator. */
const char *inplace_operator_ref(const struct obj *spec, struct arena *a);
/* What is wrong with what has the fields, an AppType's spec or a Catalog's spec.inPlace; NULL: nothing. */
const char *inplace_package_problem(const struct obj *spec, struct arena *a);

#endif
