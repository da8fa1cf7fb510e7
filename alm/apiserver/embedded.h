/* embedded: objects within a custom resource (x-kubernetes-embedded-resource), whose metadata is an ObjectMeta as that of any
 * object is. */
#ifndef ALM_APISERVER_EMBEDDED_H
#define ALM_APISERVER_EMBEDDED_H

#include "alm/obj/field_error.h"
#include "alm/obj/schema/schema.h"

/* object_meta_coerce() of all of them in o, in place. E_BADREQUEST "spec.a.kind: Invalid value: 7: must be a string" for the first
 * thing of a wrong type. */
int embedded_coerce(const struct schema *s, struct obj *o, struct error *err);
/* What is wrong with their names, namespaces, labels, annotations and finalizers; or that it is no metadata, of what was applied
 * and so not read before. */
void embedded_check(const struct schema *s, struct obj *o, struct field_errors *e);
/* The same of a value that stands at path. */
void embedded_check_at(const struct schema *s, const char *path, struct obj *o,
		       struct field_errors *e);

#endif
