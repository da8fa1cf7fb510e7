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

/* Only a version that ran is a way back. */
static bool has_run(const struct obj *strategy)
{
	const char *phase = obj_str(strategy, "status.phase");
	return cstr_eq(phase, "Superseded") || cstr_eq(phase, "Succeeded");
}

static bool is_in_no_catalog(const struct app_session *a, const char *version)
{
	return !app_session_candidate(a, version) &&
	       !obj_i64(a->app, "status.candidatesOmitted", 0);
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
	const char *lost = unserved_resource(c, a, strategy);
	if (lost)
		return arena_fmt(c->arena,
				 "RollbackRefused: %s manages %s, which the live CRD no longer "
				 "serves; a CRD is never downgraded",
				 version, lost);
	if (is_outside_range(a, version, c->arena))
		return arena_fmt(c->arena, "OutOfRange: %s is not in spec.version %s", version,
				 obj_str(a->app, "spec.version"));
	if (!has_run(strategy))
		return arena_fmt(c->arena, "RollbackRefused: %s never ran, it is %s", version,
				 obj_str(strategy, "status.phase"));
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

static const char *blocked_text(struct cli *c, const struct obj *strategy)
{
	static const char *const types[] = {"PlanReady", "RequirementsMet", "CRDCompatible"};
	struct condition x;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (condition_get(strategy, types[i], &x) && cstr_eq(x.status, "False"))
			return arena_fmt(c->arena, "%s: %s", x.reason, x.message);
	return "Blocked";
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
		*ret_refusal = blocked_text(c, s);
		return true;
	}
	if (obj_flag(a->app, "spec.paused", false)) {
		*ret_note = "it begins when spec.paused is false";
		return true;
	}
	return false;
}

const char *way_back_verdict(struct cli *c, struct app_session *a, const char *version,
			     const char **ret_note)
{
	struct loop *loop = session_loop(a->session);
	int64_t end_ns = loop_mono(loop) + WAY_BACK_WAIT_NS;
	const char *name = arena_strdup(c->arena, meta_name(a->app)), *refusal = NULL;
	struct error failed = ERROR_INIT;
	*ret_note = NULL;
	while (loop_mono(loop) < end_ns) {
		if (app_session_read(c, name, a, &failed) < 0) {
			*ret_note = arena_strdup(c->arena, failed.msg);
			return NULL;
		}
		if (is_decided(c, a, version, &refusal, ret_note))
			return refusal;
		(void)session_run(a->session, POLL_NS);
	}
	*ret_note = arena_fmt(c->arena, "no controller has begun it yet: alm status %s", name);
	return NULL;
}
