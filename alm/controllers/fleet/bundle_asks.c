#include "alm/controllers/fleet/bundle_asks.h"

#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/controllers/app/asks.h"
#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_steer.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define ASKED_BYTES_MAX 8192
#define DOES_NOTHING    ", and does nothing"

/* asked, or in its place its digest: an entry gives what is large away, and could not be compared any more. */
static const struct obj *comparable(const struct view *v, const struct obj *asked)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ASKED_BYTES_MAX);
	char digest[SHA256_HEX];
	json_print(asked, &b);
	if (!b.over)
		return asked;
	struct obj *o = obj_keep(v->a, obj_map());
	json_digest(asked, digest);
	obj_set_str(o, "digest", digest);
	return o;
}

/* asked: what makes it another one than the last of this reason. NULL: it is not. */
static struct action *add(const struct view *v, const struct obj *o, struct plan *plan,
			  const char *reason, const char *path, const struct obj *asked,
			  const char *why)
{
	struct obj *last =
		v->ops->last_reason(v->ops_arg, "Approval", reason, "Bundle", meta_name(o));
	if (last)
		obj_keep(v->a, last);
	asked = comparable(v, asked);
	bool mine = cstr_eq(obj_str(last, "subject.uid"), meta_uid(o));
	const struct obj *before = mine ? obj_path(last, "body.asked") : NULL;
	if (before ? obj_equal(before, asked) : !obj_len(asked))
		return NULL;
	struct obj *body = obj_map();
	obj_set_str(body, "trigger", "Spec");
	obj_set_str(body, "justification", why);
	obj_set_int(body, "generation", meta_generation(o));
	obj_set(body, "asked", obj_ref(asked));
	struct action *x = plan_row(plan, "Approval", o, reason, NULL, body);
	const char *manager = meta_last_manager(o, NULL);
	x->chain = arena_fmt(v->a, "bundle:%s", meta_name(o));
	x->actor = x->actor_via = manager ? manager : "unknown";
	x->touches = path;
	return x;
}

/* The reason that was given with this change, not one that was left from another. */
static const char *reason_of(const struct view *v, const struct obj *o)
{
	const char *generation = arena_fmt(v->a, "%lld", (long long)meta_generation(o));
	return cstr_eq(meta_annotation(o, ANNOTATION_REASON_FOR), generation)
		       ? meta_annotation(o, ANNOTATION_REASON)
		       : NULL;
}

/* Nothing is accepted and ignored in silence. why NULL: it does something. */
static void tell_idle(const struct view *v, struct action *x, const char *why, const char *does)
{
	if (!why)
		return;
	x->event_type = "Warning";
	x->message = arena_fmt(v->a, "%s%s", why, does);
	struct obj *body = obj_keep(v->a, obj_copy(x->body));
	obj_set_str(body, "message", x->message);
	x->body = body;
}

static const char *is_stale(const struct view *v, const struct obj *o, const struct obj *asked,
			    const struct bundle_now *now)
{
	const char *plan = now->job ? now->job->unit->digest : obj_str(now->read, "digest");
	CLEANUP(obj_unrefp) struct obj *said =
		now->job || !v->ops->said ? NULL : v->ops->said(v->ops_arg, meta_uid(o));
	const char *since = now->job ? now->since : bundle_steer_resumes(said, plan);
	return bundle_steer_holds(asked, plan, since)
		       ? NULL
		       : "it is not of the rollout that goes on (status.revisionDigest, "
			 "status.rollingSince)";
}

/* What is shown, what is run, or what is read and about to be: any of them may be meant. */
static const char *is_unpruned(const struct view *v, const struct obj *o, const struct obj *asked,
			       const struct bundle_now *now)
{
	const char *orphans = obj_str(asked, "orphans");
	const struct obj *const known[] = {now->job ? now->source : NULL, now->read};
	const char *why = bundle_steer_unpruned(o, obj_str(o, "status.commit"),
						obj_str(o, "status.revisionDigest"));
	(void)v;
	if (orphans)
		return cstr_eq(orphans, obj_str(o, "status.orphansDigest"))
			       ? NULL
			       : "orphans is not status.orphansDigest";
	for (size_t i = 0; why && i < ARRAY_LEN(known); i++)
		if (known[i] && !bundle_steer_unpruned(o, obj_str(known[i], "commit"),
						       obj_str(known[i], "digest")))
			why = NULL;
	return why;
}

