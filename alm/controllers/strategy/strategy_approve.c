#include "alm/controllers/strategy/strategy_approve.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/approver.h"
#include "alm/controllers/strategy/strategy_access.h"
#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "crds/defaults.h"

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

/* Who approved, and how that is known (audit.md 6): what a client claims stays a claim. */
struct approver {
	const char *name, *manager;
	bool known;
};

static struct approver approver_of(const struct strategy_pass *s)
{
	const char *by = obj_str(s->ref->o, "spec.approvedBy");
	const char *manager = meta_last_manager(s->ref->o, "approved");
	if (!manager)
		manager = "unknown";
	return (struct approver){by ? by : manager, manager,
				 by && approver_is_known(s->v, s->ref->o) == APPROVER_KNOWN};
}

/* status.approval: of the plan with this digest, from now on. */
static void set_approval(struct strategy_pass *s, const char *bound, const char *by,
			 const char *trust)
{
	char now[CLOCK_TEXT_MAX], until[CLOCK_TEXT_MAX];
	int64_t ttl = 0;
	struct error ignored;
	const char *text = obj_str(s->app->o, "spec.upgrade.approvalTTL");
	(void)duration_parse(str_of(text ? text : APPTYPE_APPROVAL_TTL), &ttl, &ignored);
	clock_format(s->v->now_ns, CLOCK_SECONDS, now);
	clock_format(s->v->now_ns + ttl, CLOCK_SECONDS, until);
	s->approval = obj_keep(s->v->a, obj_map());
	obj_set_str(s->approval, "digest", bound);
	obj_set_str(s->approval, "by", by);
	obj_set_str(s->approval, "trust", trust);
	obj_set_str(s->approval, "at", now);
	obj_set_str(s->approval, "expires", until);
}

static void describe_approval(struct strategy_pass *s, const char *bound, struct approver by)
{
	bool plain = by.known || cstr_eq(by.name, by.manager);
	set_approval(s, bound,
		     plain ? by.name
			   : arena_fmt(s->v->a, "%s (claimed by manager %s)", by.name, by.manager),
		     !by.known                 ? "managedFields"
		     : s->v->settings->foreign ? "admission"
					       : "authenticated");
}

static struct action *approval_row(struct strategy_pass *s, const char *reason, const char *bound)
{
	struct obj *body = obj_map();
	obj_set_str(body, "approves", bound);
	obj_set_str(body, "justification", obj_str(s->ref->o, "spec.approvalReason"));
	obj_set_path(body, "version.from",
		     obj_string(s->app->installed ? s->app->installed->version : ""));
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	struct approver by = approver_of(s);
	const char *trouble = by.known ? NULL : approver_trouble(s->v, s->ref->o);
	obj_set_str(body, "message", trouble);
	struct action *x = plan_row(s->plan, "Approval", s->ref->o, reason, NULL, body);
	x->chain = s->app->name;
	x->actor = arena_strdup(s->v->a, by.name);
	x->actor_via = arena_strdup(s->v->a, by.manager);
	x->actor_known = by.known;
	if (trouble) {
		x->event_type = "Warning";
		x->message = trouble;
	}
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
	describe_approval(s, bound, approver_of(s));
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
	const char *trust = obj_str(row, "body.who.trust"), *by = obj_str(row, "actor");
	const char *via = obj_str(row, "body.who.via");
	describe_approval(s, bound,
			  (struct approver){by ? by : "unknown", via ? via : "unknown",
					    trust && strcmp(trust, "managedFields") != 0});
}

/* Is the recorded approval the one the spec gives now? Another plan named, or false and true again.
 */
static bool is_recorded(const struct strategy_pass *s)
{
	const char *named = obj_str(s->ref->o, "spec.approvedPlan");
	const char *digest = obj_str(s->approval, "digest");
	return s->approval && digest && *digest && (!named || cstr_eq(named, digest));
}

/* The one that the spec gives now. Whether the name is the approver's is asked first. */
static enum ensured follow_given(struct strategy_pass *s)
{
	recall_approval(s);
	if (is_recorded(s))
		return DONE;
	if (obj_str(s->ref->o, "spec.approvedBy") &&
	    approver_is_known(s->v, s->ref->o) == APPROVER_ASKED) {
		approver_ask(s->v, s->ref->o, s->plan);
		return WAITING;
	}
	record_approval(s);
	return DONE;
}

