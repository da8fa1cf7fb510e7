/* object_meta_check: what metadata may say. The real server judges it by rules of its own and by those of the kind, so causes stand in
 * an answer more than once; which kinds have which, and their order, is as a 1.36 was seen to answer. */
#include <string.h>

#include "alm/apiserver/kinds/address_check.h"
#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/selector_check.h"
#include "alm/apiserver/object_meta.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ANNOTATIONS_BYTES_MAX ((size_t)256 << 10)
#define OWNERS_SHOWN_MAX      ((size_t)64 << 10)

static const char labels_at[] = "metadata.labels", notes_at[] = "metadata.annotations",
		  owners_at[] = "metadata.ownerReferences", finalizers_at[] = "metadata.finalizers",
		  generate_at[] = "metadata.generateName", name_at[] = "metadata.name";

static void check_name(const struct kind *k, const char *name, const char *field, bool prefix,
		       struct field_errors *e)
{
	enum name_rule rule = k->flags & KIND_PATH_NAME    ? NAME_PATH_SEGMENT
			      : k->flags & KIND_LABEL_NAME ? NAME_DNS_LABEL
							   : NAME_DNS_SUBDOMAIN;
	const char *all[NAME_FAULTS_MAX];
	struct str s = str_of(name);
	if (cstr_eq(k->kind, "IPAddress") && cstr_eq(k->group, "networking.k8s.io")) {
		check_ip(e, field, name, true);
		return;
	}
	if (prefix)
		s = check_prefix(e, name);
	size_t n = name_faults(rule, s, all);
	bool declared = !prefix && cstr_eq(k->plural, "replicationcontrollers"); /* by its tags */
	for (size_t i = 0; i < n; i++)
		check_invalid_text(e, field, name,
				   declared && strstr(all[i], "253 characters")
					   ? "must be no more than 253 bytes"
					   : all[i]);
}

void object_meta_check_labels(const struct obj *labels, struct field_errors *e)
{
	check_label_map(e, labels_at, labels);
}

void object_meta_check_annotations(const struct obj *notes, const char *path,
				   struct field_errors *e)
{
	size_t total = 0;
	OBJ_EACH (it, notes) {
		const char *all[NAME_FAULTS_MAX];
		char *key = arena_strdup(e->arena, it.key); /* of either case */
		for (char *p = key; *p; p++)
			*p = char_lower(*p);
		size_t n = name_faults(NAME_QUALIFIED, str_of(key), all);
		for (size_t i = 0; i < n; i++)
			check_invalid_text(e, path, it.key, all[i]);
		total += strlen(it.key) + obj_as_str(it.value).len;
	}
	if (total > ANNOTATIONS_BYTES_MAX)
		check_too_long(e, path, ANNOTATIONS_BYTES_MAX);
}

/* As it is shown, in the order of its fields. */
static struct obj *owner_shown(const struct obj *owner)
{
	static const char *const fields[] = {"apiVersion", "kind",       "name",
					     "uid",        "controller", "blockOwnerDeletion"};
	struct obj *ref = obj_map();
	for (size_t k = 0; k < ARRAY_LEN(fields); k++)
		if (obj_has(owner, fields[k]))
			obj_set(ref, fields[k], obj_ref(obj_get(owner, fields[k])));
	return ref;
}

/* Each message has all of them, so they are printed at most once. */
static const char *owners_shown(const struct obj *list, struct field_errors *e)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OWNERS_SHOWN_MAX);
	CLEANUP(obj_unrefp) struct obj *shown = obj_list();
	for (size_t i = 0; i < obj_len(list); i++)
		obj_append(shown, owner_shown(obj_at(list, i)));
	json_print(shown, &b);
	return arena_strndup(e->arena, b.buf, b.len);
}

