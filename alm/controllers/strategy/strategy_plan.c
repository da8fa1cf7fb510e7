/* What a plan begins with: whose turn it is, the archive, and what is known of it already. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/unsupported.h"
#include "alm/controllers/strategy/strategy_approve.h"
#include "alm/controllers/strategy/strategy_render.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/policy.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"
#include "catalog/resolve/resolve_relax.h"

#define DEPENDENCY_POLL_NS (2 * NS_PER_S)

/* Which condition reports a predicate's refusal. */
static const char *condition_of(const char *reason)
{
	if (cstr_eq(reason, "ResourceDropped") || cstr_eq(reason, "CRDIncompatible"))
		return "CRDCompatible";
	if (cstr_eq(reason, "RequirementUnmet") || cstr_eq(reason, "ResourceMissing"))
		return "RequirementsMet";
	return "PlanReady";
}

static enum ensured block_candidate(struct strategy_pass *s, const struct candidate *c)
{
	struct relaxation x;
	size_t n;
	resolve_relax(&s->app->in, c->version, s->v->a, &x);
	const char *const *steps = resolve_steps(&x, s->v->a, &n);
	for (size_t i = 0; i < n; i++)
		nextstep_add(s->steps, steps[i]);
	return strategy_block(s, condition_of(c->reason), c->reason, c->message);
}

static void clear_blocks(struct strategy_pass *s)
{
	static const char *const types[] = {"PlanReady", "RequirementsMet", "CRDCompatible"};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (cstr_eq(obj_str(condition_find(s->conditions, types[i]), "status"), "False"))
			condition_remove(s->conditions, types[i]);
}

/* Pause, window and soak hold what would be next; it stays planned. */
static bool is_held(const struct strategy_pass *s)
{
	const struct resolution *r = &s->app->resolution;
	const char *target = r->n_path ? r->path[0] : r->chosen ? r->chosen->version : NULL;
	return r->gate && strcmp(r->gate, "ModeNone") != 0 && cstr_eq(target, s->ref->version);
}

static enum ensured await_gate(struct strategy_pass *s)
{
	const struct resolution *r = &s->app->resolution;
	bool paused = !strcmp(r->gate, "Paused");
	strategy_condition(s, "Approved", "False", r->gate,
			   paused ? "spec.paused is true"
				  : resolve_gate_text(r, s->v->now_ns, s->v->a));
	if (r->until_ns)
		plan_requeue_after(s->plan, r->until_ns - s->v->now_ns);
	strategy_follow_approval(s); /* its time runs while it waits */
	s->waits_for_time = true;
	return WAITING;
}

/* What the version requires is installed first; it comes by its own AppType (apptype.c). */
static enum ensured await_dependencies(struct strategy_pass *s, const struct candidate *c)
{
	for (size_t i = 0; c && i < c->n_dependencies; i++) {
		const struct dependency *d = &c->dependencies[i];
		if (!d->add && !d->upgrade)
			continue;
		strategy_condition(s, "RequirementsMet", "False", "DependencyPending",
				   arena_fmt(s->v->a, "waits for %s %s, AppType %s", d->package,
					     d->version, d->app));
		plan_requeue_after(s->plan, DEPENDENCY_POLL_NS);
		return WAITING;
	}
	return DONE;
}

/* The resolver only repeats what this strategy reported of itself: the gate's verdict, a requirement,
 * or, made by hand, any other of planning. */
static bool is_refused_by_plan(const struct strategy_pass *s, const struct candidate *c)
{
	if (!c || !c->reason)
		return false;
	bool own = c->manual && cstr_eq(c->manual->strategy, s->ref->name) &&
		   cstr_eq(c->manual->blocked, c->reason);
	return own || !strcmp(c->reason, "CRDIncompatible") ||
	       !strcmp(c->reason, "RequirementUnmet");
}

/* To what comes first: one of ALM's is chosen again when it is in, one made by hand waits. What kept it from its turn
 * is no condition of it any more. */
static enum ensured give_way(struct strategy_pass *s, const char *by_alm, const char *by_hand)
{
	if (!s->ref->by_alm)
		return strategy_block(s, "PlanReady", "OtherInProgress", by_hand);
	if (cstr_eq(obj_str(condition_find(s->conditions, "Approved"), "status"), "False"))
		condition_remove(s->conditions, "Approved");
	return strategy_enter(s, PHASE_SUPERSEDED, NULL, "Superseded", by_alm);
}

