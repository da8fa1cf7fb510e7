/* Before the first write: is every object of the plan known, its kind served, and it nobody else's?
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

#define GIVEN_MAX    20              /* objects whose step is printed */
#define ASK_AGAIN_NS (10 * NS_PER_S) /* somebody may bring the CRD meanwhile */

enum ensured strategy_await_informers(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++)
		if (s->install->entries[i].unknown)
			return strategy_wait_for_work(s, false);
	return DONE;
}

/* --- kinds --- */

static bool is_brought(const struct install_plan *p, const struct gvk *g)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct obj *crd = p->entries[i].object;
		if (p->entries[i].is_crd && cstr_eq(obj_str(crd, "spec.group"), g->group) &&
		    cstr_eq(obj_str(crd, "spec.names.kind"), g->kind))
			return true;
	}
	return false;
}

static enum ensured ask(struct strategy_pass *s, const struct unit_entry *e, const struct obj **ret)
{
	const char *api_version = meta_api_version(e->object);
	struct obj *needs = obj_list(), *need = obj_map();
	obj_set_str(need, "apiVersion", api_version);
	obj_set_str(need, "kind", e->kind);
	obj_set_str(need, "namespace", e->ns);
	obj_set_str(need, "name", e->name);
	obj_append(needs, need);
	const struct outcome *o = strategy_ask(
		s, arena_fmt(s->v->a, "served:%s:%s", api_version, unit_entry_text(e, s->v->a)),
		needs, ASK_AGAIN_NS);
	*ret = o ? obj_at(o->value, 0) : NULL;
	return o ? DONE : WAITING;
}

/* helm refuses a release with a kind that neither the server nor a CRD of the plan knows; half of
 * it applied would wait for ever. */
enum ensured strategy_ensure_kinds(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		const struct obj *answer;
		struct gvk g;
		if (e->resource || e->is_crd || !gvk_of(e->object, s->v->a, &g) ||
		    is_brought(s->install, &g))
			continue;
		if (ask(s, e, &answer) == WAITING)
			return strategy_wait_for_work(s, false);
		if (!obj_str(answer, "error"))
			continue; /* known by now */
		nextstep_add(s->steps,
			     nextstep_new(s->v->a,
					  "what the server has of the group: install what serves "
					  "the kind, or take a version of the chart without it",
					  "kubectl api-resources --api-group=%s",
					  nextstep_word(s->v->a, g.group)));
		plan_requeue_after(s->plan, ASK_AGAIN_NS);
		return strategy_block(
			s, "PlanReady", "KindNotServed",
			arena_fmt(s->v->a, "the server does not know the kind of %s: %s",
				  unit_entry_text(e, s->v->a), meta_api_version(e->object)));
	}
	return DONE;
}

/* --- owners --- */

static const char *survey_key(const struct unit_entry *e, struct arena *a)
{
	return arena_fmt(a, "%s/%s/%s", e->kind, e->ns ? e->ns : "", e->name);
}

/* Objects that exist without our label are asked for once: they may be somebody else's. */
static struct obj *unseen_objects(struct strategy_pass *s)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (e->live || e->is_crd || !e->resource || !strcmp(e->kind, "Namespace"))
			continue;
		struct obj *row = obj_map();
		obj_set_str(row, "key", survey_key(e, s->v->a));
		obj_set_str(row, "group", e->resource->group);
		obj_set_str(row, "version", e->resource->version);
		obj_set_str(row, "kind", e->resource->kind);
		obj_set_str(row, "namespace", e->ns);
		obj_set_str(row, "name", e->name);
		obj_append(list, row);
	}
	return list;
}

/* The marks by which helm, too, knows its own. */
static void add_give(struct strategy_pass *s, const struct unit_entry *e)
{
	struct arena *a = s->v->a;
	if (obj_len(s->steps) >= GIVEN_MAX || !e->resource)
		return;
	const char *dot = *e->resource->group ? "." : "";
	const char *what = arena_fmt(a, "%s%s%s %s%s%s", e->resource->plural, dot,
				     e->resource->group, nextstep_word(a, e->name),
				     e->ns ? " -n " : "", e->ns ? nextstep_word(a, e->ns) : "");
	nextstep_add(
		s->steps,
		nextstep_new(a, "gives it to this release; or delete it",
			     "kubectl label %s app.kubernetes.io/managed-by=Helm --overwrite && "
			     "kubectl annotate %s meta.helm.sh/release-name=%s "
			     "meta.helm.sh/release-namespace=%s --overwrite",
			     what, what, s->install->release, s->install->ns));
}

/* One list of everything foreign, before anything is written. */
static const char *foreign_objects(struct strategy_pass *s, const struct obj *found)
{
	const char *text = NULL;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		const struct obj *live = e->live ? e->live : obj_get(found, survey_key(e, s->v->a));
		if (obj_type(live) != OBJ_MAP)
			continue;
		const char *who = install_plan_foreign(s->app, s->install, e, live, s->v->a);
		if (!who)
			continue;
		text = arena_fmt(s->v->a, "%s%s%s %s belongs to %s", text ? text : "",
				 text ? "; " : "", e->kind, survey_key(e, s->v->a), who);
		add_give(s, e);
	}
	return text;
}

enum ensured strategy_survey(struct strategy_pass *s)
{
	const struct view *v = s->v;
	const struct obj *found = NULL;
	struct obj *unseen = obj_keep(v->a, unseen_objects(s));
	if (obj_len(unseen)) {
		char hex[SHA256_HEX];
		json_digest(unseen, hex);
		const char *id = arena_fmt(v->a, "survey:%s:%s", meta_uid(s->ref->o), hex);
		const struct outcome *o = view_outcome(v, id);
		if (!o || o->code) {
			struct action *x = plan_work(s->plan, &survey_work, id);
			x->body = unseen;
			return strategy_wait_for_work(s, false);
		}
		found = o->value;
	}
	const char *foreign = foreign_objects(s, found);
	return foreign ? strategy_block(s, "PlanReady", "ObjectNotOwned", foreign) : DONE;
}
