#include "alm/controllers/app/usage.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/requirement.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"

struct context {
	const struct view *v;
	struct app *app;
};

static const struct resolve_input *find_other(void *arg, const char *name)
{
	const struct context *c = arg;
	return app_input(c->v, name, c->app->in.claims);
}

/* From the status: the clock of the first reconcile that listed it. */
static int64_t find_first_seen(void *arg, const char *version)
{
	const struct context *c = arg;
	const struct obj *old = obj_path(c->app->o, "status.candidates");
	int64_t ns = 0;
	for (size_t i = 0; i < obj_len(old); i++) {
		const struct obj *o = obj_at(old, i);
		const char *seen = obj_str(o, "firstSeen");
		if (seen && cstr_eq(obj_str(o, "version"), version))
			return clock_parse(str_of(seen), &ns) ? ns : 0;
	}
	return 0;
}

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
	const struct obj *o = view_crd(c->v, name);
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
	bool same = cstr_eq(release, c->app->name) && cstr_eq(ns, c->app->install_namespace);
	if (release && !crd->owner && !same) /* our own release, made by helm, is taken over */
		crd->foreign_owner = arena_fmt(c->v->a, "meta.helm.sh/release-name %s in %s",
					       release, ns ? ns : "");
	crd->served = names_of(obj_path(o, "spec.versions"), "served", c->v->a);
	crd->stored = names_of(obj_path(o, "status.storedVersions"), NULL, c->v->a);
	return crd;
}

static bool count_one(void *arg, struct str json)
{
	struct usage *u = arg;
	struct error err;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(json, &o, &err) == 0)
		usage_object(u, o);
	else
		u->n_objects++;
	return true;
}

/* A migration can only lead to what is the storage version by now (lifecycle.md 7.5). */
static bool is_storage(const struct obj *crd, const char *version)
{
	const struct obj *versions = obj_path(crd, "spec.versions");
	for (size_t i = 0; version && i < obj_len(versions); i++)
		if (cstr_eq(obj_str(obj_at(versions, i), "name"), version))
			return obj_flag(obj_at(versions, i), "storage", false);
	return false;
}

static void find_usage(void *arg, const char *resource, struct resolve_usage *ret)
{
	const struct context *x = arg;
	struct arena *a = x->v->a;
	struct resource_ref ref;
	struct usage u;
	*ret = (struct resolve_usage){0};
	if (!resource_ref_parse(resource, a, &ref))
		return;
	const struct obj *crd = view_crd(x->v, arena_fmt(a, "%s.%s", ref.plural, ref.group));
	ret->known = !crd;
	if (!crd)
		return;
	usage_begin(&u, crd, ref.version, NULL, a);
	ret->known = x->v->ops->instances(x->v->ops_arg, ref.group, ref.plural, count_one, &u);
	usage_end(&u);
	ret->objects = (int64_t)u.n_objects;
	ret->stored = u.stored;
	ret->migrated = usage_is_migrated(&u);
	if (u.n_writers) {
		ret->writer = u.writers[0].manager;
		ret->first_object = u.writers[0].last_object;
	}
	if ((u.stored || u.n_objects) && is_storage(crd, u.next_version))
		ret->next_version = u.next_version;
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

static bool has_string(const struct obj *list, const char *text)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), text))
			return true;
	return false;
}

/* A definition is seen here; what only the server knows is remembered by the strategy that asked
 * for it (strategy_require.c). */
static const char *find_unmet(void *arg, const struct obj *q, struct arena *a)
{
	const struct context *c = arg;
	struct condition why;
	const char *name = obj_str(q, "name");
	if (cstr_eq(obj_str(q, "kind"), "CRD"))
		return name && !view_crd(c->v, name) ? requirement_unmet(q, "is missing", a) : NULL;
	const char *text = requirement_text(q, a);
	for (size_t i = 0; i < c->app->n; i++) {
		const struct strategy_ref *s = &c->app->strategies[i];
		if (s->phase == PHASE_BLOCKED && condition_get(s->o, "RequirementsMet", &why) &&
		    cstr_eq(why.status, "False") && cstr_eq(why.reason, "RequirementUnmet") &&
		    has_string(obj_path(s->o, "status.unmet"), text))
			return arena_strdup(a, why.message);
	}
	return NULL;
}

/* What the gate said is remembered by the strategy that it blocks. */
static enum resolve_gate find_gate(void *arg, const char *digest, const char **ret_message,
				   const char *const **ret_steps)
{
	const struct context *c = arg;
	struct condition why;
	for (size_t i = 0; i < c->app->n; i++) {
		const struct strategy_ref *s = &c->app->strategies[i];
		if (s->phase != PHASE_BLOCKED || !cstr_eq(s->sha256, digest) ||
		    !condition_get(s->o, "CRDCompatible", &why) || !cstr_eq(why.status, "False") ||
		    !cstr_eq(why.reason, "CRDIncompatible"))
			continue;
		*ret_message = why.message;
		*ret_steps = names_of(obj_path(s->o, "status.steps"), NULL, c->v->a);
		return GATE_REFUSE;
	}
	return GATE_UNKNOWN;
}

void usage_bind(const struct view *v, struct app *app)
{
	struct context *c = ARENA_NEW(v->a, struct context);
	*c = (struct context){.v = v, .app = app};
	app->in.crd = find_crd;
	app->in.usage = find_usage;
	app->in.unmet = find_unmet;
	app->in.other = find_other;
	app->in.first_seen = find_first_seen;
	app->in.gate = find_gate;
	app->in.arg = c;
}
