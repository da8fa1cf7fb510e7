#include "alm/cli/app/way_back.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/app.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "catalog/resolve/resolve_doc.h"

#define POLL_NS (200 * NS_PER_MS)

/* --- what the API tells --- */

static bool is_served(const struct obj *crd, const char *version)
{
	const struct obj *list = obj_path(crd, "spec.versions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "name"), version))
			return obj_flag(obj_at(list, i), "served", false);
	return false;
}

/* A CRD is never downgraded: the way back needs every resource served as it is. */
static const char *unserved_resource(struct cli *c, struct app_session *a,
				     const struct obj *strategy)
{
	const struct obj *list = obj_path(strategy, "spec.resources");
	struct error ignored = ERROR_INIT;
	for (size_t i = 0; i < obj_len(list); i++) {
		struct resource_ref ref;
		const struct obj *crd = NULL;
		const char *text = obj_as_string(obj_at(list, i));
		if (!text || !resource_ref_parse(text, c->arena, &ref))
			continue;
		const char *target = arena_fmt(
			c->arena, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.%s",
			ref.plural, ref.group);
		if (session_get(a->session, target, &crd, &ignored) < 0 ||
		    !is_served(crd, ref.version))
			return text;
	}
	return NULL;
}

static bool is_outside_range(const struct app_session *a, const char *version, struct arena *arena)
{
	struct range range;
	struct version v;
	struct error ignored = ERROR_INIT;
	const char *text = obj_str(a->app, "spec.version");
	return text && *text && range_parse(str_of(text), arena, &range, &ignored) == 0 &&
	       version_parse(str_of(version), VERSION_STRICT, &v, &ignored) == 0 &&
	       !range_matches(&range, &v);
}

static bool is_in_no_catalog(const struct app_session *a, const char *version)
{
	return !app_session_candidate(a, version) &&
	       !obj_i64(a->app, "status.candidatesOmitted", 0);
}

bool way_back_has_run(const struct obj *strategy)
{
	const char *phase = obj_str(strategy, "status.phase");
	if (obj_i64(strategy, "status.succeededRevision", 0))
		return true;
	/* Written by an alm before this field. */
	return cstr_eq(phase, "Succeeded") ||
	       (cstr_eq(phase, "Superseded") && condition_is(strategy, "Verified", "True"));
}

static bool is_newer(const char *version, const char *than)
{
	struct version a, b;
	struct error ignored = ERROR_INIT;
	return than && version_parse(str_of(version), VERSION_STRICT, &a, &ignored) == 0 &&
	       version_parse(str_of(than), VERSION_STRICT, &b, &ignored) == 0 &&
	       version_cmp(&a, &b) > 0;
}

/* As the resolver tells: the same bytes and values are not tried again, unless somebody asks for it. */
static bool has_failed(struct cli *c, const struct app_session *a, const struct obj *strategy,
		       const char *version)
{
	const struct obj *failed = obj_path(a->app, "status.failedVersions");
	const char *sha256 = obj_str(strategy, "spec.strategy.sha256");
	const char *mark = arena_fmt(c->arena, "%s@%.12s+%s", version, sha256 ? sha256 : "",
				     values_digest(obj_path(a->app, "spec.values"), c->arena));
	for (size_t i = 0; i < obj_len(failed); i++)
		if (cstr_eq(obj_as_string(obj_at(failed, i)), mark))
			return app_session_candidate(a, version) != NULL;
	return false;
}

/* A version above the one that is installed is no way back, though it ran: the resolver judges it as any
 * other candidate, and it is planned anew. */
static const char *forward_refusal(struct cli *c, const struct app_session *a, const char *version)
{
	const struct obj *candidate = app_session_candidate(a, version);
	const char *reason = obj_str(candidate, "reason");
	if (!is_newer(version, obj_str(a->app, "status.installedVersion")))
		return NULL;
	if (is_in_no_catalog(a, version))
		return arena_fmt(c->arena,
				 "no catalog has %s any more, and going forward is no way back: it "
				 "is planned anew; put its archive back into the catalog",
				 version);
	if (!candidate || obj_flag(candidate, "installable", false) ||
	    cstr_eq(reason, "NotRequested"))
		return NULL;
	return arena_fmt(c->arena, "%s: %s", reason, obj_str(candidate, "message"));
}

static bool has_other_values(const struct app_session *a, const struct obj *plan)
{
	const struct obj *values = obj_path(a->app, "spec.values");
	const struct obj *had = obj_get(plan, "config");
	return obj_len(values) || obj_len(had) ? !obj_equal(values, had) : false;
}

const char *way_back_refusal(struct cli *c, struct app_session *a, const struct obj *strategy,
			     const char *version)
{
	struct error ignored = ERROR_INIT;
	if (!way_back_has_run(strategy))
		return arena_fmt(c->arena, "RollbackRefused: %s never ran, it is %s", version,
				 obj_str(strategy, "status.phase"));
	const char *lost = unserved_resource(c, a, strategy);
	if (lost)
		return arena_fmt(c->arena,
				 "RollbackRefused: %s manages %s, which the live CRD no longer "
				 "serves; a CRD is never downgraded",
				 version, lost);
	if (is_outside_range(a, version, c->arena))
		return arena_fmt(c->arena, "OutOfRange: %s is not in spec.version %s", version,
				 obj_str(a->app, "spec.version"));
	if (has_failed(c, a, strategy, version))
		return arena_fmt(
			c->arena,
			"RollbackRefused: PreviouslyFailed: %s failed before with the same "
			"archive and values; to try it again: alm upgrade %s --to %s --retry",
			version, meta_name(a->app), version);
	const char *forward = forward_refusal(c, a, version);
	if (forward)
		return arena_fmt(c->arena, "RollbackRefused: %s", forward);
	const struct obj *plan = app_session_plan(c, a, strategy, &ignored);
	if (!plan)
		return arena_fmt(c->arena, "RollbackRefused: the stored plan of %s is gone",
				 version);
	if (is_in_no_catalog(a, version) && has_other_values(a, plan))
		return arena_fmt(c->arena,
				 "RollbackRefused: no catalog has %s any more, and its stored plan "
				 "has other values than spec.values; put its archive back into the "
				 "catalog, or its values into spec.values",
				 version);
	return NULL;
}

/* --- what the controllers say --- */

const char *way_back_holds(const struct obj *strategy, struct arena *a)
{
	static const char *const types[] = {"PlanReady", "RequirementsMet", "CRDCompatible"};
	struct condition x;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (condition_get(strategy, types[i], &x) && cstr_eq(x.status, "False"))
			return arena_fmt(a, "%s: %s", x.reason, x.message);
	return NULL;
}

/* What only time holds: "0.9.6; OutsideWindow until Sat 02:00Z". */
static const char *time_note(struct cli *c, const struct app_session *a, const char *version)
{
	static const char *const gates[] = {"OutsideWindow", "Soaking", "Unreadable", NULL};
	struct condition x;
	if (!condition_get(a->app, "UpgradeAvailable", &x) || !cstr_in(x.reason, gates) ||
	    !cstr_eq(obj_str(a->app, "status.availableVersion"), version))
		return NULL;
	return arena_fmt(c->arena, "it waits: %s", x.message);
}

/* True: it is decided. */
static bool is_decided(struct cli *c, const struct app_session *a, const char *version,
		       const char **ret_refusal, const char **ret_note)
{
	static const char *const begun[] = {"Installing", "Verifying", "RollingBack", "Succeeded",
					    NULL};
	const struct obj *s = app_session_strategy(c, a, version);
	const struct obj *candidate = app_session_candidate(a, version);
	const char *phase = obj_str(s, "status.phase");
	if (cstr_eq(obj_str(a->app, "status.installedVersion"), version) || cstr_in(phase, begun))
		return true;
	if (cstr_eq(phase, "AwaitingApproval")) {
		*ret_note = arena_fmt(c->arena, "it waits for: alm approve %s %s --reason TEXT",
				      meta_name(a->app), version);
		return true;
	}
	if (obj_i64(a->app, "status.observedGeneration", 0) < meta_generation(a->app))
		return false;
	if (is_in_no_catalog(a, version)) {
		*ret_refusal = arena_fmt(c->arena,
					 "no catalog has %s any more, and its stored plan is gone; "
					 "put its archive back into the catalog",
					 version);
		return true;
	}
	if (candidate && !obj_flag(candidate, "installable", false)) {
		*ret_refusal = arena_fmt(c->arena, "%s: %s", obj_str(candidate, "reason"),
					 obj_str(candidate, "message"));
		return true;
	}
	if (cstr_eq(phase, "Blocked")) {
		const char *why = way_back_holds(s, c->arena);
		*ret_refusal = why ? why : phase;
		return true;
	}
	if (obj_flag(a->app, "spec.paused", false)) {
		*ret_note = "it begins when spec.paused is false";
		return true;
	}
	*ret_note = time_note(c, a, version);
	return *ret_note != NULL;
}

static void await(struct cli *c, struct app_session *a, const char *version, int64_t wait_ns,
		  const char **ret_refusal, const char **ret_note)
{
	struct loop *loop = session_loop(a->session);
	int64_t end_ns = loop_mono(loop) + wait_ns;
	const char *name = arena_strdup(c->arena, meta_name(a->app));
	struct error failed = ERROR_INIT;
	*ret_refusal = *ret_note = NULL;
	while (loop_mono(loop) < end_ns) {
		if (app_session_read(c, name, a, &failed) < 0) {
			*ret_note = arena_strdup(c->arena, failed.msg);
			return;
		}
		if (is_decided(c, a, version, ret_refusal, ret_note))
			return;
		(void)session_run(a->session, POLL_NS);
	}
	const struct obj *s = app_session_strategy(c, a, version);
	const char *why =
		cstr_eq(obj_str(s, "status.phase"), "Pending") ? way_back_holds(s, c->arena) : NULL;
	*ret_note =
		why ? arena_fmt(c->arena, "it waits: %s", why)
		    : arena_fmt(c->arena, "no controller has begun it yet: alm status %s", name);
}

const char *way_back_verdict(struct cli *c, struct app_session *a, const char *version,
			     const char **ret_note)
{
	const char *refusal;
	await(c, a, version, WAY_BACK_WAIT_NS, &refusal, ret_note);
	return refusal;
}

const char *way_back_hold(struct cli *c, struct app_session *a, const char *version)
{
	const char *refusal, *note;
	await(c, a, version, WAY_BACK_HOLD_NS, &refusal, &note);
	return refusal ? refusal : note;
}