/* It goes by itself, and would take with it what it owns. had: the owners of before; what was stored stays. */
static void check_no_event(struct field_errors *e, const char *at, const struct obj *owner,
			   const struct obj *had)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OWNERS_SHOWN_MAX);
	CLEANUP(obj_unrefp) struct obj *shown = owner_shown(owner);
	if (!cstr_eq(obj_str(owner, "apiVersion"), "v1") ||
	    !cstr_eq(obj_str(owner, "kind"), "Event"))
		return;
	for (size_t i = 0; i < obj_len(had); i++)
		if (obj_equal(obj_at(had, i), owner))
			return;
	json_print(shown, &b);
	field_errors_add(e, FIELD_INVALID, at,
			 "Invalid value: %s: /v1, Kind=Event is disallowed from being an owner",
			 b.buf);
}

void object_meta_check_owners(const struct obj *list, const struct obj *had, const char *at,
			      struct field_errors *e)
{
	const char *first = NULL, *shown = NULL;
	for (size_t i = 0; i < obj_len(list); i++) {
		static const char *const need[] = {"kind", "name", "uid"};
		const struct obj *ref = obj_at(list, i);
		const char *group, *version, *api = check_text(ref, "apiVersion");
		if (!gvk_split_api_version(api, e->arena, &group, &version))
			check_invalid_text(e, check_below(e, at, "apiVersion"), api,
					   "version must not be empty");
		for (size_t j = 0; j < ARRAY_LEN(need); j++)
			if (check_is_empty(ref, need[j]))
				check_invalid_text(e, check_below(e, at, need[j]), "",
						   "must not be empty");
		check_no_event(e, at, ref, had);
		if (!obj_flag(ref, "controller", false) || field_errors_full(e))
			continue; /* each message has the whole list */
		const char *is = arena_fmt(e->arena, "%s/%s", check_text(ref, "kind"),
					   check_text(ref, "name"));
		if (first && !shown)
			shown = owners_shown(list, e);
		if (first)
			field_errors_add(e, FIELD_INVALID, at,
					 "Invalid value: %s: Only one reference can have "
					 "Controller set to true. Found \"true\" in references for "
					 "%s and %s",
					 shown, first, is);
		first = first ? first : is;
	}
}

static void check_finalizers(const struct obj *o, struct field_errors *e)
{
	const struct obj *list = obj_path(o, finalizers_at);
	bool orphans = false, deletes = false; /* its dependents */
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		check_qualified(e, finalizers_at, s ? s : "");
		orphans |= cstr_eq(s, "orphan");
		deletes |= cstr_eq(s, "foregroundDeletion");
	}
	if (orphans && deletes)
		check_invalid(e, finalizers_at, list,
			      "finalizer orphan and foregroundDeletion cannot be both set");
}

/* Those of built-in kinds are what the server knows, or have an owner's domain; some groups are not asked. */
static void check_kube_finalizers(const struct kind *k, const struct obj *o, struct field_errors *e)
{
	static const char *const known[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};
	const struct obj *list = obj_path(o, finalizers_at);
	static const char *const not_asked[] = {
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"coordination.k8s.io",          "node.k8s.io",          NULL};
	bool free_of = k->flags & KIND_CUSTOM || cstr_in(k->group, not_asked);
	for (size_t i = 0; !free_of && i < obj_len(list); i++) {
		const char *s = obj_as_string(obj_at(list, i));
		if (s && !strchr(s, '/') && !cstr_in(s, known))
			check_invalid_text(e, check_at(e, finalizers_at, i), s,
					   "name is neither a standard finalizer name nor is it "
					   "fully qualified");
	}
}

/* When it goes is nobody's to say but by a deletion. */
static void check_deletion(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	static const char *const fields[] = {"metadata.deletionTimestamp",
					     "metadata.deletionGracePeriodSeconds"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_path(o, fields[i]), *was = obj_path(before, fields[i]);
		if (is && !(was && obj_equal(is, was)))
			check_invalid(e, fields[i], is, "field is immutable");
	}
}

static void check_maps(const struct obj *o, const struct obj *before, struct field_errors *e)
{
	object_meta_check_labels(obj_path(o, labels_at), e);
	object_meta_check_annotations(obj_path(o, notes_at), notes_at, e);
	object_meta_check_owners(obj_path(o, owners_at), obj_path(before, owners_at), owners_at, e);
}

