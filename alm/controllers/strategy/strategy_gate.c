#include "alm/controllers/strategy/strategy_gate.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/strategy/strategy_definition.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/live/live_gate.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/gate/usage.h"
#include "catalog/gate/waivers.h"

#define RECHECK_MIN_NS (2 * NS_PER_S)
#define RECHECK_MAX_NS NS_PER_MIN
#define RECHECK_FACTOR 10 /* times what the last check took */
/* Of all definitions, in status.plan; the log has every one. */
#define FINDINGS_LISTED_MAX 100
#define FINDINGS_BYTES_MAX  ((size_t)64 << 10)

static const char *outcome_id(const struct strategy_pass *s, const struct unit_entry *e)
{
	return arena_fmt(s->v->a, "gate:%s:r%lld:%s", meta_uid(s->ref->o), (long long)s->revision,
			 e->name);
}

static struct obj *strings(const char *const *names)
{
	struct obj *list = obj_list();
	for (; names && *names; names++)
		obj_append(list, obj_string(*names));
	return list;
}

/* Those in force, and when the next of them ends. */
static struct obj *waivers(const struct strategy_pass *s, int64_t *ret_next_ns)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < s->app->in.n_waivers; i++) {
		const struct resolve_waiver *w = &s->app->in.waivers[i];
		if (w->expires_ns && w->expires_ns <= s->v->now_ns)
			continue;
		if (w->expires_ns && (!*ret_next_ns || w->expires_ns < *ret_next_ns))
			*ret_next_ns = w->expires_ns;
		struct obj *o = obj_map();
		obj_set_str(o, "rule", w->rule);
		obj_set_str(o, "resource", w->resource);
		obj_set_str(o, "path", w->path);
		obj_set_str(o, "reason", w->reason);
		obj_set_int(o, "expiresNs", w->expires_ns);
		obj_append(list, o);
	}
	return list;
}

/* What of the live definition the outcome rests on. */
static struct obj *live_facts(const struct obj *live)
{
	struct obj *o = obj_map();
	const struct obj *stored = obj_path(live, "status.storedVersions");
	const struct obj *notes = obj_path(live, "metadata.annotations");
	obj_set_str(o, "uid", meta_uid(live));
	obj_set_int(o, "generation", meta_generation(live));
	if (stored)
		obj_set(o, "stored", obj_ref(stored));
	OBJ_EACH (it, notes)
		if (cstr_has_prefix(it.key, USAGE_MIGRATED_PREFIX))
			obj_set(o, it.key, obj_ref(it.value));
	return o;
}

static uint64_t objects_version(const struct strategy_pass *s, const struct unit_entry *e)
{
	const struct view_ops *ops = s->v->ops;
	const char *group = obj_str(e->object, "spec.group");
	const char *plural = obj_str(e->object, "spec.names.plural");
	if (!ops->instances_version || !group || !plural || !e->live)
		return 0;
	return ops->instances_version(s->v->ops_arg, group, plural);
}

static struct obj *request_for(const struct strategy_pass *s, const struct install_plan *p,
			       const struct unit_entry *e, bool handoff, int64_t *ret_next_ns)
{
	char hex[SHA256_HEX];
	struct obj *q = obj_map();
	const struct app *app = s->app;
	bool replaces = app->installed && app->installed != s->ref;
	obj_set(q, "managedBefore",
		strings(replaces ? (const char *const *)app->installed->managed : NULL));
	obj_set(q, "managedAfter", strings((const char *const *)s->ref->managed));
	obj_set(q, "waivers", waivers(s, ret_next_ns));
	obj_set_str(q, "digest", e->digest);
	obj_set(q, "live", live_facts(e->live));
	json_digest(q, hex);
	obj_set_str(q, "inputs", hex);
	obj_del(q, "live");
	obj_set(q, "crd", install_plan_decorate(s->v, app, s->ref, p, e, handoff));
	if (app->account.is_default)
		obj_set_str(q, "owner", app->self_ref);
	obj_set_int(q, "objectsVersion", (int64_t)objects_version(s, e));
	return q;
}

/* The objects could not be read to their end: that may pass without a change of any of them. */
static bool is_incomplete(const struct outcome *o)
{
	const struct obj *found = obj_get(o->value, "findings");
	for (size_t i = 0; i < obj_len(found); i++)
		if (cstr_eq(obj_str(obj_at(found, i), "rule"), "LiveCheckIncomplete"))
			return true;
	return false;
}

/* The objects changed since: worth another look, but not at once after each change. Without an
 * informer of them only time tells. ENDED: it holds until something changes. */
