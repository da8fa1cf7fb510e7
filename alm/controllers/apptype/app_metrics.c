#include "alm/controllers/apptype/app_metrics.h"

#include "alm/io/metrics.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"

static void set(struct metrics *m, const char *name, const char *help,
		const char *const labels[][2], size_t n, int64_t value)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < n; i++)
		metrics_label(&text, labels[i][0], labels[i][1] ? labels[i][1] : "");
	metric_set(metrics_gauge(m, name, help, text.buf), value);
}

/* A finding of the gate reads RULE RESOURCE PATH: ... */
static char *judged_resource(const char *reason, const char *message)
{
	struct str rule, rest, resource, after;
	if (!cstr_eq(reason, "CRDIncompatible") || !message ||
	    !str_cut(str_of(message), ' ', &rule, &rest))
		return NULL;
	if (!str_cut(rest, ' ', &resource, &after))
		resource = rest;
	if (resource.len && resource.ptr[resource.len - 1] == ':')
		resource.len--;
	return xstrndup(resource.ptr, resource.len);
}

static void set_blocked(struct metrics *m, const char *app, const struct obj *o, bool gone)
{
	const struct obj *list = obj_path(o, "status.candidates");
	bool blocked = condition_is(o, "UpgradeBlocked", "True") && !gone;
	const char *available = obj_str(o, "status.availableVersion");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		const char *reason = obj_str(c, "reason"), *version = obj_str(c, "version");
		const struct obj *dropped = obj_get(c, "dropped");
		if (obj_flag(c, "installable", false) || !reason)
			continue;
		CLEANUP(xfreep) char *judged = judged_resource(reason, obj_str(c, "message"));
		const char *resource = judged ? judged : obj_as_string(obj_at(dropped, 0));
		const char *const labels[][2] = {{"app", app},
						 {"version", version},
						 {"reason", reason},
						 {"resource", resource}};
		bool on = blocked && cstr_eq(version, available);
		if (on || gone)
			set(m, "alm_upgrade_blocked", "A newer version that a safety rule refuses.",
			    labels, 4, on);
	}
}

static void set_state(struct metrics *m, const char *app, const struct obj *o)
{
	struct condition ready;
	if (!condition_get(o, "Ready", &ready))
		return;
	const char *const state[][2] = {{"app", app}, {"state", ready.reason}};
	set(m, "alm_app_state", "State of an app.", state, 2, 1);
}

void app_metrics_update(struct metrics *m, const struct obj *apptype, bool gone)
{
	if (!m)
		return;
	const char *app = meta_name(apptype);
	const char *version = obj_str(apptype, "status.installedVersion");
	const char *available = obj_str(apptype, "status.availableVersion");
	const char *const info[][2] = {
		{"app", app}, {"type", obj_str(apptype, "spec.type")}, {"version", version}};
	const char *const newer[][2] = {{"app", app}, {"version", available}};
	CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(STRBUF_SMALL);
	metrics_label(&prefix, "app", app);
	metrics_drop(m, prefix.buf);
	if (gone)
		return;
	set(m, "alm_app_info", "Installed version of an app.", info, 3, 1);
	if (condition_is(apptype, "UpgradeAvailable", "True"))
		set(m, "alm_upgrade_available", "A newer installable version waits.", newer, 2, 1);
	set_state(m, app, apptype);
	set_blocked(m, app, apptype, gone);
}
