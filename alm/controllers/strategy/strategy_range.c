/* Approval out of a manifest that lies in git: spec.upgrade.approveVersion of the AppType names the
 * versions whose plans need nobody, as long as there is nothing in them to decide. */
#include <string.h>

#include "alm/controllers/strategy/strategy.h"

/* Whose manager owns the field, as the object tells it. */
static const char *range_manager(const struct obj *app)
{
	const struct obj *fields = obj_path(app, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(fields); i++) {
		const struct obj *f = obj_at(fields, i);
		const struct obj *upgrade =
			obj_get(obj_get(obj_get(f, "fieldsV1"), "f:spec"), "f:upgrade");
		if (obj_has(upgrade, "f:approveVersion") && obj_str(f, "manager"))
			return obj_str(f, "manager");
	}
	return "unknown";
}

static bool is_in_range(const struct strategy_pass *s, const char *text)
{
	struct range range;
	struct version v;
	struct error ignored;
	return range_parse(str_of(text), s->v->a, &range, &ignored) == 0 &&
	       version_parse(str_of(s->ref->version), VERSION_STRICT, &v, &ignored) == 0 &&
	       range_matches(&range, &v);
}

/* What is waived somebody has decided already. */
static bool has_nothing_to_decide(const struct strategy_pass *s)
{
	for (size_t i = 0; i < obj_len(s->findings); i++) {
		const char *outcome = obj_str(obj_at(s->findings, i), "outcome");
		if (!cstr_eq(outcome, "allow") && !cstr_eq(outcome, "waived"))
			return false;
	}
	return !s->n_unlisted && !obj_len(s->permissions);
}

bool strategy_range_approves(struct strategy_pass *s)
{
	const char *range = obj_str(s->app->o, "spec.upgrade.approveVersion");
	if (!range || !*range || !is_in_range(s, range) || !has_nothing_to_decide(s))
		return false;
	const char *by = range_manager(s->app->o);
	struct obj *body = obj_map();
	obj_set_str(body, "approves", s->digest);
	obj_set(body, "justification", obj_stringf("spec.upgrade.approveVersion is %s", range));
	obj_set_path(body, "version.from",
		     obj_string(s->app->installed ? s->app->installed->version : ""));
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	struct action *x = plan_row(s->plan, "Approval", s->app->o, "Approved", NULL, body);
	x->chain = s->app->name;
	x->actor = x->actor_via = arena_strdup(s->v->a, by);
	x->touches = "spec.upgrade";
	strategy_set_approval(s, s->digest, arena_fmt(s->v->a, "approveVersion (manager %s)", by),
			      "managedFields");
	return true;
}
