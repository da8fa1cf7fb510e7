#include "alm/controllers/fleet/bundle_steer.h"

#include "alm/audit/row_text.h"
#include "alm/base/clock.h"
#include "alm/base/str.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/engine/plan.h"
#include "alm/obj/json.h"

static const struct {
	const char *path, *as;
} words[] = {
	{"spec.approvals.canary", "approve"},
	{"spec.skipAnalysis", "skip"},
	{"spec.abort", "abort"},
};

bool bundle_steer_holds(const struct obj *asked, const char *plan, const char *since)
{
	const char *reason = obj_str(asked, "reason");
	return plan && since && cstr_eq(obj_str(asked, "plan"), plan) &&
	       cstr_eq(obj_str(asked, "since"), since) && reason && *reason;
}

struct obj *bundle_steer(const struct obj *bundle, const char *plan, const char *since)
{
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const struct obj *one = obj_path(bundle, words[i].path);
		if (bundle_steer_holds(one, plan, since))
			obj_set(o, words[i].as, obj_ref(one));
	}
	if (obj_len(o))
		return o;
	obj_unref(o);
	return NULL;
}

const char *bundle_steer_unpruned(const struct obj *bundle, const char *commit, const char *plan)
{
	const struct obj *asked = obj_path(bundle, "spec.approvals.prune");
	const char *named = obj_str(asked, "plan");
	if (!obj_str(asked, "commit"))
		return "nothing is approved";
	if (obj_str(asked, "orphans"))
		return "it is of orphans, and says nothing of a revision: null takes orphans away";
	if (!cstr_eq(obj_str(asked, "commit"), commit))
		return "commit is not status.commit";
	if (named ? !cstr_eq(named, plan) : obj_len(obj_path(bundle, "spec.instances")) > 0)
		return named ? "plan is not status.revisionDigest, and of another revision of this "
			       "commit"
			     : "plan is missing: of a Bundle with instances it is "
			       "status.revisionDigest";
	return NULL;
}

const char *bundle_steer_resumes(const struct obj *said, const char *plan)
{
	const char *since = obj_str(said, "rollingSince");
	return plan && since && *since && cstr_eq(obj_str(said, "revisionDigest"), plan) ? since
											 : NULL;
}

bool bundle_steer_ends(const struct obj *retry, const char *uid, const char *since)
{
	int64_t begun_ns;
	return cstr_eq(obj_str(retry, "subject.uid"), uid) &&
	       clock_parse(str_of(since), &begun_ns) && row_time_us(retry) > begun_ns / NS_PER_US;
}

/* Nothing is run yet: what goes on is what the log says, so nor does the next entry say what else stands in the status. */
static const char *went_on(const struct bundle_now *now, const struct obj *said, struct obj *status)
{
	const char *plan = obj_str(said, "revisionDigest");
	if (now->read)
		return bundle_steer_resumes(said, obj_str(now->read, "digest"));
	if (plan)
		obj_set_str(status, "revisionDigest", plan);
	return obj_str(said, "rollingSince");
}

void bundle_steer_since(const struct bundle_now *now, const struct obj *said, bool newer,
			bool is_done, struct obj *status)
{
	const char *since = NULL;
	if (!now->job)
		since = went_on(now, said, status);
	else if (!newer && !is_done)
		since = now->since;
	if (since)
		obj_set_str(status, "rollingSince", since);
	else
		obj_del(status, "rollingSince");
}

void bundle_steer_rest(const struct obj *bundle, char ret[SHA256_HEX])
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	const struct obj *spec = obj_get(bundle, "spec");
	obj_set(o, "spec", spec ? obj_copy(spec) : obj_map());
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		obj_del_path(o, words[i].path);
	if (!obj_len(obj_path(o, "spec.approvals")))
		obj_del_path(o, "spec.approvals");
	json_digest(o, ret);
}

static void since(int64_t at_ns, const char *text, int64_t *ret_ns, const char **ret_text)
{
	if (!at_ns || (*ret_ns && *ret_ns <= at_ns))
		return;
	*ret_ns = at_ns;
	*ret_text = text ? text : "";
}

static void look(const struct obj *metrics, const char *text, struct bundle_held *ret)
{
	OBJ_EACH (it, metrics)
		since(obj_i64(it.value, "heldSinceNs", 0), text, &ret->data_ns, &ret->data_text);
}

void bundle_held_read(const struct obj *record, struct bundle_held *ret)
{
	*ret = (struct bundle_held){0};
	OBJ_EACH (step, obj_get(record, "steps")) {
		const char *text = obj_str(step.value, "message");
		if (!cstr_eq(obj_str(step.value, "state"), "InProgress"))
			continue;
		look(obj_get(step.value, "metrics"), text, ret);
		OBJ_EACH (one, obj_get(step.value, "canary")) {
			if (obj_has(one.value, "end"))
				continue;
			look(obj_get(one.value, "metrics"), text, ret);
			since(obj_i64(one.value, "askedNs", 0), text, &ret->asked_ns,
			      &ret->asked_text);
		}
	}
}

void bundle_held_judge(const struct obj *record, int64_t now_ns, struct plan *plan,
		       struct bundle_held *ret)
{
	bundle_held_read(record, ret);
	int64_t data = ret->data_ns + BUNDLE_HELD_NS - now_ns,
		asked = ret->asked_ns + BUNDLE_ASKED_NS - now_ns;
	if (ret->data_ns && data > 0)
		plan_requeue_after(plan, data);
	if (ret->asked_ns && asked > 0)
		plan_requeue_after(plan, asked);
	ret->data_ns = data > 0 ? 0 : ret->data_ns;
	ret->asked_ns = asked > 0 ? 0 : ret->asked_ns;
}