static enum ensured await_recheck(const struct strategy_pass *s, const struct unit_entry *e,
				  const struct outcome *o, bool refused)
{
	int64_t wait = clock_ns(obj_i64(o->value, "durationMs", 0), RECHECK_FACTOR * NS_PER_MS);
	uint64_t version = objects_version(s, e);
	bool incomplete = is_incomplete(o);
	bool same = version && version == (uint64_t)obj_i64(o->value, "objectsVersion", 0);
	int64_t max = incomplete ? NS_PER_HOUR : RECHECK_MAX_NS;
	if (!e->live || (same && !incomplete) || (!version && !refused))
		return ENDED;
	if (wait < RECHECK_MIN_NS)
		wait = RECHECK_MIN_NS;
	if (wait > max || (!version && !incomplete))
		wait = max;
	return plan_await(s->plan, o->at_ns + wait - s->v->now_ns);
}

static bool is_refused(const struct outcome *o)
{
	return cstr_eq(obj_str(o->value, "outcome"), "refuse");
}

/* The outcome that holds now; NULL: asked for. */
static const struct outcome *outcome_of(struct strategy_pass *s, const struct unit_entry *e)
{
	int64_t next_ns = 0;
	const char *id = outcome_id(s, e);
	const struct outcome *o = view_outcome(s->v, id);
	struct obj *q = obj_keep(s->v->a, request_for(s, s->install, e, false, &next_ns));
	if (next_ns)
		plan_requeue_after(s->plan, next_ns - s->v->now_ns);
	if (o && !o->code && cstr_eq(obj_str(o->value, "inputs"), obj_str(q, "inputs")) &&
	    await_recheck(s, e, o, is_refused(o)) != DONE)
		return o;
	plan_gate(s->plan, id, obj_ref(q));
	return NULL;
}

static bool is_to_write(const struct strategy_pass *s, const struct unit_entry *e)
{
	return e->is_crd && !strategy_crd_is_placed(s, e) && !strategy_has_newer_crd(s, e) &&
	       !strategy_crd_is_taken(s, e);
}

/* --- planning --- */

static void add_findings(struct obj *list, struct obj *keys, const struct outcome *o)
{
	const struct obj *found = obj_get(o->value, "findings");
	static const char *const members[] = {"rule",   "resource", "path",
					      "before", "after",    "outcome"};
	for (size_t i = 0; i < obj_len(found); i++) {
		struct obj *k = obj_map();
		for (size_t m = 0; m < ARRAY_LEN(members); m++)
			obj_set_str(k, members[m], obj_str(obj_at(found, i), members[m]));
		obj_append(list, obj_ref(obj_at(found, i)));
		obj_append(keys, k);
	}
}

/* Returns how many of them are only counted. */
static int64_t add_refusals(struct obj *list, const struct outcome *o)
{
	const struct obj *found = obj_get(o->value, "refusals");
	size_t i = 0;
	for (; i < obj_len(found) && obj_len(list) < WAIVERS_MAX; i++)
		obj_append(list, obj_ref(obj_at(found, i)));
	return obj_i64(o->value, "refusalsOmitted", 0) + (int64_t)(obj_len(found) - i);
}

static struct obj *judgement(const char *crd, const char *digest)
{
	struct obj *o = obj_map();
	obj_set_str(o, "crd", crd);
	obj_set_str(o, "digest", digest);
	return o;
}

/* Those of one outcome, as far as there is room. */
static void list_findings(const struct obj *all, const char *outcome, size_t *bytes,
			  struct obj *list)
{
	for (size_t i = 0; i < obj_len(all); i++) {
		const struct obj *f = obj_at(all, i);
		if (!cstr_eq(obj_str(f, "outcome"), outcome))
			continue;
		CLEANUP(xfreep) char *text = json_text(f);
		*bytes += strlen(text);
		if (*bytes > FINDINGS_BYTES_MAX || obj_len(list) == FINDINGS_LISTED_MAX)
			return;
		obj_append(list, obj_ref(f));
	}
}

void strategy_set_findings(const struct strategy_pass *s, struct obj *plan)
{
	static const char *const weightiest_first[] = {"refuse", "warn", "waived", "allow"};
	struct obj *list = obj_list();
	size_t bytes = 0;
	for (size_t i = 0; i < ARRAY_LEN(weightiest_first); i++)
		list_findings(s->findings, weightiest_first[i], &bytes, list);
	bool all = obj_len(list) == obj_len(s->findings);
	int64_t omitted = s->n_unlisted + (int64_t)(obj_len(s->findings) - obj_len(list));
	if (obj_len(list))
		obj_set(plan, "findings", obj_ref(all ? s->findings : list));
	if (omitted)
		obj_set_int(plan, "findingsOmitted", omitted);
	if (obj_len(s->judged))
		obj_set(plan, "judged", obj_ref(s->judged));
	if (obj_len(s->waivers))
		obj_set(plan, "waivers", obj_ref(s->waivers));
	obj_unref(list);
}

