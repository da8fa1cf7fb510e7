/* Status of an AppType: its state, conditions and candidates, all computed from the view each time. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/phases.h"
#include "alm/controllers/app/retry.h"
#include "alm/controllers/apptype/apptype.h"
#include "alm/controllers/apptype/trouble.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/status.h"
#include "alm/obj/condition.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"
#include "catalog/resolve/resolve_doc.h"

struct state {
	const char *name, *ready; /* "Installed", "True" */
	const char *message;
	bool warning;
};

static const struct strategy_ref *in_phase(const struct app *app, enum phase p)
{
	const struct strategy_ref *found = NULL;
	for (size_t i = 0; i < app->n; i++)
		if (app->strategies[i].phase == p &&
		    (!found || app->strategies[i].revision > found->revision))
			found = &app->strategies[i];
	return found;
}

/* Why a strategy is where it is: its first False condition. */
static const char *why(const struct strategy_ref *s)
{
	const struct obj *list = obj_path(s->o, "status.conditions");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "status"), "False") &&
		    obj_str(obj_at(list, i), "message"))
			return obj_str(obj_at(list, i), "message");
	return "";
}

static const char *newer_text(const struct view *v, const struct strategy_ref *s)
{
	return arena_fmt(v->a, "%s: %s", s->version, why(s));
}

static struct state busy_state(const struct view *v, const struct app *app)
{
	const struct strategy_ref *b = app->busy;
	if (b->phase == PHASE_ROLLING_BACK)
		return (struct state){"RollingBack", "True", newer_text(v, b), true};
	if (!app->installed || app->installed == b)
		return (struct state){app->installed ? "Upgrading" : "Installing",
				      app->installed ? "True" : "False", b->version, false};
	return (struct state){"Upgrading", "True",
			      arena_fmt(v->a, "%s -> %s", app->installed->version, b->version),
			      false};
}

static const char *missing_crd(const struct view *v, const struct app *app)
{
	for (const char **m = app->installed->managed; m && *m; m++) {
		struct resource_ref ref;
		if (!resource_ref_parse(*m, v->a, &ref))
			continue;
		const char *name = arena_fmt(v->a, "%s.%s", ref.plural, ref.group);
		const struct obj *crd = view_crd(v, name);
		if (!crd || meta_is_deleting(crd))
			return name;
	}
	return NULL;
}

static const char *gate_text(const struct view *v, const struct app *app)
{
	return app->gate ? resolve_gate_text(&app->resolution, v->now_ns, v->a) : "";
}

/* The values that are wanted failed, and the former ones run: reported as long as it is so; or
 * NULL. */
static const char *unmet_values(const struct view *v, const struct app *app)
{
	const struct strategy_ref *s = app->installed;
	if (!s || s->phase != PHASE_SUCCEEDED || !retry_would_repeat(app, s, v->a))
		return NULL;
	return arena_fmt(v->a, "%s: the changed values failed, the former ones run: %s", s->version,
			 obj_str(s->o, "status.failed.message"));
}

/* When a first install that failed is tried again by itself. */
static const char *failed_text(const struct view *v, const struct strategy_ref *s)
{
	char at[CLOCK_TEXT_MAX];
	clock_format(retry_at_ns(obj_path(s->o, "status.conditions"), s->revision, v->now_ns),
		     CLOCK_SECONDS, at);
	return arena_fmt(v->a, "%s; tried again at %s, or when its values change", newer_text(v, s),
			 at);
}

