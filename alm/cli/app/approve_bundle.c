/* `alm approve bundle/NAME --prune`: the deletes of the revision that is held, and of no other. */
#include "alm/cli/app/approve_bundle.h"

#include "alm/cli/term.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/unit/stray.h"

#define BUNDLES "/apis/app.coreos.com/v1alpha1/bundles/"

/* Who he is to the server; NULL: it does not say. */
static const char *user_of(struct session *s)
{
	struct error ignored = ERROR_INIT;
	struct session_reply reply;
	CLEANUP(obj_unrefp) struct obj *review =
		meta_skeleton("authentication.k8s.io/v1", "SelfSubjectReview", NULL, NULL);
	const struct session_request q = {
		.method = "POST",
		.target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		.body = review};
	if (session_send(s, &q, &reply, &ignored) < 0)
		return NULL;
	return obj_str(reply.body, "status.userInfo.username");
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

static int approve(struct cli *c, struct session *s, const char *name, struct error *err)
{
	const struct obj *bundle;
	const char *target = arena_fmt(c->arena, BUNDLES "%s", name);
	struct session_reply reply;
	if (session_get(s, target, &bundle, err) < 0)
		return -err->code;
	const char *commit = obj_str(bundle, "status.commit"),
		   *state = obj_str(bundle, "status.state");
	if (!condition_is(bundle, "PruneHeld", "True") || !commit)
		return error_set(err, E_REFUSED, "bundle %s holds no deletes: it is %s", name,
				 state ? state : "not looked at yet");
	CLEANUP(obj_unrefp) struct obj *patch = obj_map();
	struct obj *prune = obj_map();
	obj_set_str(prune, "commit", commit);
	const char *orphans = held_orphans(bundle);
	if (orphans) /* these, and none that come later */
		obj_set_str(prune, "orphans", orphans);
	obj_set_str(prune, "reason", cli_value(c, "reason"));
	obj_set_str(prune, "by", user_of(s));
	obj_set_path(patch, "spec.approvals.prune", prune);
	const struct session_request q = {
		.method = "PATCH",
		.target = arena_fmt(c->arena, "%s?fieldManager=alm-cli", target),
		.content_type = MERGE_PATCH,
		.body = patch};
	if (session_send(s, &q, &reply, err) < 0)
		return -err->code;
	if (orphans)
		term_print("%s\n", approve_bundle_text(c->arena, name,
						       obj_i64(bundle, "status.orphanCount", 0)));
	else
		term_print("approved the deletes of bundle/%s at %.12s\n", name, commit);
	return 0;
}

int approve_bundle(struct cli *c, const char *name, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	if (!cli_flag(c, "prune"))
		return error_set(err, E_USAGE, "--prune says what of bundle/%s is approved", name);
	if (cli_value(c, "output"))
		return error_set(err, E_USAGE, "-o says nothing to a bundle");
	return session_open(c, &s, err) < 0 ? -err->code : approve(c, s, name, err);
}