static const char *unused_text(const struct outcome *o, const char *text, struct arena *a)
{
	const struct obj *unused = obj_get(o->value, "unusedWaivers");
	for (size_t i = 0; i < obj_len(unused); i++)
		text = arena_fmt(a, "%s%swaiver %s", text, *text ? "; " : "",
				 obj_as_string(obj_at(unused, i)));
	return text;
}

/* One entry per outcome: what was found, and each waiver that was used. What is refused goes no further, so
 * that is a Decision; what passes comes before that of the approval in each reconcile, and each would be
 * another outcome than the last. */
static void findings_row(struct strategy_pass *s, const char *verdict, const char *message)
{
	char hex[SHA256_HEX];
	if (!obj_len(s->findings))
		return;
	struct obj *body = obj_map();
	json_digest(s->finding_keys, hex);
	obj_set(body, "findings", obj_ref(s->findings));
	if (cstr_eq(verdict, "deny")) {
		strategy_deny(s, "GateRefused", "CRDIncompatible", message, hex, body);
		return;
	}
	obj_set_str(body, "what", "CRDJudged");
	obj_set_str(body, "verdict", verdict);
	obj_set_str(body, "message", message);
	obj_set_path(body, "version.to", obj_string(s->ref->version));
	struct action *x = plan_row(s->plan, "Observe", s->ref->o, "CRDJudged",
				    arena_fmt(s->v->a, "%s %s", verdict, hex), body);
	x->chain = s->app->name;
	x->advances = false;
}

/* One command for all of them, whatever definition they are about. */
static void add_remedies(struct strategy_pass *s, const struct obj *refusals, size_t n_unlisted)
{
	const struct waivers_input in = {.app = s->app->name,
					 .version = s->ref->version,
					 .old = obj_path(s->app->o, "spec.upgrade.waivers"),
					 .refusals = refusals,
					 .n_unlisted = n_unlisted};
	s->waivers = obj_keep(s->v->a, waivers_steps(&in, s->v->a, s->steps));
}

static bool has_outcome(const struct strategy_pass *s, const char *outcome)
{
	for (size_t i = 0; i < obj_len(s->findings); i++)
		if (cstr_eq(obj_str(obj_at(s->findings, i), "outcome"), outcome))
			return true;
	return false;
}

bool strategy_has_warnings(const struct strategy_pass *s)
{
	return has_outcome(s, "warn");
}

static enum ensured conclude(struct strategy_pass *s, const char *refusal, const char *unused)
{
	const char *text = refusal;
	if (refusal) {
		if (*unused) /* one that was meant for this */
			text = arena_fmt(s->v->a, "%s; %s", refusal, unused);
		s->digest = NULL;
		findings_row(s, "deny", text);
		return strategy_enter(s, PHASE_BLOCKED, "CRDCompatible", "CRDIncompatible", text);
	}
	for (size_t i = 0; i < obj_len(s->findings); i++)
		if (cstr_eq(obj_str(obj_at(s->findings, i), "outcome"), "warn")) {
			text = obj_str(obj_at(s->findings, i), "message");
			break;
		}
	if (!text)
		text = *unused ? unused : "";
	findings_row(s, has_outcome(s, "warn") ? "warn" : "allow", text);
	strategy_condition(s, "CRDCompatible", "True",
			   has_outcome(s, "warn")     ? "Warnings"
			   : has_outcome(s, "waived") ? "Waived"
						      : "Compatible",
			   text);
	if (s->judged_anew) /* the resolver chooses anew, now that it passes */
		return strategy_enter(s, PHASE_PENDING, NULL, "Pending", "what blocked it is gone");
	return DONE;
}

