/* Before the first write: fetch, survey; what is approved is in strategy_approve.c. Nothing here
 * touches the app's objects.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/unsupported.h"
#include "alm/controllers/strategy/strategy.h"
#include "alm/engine/policy.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"
#include "catalog/resolve/resolve_relax.h"

/* clear_blocks() took the condition away: one that still holds keeps its time, or each pass would
 * write. */
#define DEPENDENCY_POLL_NS (2 * NS_PER_S)
#define GIVEN_MAX          20 /* objects whose step is told */

void strategy_block(struct strategy_pass *s, const char *condition, const char *reason,
		    const char *message)
{
	const struct obj *old = obj_path(s->ref->o, "status.conditions");
	for (size_t i = 0; i < obj_len(old) && condition_is(s->ref->o, condition, "False"); i++)
		if (cstr_eq(obj_str(obj_at(old, i), "type"), condition)) {
			condition_remove(s->conditions, condition);
			obj_append(s->conditions, obj_copy(obj_at(old, i)));
		}
	strategy_enter(s, PHASE_BLOCKED, condition, reason, message);
}

/* Which condition tells a predicate's refusal. */
static const char *condition_of(const char *reason)
{
	if (cstr_eq(reason, "ResourceDropped") || cstr_eq(reason, "CRDIncompatible"))
		return "CRDCompatible";
	if (cstr_eq(reason, "RequirementUnmet") || cstr_eq(reason, "ResourceMissing"))
		return "RequirementsMet";
	return "PlanReady";
}

static void block_candidate(struct strategy_pass *s, const struct candidate *c)
{
	struct relaxation x;
	size_t n;
	resolve_relax(&s->app->in, c->version, s->v->a, &x);
	const char *const *steps = resolve_steps(&x, s->v->a, &n);
	for (size_t i = 0; i < n; i++)
		nextstep_add(s->steps, steps[i]);
	strategy_block(s, condition_of(c->reason), c->reason, c->message);
}

static void clear_blocks(struct strategy_pass *s)
{
	static const char *const types[] = {"PlanReady", "RequirementsMet", "CRDCompatible"};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		for (size_t k = obj_len(s->conditions); k-- > 0;) {
			const struct obj *c = obj_at(s->conditions, k);
			if (cstr_eq(obj_str(c, "type"), types[i]) &&
			    cstr_eq(obj_str(c, "status"), "False"))
				condition_remove(s->conditions, types[i]);
		}
}

/* Pause, window and soak hold what would be next; it stays planned. */
static bool waits_for_time(struct strategy_pass *s)
{
	const struct resolution *r = &s->app->resolution;
	const char *target = r->n_path ? r->path[0] : r->chosen ? r->chosen->version : NULL;
	if (!r->gate || !strcmp(r->gate, "ModeNone") || !cstr_eq(target, s->ref->version))
		return false;
	bool paused = !strcmp(r->gate, "Paused");
	strategy_condition(s, "Approved", "False", r->gate,
			   paused ? "spec.paused is true"
				  : resolve_gate_text(r, s->v->now_ns, s->v->a));
	if (r->until_ns)
		plan_requeue_after(s->plan, r->until_ns - s->v->now_ns);
	strategy_follow_approval(s); /* its time runs while it waits */
	s->waits_for_time = true;
	s->stop = true;
	return true;
}

/* What the version requires is installed first; it comes by its own AppType (apptype.c). */
static bool has_dependencies(struct strategy_pass *s, const struct candidate *c)
{
	for (size_t i = 0; c && i < c->n_dependencies; i++) {
		const struct dependency *d = &c->dependencies[i];
		if (!d->add && !d->upgrade)
			continue;
		strategy_condition(s, "RequirementsMet", "False", "DependencyPending",
				   arena_fmt(s->v->a, "waits for %s %s, AppType %s", d->package,
					     d->version, d->app));
		plan_requeue_after(s->plan, DEPENDENCY_POLL_NS);
		s->stop = true;
		return false;
	}
	return true;
}

/* The resolver only repeats what this strategy told of itself: the gate's verdict, a requirement,
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

/* To the changed values of what is installed; chosen again when they are in. */
static bool gives_way(struct strategy_pass *s)
{
	const char *text = arena_fmt(s->v->a, "the changed values of %s come first",
				     s->app->installed->version);
	if (s->ref->by_alm)
		strategy_enter(s, PHASE_SUPERSEDED, NULL, "Superseded", text);
	else
		strategy_block(s, "PlanReady", "OtherInProgress", text);
	return false;
}

