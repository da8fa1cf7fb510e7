/* Rendering: in rounds, as a chart may look things up (charts.md 11). What comes out is stored as
 * the install plan with all that went in: time, seed, zone, API versions, and which lookups. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/helm_release.h"
#include "alm/controllers/app/release_record.h"
#include "alm/controllers/strategy/strategy_access.h"
#include "alm/controllers/strategy/strategy_render.h"
#include "alm/controllers/strategy/strategy_rollout.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/unit/unit_store.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/render/render_host.h"

#define ANSWERS_FRESH_NS NS_PER_MIN

const char *strategy_inputs(struct strategy_pass *s)
{
	struct obj *values = obj_keep(s->v->a, strategy_values(s->app, s->ref->o));
	const char *inputs = install_plan_inputs(s->v, s->archive, values);
	const struct account *x = &s->app->account; /* whose lookups tell other things */
	if (!x->is_default)
		inputs = arena_fmt(s->v->a, "%s+%s/%s", inputs, x->ns, x->name);
	if (!s->rollout)
		return inputs;
	char hex[SHA256_HEX];
	json_digest(obj_get(s->rollout, "spec"), hex);
	return arena_fmt(s->v->a, "%s+%s/%.12s", inputs, meta_name(s->rollout), hex);
}

/* Over what the templates were told; time zones do not change under a plan. */
static const char *answers_digest(const struct obj *answers, struct arena *a)
{
	char hex[SHA256_HEX];
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(answers); i++)
		if (!obj_has(obj_at(answers, i), "zone"))
			obj_append(list, obj_ref(obj_at(answers, i)));
	json_digest(list, hex);
	return arena_strdup(a, hex);
}

/* The questions alone. */
static struct obj *needs_of(const struct obj *answers)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(answers); i++) {
		if (obj_has(obj_at(answers, i), "zone"))
			continue;
		struct obj *need = obj_copy(obj_at(answers, i));
		obj_del(need, "value");
		obj_del(need, "error");
		obj_del(need, "large");
		obj_append(list, need);
	}
	return list;
}

static struct obj *render_request(struct strategy_pass *s, const struct obj *inputs,
				  const struct obj *answers)
{
	struct obj *r = inputs ? obj_copy(inputs) : obj_map();
	obj_set_str(r, "release", s->app->name);
	obj_set_str(r, "namespace", strategy_namespace(s));
	obj_set_int(r, "revision", s->revision);
	obj_set_bool(r, "isUpgrade", s->is_upgrade);
	obj_set_str(r, "kubeVersion", s->v->settings->kube_version);
	obj_set(r, "values", strategy_values(s->app, s->ref->o));
	obj_set(r, "answers", obj_ref(answers));
	return r;
}

enum ensured strategy_ensure_answers(struct strategy_pass *s, const struct obj *doc)
{
	const struct view *v = s->v;
	const struct obj *needs = obj_path(doc, "inputs.lookups");
	if (!obj_len(needs))
		return DONE;
	const char *id =
		arena_fmt(v->a, "lookup:%s:r%lld", meta_uid(s->ref->o), (long long)s->revision);
	const struct outcome *o = view_outcome(v, id);
	if (!o || o->code || o->at_ns + ANSWERS_FRESH_NS <= v->now_ns) {
		plan_lookup(s->plan, id, needs)->rights_version = account_rights_version(v);
		s->phase = s->phase == PHASE_AWAITING ? s->phase : PHASE_PENDING;
		return WAITING;
	}
	plan_requeue_after(s->plan, o->at_ns + ANSWERS_FRESH_NS - v->now_ns);
	enum ensured allowed = strategy_ensure_lookups(s, id, needs, o);
	if (allowed != DONE)
		return allowed;
	if (!cstr_eq(answers_digest(o->value, v->a), obj_str(doc, "inputs.answers"))) {
		s->answers = o->value;
		s->inputs = obj_get(doc, "inputs");
	}
	return DONE;
}

static enum ensured refuse(struct strategy_pass *s, const char *reason, const char *message)
{
	return strategy_enter(s, PHASE_BLOCKED, "PlanReady", reason, message);
}

static enum ensured store(struct strategy_pass *s, const struct obj *rendered,
			  const struct obj *answers)
{
	const struct view *v = s->v;
	size_t n_hooks = obj_len(obj_get(rendered, "hooks"));
	if (n_hooks > HOOKS_MAX)
		return refuse(s, "RenderLimit",
			      arena_fmt(v->a,
					"RenderLimit: the chart has %zu hooks, at most %d are run",
					n_hooks, HOOKS_MAX));
	struct obj *inputs = obj_copy_map(obj_get(rendered, "inputs"));
	obj_set_str(inputs, "answers", answers_digest(answers, v->a));
	obj_set(inputs, "lookups", needs_of(answers));
	if (!view_get(v, WATCH_NAMESPACE, SYSTEM_NAMESPACE))
		plan_own_create(s->plan, meta_skeleton("v1", "Namespace", NULL, SYSTEM_NAMESPACE));
	struct obj *doc = obj_keep(
		v->a, install_plan_make(v, s->app, s->ref, rendered, s->archive, s->revision));
	obj_set(doc, "inputs", inputs);
	(void)strategy_lay_out(s, doc, rendered); /* render_rounds() has told what is wrong */
	CLEANUP(obj_unrefp) struct obj *hidden = secrets_looked_up(answers, rendered);
	if (obj_len(hidden))
		obj_set(doc, "hidden", STEAL(hidden));
	obj_set_bool(doc, "isUpgrade", s->is_upgrade);
	if (s->former) {
		obj_set_bool(doc, "takesOver", true);
		obj_set(doc, "former", helm_leftovers(s->former, doc));
	}
	const char *too_large = release_record_too_large(v, doc);
	if (too_large)
		obj_set_str(doc, "unrecorded", too_large);
	if (install_plan_store(s->plan, s->ref, s->revision, strategy_inputs(s), doc) == ENDED)
		return refuse(s, "RenderLimit",
			      arena_fmt(v->a, "RenderLimit: the plan has more than %zu bytes",
					STORE_DOCUMENT_MAX));
	return WAITING; /* the stored plan brings the key back */
}

