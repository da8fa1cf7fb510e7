/*
 * Loop 4, first half: a Catalog is read when its spec changes, its folder changes or its interval
 * is over. Reading, parsing and the swap of the one pointer are the executor's work (source.c);
 * here is when, and what the status says (lifecycle.md 1.4).
 */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/decision.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/app/spec_seen.h"
#include "alm/controllers/work/watched.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define INTERVAL_NS_MIN NS_PER_S

static const struct outcome *sync_outcome(const struct view *v, const struct obj *o)
{
	return view_outcome(
		v, arena_fmt(v->a, "sync:%s:%lld", meta_uid(o), (long long)meta_generation(o)));
}

/* A tenth to either side, another one each time, so that many catalogs of one server do not ask
 * together; the same for the same sync, as a reconcile may look several times. */
static int64_t jittered(int64_t interval, const struct obj *o, const struct outcome *out,
			struct arena *a)
{
	unsigned char h[SHA256_BYTES];
	const char *uid = meta_uid(o);
	sha256(str_of(arena_fmt(a, "%s %lld", uid ? uid : "", (long long)out->at_ns)), h);
	return interval / 100 * (90 + (h[0] * 21) / 256);
}

static int64_t interval_of(const struct obj *o)
{
	int64_t ns = 5 * NS_PER_MIN;
	struct error ignored;
	const char *text = obj_str(o, "spec.interval");
	if (text)
		(void)duration_parse(str_of(text), &ns, &ignored);
	return ns < INTERVAL_NS_MIN ? INTERVAL_NS_MIN : ns;
}

/* The quarantined revision was accepted since it was refused: read at once. */
static bool is_accepted(const struct obj *o, const struct outcome *out)
{
	const char *accepted = meta_annotation(o, "app.coreos.com/accept-digest");
	return accepted && out->code &&
	       (out->reason == REASON_SUSPICIOUS_SHRINK || out->reason == REASON_CATALOG_STALE) &&
	       cstr_eq(accepted, obj_str(out->value, "badDigest"));
}

static int catalog_fetch(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	(void)err;
	const struct obj *o = view_get(v, WATCH_CATALOG, key);
	if (!o || meta_is_deleting(o))
		return STEP_STOP;
	*v->pass = mem_unconst(o);
	if (v->settings->foreign &&
	    obj_i64(o, "status.observedGeneration", 0) != meta_generation(o))
		spec_seen_once(v, plan, o);
	const struct outcome *out = sync_outcome(v, o);
	int64_t interval = interval_of(o), age = out ? v->now_ns - out->at_ns : 0;
	if (out)
		interval = jittered(interval, o, out, v->a);
	if (out && age >= 0 && age < interval && !is_accepted(o, out)) {
		plan_requeue_after(plan, interval - age);
		return STEP_CONTINUE;
	}
	struct action *x = plan_work(
		plan, &sync_work,
		arena_fmt(v->a, "sync:%s:%lld", meta_uid(o), (long long)meta_generation(o)));
	x->key = arena_strdup(v->a, key);
	x->body = o;
	x->subject = o;
	return out ? STEP_CONTINUE : STEP_STOP;
}

static void set_condition(const struct view *v, const struct obj *o, struct obj *list,
			  const char *type, const char *status, const char *reason,
			  const char *message)
{
	struct condition c = {.type = type,
			      .status = status,
			      .reason = reason,
			      .message = message,
			      .observed_generation = meta_generation(o)};
	condition_set(list, &c, v->now_ns);
}

static const char *failure_reason(const struct outcome *out)
{
	if (out->reason)
		return error_reason_text(out->reason);
	switch (out->code) {
	case E_LIMIT:
		return "LimitExceeded";
	case E_INVALID:
	case E_BADREQUEST:
	case E_UNSUPPORTED:
		return "ParseError";
	case E_REFUSED:
		return "RedirectRefused";
	case E_NOTALLOWED:
		return "SourceNotAllowed";
	case E_UNAUTHORIZED:
	case E_FORBIDDEN:
		return "Unauthorized";
	default:
		return "SourceUnreachable";
	}
}

/* lastSync is the time of the last change of revision or health, not of the last poll: idle means
 * no writes. */
static void set_facts(const struct view *v, const struct obj *o, const struct outcome *out,
		      struct obj *status)
{
	static const char *const counts[] = {"packages", "versions"};
	const char *revision = obj_str(out->value, "digest");
	char now[CLOCK_TEXT_MAX];
	clock_format(v->now_ns, CLOCK_SECONDS, now);
	if (!cstr_eq(revision, obj_str(o, "status.digest")) || condition_is(o, "Synced", "False") ||
	    !obj_str(o, "status.lastSync"))
		obj_set_str(status, "lastSync", now);
	obj_set_str(status, "digest", revision);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		obj_set_int(status, counts[i], obj_i64(out->value, counts[i], 0));
	const struct obj *names = obj_get(out->value, "packageNames");
	obj_del(status, "packageNames");
	if (obj_len(names))
		obj_set(status, "packageNames", obj_ref(names));
	obj_del(status, "rejected");
	obj_del(status, "rejectedOmitted");
	const struct obj *rejected = obj_get(out->value, "rejected");
	int64_t omitted = obj_i64(out->value, "nRejected", 0) - (int64_t)obj_len(rejected);
	if (obj_len(rejected))
		obj_set(status, "rejected", obj_ref(rejected));
	if (omitted > 0)
		obj_set_int(status, "rejectedOmitted", omitted);
}

