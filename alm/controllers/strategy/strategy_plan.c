/* Before the first write: fetch, render, survey, approve. Nothing here touches the app's objects.
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy.h"
#include "alm/engine/policy.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_relax.h"

#define APPROVAL_TTL_NS (72 * NS_PER_HOUR)

/* clear_blocks() took the condition away: one that still holds keeps its time, or each pass would
 * write. */
#define DEPENDENCY_POLL_NS (2 * NS_PER_S)

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
		obj_append(s->steps, obj_string(steps[i]));
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

static void follow_approval(struct strategy_pass *s);

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
	follow_approval(s); /* its time runs while it waits */
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

/* The resolver only repeats what this strategy told of itself: the gate's verdict, or, made by
 * hand, any other of planning. */
static bool is_refused_by_plan(const struct strategy_pass *s, const struct candidate *c)
{
	if (!c || !c->reason)
		return false;
	bool own = c->manual && cstr_eq(c->manual->strategy, s->ref->name) &&
		   cstr_eq(c->manual->blocked, c->reason);
	return own || !strcmp(c->reason, "CRDIncompatible");
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
		obj_append(s->steps,
			   obj_string(arena_fmt(s->v->a,
						"kubectl delete installstrategy %s # it cannot be "
						"changed: then create it with the archive's digest",
						s->ref->name)));
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
		if (who)
			text = arena_fmt(s->v->a, "%s%s%s %s belongs to %s", text ? text : "",
					 text ? "; " : "", e->kind, survey_key(e, s->v->a), who);
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
		obj_append(s->steps,
			   obj_string(arena_fmt(v->a,
						"delete them, or give each to this release: label "
						"app.kubernetes.io/managed-by=Helm, annotations "
						"meta.helm.sh/release-name=%s and "
						"meta.helm.sh/release-namespace=%s",
						s->install->release, s->install->ns)));
		strategy_block(s, "PlanReady", "ObjectNotOwned", foreign);
		return STEP_CONTINUE;
	}
	return STEP_CONTINUE;
}

/* --- approval (lifecycle.md 6) --- */

static bool needs_approval(const struct strategy_pass *s)
{
	if (!strcmp(s->app->mode, "Manual"))
		return s->app->installed ||
		       (s->install && obj_flag(s->install->doc, "takesOver", false)) ||
		       obj_flag(s->app->o, "spec.upgrade.approveFirst", false);
	if (strategy_has_warnings(s) || obj_len(s->permissions))
		return cstr_eq(obj_str(s->app->o, "spec.upgrade.onWarn"), "Approve");
	return false;
}

/* The last manager that wrote spec.approved, as the object tells it. */
static const char *approving_manager(const struct strategy_pass *s)
{
	const char *manager = "unknown", *when = "";
	const struct obj *fields = obj_path(s->ref->o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(fields); i++) {
		const struct obj *f = obj_at(fields, i);
		const struct obj *spec = obj_get(obj_get(f, "fieldsV1"), "f:spec");
		const char *t = obj_str(f, "time"), *name = obj_str(f, "manager");
		if (obj_has(spec, "f:approved") && name && t && strcmp(t, when) >= 0) {
			manager = name;
			when = t;
		}
	}
	return manager;
}

/* Who approved, and how that is known (audit.md 6): what a client claims stays a claim. */
struct approver {
	const char *name, *manager;
	bool known;
};

static struct approver approver_of(const struct strategy_pass *s)
{
	const char *by = obj_str(s->ref->o, "spec.approvedBy");
	const char *manager = approving_manager(s);
	return (struct approver){by ? by : manager, manager,
				 by && s->v->settings->approver_is_requester};
}

static void describe_approval(struct strategy_pass *s, const char *bound)
{
	char now[CLOCK_TEXT_MAX], until[CLOCK_TEXT_MAX];
	struct approver by = approver_of(s);
	int64_t ttl = APPROVAL_TTL_NS;
	struct error ignored;
	const char *text = obj_str(s->app->o, "spec.upgrade.approvalTTL");
	if (text)
		(void)duration_parse(str_of(text), &ttl, &ignored);
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	clock_format(s->v->now_ns + ttl, CLOCK_SECONDS, until);
	s->approval = obj_keep(s->v->a, obj_map());
	obj_set_str(s->approval, "digest", bound);
	obj_set_str(
		s->approval, "by",
		by.known || by.name == by.manager
			? by.name
			: arena_fmt(s->v->a, "%s (claimed by manager %s)", by.name, by.manager));
	obj_set_str(s->approval, "trust", by.known ? "authenticated" : "managedFields");
	obj_set_str(s->approval, "at", now);
	obj_set_str(s->approval, "expires", until);
}

static struct action *approval_row(struct strategy_pass *s, const char *reason, const char *bound)
{
	struct obj *body = obj_map();
	obj_set_str(body, "approves", bound);
	obj_set_str(body, "justification", obj_str(s->ref->o, "spec.approvalReason"));
	obj_set_path(body, "version.from",
		     obj_string(s->app->installed ? s->app->installed->version : ""));
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	struct action *x = plan_row(s->plan, "Approval", s->ref->o, reason, NULL, body);
	x->chain = s->app->name;
	struct approver by = approver_of(s);
	x->actor = arena_strdup(s->v->a, by.name);
	x->actor_via = arena_strdup(s->v->a, by.manager);
	x->actor_known = by.known;
	return x;
}

/* An approval seen for the first time is recorded, bound to the plan it was given for: the digest
 * it names, else the one in the status of the very revision it appears in. */
