#include "alm/controllers/strategy/strategy_convert.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/strategy/strategy_definition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define ASK_AGAIN_NS (5 * NS_PER_S)
#define BACKOFF_NS   (30 * NS_PER_S) /* after a switch that was put back */

/* --- what must hold before the converter is asked --- */

static struct obj *need(const char *api_version, const char *kind, const char *ns)
{
	struct obj *o = obj_map();
	obj_set_str(o, "apiVersion", api_version);
	obj_set_str(o, "kind", kind);
	obj_set_str(o, "namespace", ns);
	return o;
}

static bool has_ready_endpoint(const struct obj *slices)
{
	const struct obj *items = obj_get(slices, "items");
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *all = obj_get(obj_at(items, i), "endpoints");
		for (size_t k = 0; k < obj_len(all); k++)
			if (obj_flag(obj_get(obj_at(all, k), "conditions"), "ready", false))
				return true;
	}
	return false;
}

/* Old Pods are gone: what answers is of this version. */
static const char *not_rolled_out(const struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (strcmp(e->kind, "Deployment") != 0 || !e->live)
			continue;
		int64_t all = obj_i64(e->live, "status.replicas", 0);
		if (obj_i64(e->live, "status.updatedReplicas", 0) != all ||
		    obj_i64(e->live, "status.readyReplicas", 0) != all)
			return arena_fmt(s->v->a, "Deployment %s has Pods of another version",
					 e->name);
	}
	return NULL;
}

/* Why the converter is not switched to yet; "": not known. NULL: it may be. */
static const char *not_answering(struct strategy_pass *s, const struct unit_entry *e)
{
	const struct obj *config = obj_path(e->object, "spec.conversion.webhook.clientConfig");
	const char *ns = obj_str(config, "service.namespace");
	const char *name = obj_str(config, "service.name"), *why;
	if (!config)
		return NULL;
	if (!obj_str(config, "caBundle") &&
	    !obj_path(e->live, "spec.conversion.webhook.clientConfig.caBundle"))
		return "the converter's caBundle is not set";
	why = not_rolled_out(s);
	if (why || !ns || !name)
		return why;
	struct obj *q = need("discovery.k8s.io/v1", "EndpointSlice", ns), *needs = obj_list();
	obj_set(q, "selector", obj_stringf("kubernetes.io/service-name=%s", name));
	obj_append(needs, q);
	const struct outcome *o = strategy_ask(s, arena_fmt(s->v->a, "endpoints:%s/%s", ns, name),
					       needs, ASK_AGAIN_NS);
	if (!o)
		return "";
	return has_ready_endpoint(obj_get(obj_at(o->value, 0), "value"))
		       ? NULL
		       : arena_fmt(s->v->a, "Service %s/%s has no ready endpoint", ns, name);
}

/* --- reads through every served version --- */

struct first {
	struct arena *a;
	const char *ns, *name;
};

static bool take_first(void *arg, struct str json)
{
	struct first *f = arg;
	struct error ignored;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (json_parse(json, &o, &ignored) < 0)
		return true;
	f->name = arena_strdup(f->a, meta_name(o));
	f->ns = meta_namespace(o) ? arena_strdup(f->a, meta_namespace(o)) : NULL;
	return false;
}

static const char *probe_id(const struct strategy_pass *s, const struct unit_entry *e,
			    int64_t generation)
{
	return arena_fmt(s->v->a, "converted:%s:r%lld:%s:%lld", meta_uid(s->ref->o),
			 (long long)s->revision, e->name, (long long)generation);
}

static const char *probe_error(const struct outcome *o, struct arena *a)
{
	for (size_t i = 0; o && i < obj_len(o->value); i++) {
		const struct obj *answer = obj_at(o->value, i);
		if (obj_str(answer, "error"))
			return arena_fmt(a, "a read as %s failed: %.400s",
					 obj_str(answer, "apiVersion"), obj_str(answer, "error"));
	}
	return NULL;
}