/* Is it this version's turn? */
enum ensured strategy_ensure_turn(struct strategy_pass *s)
{
	const struct app *app = s->app;
	struct arena *a = s->v->a;
	const struct candidate *c = app_candidate(app, s->ref->version);
	bool others = app->busy && app->busy != s->ref;
	if (app->installed == s->ref) /* it is planned anew */
		return DONE;
	if (s->was == PHASE_BLOCKED && is_refused_by_plan(s, c)) {
		s->judged_anew = true;
		s->keep_status = others;
		return others ? WAITING : DONE;
	}
	if (c && !c->installable && (!s->ref->by_alm || c->safety))
		return block_candidate(s, c);
	if (others)
		return strategy_block(s, "PlanReady", "OtherInProgress",
				      arena_fmt(a, "%s is in %s", app->busy->version,
						phase_name(app->busy->phase)));
	if (app_replans(app)) {
		const char *text = arena_fmt(a, "the changed values of %s come first",
					     app->installed->version);
		return give_way(s, text, text);
	}
	if (app->next && !strcmp(app->next, s->ref->version))
		return await_dependencies(s, c);
	if (is_held(s))
		return await_gate(s);
	return app->next ? give_way(s, arena_fmt(a, "%s is chosen instead", app->next),
				    arena_fmt(a, "%s is chosen first", app->next))
			 : give_way(s, "it is no longer chosen", "mode None");
}

/* The package that a reference like quay.io/coreos/etcd-operator[:tag][@digest] names. */
static const char *package_of_reference(const char *reference, struct arena *a)
{
	const char *slash = strrchr(reference, '/');
	const char *base = slash ? slash + 1 : reference;
	return arena_strndup(a, base, strcspn(base, ":@"));
}

static enum ensured block_unknown_archive(struct strategy_pass *s)
{
	struct arena *a = s->v->a;
	const char *reference = obj_str(s->ref->o, "spec.strategy.helmChart");
	const char *package = reference ? package_of_reference(reference, a) : "";
	if (s->ref->by_alm) {
		plan_requeue_after(s->plan, NS_PER_MIN);
		return strategy_block(
			s, "PlanReady", "FetchFailed",
			arena_fmt(
				a,
				"no catalog has %s %s any more (sha256 %s), and there is no stored "
				"plan of it with these values; put its archive back into the "
				"catalog",
				package, s->ref->version, s->ref->sha256));
	}
	for (size_t i = 0; i < s->v->shared->n_indexes; i++) {
		size_t n;
		const struct catalog_index *x = s->v->shared->indexes[i];
		struct package_version *const *all = index_package(x, package, &n);
		if (n)
			return strategy_block(
				s, "PlanReady", "DigestMismatch",
				arena_fmt(a,
					  "no archive of %s has sha256 %s; catalog %s has %.*s as "
					  "sha256:%s",
					  package, s->ref->sha256, x->name,
					  STR_ARG(all[0]->version.text), all[0]->digest));
	}
	plan_requeue_after(s->plan, NS_PER_MIN);
	return strategy_block(
		s, "PlanReady", "FetchFailed",
		arena_fmt(a, "no catalog has an archive with sha256 %s; put the chart %s into one",
			  s->ref->sha256, reference ? reference : ""));
}

/* A strategy made by hand names its archive itself: a wrong digest is reported before all else. */
static bool names_unknown_archive(const struct strategy_pass *s)
{
	return !s->ref->by_alm && s->ref->sha256 && !entry_by_digest(s->v, s->ref->sha256, NULL) &&
	       !install_plan_stored(s->v, s->ref->name, s->revision, NULL);
}

enum ensured strategy_look_anew(struct strategy_pass *s)
{
	clear_blocks(s);
	const char *beyond = s->ref->by_alm ? NULL : unsupported_of_strategy(s->ref->o, s->v->a);
	if (beyond)
		return strategy_block(s, "PlanReady", "Unsupported", beyond);
	return names_unknown_archive(s) ? block_unknown_archive(s) : DONE;
}

enum ensured strategy_find_archive(struct strategy_pass *s)
{
	if (!s->ref->sha256) {
		nextstep_add(
			s->steps,
			nextstep_new(
				s->v->a,
				"it cannot be changed: then create it with the archive's digest",
				"kubectl delete installstrategy %s", s->ref->name));
		return strategy_block(s, "PlanReady", "FetchFailed",
				      "spec.strategy.sha256, the archive's digest, is missing");
	}
	const struct package_version *e = entry_by_digest(s->v, s->ref->sha256, NULL);
	if (e)
		s->archive = arena_strdup(s->v->a, e->digest); /* the index may be swapped */
	else if (strlen(s->ref->sha256) == 64)
		s->archive = s->ref->sha256; /* the stored plan may do without the catalog */
	else
		return block_unknown_archive(s);
	return DONE;
}