static struct state installed_state(const struct view *v, const struct app *app,
				    const struct trouble *t)
{
	const struct resolution *r = &app->resolution;
	bool automatic = !strcmp(app->mode, "Automatic");
	const struct strategy_ref *failed = in_phase(app, PHASE_FAILED);
	const char *gone = missing_crd(v, app);
	if (gone)
		return (struct state){"Degraded", "False", arena_fmt(v->a, "CRD %s is gone", gone),
				      true};
	if (failed && (failed == app->installed || failed->revision > app->installed->revision))
		return (struct state){"Degraded", "False", newer_text(v, failed), true};
	if (t->degraded)
		return (struct state){"Degraded", "False", t->why, true};
	if (in_phase(app, PHASE_AWAITING))
		return (struct state){"AwaitingApproval", "True",
				      newer_text(v, in_phase(app, PHASE_AWAITING)), false};
	if (unmet_values(v, app))
		return (struct state){"UpgradeBlocked", "True", unmet_values(v, app), automatic};
	if (r->blocked)
		return (struct state){"UpgradeBlocked", "True", r->blocked->summary, automatic};
	if (app->in.unsupported)
		return (struct state){"UpgradeBlocked", "True", app->in.unsupported, automatic};
	if (in_phase(app, PHASE_BLOCKED) && in_phase(app, PHASE_BLOCKED)->by_alm)
		return (struct state){"UpgradeBlocked", "True",
				      newer_text(v, in_phase(app, PHASE_BLOCKED)), automatic};
	if (r->chosen)
		return (struct state){"UpgradeAvailable", "True",
				      arena_fmt(v->a, "%s%s%s", r->chosen->version,
						app->gate ? ": " : "", gate_text(v, app)),
				      false};
	return (struct state){"Installed", "True", app->installed->version, false};
}

static struct state state_of(const struct view *v, const struct app *app, const struct trouble *t)
{
	const struct resolution *r = &app->resolution;
	if (app->busy)
		return busy_state(v, app);
	if (app->installed)
		return installed_state(v, app, t);
	if (in_phase(app, PHASE_AWAITING))
		return (struct state){"AwaitingApproval", "False",
				      newer_text(v, in_phase(app, PHASE_AWAITING)), false};
	if (in_phase(app, PHASE_FAILED))
		return (struct state){"Failed", "False",
				      failed_text(v, in_phase(app, PHASE_FAILED)), true};
	if (in_phase(app, PHASE_BLOCKED))
		return (struct state){"Unresolved", "False",
				      newer_text(v, in_phase(app, PHASE_BLOCKED)), false};
	if (t->overdue)
		return (struct state){"Unresolved", "False", t->blocker, true};
	if (r->not_ready || (in_phase(app, PHASE_PENDING)))
		return (struct state){"Resolving", "Unknown", r->message ? r->message : "", false};
	if (app->next)
		return (struct state){"Resolving", "Unknown",
				      arena_fmt(v->a, "%s is chosen", app->next), false};
	return (struct state){"Unresolved", "False",
			      app->gate    ? gate_text(v, app)
			      : r->message ? r->message
					   : "",
			      false};
}

/* --- parts of the status --- */

/* Etcd.v1.etcd.coreos.com: singular with a capital, newest managed version, group. */
static const char *primary_kind(const struct view *v, const struct app *app)
{
	struct resource_ref first = {0}, ref;
	const char *newest = NULL;
	for (const char **m = app->installed->managed; m && *m; m++) {
		if (!resource_ref_parse(*m, v->a, &ref))
			continue;
		if (!first.plural)
			first = ref;
		if (strcmp(ref.plural, first.plural) != 0 || strcmp(ref.group, first.group) != 0)
			continue;
		if (!newest || kube_version_cmp(ref.version, newest) < 0)
			newest = ref.version;
	}
	if (!newest)
		return NULL;
	const struct obj *crd = view_crd(v, arena_fmt(v->a, "%s.%s", first.plural, first.group));
	const char *singular = obj_str(crd, "spec.names.singular");
	char *name = arena_strdup(v->a, singular ? singular : first.plural);
	*name = char_upper(*name);
	return arena_fmt(v->a, "%s.%s.%s", name, newest, first.group);
}

/* Versions that failed as an upgrade (app.c). */
static void set_failed(const struct app *app, struct obj *status)
{
	struct obj *list = obj_list();
	for (size_t i = 0; app->in.failed[i]; i++)
		obj_append(list, obj_string(app->in.failed[i]));
	obj_del(status, "failedVersions");
	if (obj_len(list))
		obj_set(status, "failedVersions", obj_ref(list));
	obj_unref(list);
}

