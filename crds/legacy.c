#include "crds/legacy.h"

#include <string.h>

#include "alm/obj/meta.h"
#include "crds/kinds.h"
#include "crds/legacy_crd.h"
#include "crds/legacy_words.h"
#include "crds/marks.h"

#define APPTYPE_KIND  "AppType"
#define STRATEGY_KIND "InstallStrategy"

struct conversion {
	struct arena *a;
	struct obj *o; /* under construction */
	struct legacy *ret;
};

static const char *text_of(const struct obj *o, struct arena *a)
{
	struct str number = obj_number_text(o);
	return number.ptr ? arena_strndup(a, number.ptr, number.len) : obj_as_string(o);
}

/* A field of metadata, taken out of it; NULL: absent. */
static const char *take(struct conversion *c, const char *field)
{
	const char *path = arena_fmt(c->a, "metadata.%s", field);
	const char *text = text_of(obj_path(c->o, path), c->a);
	text = text ? arena_strdup(c->a, text) : NULL;
	obj_del_path(c->o, path);
	return text;
}

static int put(struct conversion *c, const char *old, const char *path, const char *text,
	       struct error *err)
{
	const char *there = text_of(obj_path(c->o, path), c->a);
	if (there && strcmp(there, text) != 0)
		return error_set(err, E_INVALID, "%s is %s and %s is %s: keep %s alone", old, text,
				 path, there, path);
	obj_set_path(c->o, path, obj_string(text));
	legacy_warn(c->a, c->ret, old, path);
	return 0;
}

/* etcds.1.etcd.coreos.com is etcds.etcd.coreos.com/v1. */
static const char *resource_of(struct arena *a, const char *text)
{
	struct str plural, rest, group;
	const char *version;
	if (strchr(text, '/') || !str_cut(str_of(text), '.', &plural, &rest) ||
	    !legacy_group(rest, a, &group, &version))
		return NULL;
	return arena_fmt(a, "%.*s.%.*s/%s", STR_ARG(plural), STR_ARG(group), version);
}

static void convert_resources(struct conversion *c)
{
	struct obj *list = obj_copy_list(obj_path(c->o, "spec.resources"));
	bool changed = false;
	for (size_t i = 0; i < obj_len(list); i++) {
		const char *text = obj_as_string(obj_at(list, i));
		const char *now = text ? resource_of(c->a, text) : NULL;
		if (!now)
			continue;
		legacy_warn(c->a, c->ret, arena_fmt(c->a, "resource %s", text), now);
		obj_set_at(list, i, obj_string(now));
		changed = true;
	}
	if (changed)
		obj_set_path(c->o, "spec.resources", list);
	else
		obj_unref(list);
}

/* The name of 2017 was plural or singular; today it is plural.group. */
static void name_resources(struct conversion *c)
{
	struct obj *list = obj_copy_list(obj_path(c->o, "spec.resources"));
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *item = obj_at(list, i);
		const char *plural = obj_str(item, "spec.names.plural");
		const char *group = obj_str(item, "spec.group"), *name = obj_str(item, "name");
		const char *now = plural && group ? arena_fmt(c->a, "%s.%s", plural, group) : name;
		if (!now || cstr_eq(now, name))
			continue;
		struct obj *copy = obj_copy(item);
		obj_set_str(copy, "name", now);
		obj_set_at(list, i, copy);
		if (name)
			legacy_warn(c->a, c->ret, arena_fmt(c->a, "resource %s", name), now);
	}
	if (obj_len(list))
		obj_set_path(c->o, "spec.resources", list);
	else
		obj_unref(list);
}

static int convert_app(struct conversion *c, struct error *err)
{
	const char *type = take(c, "type"), *self = take(c, "selfRef");
	const char *name = meta_name(c->o);
	int r = type ? put(c, "metadata.type", "spec.type", type, err) : 0;
	type = obj_str(c->o, "spec.type");
	const char *made = name && type ? arena_fmt(c->a, "%s.%s", name, type) : NULL;
	if (r >= 0 && self && made && strcmp(self, made) != 0)
		return error_set(err, E_INVALID, "metadata.selfRef is %s, name and type make it %s",
				 self, made);
	if (self)
		legacy_warn(c->a, c->ret, "metadata.selfRef", "status.selfRef, which is generated");
	name_resources(c);
	return r;
}