/* What is not used, and why; gone with the next good revision. */
static void set_quarantined(const struct view *v, const struct obj *o, const struct outcome *out,
			    struct obj *status)
{
	const char *digest = obj_str(out->value, "badDigest");
	const char *known = obj_str(o, "status.quarantined.digest");
	const char *since = obj_str(o, "status.quarantined.since");
	char now[CLOCK_TEXT_MAX];
	if (!out->code)
		obj_del(status, "quarantined");
	if (!out->code || !digest)
		return;
	clock_format(v->now_ns, CLOCK_SECONDS, now);
	struct obj *q = obj_map();
	obj_set_str(q, "digest", digest);
	obj_set_str(q, "reason", failure_reason(out));
	obj_set_str(q, "since", since && cstr_eq(known, digest) ? since : now);
	obj_set(status, "quarantined", q);
}

/* A revision that is not used is a decision of its own, and so is the end of that. */
static void decide_quarantine(const struct view *v, const struct obj *o, const struct outcome *out,
			      struct plan *plan)
{
	const char *bad = obj_str(out->value, "badDigest");
	const char *known = obj_str(o, "status.quarantined.digest");
	const char *accepted = meta_annotation(o, "app.coreos.com/accept-digest");
	const char *used = obj_str(out->value, "digest"), *key, *reason = "Quarantined";
	struct obj *body;
	if (out->code ? !bad : !known)
		return;
	if (out->code) {
		body = decision_body(failure_reason(out), "deny", out->msg);
		obj_set_str(body, "digest", bad);
		key = arena_fmt(v->a, "Quarantined %s %s", bad, failure_reason(out));
	} else {
		bool is_it = cstr_eq(accepted, known) && cstr_eq(used, known);
		reason = "QuarantineEnded";
		body = decision_body(is_it ? "Accepted" : "GoodRevision", "allow",
				     is_it ? "annotation app.coreos.com/accept-digest names it"
					   : "a good revision came");
		obj_set_str(body, "digest", used);
		key = arena_fmt(v->a, "QuarantineEnded %s", known);
	}
	struct action *x = plan_row(plan, "Decision", o, reason, key, body);
	x->chain = arena_fmt(v->a, "catalog:%s", meta_name(o));
}

static int catalog_status(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)key;
	(void)err;
	const struct obj *o = *v->pass;
	const struct outcome *out = sync_outcome(v, o);
	const struct obj *old = obj_get(o, "status"),
			 *conditions = obj_path(o, "status.conditions");
	struct obj *status = obj_copy_map(old);
	struct obj *list = obj_keep(v->a, obj_copy_list(conditions));
	const char *was = condition_is(o, "Synced", "True") ? "Synced" : "";
	const char *state = out->code ? failure_reason(out) : "Synced";
	obj_set_int(status, "observedGeneration", meta_generation(o));
	if (!out->code)
		set_facts(v, o, out, status);
	set_quarantined(v, o, out, status);
	decide_quarantine(v, o, out, plan);
	int64_t n_rejected = obj_i64(out->value, "nRejected", 0);
	set_condition(v, o, list, "Synced", out->code ? "False" : "True", state,
		      out->code ? out->msg : "");
	if (n_rejected)
		set_condition(v, o, list, "EntriesRejected", "True", "EntriesRejected",
			      arena_fmt(v->a, "%lld entries, see status.rejected",
					(long long)n_rejected));
	else
		condition_remove(list, "EntriesRejected");
	obj_set(status, "conditions", obj_ref(list));
	struct action *x = status_plan(plan, o, status, was, out->code ? "" : "Synced", out->msg);
	if (!x)
		return STEP_CONTINUE;
	if (out->code)
		x->reason = condition_is(o, "Synced", "False") ? "Refreshed" : state;
	x->chain = arena_fmt(v->a, "catalog:%s", meta_name(o));
	if (strcmp(x->reason, "Refreshed") != 0)
		x->event_type = out->code ? "Warning" : "Normal";
	return STEP_CONTINUE;
}

static const struct watch_rule watches[] = {
	{WATCH_CATALOG, key_self, MEANS_KEY},
	{0},
};

static const struct step steps[] = {
	{"fetch", catalog_fetch}, /* when it is due; the executor parses and swaps */
	{"status", catalog_status},
	{0},
};

const struct controller catalog_controller = {
	.name = "catalog", .reads_sources = true, .watches = watches, .steps = steps};
