#include "alm/controllers/app/asks.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "catalog/semver.h"

#define TEXT_MAX 100 /* bytes of what is only compared */

struct ask {
	const struct view *v;
	const struct app *app;
	struct plan *plan;
	const struct obj *before, *now;
};

static void set_clipped(struct obj *o, const char *key, const char *text)
{
	CLEANUP(xfreep) char *clipped = text ? str_dup(str_clip(str_of(text), TEXT_MAX)) : NULL;
	obj_set_str(o, key, clipped);
}

static struct obj *waivers_of(const struct obj *list)
{
	struct obj *out = obj_list();
	for (size_t i = 0; i < obj_len(list) && i < ASKS_WAIVERS_MAX; i++) {
		const struct obj *w = obj_at(list, i);
		struct obj *o = obj_map();
		char digest[65];
		set_clipped(o, "rule", obj_str(w, "rule"));
		set_clipped(o, "resource", obj_str(w, "resource"));
		set_clipped(o, "path", obj_str(w, "path"));
		json_digest(w, digest);
		obj_set_str(o, "digest", digest);
		obj_append(out, o);
	}
	return out;
}

struct obj *asks_of(const struct app *app)
{
	const struct obj *waivers = obj_path(app->o, "spec.upgrade.waivers");
	const char *reason = meta_annotation(app->o, ANNOTATION_REASON);
	struct obj *o = obj_map();
	char digest[65];
	set_clipped(o, "mode", app->mode);
	obj_set_bool(o, "paused", app->paused);
	set_clipped(o, "to", obj_str(app->o, "spec.upgrade.to"));
	obj_set(o, "waivers", waivers_of(waivers));
	if (obj_len(waivers) > ASKS_WAIVERS_MAX) {
		json_digest(waivers, digest);
		obj_set_str(o, "allWaivers", digest);
	}
	if (reason) {
		sha256_hex(str_of(reason), digest);
		obj_set_str(o, "reason", digest);
	}
	return o;
}

/* The one given with this change, not one that was left from another. */
static const char *reason_given(const struct ask *k)
{
	const char *text = meta_annotation(k->app->o, ANNOTATION_REASON);
	const char *generation = arena_fmt(k->v->a, "%lld", (long long)meta_generation(k->app->o));
	if (cstr_eq(meta_annotation(k->app->o, ANNOTATION_REASON_FOR), generation))
		return text;
	return cstr_eq(obj_str(k->now, "reason"), obj_str(k->before, "reason")) ? NULL : text;
}

static struct obj *add(struct ask *k, const char *reason, const char *path, const char *why)
{
	struct obj *body = obj_map();
	obj_set_str(body, "trigger", "Spec");
	obj_set_str(body, "justification", why);
	obj_set_int(body, "generation", meta_generation(k->app->o));
	struct action *x = plan_row(k->plan, "Approval", k->app->o, reason, NULL, body);
	x->chain = k->app->name;
	const char *manager = meta_last_manager(k->app->o, NULL);
	x->actor = x->actor_via = manager ? manager : "unknown";
	x->touches = path;
	return body;
}

static void mode(struct ask *k)
{
	const char *from = obj_str(k->before, "mode"), *to = obj_str(k->now, "mode");
	if (cstr_eq(from, to))
		return;
	struct obj *body = add(k, "ModeChanged", "spec.upgrade", reason_given(k));
	obj_set(body, "message",
		obj_stringf("%s -> %s", from ? from : "Automatic", to ? to : "Automatic"));
}

static void pausing(struct ask *k)
{
	bool from = obj_flag(k->before, "paused", false), to = obj_flag(k->now, "paused", false);
	if (from != to)
		add(k, to ? "Paused" : "Resumed", "spec.paused", reason_given(k));
}

static bool is_back(const char *to, const char *installed)
{
	struct version a, b;
	struct error err;
	return version_parse(str_of(to), VERSION_LOOSE, &a, &err) >= 0 &&
	       version_parse(str_of(installed), VERSION_LOOSE, &b, &err) >= 0 &&
	       version_cmp(&a, &b) < 0;
}

static void version(struct ask *k)
{
	const char *from = obj_str(k->before, "to"), *to = obj_str(k->now, "to");
	const char *installed = k->app->installed ? k->app->installed->version : NULL;
	if (cstr_eq(from, to))
		return;
	const char *reason = !to                                   ? "VersionReleased"
			     : installed && is_back(to, installed) ? "RollbackAsked"
								   : "UpgradeAsked";
	struct obj *body = add(k, reason, "spec.upgrade", reason_given(k));
	if (installed)
		obj_set_path(body, "version.from", obj_string(installed));
	if (to)
		obj_set_path(body, "version.to", obj_string(to));
	else
		obj_set(body, "message", obj_stringf("no longer held at %s", from));
}

static bool has_waiver(const struct obj *list, const struct obj *waiver)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "digest"), obj_str(waiver, "digest")))
			return true;
	return false;
}

static void waivers(struct ask *k)
{
	const struct obj *from = obj_get(k->before, "waivers"), *to = obj_get(k->now, "waivers");
	const struct obj *full = obj_path(k->app->o, "spec.upgrade.waivers");
	const char *all = obj_str(k->now, "allWaivers");
	for (size_t i = 0; i < obj_len(to); i++) {
		if (has_waiver(from, obj_at(to, i)))
			continue;
		const char *why = obj_str(obj_at(full, i), "reason");
		obj_set(add(k, "Waived", "spec.upgrade", why ? why : reason_given(k)), "waiver",
			obj_ref(obj_at(to, i)));
	}
	for (size_t i = 0; i < obj_len(from); i++)
		if (!has_waiver(to, obj_at(from, i)))
			obj_set(add(k, "WaiverWithdrawn", "spec.upgrade", reason_given(k)),
				"waiver", obj_ref(obj_at(from, i)));
	if (all && !cstr_eq(all, obj_str(k->before, "allWaivers")))
		obj_set(add(k, "Waived", "spec.upgrade", reason_given(k)), "message",
			obj_stringf("%zu waivers, of which the first %d are told one by one",
				    obj_len(full), ASKS_WAIVERS_MAX));
}

void asks_plan(const struct view *v, const struct app *app, struct plan *plan)
{
	if (!v->ops->last_reason)
		return;
	struct obj *row =
		v->ops->last_reason(v->ops_arg, "Observe", "SpecChanged", "AppType", app->name);
	if (!row)
		return;
	obj_keep(v->a, row);
	if (!cstr_eq(obj_str(row, "subject.uid"), meta_uid(app->o)) || !obj_path(row, "body.asked"))
		return; /* another of its name, or an older record: nothing to compare with */
	struct ask k = {.v = v,
			.app = app,
			.plan = plan,
			.before = obj_path(row, "body.asked"),
			.now = obj_keep(v->a, asks_of(app))};
	mode(&k);
	pausing(&k);
	version(&k);
	waivers(&k);
}
