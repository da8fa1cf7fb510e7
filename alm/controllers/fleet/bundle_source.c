#include "alm/controllers/fleet/bundle_source.h"

#include "alm/controllers/fleet/bundle_history.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

#define COMMIT_SHOWN 12

/* Not about what was read: there is none, or it is not taken. */
static bool is_about_source(const struct outcome *r)
{
	return r->reason == REASON_GIT_MISSING || r->reason == REASON_CREDENTIALS_REJECTED ||
	       r->reason == REASON_HOST_KEY_UNKNOWN || r->reason == REASON_HOST_KEY_CHANGED ||
	       r->reason == REASON_LIMIT_EXCEEDED || r->reason == REASON_BRANCH_NOT_FOUND ||
	       r->reason == REASON_SOURCE_EMPTY || r->reason == REASON_HISTORY_REWRITTEN ||
	       r->reason == REASON_SIGNATURE_INVALID || (!r->reason && r->code == E_NOTALLOWED);
}

bool bundle_source_is_told(const struct obj *o)
{
	struct condition c;
	return condition_get(o, "SourceReady", &c) &&
	       (!cstr_eq(c.status, "True") || c.observed_generation != meta_generation(o));
}

/* Said of another spec than the one that o has now. */
static void forget_former(struct obj *list, const struct obj *o, const char *type, int64_t now_ns)
{
	const struct obj *is = condition_find(list, type);
	const struct condition c = {.type = type,
				    .status = "Unknown",
				    .reason = "Fetching",
				    .message = "not read since the spec was changed",
				    .observed_generation = meta_generation(o)};
	if (cstr_eq(obj_str(is, "status"), "False") &&
	    obj_i64(is, "observedGeneration", 0) != c.observed_generation)
		condition_set(list, &c, now_ns);
}

struct obj *bundle_source_conditions(const struct obj *bundle, const struct outcome *read,
				     int64_t now_ns)
{
	struct obj *list = obj_copy_list(obj_path(bundle, "status.conditions"));
	if (!read && !meta_is_deleting(bundle)) {
		forget_former(list, bundle, "SourceReady", now_ns);
		forget_former(list, bundle, "Rendered", now_ns);
	}
	return list;
}

enum bundle_source bundle_source_of(const struct bundle_now *now, const struct outcome *r,
				    bool paused, bool told)
{
	if (!r || (!r->code && !now->read))
		return paused && now->read ? SOURCE_READ : SOURCE_UNREAD;
	if (!r->code)
		return SOURCE_READ;
	bool may_pass = r->reason == REASON_SOURCE_UNREACHABLE ||
			(!r->reason && error_retry(r->code) != RETRY_NEVER);
	bool may_fail = now->read && !told && r->failures < BUNDLE_POLLS_MAX;
	if (may_pass) /* a poll or two may fail */
		return may_fail ? SOURCE_READ : SOURCE_FAILED;
	return is_about_source(r) ? SOURCE_FAILED : SOURCE_INVALID;
}

int64_t bundle_source_in(const struct outcome *r, int64_t interval_ns, int64_t now_ns)
{
	int64_t age = now_ns - r->at_ns, left = age < 0 ? 0 : interval_ns - age;
	if (r->code && left > outcome_retry_in(r, now_ns))
		left = outcome_retry_in(r, now_ns);
	return left > 0 ? left : 0;
}

const char *bundle_source_reason(const struct outcome *r, enum bundle_source source)
{
	if (r->reason)
		return error_reason_text(r->reason);
	if (r->code == E_LIMIT)
		return "LimitExceeded";
	if (source == SOURCE_INVALID)
		return "ParseError";
	return r->code == E_NOTALLOWED ? "SourceNotAllowed" : "SourceUnreachable";
}

const char *bundle_source_text(const struct obj *source, struct arena *a)
{
	const char *commit = obj_str(source, "commit"), *author = obj_str(source, "author"),
		   *subject = obj_str(source, "subject");
	if (!commit)
		return "";
	return arena_fmt(a, "%.*s %s: %s", COMMIT_SHOWN, commit, author ? author : "",
			 subject ? subject : "");
}

const char *bundle_source_held(const struct bundle_spec *b, struct arena *a)
{
	if (!b->commit)
		return "";
	if (!cstr_eq(b->held_by, BUNDLE_PIN))
		return arena_fmt(a, "; %s holds it there", b->held_by);
	return arena_fmt(
		a, "; " BUNDLE_PIN " holds it there: alm rollback bundle/%s --to head ends that",
		b->name);
}

const char *bundle_source_notes(const struct obj *bundle, const struct bundle_now *now,
				enum bundle_state state, bool of_spec, struct arena *a)
{
	bool waits = state == BUNDLE_SOURCE_FAILED || state == BUNDLE_INVALID ||
		     state == BUNDLE_BLOCKED || state == BUNDLE_AWAITING_APPROVAL;
	enum bundle_run run = now->job ? bundle_run_of(now->job->record) : RUN_NONE;
	bool known = run == RUN_DONE || run == RUN_WENT_BACK || (now->job && now->job->former);
	const char *last = obj_str(obj_at(obj_path(bundle, "status.history"), 0), "commit");
	bool names = state == BUNDLE_INVALID && !of_spec && now->fetched && now->head;
	const char *commit = names ? arena_fmt(a, " (commit %.*s)", COMMIT_SHOWN, now->head) : "";
	if (!waits || known || !last)
		return commit;
	const char *remedy = /* what cannot be read cannot be gone back to either */
		state == BUNDLE_SOURCE_FAILED
			? ""
			: arena_fmt(a,
				    "; `alm rollback bundle %s --to %.*s --reason TEXT` applies it "
				    "again",
				    meta_name(bundle), COMMIT_SHOWN, last);
	return arena_fmt(a,
			 "%s; what is applied is not kept as declared meanwhile: ALM began anew "
			 "since, or a rollout has changed a part of it%s",
			 commit, remedy);
}
