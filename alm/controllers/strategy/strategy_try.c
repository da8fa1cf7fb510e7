#include "alm/controllers/strategy/strategy_try.h"

#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

#define TRIES_MAX    256 /* what is beyond is reported by the apply */
#define TRY_AGAIN_NS NS_PER_MIN

/* The definition of e that the plan has and leaves alone, as the live one is newer. */
static const struct unit_entry *kept_definition(const struct install_plan *p,
						const struct unit_entry *e)
{
	for (size_t i = 0; e->resource && i < p->n; i++) {
		const struct unit_entry *d = &p->entries[i];
		if (cstr_eq(obj_str(d->object, "spec.group"), e->resource->group) &&
		    cstr_eq(obj_str(d->object, "spec.names.kind"), e->kind) &&
		    install_plan_keeps_newer(d, p->version))
			return d;
	}
	return NULL;
}

/* What is to be tried, in order, and what the answer depends on. */
struct tries {
	const struct unit_entry *entries[TRIES_MAX];
	size_t n;
	bool unknown; /* an informer has yet to tell */
	struct obj *objects, *inputs;
};

static void collect(struct strategy_pass *s, const struct strategy_ref *to,
		    const struct install_plan *p, struct tries *t)
{
	for (size_t i = 0; i < p->n && t->n < TRIES_MAX; i++) {
		const struct unit_entry *e = &p->entries[i];
		const struct unit_entry *d = e->is_crd ? NULL : kept_definition(p, e);
		if (!d || unit_is_applied(e))
			continue;
		t->unknown = t->unknown || e->unknown;
		t->entries[t->n++] = e;
		obj_append(t->objects, install_plan_decorate(s->v, s->app, to, p, e, true));
		obj_append(t->inputs,
			   obj_stringf("%s %lld", e->digest, (long long)meta_generation(d->live)));
	}
}

static const char *refusals(struct strategy_pass *s, const struct tries *t,
			    const struct obj *refused)
{
	const char *text = NULL;
	for (size_t i = 0; i < obj_len(refused); i++) {
		uint64_t at = (uint64_t)obj_i64(obj_at(refused, i), "index", -1);
		if (at < t->n)
			text = arena_fmt(s->v->a, "%s%s%s: %s", text ? text : "", text ? "; " : "",
					 unit_entry_text(t->entries[at], s->v->a),
					 obj_str(obj_at(refused, i), "message"));
	}
	return text;
}

enum ensured strategy_try_back(struct strategy_pass *s, const struct strategy_ref *to,
			       const struct install_plan *p, const char **ret_why)
{
	char hex[SHA256_HEX];
	struct tries t = {.objects = obj_keep(s->v->a, obj_list()),
			  .inputs = obj_keep(s->v->a, obj_list())};
	*ret_why = NULL;
	collect(s, to, p, &t);
	if (t.unknown || !t.n)
		return t.unknown ? WAITING : DONE;
	json_digest(t.inputs, hex);
	const char *id = arena_fmt(s->v->a, "try:%s:%s", meta_uid(s->ref->o), hex);
	const struct outcome *o = view_outcome(s->v, id);
	const struct obj *refused = o ? obj_get(o->value, "refused") : NULL;
	if (!o || (obj_len(refused) && !outcome_is_younger(o, s->v->now_ns, TRY_AGAIN_NS))) {
		plan_try(s->plan, id, obj_ref(t.objects));
		return WAITING;
	}
	*ret_why = refusals(s, &t, refused);
	return DONE;
}

enum ensured strategy_try(struct strategy_pass *s)
{
	const char *why;
	if (strategy_try_back(s, s->ref, s->install, &why) == WAITING)
		return strategy_wait_for_work(s, s->was == PHASE_BLOCKED);
	if (!why)
		return DONE;
	nextstep_add(s->steps,
		     nextstep_new(s->v->a,
				  "stays with what is installed; or take the fields out of "
				  "spec.values, if they come from there: the newer CRD stays and "
				  "does not have them",
				  "kubectl patch apptype %s --type=merge -p "
				  "'{\"spec\":{\"upgrade\":{\"to\":null}}}'",
				  s->app->name));
	plan_requeue_after(s->plan, TRY_AGAIN_NS);
	return strategy_block(s, "PlanReady", "RollbackRefused", why);
}