static int convert_strategy(struct conversion *c, struct error *err)
{
	const char *reference = take(c, "ownerReference"), *ref = take(c, "ownerRef");
	const char *version = take(c, "version"), *self = take(c, "selfRef");
	const char *owner = reference ? reference : ref;
	int r = 0;
	if (owner)
		r = put(c, reference ? "metadata.ownerReference" : "metadata.ownerRef",
			"spec.appTypeRef.name", owner, err);
	if (r >= 0 && version)
		r = put(c, "metadata.version", "spec.version", version, err);
	version = text_of(obj_path(c->o, "spec.version"), c->a);
	owner = obj_str(c->o, "spec.appTypeRef.name");
	if (r < 0)
		return r;
	if (!self && version && owner)
		self = arena_fmt(c->a, "install.%s.%s", version, owner);
	if (!meta_name(c->o) && self)
		r = put(c, "metadata.selfRef", "metadata.name", self, err);
	convert_resources(c);
	return r;
}

/* An old owner may stand where it will: ours alone say their identity there. */
static bool has_identity(const struct obj *o, const char *kind)
{
	static const char *const of_app[] = {"metadata.type", "metadata.selfRef"};
	static const char *const of_strategy[] = {"metadata.version", "metadata.ownerReference",
						  "metadata.ownerRef", "metadata.selfRef"};
	bool is_app = !strcmp(kind, APPTYPE_KIND);
	const char *const *list = is_app ? of_app : of_strategy;
	size_t n = is_app ? ARRAY_LEN(of_app) : ARRAY_LEN(of_strategy);
	for (size_t i = 0; i < n; i++)
		if (obj_path(o, list[i]))
			return true;
	return false;
}

/* What an instance told its users stood in its spec. */
static int convert_instance(struct conversion *c, const char *api_version, struct str group,
			    const char *version)
{
	const char *now = arena_fmt(c->a, "%.*s/%s", STR_ARG(group), version);
	const struct obj *outputs = obj_path(c->o, "spec.outputs");
	legacy_warn(c->a, c->ret, arena_fmt(c->a, "apiVersion %s", api_version), now);
	obj_set_str(c->o, "apiVersion", now);
	if (obj_type(outputs) == OBJ_MAP && !obj_path(c->o, "status.outputs")) {
		obj_set_path(c->o, "status.outputs", obj_copy(outputs));
		legacy_warn(c->a, c->ret, "spec.outputs", "status.outputs, too");
	}
	return 0;
}

int legacy_convert(const struct obj *o, struct arena *a, struct legacy *ret, struct error *err)
{
	struct conversion c = {.a = a, .ret = ret};
	const char *version = meta_api_version(o), *kind = meta_kind(o), *number;
	struct str group = STR_NONE, rest, old;
	*ret = (struct legacy){0};
	if (!version || !kind || !meta_is_well_formed(o))
		return 0;
	str_cut(str_of(version), '/', &group, &rest);
	bool is_app = str_is(group, "app.coreos.com") && !strcmp(kind, APPTYPE_KIND);
	bool is_strategy = str_is(group, "opinstaller.coreos.com") && !strcmp(kind, STRATEGY_KIND);
	bool is_crd = !strcmp(version, LEGACY_CRD_VERSION) && !strcmp(kind, LEGACY_CRD_KIND);
	ret->is_instance = rest.len && legacy_group(group, a, &old, &number);
	if (!(is_app || is_strategy ? has_identity(o, kind) : is_crd || ret->is_instance))
		return 0;
	c.o = obj_keep(a, obj_copy(o));
	ret->o = c.o;
	return is_app        ? convert_app(&c, err)
	       : is_strategy ? convert_strategy(&c, err)
	       : is_crd      ? legacy_crd(c.o, a, ret, err)
			     : convert_instance(&c, version, old, number);
}