enum ensured strategy_verify_archive(struct strategy_pass *s)
{
	const char *why = policy_refuses(s->v, s->archive);
	if (!why)
		return DONE;
	plan_requeue_after(s->plan, NS_PER_MIN);
	return strategy_block(s, "PlanReady", "SignatureInvalid", why);
}

static bool is_way_back(const struct strategy_pass *s)
{
	struct version to, from;
	struct error ignored;
	const struct strategy_ref *installed = s->app->installed;
	return installed && installed != s->ref &&
	       version_parse(str_of(s->ref->version), VERSION_STRICT, &to, &ignored) == 0 &&
	       version_parse(str_of(installed->version), VERSION_STRICT, &from, &ignored) == 0 &&
	       version_cmp(&to, &from) < 0;
}

/* The plan that ran once is that of the way back, with the bytes that it had then: no catalog is
 * needed, and a chart with random values gets the same ones (lifecycle.md 7.4). */
static enum ensured reuse_plan(struct strategy_pass *s, const char *inputs)
{
	const struct obj *old =
		is_way_back(s) ? install_plan_newest(s->v, s->ref->name, s->revision, inputs)
			       : NULL;
	if (!old)
		return DONE;
	struct obj *doc = obj_keep(s->v->a, obj_copy_map(old));
	obj_set_int(doc, "revision", s->revision);
	obj_set_bool(doc, "isUpgrade", true);
	obj_del(doc, "takesOver");
	obj_del(doc, "former");
	s->phase = PHASE_PENDING;
	(void)install_plan_store(s->plan, s->ref, s->revision, inputs,
				 doc); /* it had room before */
	return WAITING;
}

enum ensured strategy_load_planned(struct strategy_pass *s)
{
	const char *inputs = strategy_inputs(s);
	const struct obj *doc = install_plan_stored(s->v, s->ref->name, s->revision, inputs);
	if (!doc && reuse_plan(s, inputs) == WAITING)
		return WAITING;
	enum ensured state = doc ? strategy_ensure_answers(s, doc) : DONE;
	if (doc && state == DONE && !s->answers)
		s->install = install_plan_load(s->v, doc, s->plan);
	return state;
}

enum ensured strategy_fetch(struct strategy_pass *s)
{
	const char *id = arena_fmt(s->v->a, "archive:%s", s->archive);
	const struct outcome *o = view_outcome(s->v, id);
	if (s->install)
		return DONE;
	if (!entry_by_digest(s->v, s->archive, NULL)) /* that it was read once changes nothing */
		return block_unknown_archive(s);
	if (o && !o->code)
		return DONE;
	if (o && strategy_await_retry(s, o) != DONE)
		return strategy_block(s, "PlanReady",
				      o->reason ? error_reason_text(o->reason) : "FetchFailed",
				      arena_strdup(s->v->a, o->msg));
	/* Together with the render: between two runs another's archive may take its place. */
	s->fetch = id;
	s->refetch = o != NULL;
	return DONE;
}

/* --- the end of planning --- */

/* What an action that planning waits for does. */
static const struct {
	const struct work_kind *kind;
	const char *what;
} works[] = {
	{&fetch_work, "the archive is fetched"},
	{&render_work, "the chart is rendered"},
	{&survey_work, "objects are looked for"},
	{&ask_work, "the server is asked what there is"},
	{&gate_work, "the definitions are judged"},
	{&review_work, "the server is asked what the account may"},
	{&try_work, "objects are applied as a trial"},
};

static const char *waited_for(const struct strategy_pass *s)
{
	const struct obj *lacks = condition_find(s->conditions, "RequirementsMet");
	if (cstr_eq(obj_str(lacks, "status"), "False"))
		return obj_str(lacks, "message");
	for (const struct action *x = s->plan->head; x; x = x->next)
		for (size_t i = 0; i < ARRAY_LEN(works); i++)
			if (works[i].kind == x->work)
				return works[i].what;
	return "its objects are read";
}

/* Blocked for that once, it goes on being planned and stays so until there is another answer. */
static bool is_overdue(const struct strategy_pass *s)
{
	struct condition c;
	return condition_get(s->ref->o, "PlanReady", &c) && cstr_eq(c.reason, "ProgressDeadline");
}

void strategy_end_planning(struct strategy_pass *s)
{
	if (s->keep_status || s->phase != PHASE_PENDING || s->reason || s->waits_for_time)
		return;
	if (s->was == PHASE_BLOCKED && is_overdue(s))
		s->judged_anew = true;
	if (s->was != PHASE_PENDING) /* it begins now */
		return;
	if (plan_await(s->plan, strategy_time_left(s, "Pending")) == DONE)
		strategy_block(
			s, "PlanReady", "ProgressDeadline",
			arena_fmt(s->v->a, "the plan is not ready in time: %s", waited_for(s)));
}