/* The needs of a read through each served version; NULL: there is no object, or none known. */
static struct obj *probes(const struct strategy_pass *s, const struct unit_entry *e)
{
	struct first f = {.a = s->v->a};
	const char *group = obj_str(e->live, "spec.group");
	const struct obj *versions = obj_path(e->live, "spec.versions");
	s->v->ops->instances(s->v->ops_arg, group, obj_str(e->live, "spec.names.plural"),
			     take_first, &f);
	if (!f.name)
		return NULL;
	struct obj *needs = obj_list();
	for (size_t i = 0; i < obj_len(versions); i++) {
		const struct obj *v = obj_at(versions, i);
		if (!obj_flag(v, "served", false))
			continue;
		struct obj *q = need(arena_fmt(s->v->a, "%s/%s", group, obj_str(v, "name")),
				     obj_str(e->live, "spec.names.kind"), f.ns);
		obj_set_str(q, "name", f.name);
		obj_set_bool(q, "tolerant", true);
		obj_append(needs, q);
	}
	return needs;
}

static void move(struct strategy_pass *s, const struct install_plan *p, const struct unit_entry *e,
		 enum crd_move to, const char *reason, const char *why)
{
	struct obj *body = obj_map();
	obj_set_str(body, "what", reason);
	obj_set_str(body, "crd", e->name);
	obj_set_str(body, "message", why);
	struct action *x = plan_row(s->plan, "Observe", s->ref->o, reason,
				    probe_id(s, e, meta_generation(e->live)), body);
	x->chain = s->app->name;
	x->advances = false;
	struct obj *o = install_plan_decorate(s->v, s->app, s->ref, p, e, false);
	crd_moves_shape(o, e->live, e->digest, to);
	plan_apply(s->plan, o, UNIT_GROUP_CRD, true);
}

static void wait_for(struct strategy_pass *s, const char *why, int64_t ns)
{
	if (why && *why)
		strategy_condition(s, "Verified", "False", "ConversionNotReady", why);
	plan_requeue_after(s->plan, ns);
}

/* Expanded: to be switched once the converter answers, and not at once after it failed. */
static void try_switch(struct strategy_pass *s, const struct unit_entry *e)
{
	const struct outcome *last =
		view_outcome(s->v, probe_id(s, e, meta_generation(e->live) - 1));
	const char *why = not_answering(s, e), *failed = probe_error(last, s->v->a);
	if (why) {
		wait_for(s, why, ASK_AGAIN_NS);
		return;
	}
	int64_t left = failed ? last->at_ns + BACKOFF_NS - s->v->now_ns : 0;
	if (left > 0)
		wait_for(s, failed, left);
	else
		move(s, s->install, e, CRD_SWITCHED, "ConversionSwitched", "");
}

/* Switched: an object is read through every served version. */
static enum ensured read_back(struct strategy_pass *s, const struct unit_entry *e)
{
	struct obj *needs = probes(s, e);
	if (!needs)
		return usage_count(s->v, e->name) == 0 ? DONE : WAITING;
	const struct outcome *o =
		strategy_ask(s, probe_id(s, e, meta_generation(e->live)), needs, 0);
	const char *why = probe_error(o, s->v->a);
	if (why) {
		move(s, s->install, e, CRD_EXPANDED, "ConversionReverted", why);
		wait_for(s, why, BACKOFF_NS);
	}
	return o && !why ? DONE : WAITING;
}

enum ensured strategy_convert(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		enum crd_move at = strategy_crd_at(e);
		if ((at != CRD_EXPANDED && at != CRD_SWITCHED) || strategy_crd_is_taken(s, e))
			continue;
		if (at == CRD_EXPANDED)
			try_switch(s, e);
		if (at == CRD_EXPANDED || read_back(s, e) == WAITING)
			return WAITING;
	}
	return DONE;
}

enum ensured strategy_revert(struct strategy_pass *s, const struct install_plan *p)
{
	enum ensured state = DONE;
	for (size_t i = 0; i < p->n; i++) {
		const struct unit_entry *e = &p->entries[i];
		if (strategy_crd_at(e) != CRD_SWITCHED || strategy_crd_is_taken(s, e))
			continue;
		move(s, p, e, CRD_EXPANDED, "ConversionReverted", "the upgrade is rolled back");
		state = WAITING;
	}
	return state;
}