bool bundle_is_asked(const struct obj *bundle, const char *begun)
{
	const char *asked = meta_annotation(bundle, ANNOTATION_RETRY);
	return asked && *asked && !cstr_eq(asked, begun);
}

static void retry_plan(const struct view *v, const struct obj *o, struct plan *plan)
{
	static const char *const rests[] = {"Synced", "Degraded", "AwaitingApproval"};
	struct obj *asked = obj_keep(v->a, obj_map());
	const char *retry = meta_annotation(o, ANNOTATION_RETRY);
	if (!retry || !*retry)
		return;
	obj_set_str(asked, "retry", retry);
	struct action *x =
		add(v, o, plan, "RetryAsked", "metadata.annotations", asked, reason_of(v, o));
	const char *state = obj_str(o, "status.state");
	bool reads = !obj_flag(o, "spec.paused", false);
	for (size_t i = 0; x && i < ARRAY_LEN(rests); i++)
		if (cstr_eq(state, rests[i]))
			tell_idle(v, x, arena_fmt(v->a, "it is %s", state),
				  reads ? ": its source is read at once, and nothing is tried again"
					: DOES_NOTHING);
}

void bundle_asks_plan(const struct view *v, const struct obj *o, const struct bundle_now *now,
		      struct plan *plan)
{
	static const struct {
		const char *path, *reason;
		const char *(*idle)(const struct view *v, const struct obj *o,
				    const struct obj *asked, const struct bundle_now *now);
	} rows[] = {
		{"spec.approvals.prune", "PruneApproved", is_unpruned},
		{"spec.approvals.canary", "CanaryApproved", is_stale},
		{"spec.skipAnalysis", "AnalysisSkipped", is_stale},
		{"spec.abort", "AbortAsked", is_stale},
	};
	if (!v->ops->last_reason)
		return;
	retry_plan(v, o, plan);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct obj *asked = obj_path(o, rows[i].path);
		struct action *x = asked ? add(v, o, plan, rows[i].reason, rows[i].path, asked,
					       obj_str(asked, "reason"))
					 : NULL;
		if (x)
			tell_idle(v, x, rows[i].idle(v, o, asked, now), DOES_NOTHING);
	}
	struct obj *pin = obj_keep(v->a, obj_map());
	obj_set_str(pin, "commit", obj_str(o, BUNDLE_PIN));
	(void)add(v, o, plan, "RollbackAsked", BUNDLE_PIN, pin, reason_of(v, o));
}

void bundle_rewritten_plan(const struct view *v, const struct obj *o, const struct obj *source,
			   struct plan *plan)
{
	const char *commit = obj_str(source, "commit");
	struct obj *last = v->ops->last_reason
				   ? v->ops->last_reason(v->ops_arg, "Observe", "HistoryRewritten",
							 "Bundle", meta_name(o))
				   : NULL;
	if (last)
		obj_keep(v->a, last);
	if (!v->ops->last_reason || !commit ||
	    (cstr_eq(obj_str(last, "subject.uid"), meta_uid(o)) &&
	     cstr_eq(obj_str(last, "body.source.commit"), commit)))
		return;
	const char *text =
		arena_fmt(v->a, "what was applied before is no ancestor of %.12s", commit);
	struct obj *body = obj_map();
	obj_set(body, "source", obj_ref(source));
	obj_set_str(body, "message", text);
	struct action *x = plan_row(plan, "Observe", o, "HistoryRewritten", NULL, body);
	x->chain = arena_fmt(v->a, "bundle:%s", meta_name(o));
	x->event_type = "Warning";
	x->message = text;
}