/* What a strategy by hand came from is its author's to know. Of a version that is listed no more, its
 * own archive, and the rest as it was told. */
static void set_source(const struct view *v, const struct app *app, struct obj *status)
{
	const char *catalog = NULL;
	const struct package_version *e = entry_by_digest(v, app->installed->sha256, &catalog);
	const struct obj *old = obj_path(app->o, "status.source");
	if (!app->installed->by_alm || (!e && !old)) {
		obj_del(status, "source");
		return;
	}
	struct obj *source = obj_copy_map(old);
	if (e) {
		const char *kept =
			app->in.installed_catalog; /* as long as there is such a Catalog */
		if (kept && !view_get(v, WATCH_CATALOG, kept))
			kept = NULL;
		obj_set_str(source, "catalog", kept ? kept : catalog);
		obj_set_str(source, "package", e->package);
	}
	obj_del(source, "digest");
	obj_set_str(source, "digest", e ? e->digest : app->installed->sha256);
	obj_set_str(source, "version", app->installed->version);
	obj_set(status, "source", source);
}

static void set_versions(const struct view *v, const struct app *app, struct obj *status)
{
	if (!app->installed) {
		obj_del(status, "installedVersion");
		obj_del(status, "primaryKind");
		return;
	}
	obj_set_str(status, "installedVersion", app->installed->version);
	const char *kind = primary_kind(v, app);
	if (kind)
		obj_set_str(status, "primaryKind", kind);
	set_source(v, app, status);
}

static void set_condition(const struct view *v, const struct app *app, struct obj *list,
			  const char *type, const char *status, const char *reason,
			  const char *message)
{
	struct condition c = {.type = type,
			      .status = status,
			      .reason = reason,
			      .message = message ? message : "",
			      .observed_generation = meta_generation(app->o)};
	condition_set(list, &c, v->now_ns);
}

/* Has the catalog that the app came from been read? */
static bool is_source_known(const struct view *v, const struct app *app)
{
	for (size_t i = 0; i < v->shared->n_indexes; i++)
		if (cstr_eq(v->shared->indexes[i]->name, app->in.installed_catalog))
			return true;
	return false;
}

/* What is installed stays and is repaired, whatever the publisher says of it since. */
static void set_deprecated(const struct view *v, const struct app *app, struct obj *list)
{
	const char *catalog = NULL;
	const struct package_version *e =
		app->installed ? entry_by_digest(v, app->installed->sha256, &catalog) : NULL;
	/* A package in place has the version of its fields as they are now, and no other. */
	bool lost = !e && app->installed && app->installed->by_alm && !inplace_is(app->o) &&
		    is_source_known(v, app);
	if (lost)
		set_condition(v, app, list, "Deprecated", "True", "VersionUnlisted",
			      arena_fmt(v->a, "catalog %s does not have %s any more",
					app->in.installed_catalog, app->installed->version));
	else if (e && e->withdrawn)
		set_condition(v, app, list, "Deprecated", "True", "VersionUnlisted", e->withdrawn);
	else if (e && e->deprecated)
		set_condition(v, app, list, "Deprecated", "True", "Deprecated", e->deprecation);
	else
		condition_remove(list, "Deprecated");
}

/* True as long as there is a reason. */
static void set_trouble(const struct view *v, const struct app *app, struct obj *list,
			const char *type, const char *reason, const char *message)
{
	if (reason)
		set_condition(v, app, list, type, "True", reason, message);
	else
		condition_remove(list, type);
}

/* Why it is Degraded: of its state, or of what is installed. */
static const char *degraded_reason(const struct view *v, const struct app *app,
				   const struct state *st, const struct trouble *t)
{
	if (strcmp(st->name, "Degraded") != 0)
		return NULL;
	if (app->installed && missing_crd(v, app))
		return "ResourceMissing";
	return t->degraded && st->message == t->why ? t->degraded : "UpgradeFailed";
}