void strategy_note_approval(struct strategy_pass *s)
{
	if (s->app && needs_approval(s) && obj_flag(s->ref->o, "spec.approved", false))
		(void)follow_given(s);
}

/* Given or taken back before it could be asked for: recorded when it is seen. */
void strategy_follow_approval(struct strategy_pass *s)
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

/* What is wanting of the approval that the spec gives; NULL: nothing. *ret_message says more. */
static const char *wants(const struct strategy_pass *s, const char **ret_message)
{
	if (!obj_flag(s->ref->o, "spec.approved", false)) {
		const char *more = strategy_permissions_text(s);
		*ret_message = arena_fmt(s->v->a, "mode %s: approve plan %s%s%s", s->app->mode,
					 s->digest, *more ? ", which " : "", more);
		return *more ? "PermissionIncrease" : "ApprovalRequired";
	}
	if (!cstr_eq(obj_str(s->approval, "digest"), s->digest)) {
		*ret_message = arena_fmt(s->v->a, "approved plan %s, the plan is now %s",
					 obj_str(s->approval, "digest"), s->digest);
		return "ApprovalStale";
	}
	*ret_message = "approved, but not begun in time";
	return has_expired(s) ? "ApprovalExpired" : NULL;
}

/* --- approval out of a manifest that lies in git: spec.upgrade.approveVersion of the AppType ---
 */

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

static void record_range(struct strategy_pass *s)
{
	const char *range = obj_str(s->app->o, "spec.upgrade.approveVersion");
	const char *last = meta_last_manager(s->app->o, "upgrade.approveVersion");
	const char *by = last ? last : "unknown";
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
	set_approval(s, s->digest, arena_fmt(s->v->a, "approveVersion (manager %s)", by),
		     "managedFields");
}

/* Names the versions whose plans need nobody, as long as there is nothing in them to decide. */
static bool is_approved_by_range(const struct strategy_pass *s)
{
	const char *range = obj_str(s->app->o, "spec.upgrade.approveVersion");
	return range && *range && is_in_range(s, range) && has_nothing_to_decide(s);
}

/* --- the steps --- */

static void decision(struct strategy_pass *s, const char *reason, const char *verdict,
		     const char *detail)
{
	struct obj *body = obj_map();
	obj_set_str(body, "verdict", verdict);
	obj_set_str(body, "message", detail);
	obj_set_str(body, "plan", s->digest);
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	strategy_decision(s, reason, s->digest, body);
}

enum ensured strategy_ensure_approved(struct strategy_pass *s)
{
	struct arena *a = s->v->a;
	const char *message = "", *more = strategy_permissions_text(s);
	if (!needs_approval(s)) {
		strategy_condition(s, "Approved", "True",
				   *more ? "PermissionIncrease" : "NotNeeded", more);
		return DONE;
	}
	if (is_approved_by_range(s)) {
		record_range(s);
		strategy_condition(s, "Approved", "True", "Approved",
				   "spec.upgrade.approveVersion");
		return DONE;
	}
	bool given = obj_flag(s->ref->o, "spec.approved", false);
	if (given && follow_given(s) == WAITING) {
		s->keep_status = true;
		return WAITING;
	}
	if (!given)
		approver_look(s->v, s->ref->o, s->plan);
	if (!given && s->approval)
		withdraw_approval(s);
	const char *reason = wants(s, &message);
	if (reason) {
		decision(s, reason, "wait",
			 arena_fmt(a, "mode %s%s%s", s->app->mode, *more ? ", " : "", more));
		return strategy_enter(s, PHASE_AWAITING, "Approved", reason, message);
	}
	strategy_condition(s, "Approved", "True", "Approved",
			   obj_str(s->ref->o, "spec.approvalReason"));
	return DONE;
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

enum ensured strategy_begin(struct strategy_pass *s)
{
	const char *more = strategy_permissions_text(s);
	forget_earlier_attempt(s);
	return strategy_enter(
		s, PHASE_INSTALLING, NULL, "Installing",
		arena_fmt(s->v->a, "plan %s%s%s", s->digest, *more ? ", " : "", more));
}
