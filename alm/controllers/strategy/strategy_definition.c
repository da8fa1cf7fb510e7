/* strategy_definition: see strategy_definition.h. */
#include "alm/controllers/strategy/strategy_definition.h"

#include <string.h>

#include "alm/controllers/app/usage.h"
#include "alm/obj/meta.h"

enum crd_move strategy_crd_at(const struct unit_entry *e)
{
	return e->is_crd ? crd_moves_at(e->live, e->digest) : CRD_UNTOUCHED;
}

static bool is_moving(const struct unit_entry *e)
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

enum crd_move strategy_crd_move(const struct strategy_pass *s, const struct unit_entry *e)
{
	enum crd_move at = strategy_crd_at(e);
	if (s->phase == PHASE_VERIFYING && is_moving(e))
		return at;
	if (s->phase != PHASE_INSTALLING || !e->live || is_waived(s, e->name) ||
	    !crd_moves_needed(e->live, e->object) || usage_count(s->v, e->name) == 0)
		return CRD_STORED;
	return CRD_EXPANDED;
}

bool strategy_crd_is_placed(const struct strategy_pass *s, const struct unit_entry *e)
{
	if (unit_is_applied(e))
		return true;
	return (s->phase == PHASE_INSTALLING || s->phase == PHASE_VERIFYING) && e->live &&
	       !meta_is_deleting(e->live) && is_moving(e);
}

bool strategy_crd_is_taken(const struct strategy_pass *s, const struct unit_entry *e)
{
	const char *why, *step;
	return e->is_crd && !account_may_define(s->app, e->object, e->live, s->v->a, &why, &step);
}

bool strategy_has_newer_crd(const struct strategy_pass *s, const struct unit_entry *e)
{
	return install_plan_keeps_newer(e, s->ref->version);
}