static void record_approval(struct strategy_pass *s)
{
	const struct obj *o = s->ref->o;
	const char *bound = obj_str(o, "spec.approvedPlan");
	if (!bound && !obj_flag(s->app->o, "spec.upgrade.requirePlanDigest", false))
		bound = obj_str(o, "status.plan.digest");
	if (!bound)
		bound = "";
	describe_approval(s, bound);
	approval_row(s, "Approved", bound);
}

static void withdraw_approval(struct strategy_pass *s)
{
	approval_row(s, "Withdrawn", obj_str(s->approval, "digest"));
	s->approval = NULL;
}

/* The log knows an approval that a lost status write has not shown yet. */
static void recall_approval(struct strategy_pass *s)
{
	struct obj *row = NULL;
	if (!s->approval && s->v->ops->last_row)
		row = s->v->ops->last_row(s->v->ops_arg, "Approval", "InstallStrategy",
					  s->ref->name);
	if (!row)
		return;
	obj_keep(s->v->a, row);
	const char *bound = obj_str(row, "body.approves");
	if (!cstr_eq(obj_str(row, "reason"), "Approved") || !bound)
		return;
	if (!cstr_eq(obj_str(row, "subject.uid"), meta_uid(s->ref->o)))
		return;
	describe_approval(s, bound);
}

/* Is the recorded approval the one the spec gives now? Another plan named, or false and true again.
 */
static bool is_recorded(struct strategy_pass *s)
{
	recall_approval(s);
	const char *named = obj_str(s->ref->o, "spec.approvedPlan");
	const char *digest = obj_str(s->approval, "digest");
	return s->approval && digest && *digest && (!named || cstr_eq(named, digest));
}

void strategy_note_approval(struct strategy_pass *s)
{
	if (s->app && needs_approval(s) && obj_flag(s->ref->o, "spec.approved", false) &&
	    !is_recorded(s))
		record_approval(s);
}

/* Given or taken back before it could be asked for: recorded when it is seen. */
static void follow_approval(struct strategy_pass *s)
{
	bool approved = obj_flag(s->ref->o, "spec.approved", false);
	if (!approved && s->approval)
		withdraw_approval(s);
	else if (s->digest)
		strategy_note_approval(s);
}

static bool has_expired(const struct strategy_pass *s)
{
	int64_t at;
	const char *text = obj_str(s->approval, "expires");
	return text && clock_parse(str_of(text), &at) && at <= s->v->now_ns;
}

static bool is_approved(struct strategy_pass *s, const char **ret_reason, const char **ret_message)
{
	if (!obj_flag(s->ref->o, "spec.approved", false)) {
		if (s->approval)
			withdraw_approval(s);
		const char *more = strategy_permissions_text(s);
		*ret_reason = *more ? "PermissionIncrease" : "ApprovalRequired";
		*ret_message = arena_fmt(s->v->a, "mode %s: approve plan %s%s%s", s->app->mode,
					 s->digest, *more ? ", which " : "", more);
		return false;
	}
	if (!is_recorded(s))
		record_approval(s);
	if (!cstr_eq(obj_str(s->approval, "digest"), s->digest)) {
		*ret_reason = "ApprovalStale";
		*ret_message = arena_fmt(s->v->a, "approved plan %s, the plan is now %s",
					 obj_str(s->approval, "digest"), s->digest);
		return false;
	}
	if (has_expired(s)) {
		*ret_reason = "ApprovalExpired";
		*ret_message = "approved, but not begun in time";
		return false;
	}
	return true;
}

/* Deadlines run since a condition turned: those of an earlier attempt must not stay. */
static void forget_earlier_attempt(struct strategy_pass *s)
{
	static const char *const earlier[] = {"Applied", "Available", "Verified", "OwnershipMoved",
					      "RolledBack"};
	for (size_t i = 0; i < ARRAY_LEN(earlier); i++)
		condition_remove(s->conditions, earlier[i]);
	strategy_condition(s, "Applied", "False", "Installing", "");
}

static void decision(struct strategy_pass *s, const char *reason, const char *verdict,
		     const char *detail)
{
	struct obj *body = obj_map();
	obj_set_str(body, "verdict", verdict);
	obj_set_str(body, "message", detail);
	obj_set_str(body, "plan", s->digest);
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	struct action *x = plan_row(s->plan, "Decision", s->ref->o, reason,
				    arena_fmt(s->v->a, "%s %s", reason, s->digest), body);
	x->chain = s->app->name;
}

int strategy_approve(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	struct strategy_pass *s = strategy_pass(v);
	const char *reason = NULL, *message = NULL;
	if (!strategy_is_planning(s))
		return STEP_CONTINUE;
	const char *more = strategy_permissions_text(s);
	if (needs_approval(s) && !is_approved(s, &reason, &message)) {
		decision(s, reason, "wait",
			 arena_fmt(v->a, "mode %s%s%s", s->app->mode, *more ? ", " : "", more));
		strategy_enter(s, PHASE_AWAITING, "Approved", reason, message);
		return STEP_CONTINUE;
	}
	if (needs_approval(s))
		strategy_condition(s, "Approved", "True", "Approved",
				   obj_str(s->ref->o, "spec.approvalReason"));
	else
		strategy_condition(s, "Approved", "True",
				   *more ? "PermissionIncrease" : "NotNeeded", more);
	forget_earlier_attempt(s);
	strategy_enter(s, PHASE_INSTALLING, NULL, "Installing",
		       arena_fmt(v->a, "plan %s%s%s", s->digest, *more ? ", " : "", more));
	return STEP_CONTINUE;
}
