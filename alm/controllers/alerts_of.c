#include "alm/controllers/alerts_of.h"

#include "alm/base/strbuf.h"
#include "alm/engine/stalled.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

/* One step may be all waivers of a version: waivers.h. */
#define STEPS_BYTES_MAX ((size_t)32 << 10)

static const struct obj *candidate(const struct obj *app, const char *version)
{
	const struct obj *list = obj_path(app, "status.candidates");
	for (size_t i = 0; version && i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "version"), version))
			return obj_at(list, i);
	return NULL;
}

static void set_steps(struct obj *annotations, const struct obj *steps)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STEPS_BYTES_MAX);
	for (size_t i = 0; i < obj_len(steps); i++)
		strbuf_addf(&text, "%s%zu. %s", i ? "\n" : "", i + 1,
			    obj_as_string(obj_at(steps, i)));
	if (text.len)
		obj_set_str(annotations, "steps", text.buf);
}

struct alert {
	const char *name, *severity, *app, *version, *catalog, *bundle, *message, *since;
	const struct obj *steps;
};

static void fire(struct obj *list, const struct alert *a)
{
	struct obj *o = obj_map(), *labels = obj_map(), *annotations = obj_map();
	obj_set_str(labels, "alertname", a->name);
	obj_set_str(labels, "severity", a->severity);
	obj_set_str(labels, "app", a->app);
	obj_set_str(labels, "version", a->version);
	obj_set_str(labels, "catalog", a->catalog);
	obj_set_str(labels, "bundle", a->bundle);
	obj_set_str(annotations, "message", a->message);
	set_steps(annotations, a->steps);
	obj_set(o, "labels", labels);
	obj_set(o, "annotations", annotations);
	obj_set_str(o, "startsAt", a->since);
	obj_append(list, o);
}

/* Each is a condition of the AppType that is True as long as it holds. */
static void of_app_conditions(struct obj *list, const struct obj *o)
{
	static const struct {
		const char *condition, *name, *severity;
	} rows[] = {
		{"StateOverdue", "ALMStateOverdue", "warning"},
		{"ApprovalPending", "ALMApprovalPending", "warning"},
		{"DeletionBlocked", "ALMDeletionBlocked", "warning"},
	};
	struct condition c;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!condition_get(o, rows[i].condition, &c) || !cstr_eq(c.status, "True"))
			continue;
		const struct alert a = {.name = rows[i].name,
					.severity = rows[i].severity,
					.app = meta_name(o),
					.version = obj_str(o, "status.installedVersion"),
					.message = c.message,
					.since = condition_since(o, rows[i].condition)};
		fire(list, &a);
	}
}

static void of_app(struct obj *list, const struct obj *o)
{
	struct condition c;
	struct alert a = {.severity = "warning", .app = meta_name(o)};
	bool automatic = cstr_eq(obj_str(o, "spec.upgrade.mode"), "Automatic");
	if (automatic && condition_get(o, "UpgradeBlocked", &c) && cstr_eq(c.status, "True")) {
		a.name = "ALMUpgradeBlocked";
		a.version = obj_str(o, "status.availableVersion");
		a.message = c.message;
		a.since = condition_since(o, "UpgradeBlocked");
		a.steps = obj_get(candidate(o, a.version), "steps");
		fire(list, &a);
	}
	if (condition_get(o, "Ready", &c) && cstr_eq(c.reason, "Degraded")) {
		a = (struct alert){.name = "ALMDegraded",
				   .severity = "critical",
				   .app = meta_name(o),
				   .version = obj_str(o, "status.installedVersion"),
				   .message = c.message,
				   .since = condition_since(o, "Ready")};
		fire(list, &a);
	}
	of_app_conditions(list, o);
}

static void of_strategy(struct obj *list, const struct obj *o)
{
	struct condition c = {0};
	const char *phase = obj_str(o, "status.phase");
	if (!cstr_eq(phase, "RolledBack") && !cstr_eq(phase, "Failed"))
		return;
	condition_get(o, "Verified", &c);
	const struct alert a = {.name = "ALMUpgradeFailed",
				.severity = "critical",
				.app = obj_str(o, "spec.appTypeRef.name"),
				.version = obj_str(o, "spec.version"),
				.message = c.message ? c.message : phase,
				.steps = obj_path(o, "status.steps")};
	fire(list, &a);
}

