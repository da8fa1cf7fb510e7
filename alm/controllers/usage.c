#include "alm/controllers/usage.h"

#include <string.h>

#include "alm/controllers/app.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

struct context {
	const struct view *v;
	struct app *app;
};

static const char *const *names_of(const struct obj *list, const char *flag, struct arena *a)
{
	size_t n = obj_len(list), kept = 0;
	const char **names = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char *name = obj_as_string(o);
		if (flag)
			name = obj_flag(o, flag, false) ? obj_str(o, "name") : NULL;
		if (name)
			names[kept++] = name;
	}
	return names;
}

static const struct resolve_crd *find_crd(void *arg, const char *name)
{
	const struct context *c = arg;
	const struct obj *o = view_get(c->v, WATCH_CRD, name);
	if (!o)
		return NULL;
	struct resolve_crd *crd = ARENA_NEW(c->v->a, struct resolve_crd);
	crd->name = meta_name(o);
	crd->owner = meta_annotation(o, ANNOTATION_OWNER);
	if (cstr_eq(crd->owner, "alm"))
		crd->owner = NULL;
	crd->released = meta_annotation(o, ANNOTATION_RELEASED) != NULL;
	const char *release = meta_annotation(o, "meta.helm.sh/release-name");
	const char *ns = meta_annotation(o, "meta.helm.sh/release-namespace");
	if (release && !crd->owner)
		crd->foreign_owner = arena_fmt(c->v->a, "meta.helm.sh/release-name %s in %s",
					       release, ns ? ns : "");
	crd->served = names_of(obj_path(o, "spec.versions"), "served", c->v->a);
	crd->stored = names_of(obj_path(o, "status.storedVersions"), NULL, c->v->a);
	return crd;
}

struct count {
	struct arena *a;
	const char *api_version; /* newest write through it per object */
	int64_t n;
	const char *writer, *object, *when;
};

static bool count_one(void *arg, struct str json)
{
	struct count *c = arg;
	struct error err;
	struct obj *o = NULL;
	c->n++;
	if (json_parse(json, &o, &err) < 0)
		return true;
	obj_keep(c->a, o);
	const struct obj *fields = obj_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(fields); i++) {
		const struct obj *f = obj_at(fields, i);
		const char *when = obj_str(f, "time");
		if (!cstr_eq(obj_str(f, "apiVersion"), c->api_version) || obj_str(f, "subresource"))
			continue;
		if (c->when && when && strcmp(when, c->when) < 0)
			continue;
		c->when = when ? when : "";
		c->writer = obj_str(f, "manager");
		const char *ns = meta_namespace(o);
		c->object = ns ? arena_fmt(c->a, "%s/%s", ns, meta_name(o)) : meta_name(o);
	}
	return true;
}

static bool contains(const struct obj *list, const char *s)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), s))
			return true;
	return false;
}

/* The version a migration away from v leads to: the storage version, if it is another. */
static const char *migration_target(const struct obj *crd, const char *v)
{
	const struct obj *versions = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *o = obj_at(versions, i);
		if (obj_flag(o, "storage", false) && !cstr_eq(obj_str(o, "name"), v))
			return obj_str(o, "name");
	}
	return NULL;
}

/* Noted by `alm crd migrate`, and nobody wrote through the version since. */
static bool was_migrated(const struct obj *crd, const char *version, const struct count *c,
			 struct arena *a)
{
	const char *at =
		meta_annotation(crd, arena_fmt(a, "app.coreos.com/migrated-from.%s", version));
	return at && (!c->when || strcmp(c->when, at) <= 0);
}

static void find_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	const struct context *x = arg;
	struct arena *a = x->v->a;
	struct resource_ref ref;
	*ret = (struct resolve_usage){0};
	if (!resource_ref_parse(resource, a, &ref))
		return;
	const struct obj *crd =
		view_get(x->v, WATCH_CRD, arena_fmt(a, "%s.%s", ref.plural, ref.group));
	struct count c = {.a = a, .api_version = arena_fmt(a, "%s/%s", ref.group, ref.version)};
	ret->known =
		!crd || x->v->ops->instances(x->v->ops_arg, ref.group, ref.plural, count_one, &c);
	ret->objects = c.n;
	ret->writer = c.writer;
	ret->first_object = c.object;
	ret->stored = contains(obj_path(crd, "status.storedVersions"), ref.version);
	ret->next_version = ret->stored || c.n ? migration_target(crd, ref.version) : NULL;
	ret->migrated = crd && !ret->stored && was_migrated(crd, ref.version, &c, a);
}

static bool tally(void *arg, struct str json)
{
	int64_t *n = arg;
	(void)json;
	(*n)++;
	return true;
}

int64_t usage_count(const struct view *v, const char *crd_name)
{
	const char *dot = strchr(crd_name, '.');
	int64_t n = 0;
	if (!dot)
		return 0;
	const char *plural = arena_strndup(v->a, crd_name, (size_t)(dot - crd_name));
	return v->ops->instances(v->ops_arg, dot + 1, plural, tally, &n) ? n : -1;
}

bool usage_any_instance(const struct view *v, const char *const *managed)
{
	for (; managed && *managed; managed++) {
		struct resource_ref ref;
		if (resource_ref_parse(*managed, v->a, &ref) &&
		    usage_count(v, arena_fmt(v->a, "%s.%s", ref.plural, ref.group)) > 0)
			return true;
	}
	return false;
}

/* Kinds CRD and Object; Permission and Feature need the server's answer and count as met here. */
static const char *find_unmet(void *arg, const struct obj *q, struct arena *a)
{
	const struct context *c = arg;
	const char *kind = obj_str(q, "kind"), *message = obj_str(q, "message");
	const char *name = obj_str(q, "name");
	if (!cstr_eq(kind, "CRD") || !name || view_get(c->v, WATCH_CRD, name))
		return NULL;
	return arena_fmt(a, "CRD %s is missing%s%s", name, message ? ": " : "",
			 message ? message : "");
}

void usage_bind(const struct view *v, struct app *app)
{
	struct context *c = ARENA_NEW(v->a, struct context);
	*c = (struct context){.v = v, .app = app};
	app->in.crd = find_crd;
	app->in.usage = find_usage;
	app->in.unmet = find_unmet;
	app->in.arg = c;
}