/* Is it this version's turn? Ends the pass if it is not. */
static bool has_turn(struct strategy_pass *s)
{
	const struct app *app = s->app;
	const struct candidate *c = app_candidate(app, s->ref->version);
	bool replans = app->installed == s->ref;
	if (replans)
		return true;
	if (s->was == PHASE_BLOCKED && is_refused_by_plan(s, c)) {
		s->judged_anew = true;
		s->keep_status = s->stop = app->busy && app->busy != s->ref;
		return !s->stop;
	}
	if (c && !c->installable && (!s->ref->by_alm || c->safety)) {
		block_candidate(s, c);
		return false;
	}
	if (app->busy && app->busy != s->ref) {
		strategy_block(s, "PlanReady", "OtherInProgress",
			       arena_fmt(s->v->a, "%s is in %s", app->busy->version,
					 phase_name(app->busy->phase)));
		return false;
	}
	if (app_replans(app))
		return gives_way(s);
	if (app->next && !strcmp(app->next, s->ref->version))
		return has_dependencies(s, c);
	if (waits_for_time(s))
		return false;
	if (s->ref->by_alm)
		strategy_enter(s, PHASE_SUPERSEDED, NULL, "Superseded",
			       app->next ? arena_fmt(s->v->a, "%s is chosen instead", app->next)
					 : "it is no longer chosen");
	else
		strategy_block(s, "PlanReady", "OtherInProgress",
			       app->next ? arena_fmt(s->v->a, "%s is chosen first", app->next)
					 : "mode None");
	return false;
}

/* The package that a reference like quay.io/coreos/etcd-operator[:tag][@digest] names. */
static const char *package_of_reference(const char *reference, struct arena *a)
{
	const char *slash = strrchr(reference, '/');
	const char *base = slash ? slash + 1 : reference;
	return arena_strndup(a, base, strcspn(base, ":@"));
}

static void block_unknown_archive(struct strategy_pass *s)
{
	const char *reference = obj_str(s->ref->o, "spec.strategy.helmChart");
	const char *package = reference ? package_of_reference(reference, s->v->a) : "";
	for (size_t i = 0; i < s->v->n_indexes; i++) {
		size_t n;
		struct package_version *const *all = index_package(s->v->indexes[i], package, &n);
		if (!n)
			continue;
		strategy_block(
			s, "PlanReady", "DigestMismatch",
			arena_fmt(
				s->v->a,
				"no archive of %s has sha256 %s; catalog %s has %.*s as sha256:%s",
				package, s->ref->sha256, s->v->indexes[i]->name,
				STR_ARG(all[0]->version.text), all[0]->digest));
		return;
	}
	strategy_block(
		s, "PlanReady", "FetchFailed",
		arena_fmt(s->v->a,
			  "no catalog has an archive with sha256 %s; put the chart %s into one",
			  s->ref->sha256, reference ? reference : ""));
	plan_requeue_after(s->plan, NS_PER_MIN);
}

static bool find_archive(struct strategy_pass *s)
{
	if (!s->ref->sha256) {
		nextstep_add(
			s->steps,
			nextstep_new(
				s->v->a,
				"it cannot be changed: then create it with the archive's digest",
				"kubectl delete installstrategy %s", s->ref->name));
		strategy_block(s, "PlanReady", "FetchFailed",
			       "spec.strategy.sha256, the archive's digest, is missing");
		return false;
	}
	const struct package_version *e = entry_by_digest(s->v, s->ref->sha256, NULL);
	if (e)
		s->archive = arena_strdup(s->v->a, e->digest); /* the index may be swapped */
	else if (strlen(s->ref->sha256) == 64)
		s->archive = s->ref->sha256; /* the stored plan may do without the catalog */
	else
		block_unknown_archive(s);
	return s->archive != NULL;
}

/* A strategy made by hand names its archive itself: a wrong digest is told before all else. */
static bool names_unknown_archive(const struct strategy_pass *s)
{
	return !s->ref->by_alm && s->ref->sha256 && !entry_by_digest(s->v, s->ref->sha256, NULL) &&
	       !install_plan_stored(s->v, s->ref->name, s->revision, NULL);
}

/* A failure that no input changes may pass: the child was killed, the disk was full. */
bool strategy_is_tried_again(struct strategy_pass *s, const struct outcome *failed)
{
	if (failed->code == E_INVALID)
		return false;
	int64_t left = outcome_retry_in(failed, s->v->now_ns);
	if (left > 0)
		plan_requeue_after(s->plan, left);
	return left == 0;
}

/* The outcome brings the key back. What is tried again stays as it is until then. */
int strategy_work_begins(struct strategy_pass *s, bool again)
{
	s->stop = true;
	if (again)
		return STEP_STOP;
	s->phase = PHASE_PENDING;
	return STEP_CONTINUE;
}

