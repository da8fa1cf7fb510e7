/* modern: see modern.h. */
#include "alm/apiserver/modern.h"

#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/crd.h"
#include "alm/apiserver/kinds/crd_kind.h"
#include "alm/apiserver/status.h"
#include "alm/obj/meta.h"
#include "crds/legacy_crd.h"
#include "crds/legacy_crd_take.h"
#include "crds/legacy_words.h"
#include "crds/marks.h"

#define GROUPS_MAX 100

static bool is_definition(const struct kind *k)
{
	return cstr_eq(k->group, CRD_GROUP) && cstr_eq(k->plural, "customresourcedefinitions");
}

/* The annotation names the groups of all that a definition was made of. */
static bool was_made_of(const struct obj *o, struct str group)
{
	const char *all = o ? meta_annotation(o, ANNOTATION_LEGACY_GROUP) : NULL;
	struct str rest = all ? str_of(all) : STR_NONE, one;
	while (str_next(&rest, ',', &one))
		if (str_eq(one, group))
			return true;
	return false;
}

/* At most GROUPS_MAX, as versions; more lead nowhere. */
static void add_groups(struct obj *o, const char *groups)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str rest = groups ? str_of(groups) : STR_NONE, one;
	const char *has = meta_annotation(o, ANNOTATION_LEGACY_GROUP);
	strbuf_adds(&b, has ? has : "");
	for (size_t n = 0; n < GROUPS_MAX && str_next(&rest, ',', &one); n++)
		if (!was_made_of(o, one))
			strbuf_addf(&b, "%s%.*s", b.len ? "," : "", STR_ARG(one));
	if (b.len)
		meta_set_annotation(o, ANNOTATION_LEGACY_GROUP, b.buf);
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
	return was_made_of(h ? head_obj(h, r->arena) : NULL, was) ? name : NULL;
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

/* kubectl apply --server-side first says, as another manager, what the metadata had. */
static bool is_metadata_alone(const struct request *r, const struct obj *o)
{
	return r->old_api_version && cstr_eq(r->verb, "patch") && is_definition(r->kind) &&
	       !obj_get(o, "spec");
}

static struct obj *metadata_today(const struct request *r, const struct obj *o)
{
	struct obj *now = obj_keep(r->arena, obj_copy(o));
	obj_set_str(now, "apiVersion", kind_api_version(r->kind, r->arena));
	obj_set_path(now, "metadata.name", obj_string(r->name));
	return now;
}

int modern_form(struct request *r, struct obj **o, struct error *err)
{
	struct error inner = ERROR_INIT;
	struct legacy now;
	if (r->server->config.no_legacy || *r->subresource)
		return 0;
	if (is_metadata_alone(r, *o)) {
		*o = metadata_today(r, *o);
		return 0;
	}
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

static size_t find_version(const struct obj *list, const char *name)
{
	size_t i = 0;
	while (i < obj_len(list) && !cstr_eq(obj_str(obj_at(list, i), "name"), name))
		i++;
	return i;
}

/* Its version first: that is the one it shows. */
static void show_as(const struct request *r, struct obj *o)
{
	struct str plural, was, group;
	const char *version;
	const struct obj *list = obj_path(o, "spec.versions");
	if (!str_cut(str_of(r->old_name), '.', &plural, &was) ||
	    !legacy_group(was, r->arena, &group, &version))
		return;
	const struct obj *own = obj_at(list, find_version(list, version));
	crd_to_v1beta1(o);
	if (own) {
		obj_set_path(o, "spec.version", obj_string(version));
		obj_set_path(o, "spec.validation", obj_ref(obj_get(own, "schema")));
	}
	obj_set_path(o, "metadata.name", obj_string(r->old_name));
	obj_set_path(o, "spec.group", obj_stringn(was));
}

struct obj *modern_show(struct request *r, const struct obj *now)
{
	struct obj *o = obj_keep(r->arena, obj_copy(now));
	obj_set_str(o, "apiVersion", r->old_api_version);
	if (!is_definition(r->kind))
		return o;
	if (r->old_name)
		show_as(r, o);
	else
		crd_to_v1beta1(o);
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

void modern_join(const struct request *r, const struct obj *before, struct obj *o)
{
	if (!r->says_one_version || !obj_len(obj_path(before, "spec.versions")))
		return;
	const char *said_groups = meta_annotation(o, ANNOTATION_LEGACY_GROUP);
	const char *of_before = meta_annotation(before, ANNOTATION_LEGACY_GROUP);
	const char *groups = said_groups ? arena_strdup(r->arena, said_groups) : NULL;
	if (of_before)
		meta_set_annotation(o, ANNOTATION_LEGACY_GROUP, of_before);
	add_groups(o, groups);
	legacy_crd_join(before, o);
}

/* --- a version that was a definition --- */

const char *modern_beside(const struct request *r, const struct obj *o)
{
	const char *name = meta_name(o);
	if (!r->says_one_version || !name)
		return NULL;
	struct head *h = resource_find(server_resource(r->server, r->kind), "", name);
	return h && !legacy_crd_has(head_obj(h, r->arena), o) ? name : NULL;
}

static void warn(void *arg, const char *text)
{
	request_warn(arg, "%s", text);
}

int modern_add(struct request *r, const struct obj *before, const struct obj *o, struct obj **ret,
	       struct error *err)
{
	struct error inner = ERROR_INIT;
	if (legacy_crd_fits(before, o, &inner) < 0)
		return fail_code(r, inner.code, err, "%s", inner.msg);
	struct obj *now = obj_keep(r->arena, obj_copy(before));
	struct obj *added = obj_keep(r->arena, obj_copy(o));
	modern_join(r, before, added);
	obj_set_path(now, "spec.versions", obj_ref(obj_path(added, "spec.versions")));
	add_groups(now, meta_annotation(o, ANNOTATION_LEGACY_GROUP));
	legacy_crd_take(now, o, r->arena, warn, r);
	request_warn(r, "%s is there; this is its version %s", meta_name(before),
		     obj_str(obj_at(obj_path(o, "spec.versions"), 0), "name"));
	*ret = now;
	return 0;
}

bool modern_holds_more(struct request *r, const struct obj *o, struct error *err)
{
	size_t n = obj_len(obj_path(o, "spec.versions"));
	if (!r->old_name || !is_definition(r->kind) || n < 2)
		return false;
	(void)fail_code(
		r, E_CONFLICT, err,
		"%s has %zu versions, and all of them would go, with their objects: kubectl "
		"delete crd %s does that; one version goes out of spec.versions by kubectl "
		"edit crd %s",
		r->name, n, r->name, r->name);
	return true;
}