/* What keeps newer versions or values from what is installed; NULL: nothing. */
static const char *block_reason(const struct view *v, const struct app *app, const char **ret_text)
{
	const struct candidate *c = app->resolution.blocked;
	const char *unmet = unmet_values(v, app);
	const char *reason = unmet ? "PreviouslyFailed" : c ? c->reason : NULL;
	if (reason)
		*ret_text = unmet ? unmet : c->summary;
	else if (app->in.unsupported)
		*ret_text = app->in.unsupported, reason = "Unsupported";
	return reason;
}

/* What the newer version waits for (lifecycle.md 2.2). */
static const char *available_reason(const struct app *app, const struct state *st)
{
	if (app->gate)
		return app->gate;
	return cstr_eq(st->name, "AwaitingApproval") ? st->name : "NewerInstallable";
}

static void set_conditions(const struct view *v, const struct app *app, const struct state *st,
			   const struct trouble *t, struct obj *status)
{
	const struct resolution *r = &app->resolution;
	const struct obj *old = obj_path(app->o, "status.conditions");
	struct obj *list = obj_keep(v->a, obj_copy_list(old));
	bool resolved = r->reason && !strcmp(r->reason, "Resolved");
	const char *newer = r->chosen && app->installed ? r->chosen->version : NULL;
	set_condition(v, app, list, "Ready", st->ready, st->name, st->message);
	set_condition(v, app, list, "Resolved",
		      resolved       ? "True"
		      : r->not_ready ? "Unknown"
				     : "False",
		      r->reason ? r->reason : "NoCandidate", resolved ? "" : r->message);
	set_condition(v, app, list, "UpgradeAvailable", newer ? "True" : "False",
		      !newer ? "UpToDate" : available_reason(app, st),
		      newer && (app->resolution.until_ns || app->resolution.gate_why)
			      ? arena_fmt(v->a, "%s; %s", newer, gate_text(v, app))
			      : newer);
	const char *text = "", *blocked = app->installed ? block_reason(v, app, &text) : NULL;
	set_condition(v, app, list, "UpgradeBlocked", blocked ? "True" : "False",
		      blocked ? blocked : "NotBlocked", text);
	set_deprecated(v, app, list);
	set_trouble(v, app, list, "Drifted", t->drifted, t->drift);
	set_trouble(v, app, list, "Degraded", degraded_reason(v, app, st, t), st->message);
	set_trouble(v, app, list, "StateOverdue", t->overdue, t->blocker);
	set_trouble(v, app, list, "ApprovalPending", t->unapproved ? "AwaitingApproval" : NULL,
		    arena_fmt(v->a, "%s waits for a person for more than 24 hours",
			      t->unapproved ? t->unapproved : ""));
	if (app->paused)
		set_condition(v, app, list, "Paused", "True", "Paused",
			      "spec.paused is true: nothing new starts");
	else
		condition_remove(list, "Paused");
	obj_set(status, "conditions", obj_ref(list));
}

static const char *old_state(const struct app *app)
{
	struct condition ready;
	return condition_get(app->o, "Ready", &ready) ? ready.reason : "";
}

int apptype_status(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	struct app *app = apptype_pass(v);
	struct trouble t;
	trouble_of(v, app, plan, &t);
	struct state st = state_of(v, app, &t);
	if (state_check(old_state(app), st.name, err) < 0)
		return -err->code;
	const struct obj *old = obj_get(app->o, "status");
	struct obj *status = obj_copy_map(old);
	obj_set_str(status, "selfRef", app->self_ref);
	obj_set_int(status, "observedGeneration", meta_generation(app->o));
	set_versions(v, app, status);
	set_failed(app, status);
	resolve_set_status(&app->in, &app->resolution, NULL, v->a, status);
	set_conditions(v, app, &st, &t, status);
	struct action *x = status_plan(plan, app->o, status, old_state(app), st.name, st.message);
	if (!x)
		return STEP_CONTINUE;
	x->chain = app->name;
	if (strcmp(x->reason, "Refreshed") != 0)
		x->event_type = st.warning ? "Warning" : "Normal";
	return STEP_CONTINUE;
}