static void of_catalog(struct obj *list, const struct obj *o)
{
	struct condition c;
	struct alert a = {.severity = "warning", .catalog = meta_name(o)};
	a.message = obj_str(o, "status.quarantined.reason");
	a.since = obj_str(o, "status.quarantined.since");
	a.name = "ALMCatalogQuarantined";
	if (a.message)
		fire(list, &a);
	else if (condition_get(o, "Synced", &c) && cstr_eq(c.status, "False")) {
		a.name = "ALMCatalogStale";
		a.message = c.message;
		a.since = condition_since(o, "Synced");
		fire(list, &a);
	}
}

/* fleet.md 2.5: each failing state that rests, and what is waited for too long. */
static void of_bundle(struct obj *list, const struct obj *o)
{
	static const struct {
		const char *type, *reason; /* of the condition; reason NULL: it is True */
		const char *name, *severity;
	} rows[] = {
		{"Ready", "SourceFailed", "ALMSourceStale", "warning"},
		{"Ready", "Invalid", "ALMBundleInvalid", "warning"},
		{"Ready", "Blocked", "ALMInstallFailed", "critical"},
		{"Ready", "Stopped", "ALMInstallFailed", "critical"},
		{"Ready", "RolledBack", "ALMInstallFailed", "critical"},
		{"Ready", "Degraded", "ALMDegraded", "critical"},
		{"PruneHeld", NULL, "ALMPruneHeld", "warning"},
		{"AnalysisHeld", NULL, "ALMAnalysisHeld", "warning"},
		{"ApprovalPending", NULL, "ALMApprovalPending", "warning"},
		{"StateOverdue", NULL, "ALMStateOverdue", "warning"},
		{"DeletionBlocked", NULL, "ALMDeletionBlocked", "warning"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct condition c;
		if (!condition_get(o, rows[i].type, &c) ||
		    !cstr_eq(rows[i].reason ? c.reason : c.status,
			     rows[i].reason ? rows[i].reason : "True"))
			continue;
		const struct alert a = {.name = rows[i].name,
					.severity = rows[i].severity,
					.bundle = meta_name(o),
					.version = obj_str(o, "status.revision"),
					.message = c.message,
					.since = condition_since(o, rows[i].type)};
		fire(list, &a);
	}
}

/* Whatever it is that fails: the app of a version is named. */
static void of_any(struct obj *list, const struct obj *o)
{
	struct condition c;
	if (!condition_get(o, stalled_type(o), &c) || !cstr_eq(c.status, "True"))
		return;
	bool is_catalog = cstr_eq(meta_kind(o), "Catalog");
	bool is_app = cstr_eq(meta_kind(o), "AppType");
	bool is_bundle = cstr_eq(meta_kind(o), "Bundle");
	const struct alert a = {.name = "ALMReconcileFailing",
				.severity = "warning",
				.app = is_catalog ? NULL
				       : is_app   ? meta_name(o)
						  : obj_str(o, "spec.appTypeRef.name"),
				.version = is_catalog || is_app ? NULL : obj_str(o, "spec.version"),
				.catalog = is_catalog ? meta_name(o) : NULL,
				.bundle = is_bundle ? meta_name(o) : NULL,
				.message = c.message,
				.since = condition_since(o, stalled_type(o))};
	fire(list, &a);
}

struct obj *alerts_of(const struct obj *o)
{
	struct obj *list = obj_list();
	const char *kind = meta_kind(o);
	if (cstr_eq(kind, "AppType"))
		of_app(list, o);
	else if (cstr_eq(kind, "InstallStrategy"))
		of_strategy(list, o);
	else if (cstr_eq(kind, "Catalog"))
		of_catalog(list, o);
	else if (cstr_eq(kind, "Bundle"))
		of_bundle(list, o);
	of_any(list, o);
	return list;
}