/* The names, and what is said of an object without one before it. */
static void check_whole(const struct kind *k, const struct obj *o, const struct obj *before,
			struct field_errors *e)
{
	const char *generate = obj_str(o, generate_at), *name = meta_name(o);
	if (generate && !(k->flags & KIND_FREE_PREFIX))
		check_name(k, generate, generate_at, true, e);
	if (name && (!(k->flags & KIND_FREE_PREFIX) || !(k->flags & KIND_PATH_NAME)))
		check_name(k, name, name_at, false, e);
	else if (!name)
		check_required(e, name_at, "name or generateName is required");
	check_at_least(e, "metadata.generation", obj_path(o, "metadata.generation"), 0);
	check_maps(o, before, e);
	check_finalizers(o, e);
}

/* What any name must be, that it can stand in a path. */
static void check_paths(const struct obj *o, struct field_errors *e)
{
	static const char *const fields[] = {"metadata.generateName", "metadata.name"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		check_name_rule(e, fields[i], NAME_PATH_SEGMENT, check_text(o, fields[i]));
}

static void check_update(const struct obj *o, const struct obj *before, const char *uid,
			 struct field_errors *e)
{
	if (uid)
		check_invalid_text(e, "metadata.uid", uid, "field is immutable");
	check_deletion(o, before, e);
	check_maps(o, before, e);
}

static void check_created(const struct kind *k, const struct obj *o, struct field_errors *e)
{
	bool has_rules = (k->flags & KIND_META_NONE) != KIND_META_NONE;
	if (has_rules) {
		check_whole(k, o, NULL, e);
		check_kube_finalizers(k, o, e);
	}
	if (e->n > 0)
		return;
	if (!has_rules && !meta_name(o))
		check_required(e, name_at, "name or generateName is required");
	check_paths(o, e);
	if (has_rules)
		return;
	check_at_least(e, "metadata.generation", obj_path(o, "metadata.generation"), 0);
	check_maps(o, NULL, e);
	check_finalizers(o, e);
}

/* How often what an update may say is looked at once more where a status is written, with nothing of a new object; -1: as ever. */
static int times_by_status(const struct kind *k)
{
	static const char *const once[] = {
		"pods",       "jobs",  "ingresses", "persistentvolumeclaims", "persistentvolumes",
		"namespaces", "nodes", NULL};
	if (k->flags & KIND_CUSTOM)
		return -1;
	return cstr_in(k->plural, once) ? 1 : strcmp(k->plural, "cronjobs") == 0 ? 0 : -1;
}

void object_meta_validate(const struct kind *k, const struct obj *o, const struct obj *before,
			  const char *uid, bool is_status, size_t *ret_again,
			  struct field_errors *e)
{
	unsigned how = k->flags & KIND_META_NONE;
	int times = is_status ? times_by_status(k) : -1;
	bool alone = how & KIND_META_ALONE;
	/* As a new one: before what an update says, after it, or both. */
	int first = how == KIND_META_ALONE || how == KIND_META_FIRST, last = how & KIND_META_LAST;
	*ret_again = SIZE_MAX;
	if (!before) {
		check_created(k, o, e);
		return;
	}
	check_paths(o, e);
	check_maps(o, before, e);
	check_finalizers(o, e);
	check_update(o, before, uid, e);
	for (int i = 0; i < times; i++) {
		check_update(o, before, uid, e);
		check_kube_finalizers(k, o, e);
	}
	if (how == KIND_META_NONE || times >= 0)
		return;
	for (int i = 0; i < 3; i++) {
		if ((i == 1 && how == KIND_META_FIRST && !(k->flags & KIND_META_TOGETHER)) ||
		    (i == 2 && (how == KIND_META_LAST || (alone && last))))
			*ret_again = e->n;
		if ((i == 0 && first) || (i == 2 && last) || (i == 1 && alone && last))
			check_whole(k, o, before, e);
		else if (i == 1 && !alone)
			check_update(o, before, uid, e);
		else
			continue;
		check_kube_finalizers(k, o, e);
	}
}
