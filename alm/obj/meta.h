/* meta: ObjectMeta of an object. Getters borrow and return NULL (0, false) for what is absent. */
#ifndef ALM_OBJ_META_H
#define ALM_OBJ_META_H

#include "alm/obj/obj.h"

const char *meta_api_version(const struct obj *o);
const char *meta_kind(const struct obj *o);
const char *meta_name(const struct obj *o);
const char *meta_namespace(const struct obj *o); /* NULL for cluster-scoped */
const char *meta_uid(const struct obj *o);
const char *meta_resource_version(const struct obj *o);
int64_t meta_generation(const struct obj *o);
bool meta_is_deleting(const struct obj *o);
const char *meta_label(const struct obj *o, const char *key);
const char *meta_annotation(const struct obj *o, const char *key);
/* The newest entry of managedFields that owns spec.FIELD ("upgrade.to"; NULL: any of spec); NULL if there is
 * none. Its manager is a name that the client chose (audit.md 6). */
const struct obj *meta_last_entry(const struct obj *o, const char *field);
const char *meta_last_manager(const struct obj *o, const char *field);
bool meta_has_finalizer(const struct obj *o, const char *name);

/* On an object under construction. */
void meta_set_label(struct obj *o, const char *key, const char *value); /* NULL removes */
void meta_set_annotation(struct obj *o, const char *key, const char *value);
void meta_add_finalizer(struct obj *o, const char *name);    /* once */
void meta_remove_finalizer(struct obj *o, const char *name); /* the list is removed when empty */

struct owner_ref {
	const char *api_version, *kind, *name, *uid;
	bool controller, block_owner_deletion;
};
size_t meta_owner_count(const struct obj *o);
bool meta_owner(const struct obj *o, size_t i, struct owner_ref *ret);
bool meta_is_owned_by(const struct obj *o, const char *uid);
/* It has the owner, and a manager of this name set that. */
bool meta_is_owned_through(const struct obj *o, const char *uid, const char *manager);
void meta_add_owner(struct obj *o, const struct owner_ref *ref); /* replaces one of the same uid */
void meta_remove_owner(struct obj *o, const char *uid);

/* A map whose metadata, if it has any, is one; of a list, every item, too. What a server sends is
 * asked this before anybody completes or changes it. */
bool meta_is_well_formed(const struct obj *o);

/* {apiVersion, kind, metadata: {name, namespace}}; ns NULL or "" leaves namespace out. */
struct obj *meta_skeleton(const char *api_version, const char *kind, const char *ns,
			  const char *name);

#endif