/* The server would say so for each; `name: y` is true, and no text. */
static const char *nameless(const struct obj *rendered, struct arena *a)
{
	static const char *const parts[] = {"crds", "objects", "hooks"};
	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		for (size_t i = 0; i < obj_len(obj_get(rendered, parts[p])); i++) {
			const struct obj *o = obj_at(obj_get(rendered, parts[p]), i);
			o = p == 2 ? obj_get(o, "object") : o;
			if (!meta_name(o))
				return arena_fmt(a, "a rendered %s has no text as metadata.name",
						 meta_kind(o) ? meta_kind(o) : "object");
		}
	return NULL;
}

/* A step that names nothing of the chart. */
static const char *rollout_fault(struct strategy_pass *s, const struct obj *rendered)
{
	if (!s->rollout)
		return NULL;
	struct obj *doc = obj_keep(s->v->a, install_plan_make(s->v, s->app, s->ref, rendered,
							      s->archive, s->revision));
	return strategy_lay_out(s, doc, rendered);
}

static enum ensured render(struct strategy_pass *s, const char *id, const struct obj *inputs,
			   const struct obj *answers, bool again)
{
	if (s->fetch) {
		struct action *f = plan_work(s->plan, &fetch_work, s->fetch);
		f->key = s->archive;
	}
	struct action *x = plan_work(s->plan, &render_work, id);
	x->key = arena_fmt(s->v->a, "archive:%s", s->archive);
	x->body = obj_keep(s->v->a, render_request(s, inputs, answers));
	return strategy_wait_for_work(s, again || s->refetch);
}

/* Nothing is needed any more: the result is refused, or stored. */
static enum ensured end_render(struct strategy_pass *s, const char *id, const struct obj *value,
			       struct obj *answers)
{
	const char *fault = nameless(value, s->v->a);
	if (fault)
		return refuse(s, "RenderFailed", fault);
	fault = rollout_fault(s, value);
	if (fault)
		return refuse(s, "RolloutInvalid", fault);
	s->phase = PHASE_PENDING;
	enum ensured stored = store(s, value, answers);
	/* behind the writes, which end the run if they fail */
	plan_add(s->plan, ACT_FORGET)->id = id;
	plan_add(s->plan, ACT_FORGET)->id = arena_fmt(s->v->a, "archive:%s", s->archive);
	return stored;
}

/* The next thing to do with the rounds that are done; the outcome brings the key back. */
static enum ensured render_rounds(struct strategy_pass *s, const char *base, struct obj *answers)
{
	const struct view *v = s->v;
	const struct obj *inputs = s->inputs;
	for (int round = 0; round < RENDER_ROUNDS_MAX; round++) {
		const char *id = arena_fmt(v->a, "render:%s:%d", base, round);
		const struct outcome *o = view_outcome(v, id);
		if (!o || (o->code && strategy_await_retry(s, o) == DONE))
			return render(s, id, inputs, answers, o != NULL);
		if (o->code)
			return refuse(s,
				      o->code == E_LIMIT || o->code == E_TIMEOUT ? "RenderLimit"
										 : "RenderFailed",
				      arena_strdup(v->a, o->msg));
		const struct obj *needs = obj_get(o->value, "needs");
		if (!needs)
			return end_render(s, id, o->value, answers);
		inputs = obj_get(o->value, "inputs");
		const char *asked = arena_fmt(v->a, "ask:%s:%d", base, round);
		o = view_outcome(v, asked);
		if (!o) {
			plan_lookup(s->plan, asked, needs)->rights_version =
				account_rights_version(v);
			return strategy_wait_for_work(s, false);
		}
		enum ensured allowed = strategy_ensure_lookups(s, asked, needs, o);
		if (allowed != DONE)
			return allowed;
		for (size_t i = 0; i < obj_len(o->value); i++)
			obj_append(answers, obj_ref(obj_at(o->value, i)));
	}
	return refuse(s, "RenderLimit",
		      arena_fmt(v->a, "RenderLimit: lookup wants more than %d rounds",
				RENDER_ROUNDS_MAX));
}

enum ensured strategy_render(struct strategy_pass *s)
{
	const struct view *v = s->v;
	if (s->install)
		return DONE;
	const char *inputs = strategy_inputs(s);
	const char *base =
		arena_fmt(v->a, "%s:r%lld:%s:%.12s", meta_uid(s->ref->o), (long long)s->revision,
			  inputs, s->answers ? answers_digest(s->answers, v->a) : "");
	if (!s->answers && !view_outcome(v, arena_fmt(v->a, "render:%s:0", base)) &&
	    install_plan_confirm_gone(v, s->ref->name, s->revision, inputs, s->plan) == WAITING)
		return strategy_wait_for_work(s, false);
	return render_rounds(s, base, obj_keep(v->a, obj_copy_list(s->answers)));
}
