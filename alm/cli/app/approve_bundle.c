/* What is said is of the revision that is there now, and of no other. */
#include "alm/cli/app/approve_bundle.h"

#include "alm/cli/app/app_session.h"
#include "alm/cli/app/bundle_ask.h"
#include "alm/cli/term.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/stray.h"

static int refuse(const struct bundle_ask *b, const char *what, struct error *err)
{
	const char *state = obj_str(b->bundle, "status.state");
	return error_set(err, E_REFUSED, "bundle %s %s: it is %s", b->name, what,
			 state ? state : "not looked at yet");
}

/* Their digest, if it is orphans that are held; NULL: it is a revision. */
static const char *held_orphans(const struct obj *bundle)
{
	struct condition held;
	bool is = condition_get(bundle, "PruneHeld", &held) && cstr_eq(held.reason, "OrphansHeld");
	return is ? obj_str(bundle, "status.orphansDigest") : NULL;
}

/* The digest is of the first ones: the others wait until these are gone. */
const char *approve_bundle_text(struct arena *a, const char *name, int64_t count)
{
	if (count <= STRAYS_MAX)
		return arena_fmt(a, "approved the deletes of %lld orphans of bundle/%s",
				 (long long)count, name);
	return arena_fmt(a,
			 "approved the deletes of the first %d of %lld orphans of bundle/%s; when "
			 "these are gone, more than spec.prune.maxDeletes wait again",
			 STRAYS_MAX, (long long)count, name);
}

/* A text, or with null what was said before is taken away: a patch leaves the members that it does not name. */
static void set(struct obj *what, const char *key, const char *value)
{
	obj_set(what, key, value ? obj_string(value) : obj_null());
}

/* {key: value, "reason", "by"} at path of the spec. */
static int say(struct bundle_ask *b, const char *path, struct obj *what, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	obj_set_str(what, "reason", cli_value(b->c, "reason"));
	set(what, "by", session_user(b->session));
	obj_set_path(patch, path, what);
	return bundle_ask_patch(b, patch, false, err);
}

static int approve_prune(struct bundle_ask *b, struct error *err)
{
	const char *commit = obj_str(b->bundle, "status.commit");
	if (!condition_is(b->bundle, "PruneHeld", "True") || !commit)
		return refuse(b, "holds no deletes", err);
	struct obj *prune = obj_map();
	obj_set_str(prune, "commit", commit);
	const char *orphans = held_orphans(b->bundle);
	set(prune, "orphans", orphans); /* these, and none that come later */
	set(prune, "plan", orphans ? NULL : obj_str(b->bundle, "status.revisionDigest"));
	if (say(b, "spec.approvals.prune", prune, err) < 0)
		return -err->code;
	if (orphans)
		term_print("%s\n",
			   approve_bundle_text(b->c->arena, b->name,
					       obj_i64(b->bundle, "status.orphanCount", 0)));
	else
		term_print("approved the deletes of bundle/%s at %.12s\n", b->name, commit);
	return 0;
}

/* {plan, since} of the rollout that is under way (bundle_steer.h), owned; NULL: none is. */
static struct obj *rollout_of(const struct bundle_ask *b)
{
	const char *plan = obj_str(b->bundle, "status.revisionDigest"),
		   *since = obj_str(b->bundle, "status.rollingSince");
	if (!cstr_eq(obj_str(b->bundle, "status.state"), "Rolling") || !plan || !since)
		return NULL;
	struct obj *o = obj_map();
	obj_set_str(o, "plan", plan);
	obj_set_str(o, "since", since);
	return o;
}

/* The smallest weight at which a canary waits; 0: none does. */
static int64_t weight_of(const struct bundle_ask *b)
{
	const struct obj *list = obj_path(b->bundle, "status.canaries");
	int64_t least = 0;
	for (size_t i = 0; i < obj_len(list); i++) {
		int64_t one = obj_i64(obj_at(list, i), "weight", 0);
		if (cstr_eq(obj_str(obj_at(list, i), "state"), "AwaitingApproval") &&
		    (!least || one < least))
			least = one;
	}
	return least;
}

static int approve_canary(struct bundle_ask *b, struct error *err)
{
	int64_t weight = weight_of(b);
	struct obj *canary = weight ? rollout_of(b) : NULL;
	if (!canary)
		return refuse(b, "has no canary that waits for an approval", err);
	obj_set_int(canary, "weight", weight);
	if (say(b, "spec.approvals.canary", canary, err) < 0)
		return -err->code;
	term_print("approved the canary of bundle/%s at %lld percent, plan %.11s…\n", b->name,
		   (long long)weight, obj_str(b->bundle, "status.revisionDigest"));
	return 0;
}

static int of_plan(struct bundle_ask *b, const char *path, const char *done, struct error *err)
{
	struct obj *what = rollout_of(b);
	if (!what && cstr_eq(obj_str(b->bundle, "status.state"), "Rolling"))
		return error_set(
			err, E_REFUSED,
			"bundle %s is about to begin its rollout: say it again in a moment",
			b->name);
	if (!what)
		return refuse(b, "rolls nothing out", err);
	if (say(b, path, what, err) < 0)
		return -err->code;
	term_print("%s bundle/%s, plan %.11s…\n", done, b->name,
		   obj_str(b->bundle, "status.revisionDigest"));
	return 0;
}

static int skip(struct bundle_ask *b, struct error *err)
{
	return of_plan(b, "spec.skipAnalysis", "skipped the analysis of", err);
}

static int abort_it(struct bundle_ask *b, struct error *err)
{
	return of_plan(b, "spec.abort", "aborted", err);
}

static int with_bundle(struct cli *c, const char *name,
		       int (*fn)(struct bundle_ask *b, struct error *err), struct error *err)
{
	struct bundle_ask b;
	if (cli_value(c, "output"))
		return error_set(err, E_USAGE, "-o says nothing to a bundle");
	int r = bundle_ask_open(c, name, &b, err);
	if (!r)
		r = fn(&b, err);
	bundle_ask_release(&b);
	return r;
}

int approve_bundle(struct cli *c, const char *name, struct error *err)
{
	static const struct {
		const char *flag;
		int (*fn)(struct bundle_ask *b, struct error *err);
	} rows[] = {{"prune", approve_prune}, {"canary", approve_canary}, {"skip-analysis", skip}};
	int (*fn)(struct bundle_ask *b, struct error *err) = NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!cli_flag(c, rows[i].flag))
			continue;
		if (fn)
			return error_set(err, E_USAGE, "one thing is approved at a time");
		fn = rows[i].fn;
	}
	if (!fn)
		return error_set(err, E_USAGE,
				 "--prune, --canary or --skip-analysis says what of bundle/%s is "
				 "approved",
				 name);
	return with_bundle(c, name, fn, err);
}

int abort_bundle(struct cli *c, const char *name, struct error *err)
{
	return with_bundle(c, name, abort_it, err);
}
