/* takeover: see takeover.h. */
#include "alm/unit/takeover.h"

#include "alm/obj/meta.h"
#include "crds/marks.h"

#define FIELDS_DEPTH_MAX 64

#define LABEL_MANAGED_BY "app.kubernetes.io/managed-by"

/* --- managers --- */

enum manager_fate takeover_fate(const struct obj *entry)
{
	static const char *const declare[] = {"helm", "kubectl", "kubectl-client-side-apply",
					      "kubectl-last-applied", "before-first-apply"};
	const char *manager = obj_str(entry, "manager"), *sub = obj_str(entry, "subresource");
	if (!manager || (sub && !cstr_eq(sub, "scale")))
		return MANAGER_STAYS;
	for (size_t i = 0; !sub && i < ARRAY_LEN(declare); i++)
		if (cstr_eq(manager, declare[i]))
			return MANAGER_MOVES;
	if (!sub && cstr_has_prefix(manager, "alm:"))
		return cstr_eq(obj_str(entry, "operation"), "Apply") ? MANAGER_MOVES : MANAGER_GOES;
	return cstr_has_prefix(manager, "kubectl") ? MANAGER_GOES : MANAGER_STAYS;
}

/* The union of two sets in the form of fieldsV1. */
/* NOLINTNEXTLINE(misc-no-recursion): FIELDS_DEPTH_MAX */
static void unite(struct obj *into, const struct obj *from, int depth)
{
	OBJ_EACH (it, from) {
		struct obj *mine = obj_get_mut(into, it.key);
		if (obj_type(mine) == OBJ_MAP && obj_type(it.value) == OBJ_MAP &&
		    depth < FIELDS_DEPTH_MAX)
			unite(mine, it.value, depth + 1);
		else if (!mine)
			obj_set(into, it.key, obj_copy(it.value));
	}
}

static bool is_applied_by(const struct obj *entry, const char *own)
{
	return cstr_eq(obj_str(entry, "manager"), own) &&
	       cstr_eq(obj_str(entry, "operation"), "Apply") && !obj_str(entry, "subresource");
}

/* Who applies has one entry, of one version (structured-merge-diff). */
static void take_entry(struct obj *list, struct obj **own_entry, const struct obj *entry,
		       const char *own)
{
	if (!*own_entry) {
		*own_entry = obj_copy(entry);
		obj_set_str(*own_entry, "manager", own);
		obj_set_str(*own_entry, "operation", "Apply");
		obj_append(list, *own_entry);
	} else if (cstr_eq(obj_str(*own_entry, "apiVersion"), obj_str(entry, "apiVersion"))) {
		struct obj *fields = obj_get_mut(*own_entry, "fieldsV1");
		if (fields)
			unite(fields, obj_get(entry, "fieldsV1"), 0);
	}
}

/* A server takes an empty list for none, and an object without managers for one that all its fields were applied to
 * before the first apply: so there is one of ours, of a mark that the next apply sets. */
static struct obj *entry_of_none(const struct obj *live, const char *own)
{
	struct obj *entry = obj_map(), *fields = obj_map(), *metadata = obj_map();
	struct obj *annotations = obj_map();
	obj_set(annotations, "f:" ANNOTATION_APPLIED, obj_map());
	obj_set(metadata, "f:annotations", annotations);
	obj_set(fields, "f:metadata", metadata);
	obj_set_str(entry, "manager", own);
	obj_set_str(entry, "operation", "Apply");
	obj_set_str(entry, "apiVersion", meta_api_version(live));
	obj_set_str(entry, "fieldsType", "FieldsV1");
	obj_set(entry, "fieldsV1", fields);
	return entry;
}

struct obj *takeover_managers(const struct obj *live, const char *own,
			      enum manager_fate (*fate)(const struct obj *entry))
{
	const struct obj *old = obj_path(live, "metadata.managedFields");
	struct obj *list = obj_list(), *own_entry = NULL;
	bool changes = false;
	for (size_t i = 0; i < obj_len(old); i++) {
		const struct obj *entry = obj_at(old, i);
		bool is_own = is_applied_by(entry, own);
		enum manager_fate f = is_own ? MANAGER_STAYS : fate(entry);
		changes = changes || f != MANAGER_STAYS;
		if (f == MANAGER_MOVES || is_own)
			take_entry(list, &own_entry, entry, own);
		else if (f == MANAGER_STAYS)
			obj_append(list, obj_ref(entry));
	}
	if (changes && !obj_len(list))
		obj_append(list, entry_of_none(live, own));
	if (changes)
		return list;
	obj_unref(list);
	return NULL;
}

/* --- marks --- */

struct mark {
	const char *kind; /* labels, annotations */
	const char *key;
	const char *value; /* that makes it one; NULL: any */
};

static const struct mark marks[] = {
	{"annotations", "kubectl.kubernetes.io/last-applied-configuration", NULL},
	{"annotations", "meta.helm.sh/release-name", NULL},
	{"annotations", "meta.helm.sh/release-namespace", NULL},
	{"labels", LABEL_MANAGED_BY, "Helm"},
};

static const char *mark_of(const struct obj *o, const struct mark *m)
{
	return cstr_eq(m->kind, "labels") ? meta_label(o, m->key) : meta_annotation(o, m->key);
}

static void drop_mark(struct obj *metadata, const struct mark *m)
{
	if (!obj_has(metadata, m->kind))
		obj_set(metadata, m->kind, obj_map());
	obj_set(obj_get_mut(metadata, m->kind), m->key, obj_null());
}

struct obj *takeover_patch(const struct obj *live, const struct obj *want, const char *own)
{
	struct obj *patch = obj_map(), *metadata = obj_map();
	struct obj *managers = takeover_managers(live, own, takeover_fate);
	if (managers)
		obj_set(metadata, "managedFields", managers);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *has = mark_of(live, &marks[i]);
		if (has && (!marks[i].value || cstr_eq(has, marks[i].value)) &&
		    !mark_of(want, &marks[i]))
			drop_mark(metadata, &marks[i]);
	}
	bool changes = obj_len(metadata) > 0;
	obj_set(patch, "metadata", metadata);
	if (changes)
		return patch;
	obj_unref(patch);
	return NULL;
}
