/* meta: see meta.h. */
#include "alm/obj/meta.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *meta_api_version(const struct obj *o)
{
	return obj_as_string(obj_get(o, "apiVersion"));
}

const char *meta_kind(const struct obj *o)
{
	return obj_as_string(obj_get(o, "kind"));
}

static const char *text(const struct obj *o, const char *key)
{
	return obj_as_string(obj_get(obj_get(o, "metadata"), key));
}

const char *meta_name(const struct obj *o)
{
	return text(o, "name");
}

const char *meta_namespace(const struct obj *o)
{
	const char *ns = text(o, "namespace");
	return ns && *ns ? ns : NULL;
}

const char *meta_uid(const struct obj *o)
{
	return text(o, "uid");
}

const char *meta_resource_version(const struct obj *o)
{
	return text(o, "resourceVersion");
}

int64_t meta_generation(const struct obj *o)
{
	return obj_i64(o, "metadata.generation", 0);
}

bool meta_is_deleting(const struct obj *o)
{
	return text(o, "deletionTimestamp") != NULL;
}

const char *meta_label(const struct obj *o, const char *key)
{
	return obj_as_string(obj_get(obj_path(o, "metadata.labels"), key));
}

const char *meta_annotation(const struct obj *o, const char *key)
{
	return obj_as_string(obj_get(obj_path(o, "metadata.annotations"), key));
}

static size_t finalizer_index(const struct obj *list, const char *name)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), name))
			return i;
	return SIZE_MAX;
}

static bool owns_spec(const struct obj *entry, const char *field)
{
	char member[256];
	const struct obj *at = obj_get(obj_get(entry, "fieldsV1"), "f:spec");
	struct str rest = str_of(field), part;
	while (at && str_next(&rest, '.', &part)) {
		(void)snprintf(member, sizeof(member), "f:%.*s", STR_ARG(part));
		at = obj_get(at, member);
	}
	return at != NULL;
}

const struct obj *meta_last_entry(const struct obj *o, const char *field)
{
	const struct obj *newest = NULL;
	const char *when = "";
	const struct obj *entries = obj_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const char *time = obj_str(e, "time");
		if (obj_str(e, "manager") && time && owns_spec(e, field) &&
		    strcmp(time, when) >= 0) {
			newest = e;
			when = time;
		}
	}
	return newest;
}

const char *meta_last_manager(const struct obj *o, const char *field)
{
	return obj_str(meta_last_entry(o, field), "manager");
}

bool meta_has_finalizer(const struct obj *o, const char *name)
{
	return finalizer_index(obj_path(o, "metadata.finalizers"), name) != SIZE_MAX;
}

/* metadata, made if absent. */
static struct obj *metadata(struct obj *o)
{
	if (obj_type(obj_get(o, "metadata")) != OBJ_MAP)
		obj_set(o, "metadata", obj_map());
	return obj_get_mut(o, "metadata");
}

/* metadata.KEY of the wanted type; made if absent. */
static struct obj *member(struct obj *o, const char *key, enum obj_type type)
{
	struct obj *m = metadata(o);
	if (obj_type(obj_get(m, key)) != type)
		obj_set(m, key, type == OBJ_MAP ? obj_map() : obj_list());
	return obj_get_mut(m, key);
}

static void set_text(struct obj *o, const char *map, const char *key, const char *value)
{
	if (value) {
		obj_set_str(member(o, map, OBJ_MAP), key, value);
		return;
	}
	struct obj *m = obj_get_mut(obj_get_mut(o, "metadata"), map);
	if (!obj_has(m, key))
		return;
	obj_del(m, key);
	if (obj_len(m) == 0)
		obj_del(metadata(o), map);
}

void meta_set_label(struct obj *o, const char *key, const char *value)
{
	set_text(o, "labels", key, value);
}

void meta_set_annotation(struct obj *o, const char *key, const char *value)
{
	set_text(o, "annotations", key, value);
}

void meta_add_finalizer(struct obj *o, const char *name)
{
	if (!meta_has_finalizer(o, name))
		obj_append(member(o, "finalizers", OBJ_LIST), obj_string(name));
}

void meta_remove_finalizer(struct obj *o, const char *name)
{
	struct obj *list = obj_get_mut(obj_get_mut(o, "metadata"), "finalizers");
	size_t i = finalizer_index(list, name);
	if (i == SIZE_MAX)
		return;
	obj_del_at(list, i);
	if (obj_len(list) == 0)
		obj_del(metadata(o), "finalizers");
}

