/*
 * owned: what a manager's last apply has set in an object, as its managedFields remember it. Pure.
 *
 * With it a digest of what was to be applied can be compared with what is there: owned_bare() of the
 * configuration equals owned_fields() of the object that it was applied to, unless the server writes
 * a value otherwise (0.5 as 500m) or somebody has changed one.
 */
#ifndef ALM_OBJ_PATCH_OWNED_H
#define ALM_OBJ_PATCH_OWNED_H

#include "alm/obj/obj.h"

/* The fields of o that the manager applied on the main endpoint, with the values of `shown`: o itself,
 * or a copy of it with secrets replaced. Owned; NULL: the manager has applied nothing to it. */
struct obj *owned_fields(const struct obj *o, const struct obj *shown, const char *manager);
/* A configuration without what no set of fields names: apiVersion, kind, name, namespace, and the uid
 * and resourceVersion that it may have as preconditions. Owned. */
struct obj *owned_bare(const struct obj *config);
/* Whether the manager has fields of o by other writes than applies: it made the object, or changed it. */
bool owned_in_part(const struct obj *o, const char *manager);

#endif
