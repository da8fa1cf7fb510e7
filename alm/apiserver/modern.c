/* modern: see modern.h. */
#include "alm/apiserver/modern.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"
#include "crds/legacy.h"
#include "crds/legacy_words.h"
#include "crds/marks.h"

static bool is_definition(const struct kind *k)
{
	return cstr_eq(k->group, CRD_GROUP) && cstr_eq(k->plural, "customresourcedefinitions");
}

/* The definition that was made of the one that had this name then; NULL: none. */
static const char *name_today(const struct request *r)
{
	struct str plural, was, group;
	const char *version;
	if (!str_cut(str_of(r->name), '.', &plural, &was) ||
	    !legacy_group(was, r->arena, &group, &version))
		return NULL;
	const char *name = arena_fmt(r->arena, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group));
	struct store_table *all = server_resource(r->server, r->kind);
	struct head *h = resource_find(all, "", r->name) ? NULL : resource_find(all, "", name);
	const struct obj *o = h ? head_obj(h, r->arena) : NULL;
	const char *made_of = o ? meta_annotation(o, ANNOTATION_LEGACY_GROUP) : NULL;
	return made_of && str_is(was, made_of) ? name : NULL;
}

/* Rights, store and log are those of the group and version that it leads to. */
void modern_route(struct request *r)
{
	static const char *const named[] = {"get", "update", "patch", "delete", NULL};
	const struct kind *k = r->kind;
	bool creates = cstr_eq(r->verb, "create");
	if (!k || !k->legacy_group || r->server->config.no_legacy || *r->subresource ||
	    !(creates || (*r->name && cstr_in(r->verb, named))))
		return;
	const char *today = creates || !is_definition(k) ? NULL : name_today(r);
	if (is_definition(k) && cstr_eq(r->verb, "get") && !today)
		return; /* a row of its own shows it */
	r->old_api_version = kind_api_version(k, r->arena);
	if (today) {
		r->old_name = r->name;
		r->name = today;
	}
	r->group = arena_strdup(r->arena, k->legacy_group);
	r->version = arena_strdup(r->arena, k->legacy_version);
	r->kind = kinds_find(request_kinds(r), r->group, r->version, r->resource);
}

/* A group may be named like one of 2017 today. */
static bool is_of(const struct obj *o, const struct kind *k, struct arena *a)
{
	return cstr_eq(meta_api_version(o), kind_api_version(k, a));
}

int modern_form(struct request *r, struct obj **o, struct error *err)
{
	struct error inner = ERROR_INIT;
	struct legacy now;
	if (r->server->config.no_legacy || *r->subresource)
		return 0;
	if (legacy_convert(*o, r->arena, &now, &inner) < 0)
		return fail_code(r, E_BADREQUEST, err, "%s", inner.msg);
	if (!now.o || (now.is_instance && !is_of(now.o, r->kind, r->arena)))
		return 0;
	const char *was = obj_str(*o, "spec.group");
	r->says_one_version = is_definition(r->kind) && !obj_len(obj_path(*o, "spec.versions"));
	if (is_definition(r->kind) && was && !cstr_eq(was, obj_str(now.o, "spec.group")))
		meta_set_annotation(now.o, ANNOTATION_LEGACY_GROUP, was);
	for (size_t i = 0; i < now.n_warnings; i++)
		request_warn(r, "%s", now.warnings[i]);
	*o = now.o;
	return 0;
}

struct obj *modern_show(struct request *r, const struct obj *now)
{
	struct obj *o = obj_keep(r->arena, obj_copy(now));
	const char *was = meta_annotation(now, ANNOTATION_LEGACY_GROUP);
	obj_set_str(o, "apiVersion", r->old_api_version);
	if (!is_definition(r->kind))
		return o;
	crd_to_v1beta1(o);
	if (r->old_name && was) {
		obj_set_path(o, "metadata.name", obj_string(r->old_name));
		obj_set_path(o, "spec.group", obj_string(was));
	}
	return o;
}

/* What there is one of in a definition of then, and one a version today. */
static bool is_touched(const struct obj *before, const struct obj *o)
{
	static const char *const fields[] = {"version", "validation", "subresources",
					     "additionalPrinterColumns"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct obj *is = obj_get(obj_get(o, "spec"), fields[i]);
		const struct obj *was = obj_get(obj_get(before, "spec"), fields[i]);
		if (is && (!was || !obj_equal(is, was)))
			return true;
	}
	return false;
}

int modern_patched(struct request *r, const struct obj *shown, struct obj **o, struct error *err)
{
	const struct obj *was = obj_path(shown, "spec.versions");
	const struct obj *is = obj_path(*o, "spec.versions");
	if (is_definition(r->kind) && was && is && obj_equal(was, is) && is_touched(shown, *o)) {
		*o = obj_keep(r->arena, obj_copy(*o));
		obj_del_path(*o, "spec.versions");
	}
	return modern_form(r, o, err);
}

static size_t find_version(const struct obj *list, const char *name)
{
	size_t i = 0;
	while (i < obj_len(list) && !cstr_eq(obj_str(obj_at(list, i), "name"), name))
		i++;
	return i;
}

void modern_join(const struct request *r, const struct obj *before, struct obj *o)
{
	const struct obj *said = obj_path(o, "spec.versions");
	const struct obj *there = obj_path(before, "spec.versions");
	if (!r->says_one_version || !obj_len(there))
		return;
	struct obj *list = obj_copy_list(there);
	for (size_t i = 0; i < obj_len(said); i++) {
		struct obj *v = obj_copy(obj_at(said, i));
		size_t at = find_version(list, obj_str(v, "name"));
		const struct obj *old = obj_at(list, at);
		obj_set_bool(v, "storage", obj_flag(old, "storage", false));
		obj_set_bool(v, "served", obj_flag(old, "served", true));
		if (at < obj_len(list))
			obj_set_at(list, at, v);
		else
			obj_append(list, v);
	}
	obj_set_path(o, "spec.versions", list);
}