int strategy_fetch(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (!strategy_is_planning(s))
		return STEP_CONTINUE;
	clear_blocks(s);
	const char *beyond = s->ref->by_alm ? NULL : unsupported_of_strategy(s->ref->o, v->a);
	if (beyond) {
		strategy_block(s, "PlanReady", "Unsupported", beyond);
		return STEP_CONTINUE;
	}
	if (names_unknown_archive(s)) {
		block_unknown_archive(s);
		return STEP_CONTINUE;
	}
	if (!has_turn(s) || !find_archive(s) || !strategy_has_account(s))
		return STEP_CONTINUE;
	const char *why = policy_refuses(v, s->archive);
	if (why) {
		strategy_block(s, "PlanReady", "SignatureInvalid", why);
		plan_requeue_after(s->plan, NS_PER_MIN);
		return STEP_CONTINUE;
	}
	const struct obj *doc =
		install_plan_stored(v, s->ref->name, s->revision, strategy_inputs(s));
	if (doc && strategy_answers_hold(s, doc)) {
		s->install = install_plan_load(v, doc, plan);
		return STEP_CONTINUE;
	}
	if (s->stop)
		return STEP_CONTINUE;
	const char *id = arena_fmt(v->a, "archive:%s", s->archive);
	const struct outcome *o = view_outcome(v, id);
	if (o && !o->code)
		return STEP_CONTINUE;
	if (o && !strategy_is_tried_again(s, o)) {
		strategy_block(s, "PlanReady",
			       o->code == E_INVALID ? "DigestMismatch" : "FetchFailed",
			       arena_strdup(v->a, o->msg));
		return STEP_CONTINUE;
	}
	if (!entry_by_digest(v, s->archive, NULL)) {
		block_unknown_archive(s);
		return STEP_CONTINUE;
	}
	/* Together with the render: between two runs another's archive may take its place. */
	s->fetch = id;
	s->refetch = o != NULL;
	return STEP_CONTINUE;
}

static const char *survey_key(const struct plan_entry *e, struct arena *a)
{
	return arena_fmt(a, "%s/%s/%s", e->kind, e->ns ? e->ns : "", e->name);
}

/* Objects that exist without our label are asked for once: they may be somebody else's. */
static struct obj *unseen_objects(struct strategy_pass *s)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < s->install->n; i++) {
		const struct plan_entry *e = &s->install->entries[i];
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
static void add_give(struct strategy_pass *s, const struct plan_entry *e)
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
		const struct plan_entry *e = &s->install->entries[i];
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

static bool knows_all(const struct install_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].unknown)
			return false;
	return true;
}

int strategy_survey(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (!strategy_is_planning(s))
		return STEP_CONTINUE;
	if (!knows_all(s->install)) {
		s->phase = PHASE_PENDING;
		s->stop = true; /* the informers bring the key back */
		return STEP_CONTINUE;
	}
	if (!strategy_kinds_are_served(s))
		return STEP_CONTINUE;
	const struct obj *found = NULL;
	struct obj *unseen = obj_keep(v->a, unseen_objects(s));
	if (obj_len(unseen)) {
		char hex[SHA256_HEX];
		json_digest(unseen, hex);
		const char *id = arena_fmt(v->a, "survey:%s:%s", meta_uid(s->ref->o), hex);
		const struct outcome *o = view_outcome(v, id);
		if (!o || o->code) {
			struct action *x = plan_add(plan, ACT_SURVEY);
			x->id = id;
			x->body = unseen;
			s->phase = PHASE_PENDING;
			s->stop = true;
			return STEP_CONTINUE;
		}
		found = o->value;
	}
	const char *foreign = foreign_objects(s, found);
	if (foreign) {
		strategy_block(s, "PlanReady", "ObjectNotOwned", foreign);
		return STEP_CONTINUE;
	}
	return STEP_CONTINUE;
}

/* --- the end of planning --- */

/* What an action that planning waits for does. */
static const struct {
	enum act_type type;
	const char *what;
} works[] = {
	{ACT_FETCH, "the archive is fetched"},
	{ACT_RENDER, "the chart is rendered"},
	{ACT_SURVEY, "objects are looked for"},
	{ACT_ASK, "the server is asked what there is"},
	{ACT_GATE, "the definitions are judged"},
	{ACT_REVIEW, "the server is asked what the account may"},
	{ACT_TRY, "objects are applied as a trial"},
};

static const char *waited_for(const struct strategy_pass *s)
{
	for (size_t i = 0; i < obj_len(s->conditions); i++) {
		const struct obj *c = obj_at(s->conditions, i);
		if (cstr_eq(obj_str(c, "type"), "RequirementsMet") &&
		    cstr_eq(obj_str(c, "status"), "False"))
			return obj_str(c, "message");
	}
	for (const struct action *x = s->plan->head; x; x = x->next)
		for (size_t i = 0; i < ARRAY_LEN(works); i++)
			if (works[i].type == x->type)
				return works[i].what;
	return "its objects are read";
}

/* Blocked for that once, it goes on being planned and stays so until there is another answer. */
static bool is_overdue(const struct strategy_pass *s)
{
	struct condition c;
	return condition_get(s->ref->o, "PlanReady", &c) && cstr_eq(c.reason, "ProgressDeadline");
}

int strategy_deadline(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)v;
	(void)key;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	if (!s->app || s->phase != PHASE_PENDING || s->reason || s->waits_for_time)
		return STEP_CONTINUE;
	if (s->was == PHASE_BLOCKED && is_overdue(s))
		s->judged_anew = true;
	if (s->was != PHASE_PENDING)
		return STEP_CONTINUE; /* it begins now */
	int64_t left = strategy_time_left(s, "Pending");
	if (left > 0) {
		plan_requeue_after(plan, left);
		return STEP_CONTINUE;
	}
	strategy_block(s, "PlanReady", "ProgressDeadline",
		       arena_fmt(s->v->a, "the plan is not ready in time: %s", waited_for(s)));
	return STEP_CONTINUE;
}