size_t meta_owner_count(const struct obj *o)
{
	const struct obj *list = obj_path(o, "metadata.ownerReferences");
	return obj_type(list) == OBJ_LIST ? obj_len(list) : 0;
}

bool meta_owner(const struct obj *o, size_t i, struct owner_ref *ret)
{
	const struct obj *ref = obj_at(obj_path(o, "metadata.ownerReferences"), i);
	if (obj_type(ref) != OBJ_MAP)
		return false;
	*ret = (struct owner_ref){
		.api_version = obj_str(ref, "apiVersion"),
		.kind = obj_str(ref, "kind"),
		.name = obj_str(ref, "name"),
		.uid = obj_str(ref, "uid"),
		.controller = obj_flag(ref, "controller", false),
		.block_owner_deletion = obj_flag(ref, "blockOwnerDeletion", false),
	};
	return true;
}

static size_t owner_index(const struct obj *o, const char *uid)
{
	struct owner_ref ref;
	for (size_t i = 0; i < meta_owner_count(o); i++)
		if (meta_owner(o, i, &ref) && ref.uid && cstr_eq(ref.uid, uid))
			return i;
	return SIZE_MAX;
}

bool meta_is_owned_by(const struct obj *o, const char *uid)
{
	return owner_index(o, uid) != SIZE_MAX;
}

bool meta_is_owned_through(const struct obj *o, const char *uid, const char *manager)
{
	const struct obj *entries = obj_path(o, "metadata.managedFields");
	CLEANUP(obj_unrefp) struct obj *key = obj_stringf("k:{\"uid\":\"%s\"}", uid ? uid : "");
	for (size_t i = 0; meta_is_owned_by(o, uid) && i < obj_len(entries); i++) {
		const struct obj *e = obj_at(entries, i);
		const struct obj *owners = obj_path(e, "fieldsV1.f:metadata.f:ownerReferences");
		if (cstr_eq(obj_str(e, "manager"), manager) && obj_has(owners, obj_as_string(key)))
			return true;
	}
	return false;
}

void meta_add_owner(struct obj *o, const struct owner_ref *ref)
{
	struct obj *entry = obj_map();
	assert(ref->api_version && ref->kind && ref->name && ref->uid);
	obj_set_str(entry, "apiVersion", ref->api_version);
	obj_set_str(entry, "kind", ref->kind);
	obj_set_str(entry, "name", ref->name);
	obj_set_str(entry, "uid", ref->uid);
	if (ref->controller)
		obj_set_bool(entry, "controller", true);
	if (ref->block_owner_deletion)
		obj_set_bool(entry, "blockOwnerDeletion", true);
	struct obj *list = member(o, "ownerReferences", OBJ_LIST);
	size_t i = owner_index(o, ref->uid);
	if (i == SIZE_MAX)
		obj_append(list, entry);
	else
		obj_set_at(list, i, entry);
}

void meta_remove_owner(struct obj *o, const char *uid)
{
	size_t i = owner_index(o, uid);
	if (i == SIZE_MAX)
		return;
	struct obj *list = member(o, "ownerReferences", OBJ_LIST);
	obj_del_at(list, i);
	if (obj_len(list) == 0)
		obj_del(metadata(o), "ownerReferences");
}

static bool is_object(const struct obj *o)
{
	enum obj_type metadata = obj_type(obj_get(o, "metadata"));
	return obj_type(o) == OBJ_MAP && (metadata == OBJ_MAP || metadata <= OBJ_NULL);
}

/* A custom resource may have items of any kind. */
bool meta_is_well_formed(const struct obj *o)
{
	const struct obj *items = obj_get(o, "items");
	const char *kind = meta_kind(o);
	bool is_list = obj_type(items) == OBJ_LIST && !meta_name(o) &&
		       (!kind || cstr_has_suffix(kind, "List"));
	for (size_t i = 0; is_list && i < obj_len(items); i++)
		if (!is_object(obj_at(items, i)))
			return false;
	return is_object(o);
}

struct obj *meta_skeleton(const char *api_version, const char *kind, const char *ns,
			  const char *name)
{
	struct obj *o = obj_map(), *m = obj_map();
	obj_set_str(o, "apiVersion", api_version);
	obj_set_str(o, "kind", kind);
	obj_set_str(m, "name", name);
	if (ns && *ns)
		obj_set_str(m, "namespace", ns);
	obj_set(o, "metadata", m);
	return o;
}