enum ensured strategy_judge_crds(struct strategy_pass *s)
{
	struct arena *a = s->v->a;
	const char *refusal = NULL, *unused = "";
	bool all = true;
	struct obj *findings = obj_keep(a, obj_list()), *keys = obj_keep(a, obj_list());
	struct obj *judged = obj_keep(a, obj_list()), *refusals = obj_keep(a, obj_list());
	int64_t n_unlisted = 0, n_refused_unlisted = 0;
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (!is_to_write(s, e))
			continue;
		const struct outcome *o = outcome_of(s, e);
		all = all && o;
		if (!o)
			continue;
		add_findings(findings, keys, o);
		n_unlisted += obj_i64(o->value, "omitted", 0);
		n_refused_unlisted += add_refusals(refusals, o);
		obj_append(judged,
			   judgement(e->name, live_gate_key(obj_get(o->value, "findings"), a)));
		unused = unused_text(o, unused, a);
		if (is_refused(o) && !refusal)
			refusal = obj_str(o->value, "text");
	}
	if (!all)
		return strategy_wait(s);
	s->findings = findings;
	s->finding_keys = keys;
	s->judged = judged;
	s->n_unlisted = n_unlisted;
	if (refusal)
		add_remedies(s, refusals, (size_t)n_refused_unlisted);
	return conclude(s, refusal, unused);
}

/* What is approved, and applied. */
enum ensured strategy_seal_plan(struct strategy_pass *s)
{
	s->digest = install_plan_digest(s->v, s->install, s->app, s->finding_keys, s->permissions);
	strategy_condition(s, "PlanReady", "True", "Planned",
			   arena_fmt(s->v->a, "%zu objects", s->install->n));
	strategy_condition(s, "RequirementsMet", "True", "RequirementsMet", s->lacks);
	return DONE;
}

/* --- writing --- */

/* The findings the plan was begun with, of this definition. */
static const char *planned_key(const struct strategy_pass *s, const struct unit_entry *e)
{
	const struct obj *judged = obj_path(s->ref->o, "status.plan.judged");
	for (size_t i = 0; i < obj_len(judged); i++)
		if (cstr_eq(obj_str(obj_at(judged, i), "crd"), e->name))
			return obj_str(obj_at(judged, i), "digest");
	/* A plan of before judged was kept: its list had all findings. */
	const struct obj *all = obj_path(s->ref->o, "status.plan.findings");
	CLEANUP(obj_unrefp) struct obj *own = obj_list();
	size_t n = strlen(e->name);
	for (size_t i = 0; i < obj_len(all); i++) {
		const char *resource = obj_str(obj_at(all, i), "resource");
		if (resource && !strncmp(resource, e->name, n) &&
		    (!resource[n] || resource[n] == '/'))
			obj_append(own, obj_ref(obj_at(all, i)));
	}
	return live_gate_key(own, s->v->a);
}

static enum ensured void_plan(struct strategy_pass *s, const char *message)
{
	strategy_condition(s, "CRDCompatible", "Unknown", "PlanVoid", message);
	return strategy_enter(s, PHASE_PENDING, NULL, "PlanVoid", message);
}

/* The newest outcome is not the one the plan was made with: it is void (lifecycle.md 3). So it is
 * when somebody else made the definition meanwhile. */
enum ensured strategy_keep_judgement(struct strategy_pass *s)
{
	for (size_t i = 0; i < s->install->n; i++) {
		const struct unit_entry *e = &s->install->entries[i];
		if (strategy_crd_is_taken(s, e))
			return void_plan(s, arena_fmt(s->v->a, "CRD %s is not this app's any more",
						      e->name));
		const struct outcome *o =
			is_to_write(s, e) ? view_outcome(s->v, outcome_id(s, e)) : NULL;
		if (!o || o->code)
			continue;
		const char *key = live_gate_key(obj_get(o->value, "findings"), s->v->a);
		if (!strcmp(key, planned_key(s, e)) && !is_refused(o))
			continue;
		const char *text = obj_str(o->value, "text");
		return void_plan(s, arena_fmt(s->v->a, "%s is judged otherwise now: %s", e->name,
					      text ? text : obj_str(o->value, "outcome")));
	}
	return DONE;
}

void strategy_write_crd(struct strategy_pass *s, const struct install_plan *p,
			const struct unit_entry *e, bool handoff, bool planned)
{
	int64_t next_ns = 0;
	const struct outcome *o = view_outcome(s->v, outcome_id(s, e));
	struct obj *q = obj_keep(s->v->a, request_for(s, p, e, handoff, &next_ns));
	if (!planned && o && !o->code && is_refused(o) &&
	    cstr_eq(obj_str(o->value, "inputs"), obj_str(q, "inputs")) &&
	    await_recheck(s, e, o, true) != DONE)
		return; /* it would be refused again */
	struct action *x = plan_gate(s->plan, outcome_id(s, e), obj_ref(q));
	x->guards = true;
	x->expect = planned ? planned_key(s, e) : NULL;
	struct obj *crd = install_plan_decorate(s->v, s->app, s->ref, p, e, handoff);
	crd_moves_shape(crd, e->live, e->digest, strategy_crd_move(s, e));
	plan_apply(s->plan, crd, e->group, true);
}
