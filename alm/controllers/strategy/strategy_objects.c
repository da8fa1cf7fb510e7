#include "alm/controllers/strategy/strategy_objects.h"

#include <string.h>

#include "alm/controllers/app/usage.h"
#include "alm/obj/meta.h"

#define FORMER_MAX 32 /* revisions of one version whose leftovers are looked for */

/* --- definitions --- */

enum crd_move strategy_crd_at(const struct plan_entry *e)
{
	return e->is_crd ? crd_moves_at(e->live, e->digest) : CRD_UNTOUCHED;
}

static bool is_moving(const struct plan_entry *e)
{
	enum crd_move at = strategy_crd_at(e);
	return at == CRD_EXPANDED || at == CRD_SWITCHED;
}

static bool is_waived(const struct strategy_pass *s, const char *crd)
{
	size_t n = strlen(crd);
	for (size_t i = 0; i < s->app->in.n_waivers; i++) {
		const struct resolve_waiver *w = &s->app->in.waivers[i];
		if (!strcmp(w->rule, "ConversionAdded") && !strncmp(w->resource, crd, n) &&
		    (!w->resource[n] || w->resource[n] == '/') &&
		    (!w->expires_ns || w->expires_ns > s->v->now_ns))
			return true;
	}
	return false;
}

enum crd_move strategy_crd_move(const struct strategy_pass *s, const struct plan_entry *e)
{
	enum crd_move at = strategy_crd_at(e);
	if (s->phase == PHASE_VERIFYING && is_moving(e))
		return at;
	if (s->phase != PHASE_INSTALLING || !e->live || is_waived(s, e->name) ||
	    !crd_moves_needed(e->live, e->object) || usage_count(s->v, e->name) == 0)
		return CRD_STORED;
	return CRD_EXPANDED;
}

bool strategy_crd_is_placed(const struct strategy_pass *s, const struct plan_entry *e)
{
	if (install_plan_is_applied(e))
		return true;
	return (s->phase == PHASE_INSTALLING || s->phase == PHASE_VERIFYING) && e->live &&
	       !meta_is_deleting(e->live) && is_moving(e);
}

bool strategy_crd_is_taken(const struct strategy_pass *s, const struct plan_entry *e)
{
	const char *why, *step;
	return e->is_crd && !account_may_define(s->app, e->object, e->live, s->v->a, &why, &step);
}

bool strategy_has_newer_crd(const struct strategy_pass *s, const struct plan_entry *e)
{
	return install_plan_keeps_newer(e, s->ref->version);
}

/* --- as planned, ours, ready --- */

/* Does live hold all that want says? Lists of named items match by name. */
static bool holds(const struct obj *live, const struct obj *want);

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool holds_item(const struct obj *live, const struct obj *item, size_t i)
{
	const char *name = obj_str(item, "name");
	for (size_t k = 0; name && k < obj_len(live); k++)
		if (cstr_eq(obj_str(obj_at(live, k), "name"), name))
			return holds(obj_at(live, k), item);
	return holds(obj_at(live, i), item);
}

static bool holds(const struct obj *live, const struct obj *want)
{
	switch (obj_type(want)) {
	case OBJ_MAP:
		OBJ_EACH (it, want)
			if (!holds(obj_get(live, it.key), it.value))
				return false;
		return true;
	case OBJ_LIST:
		if (obj_len(live) < obj_len(want))
			return false;
		for (size_t i = 0; i < obj_len(want); i++)
			if (!holds_item(live, obj_at(want, i), i))
				return false;
		return true;
	case OBJ_NULL:
		return true;
	case OBJ_ABSENT:
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_STRING:
		break;
	}
	return obj_equal(live, want);
}
/* NOLINTEND(misc-no-recursion) */

bool strategy_holds(const struct plan_entry *e)
{
	return holds(e->live, e->object);
}

bool strategy_owns(const struct strategy_pass *s, const struct plan_entry *e)
{
	if (!e->live || strategy_has_newer_crd(s, e) || strategy_crd_is_taken(s, e))
		return true;
	bool label = cstr_eq(meta_label(e->live, LABEL_STRATEGY),
			     app_label_value(s->ref->name, s->v->a));
	return label && (e->keep || meta_is_owned_by(e->live, meta_uid(s->ref->o)));
}

enum readiness strategy_readiness(const struct strategy_pass *s, const struct install_plan *p,
				  const char **ret_why)
{
	enum readiness worst = READY;
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry *e = &p->entries[i];
		const char *why = "it is gone";
		enum readiness r = e->live ? ready_check(e->live, false, s->v->a, &why) : NOT_READY;
		if (r > worst) {
			worst = r;
			*ret_why = arena_fmt(s->v->a, "%s: %s", plan_entry_text(e, s->v->a), why);
		}
	}
	return worst;
}

/* --- leftovers --- */

static bool has_entry(const struct install_plan *p, const struct plan_entry *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->entries[i].kind, e->kind) && !strcmp(p->entries[i].name, e->name) &&
		    cstr_eq(p->entries[i].ns, e->ns))
			return true;
	return false;
}

enum ensured strategy_delete_leftovers_of(struct strategy_pass *s, const struct install_plan *keep,
					  const struct strategy_ref *other)
{
	enum ensured state = DONE;
	struct install_plan *p;
	if (strategy_find_plan(s, other->name, other->revision, &p) == WAITING)
		return WAITING;
	for (size_t i = p ? p->n : 0; i-- > 0;) {
		const struct plan_entry *e = &p->entries[i];
		if (e->unknown)
			state = WAITING;
		if (!e->live || e->keep || has_entry(keep, e) ||
		    !cstr_eq(meta_label(e->live, LABEL_APP), s->app->name))
			continue;
		state = WAITING;
		if (!meta_is_deleting(e->live))
			plan_delete(s->plan, e->live, "Background");
	}
	return state;
}

/* Of the revision that ran and of those tried since, when the values changed. */
static enum ensured delete_former_leftovers(struct strategy_pass *s)
{
	enum ensured state = DONE;
	struct strategy_ref former = *s->ref;
	int64_t tried = s->revision - s->former_revision;
	if (!strategy_tries_values(s))
		return DONE;
	for (int64_t i = 0; i < tried && i < FORMER_MAX; i++) {
		former.revision = s->former_revision + i;
		if (strategy_delete_leftovers_of(s, s->install, &former) == WAITING)
			state = WAITING;
	}
	return state;
}

enum ensured strategy_delete_leftovers(struct strategy_pass *s)
{
	enum ensured state = delete_former_leftovers(s);
	for (size_t i = 0; i < s->app->n; i++) {
		const struct strategy_ref *other = &s->app->strategies[i];
		if (other != s->ref && other->revision &&
		    strategy_delete_leftovers_of(s, s->install, other) == WAITING)
			state = WAITING;
	}
	return state;
}
