/* crd: see crd.h. */
#include "alm/apiserver/kinds/crd.h"

#include <string.h>

#include "alm/apiserver/kinds/crd_internal.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/base/map.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

static const char *storage_version(const struct obj *o)
{
	const struct obj *list = obj_path(o, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_flag(obj_at(list, i), "storage", false))
			return obj_str(obj_at(list, i), "name");
	return NULL;
}

/* Defaults. */

/* Nobody may say that nothing was ever stored. */
static void default_stored(struct obj *o)
{
	const char *storage = storage_version(o);
	if (obj_type(obj_get(o, "status")) != OBJ_MAP ||
	    obj_len(obj_path(o, "status.storedVersions")) || !storage)
		return;
	struct obj *list = obj_list();
	obj_append(list, obj_string(storage));
	obj_set_path(o, "status.storedVersions", list);
}

void crd_empty_status(struct obj *o)
{
	obj_set_path(o, "status.acceptedNames.plural", obj_string(""));
	obj_set_path(o, "status.acceptedNames.kind", obj_string(""));
}

void crd_default(struct obj *o)
{
	if (obj_type(obj_get(o, "spec")) != OBJ_MAP)
		obj_set(o, "spec", obj_map());
	struct obj *spec = obj_get_mut(o, "spec");
	struct obj *names = obj_get_mut(spec, "names");
	const char *kind = obj_str(names, "kind");
	if (obj_type(names) == OBJ_MAP && kind && *kind) {
		if (!obj_str(names, "singular")) {
			CLEANUP(xfreep) char *lower = xstrdup(kind);
			for (char *p = lower; *p; p++)
				*p = char_lower(*p);
			obj_set_str(names, "singular", lower);
		}
		if (!obj_str(names, "listKind"))
			obj_set(names, "listKind", obj_stringf("%sList", kind));
	}
	if (!obj_is_set(obj_get(spec, "conversion")))
		obj_set_path(spec, "conversion.strategy", obj_string("None"));
	if (obj_type(obj_path(spec, "conversion.webhook.clientConfig.service")) == OBJ_MAP &&
	    !obj_is_set(obj_path(spec, "conversion.webhook.clientConfig.service.port")))
		obj_set_path(spec, "conversion.webhook.clientConfig.service.port", obj_int(443));
	if (!obj_flag(spec, "preserveUnknownFields", false))
		obj_del(spec, "preserveUnknownFields");
	default_stored(o);
}

/* Names and conditions. */

struct conflict {
	const char *reason, *name;
};

static bool kind_has_plural(const struct kind *k, const char *s)
{
	return cstr_eq(k->plural, s) || cstr_eq(k->singular, s) || cstr_in(s, k->short_names);
}

static bool short_name_taken(const struct kind *k, const struct obj *names, struct conflict *ret)
{
	const struct obj *list = obj_get(names, "shortNames");
	for (size_t i = 0; i < obj_len(list); i++) {
		ret->name = obj_as_string(obj_at(list, i));
		if (ret->name && kind_has_plural(k, ret->name))
			return true;
	}
	return false;
}

static bool conflict_with(const struct kind *k, const struct obj *names, struct conflict *ret)
{
	const char *plural = obj_str(names, "plural"), *singular = obj_str(names, "singular");
	const char *kind = obj_str(names, "kind"), *list = obj_str(names, "listKind");
	if (plural && kind_has_plural(k, plural))
		*ret = (struct conflict){"PluralConflict", plural};
	else if (singular && kind_has_plural(k, singular))
		*ret = (struct conflict){"SingularConflict", singular};
	else if (short_name_taken(k, names, ret))
		ret->reason = "ShortNamesConflict";
	else if (cstr_eq(k->kind, kind) || cstr_eq(k->list_kind, kind))
		*ret = (struct conflict){"KindConflict", kind};
	else if (cstr_eq(k->kind, list) || cstr_eq(k->list_kind, list))
		*ret = (struct conflict){"ListKindConflict", list};
	else
		return false;
	return true;
}

static bool find_conflict(struct crds *c, const struct obj *o, struct conflict *ret)
{
	size_t n;
	const struct kind *const *all = kinds_all(c->server->kinds, &n);
	const char *group = obj_str(o, "spec.group");
	for (size_t i = 0; i < n; i++)
		if (cstr_eq(all[i]->group, group) && !cstr_eq(all[i]->crd_name, meta_name(o)) &&
		    conflict_with(all[i], obj_path(o, "spec.names"), ret))
			return true;
	return false;
}

static void add_stored_version(struct obj *status, const struct obj *o)
{
	const char *storage = storage_version(o);
	if (obj_type(obj_get(status, "storedVersions")) != OBJ_LIST)
		obj_set(status, "storedVersions", obj_list());
	struct obj *stored = obj_get_mut(status, "storedVersions");
	for (size_t i = 0; i < obj_len(stored); i++)
		if (cstr_eq(obj_as_string(obj_at(stored, i)), storage))
			return;
	if (storage)
		obj_append(stored, obj_string(storage));
}

static void set_conditions(struct obj *list, const struct conflict *x, bool established,
			   int64_t now_ns)
{
	struct condition names = {.type = "NamesAccepted",
				  .status = "True",
				  .reason = "NoConflicts",
				  .message = "no conflicts found"};
	struct condition ready = {.type = "Established",
				  .status = "True",
				  .reason = "InitialNamesAccepted",
				  .message = "the initial names have been accepted"};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (x) {
		strbuf_addf(&text, "\"%s\" is already in use", x->name);
		names.status = "False";
		names.reason = x->reason;
		names.message = text.buf;
		ready.status = "False";
		ready.reason = "NotAccepted";
		ready.message = "not all names are accepted";
	}
	condition_set(list, &names, now_ns);
	if (!x || !established) /* once established it stays so */
		condition_set(list, &ready, now_ns);
}

void crd_set_status(struct crds *c, struct obj *o, const struct obj *before, int64_t now_ns)
{
	struct conflict x = {NULL, NULL};
	bool taken = find_conflict(c, o, &x);
	if (obj_type(obj_get(o, "status")) != OBJ_MAP)
		obj_set(o, "status", obj_map());
	struct obj *status = obj_get_mut(o, "status");
	if (obj_type(obj_get(status, "conditions")) != OBJ_LIST)
		obj_set(status, "conditions", obj_list());
	set_conditions(obj_get_mut(status, "conditions"), taken ? &x : NULL,
		       before && condition_is(before, "Established", "True"), now_ns);
	if (!taken && obj_path(o, "spec.names"))
		obj_set(status, "acceptedNames", obj_copy(obj_path(o, "spec.names")));
	if (!obj_has(status, "acceptedNames"))
		crd_empty_status(o);
	add_stored_version(status, o);
}

void crd_set_terminating(struct obj *o, int64_t now_ns)
{
	struct condition c = {.type = "Terminating",
			      .status = "True",
			      .reason = "InstanceDeletionPending",
			      .message = "CustomResourceDefinition marked for deletion; "
					 "CustomResource deletion will begin soon"};
	if (obj_type(obj_path(o, "status.conditions")) != OBJ_LIST)
		obj_set_path(o, "status.conditions", obj_list());
	condition_set(obj_get_mut(obj_get_mut(o, "status"), "conditions"), &c, now_ns);
}

bool crd_is_terminating(struct crds *c, const struct kind *k)
{
	return k->crd_name && map_has(c->ending, k->crd_name);
}
