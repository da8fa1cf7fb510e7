#include "alm/cli/app/overview.h"

#include "alm/cli/app/bundle_row.h"
#include "alm/cli/app/retry_bundle.h"
#include "alm/engine/stalled.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"

#define ASK_WHY_NOT "alm why-not "

struct overview {
	const struct overview_input *in;
	struct arena *a;
	const struct obj *app;
	const char *name;
	struct obj *waits;
};

static const char *version_of(const struct obj *strategy, struct arena *a)
{
	const struct obj *v = obj_path(strategy, "spec.version");
	const char *text = obj_as_string(v);
	if (obj_is_number(v))
		return arena_fmt(a, "%.*s", STR_ARG(obj_number_text(v)));
	return text ? text : "";
}

static struct obj *wait_new(const struct overview *x, const char *what, const char *version,
			    const char *reason, const char *message)
{
	struct obj *o = obj_map();
	obj_set_str(o, "what", what);
	if (version && *version)
		obj_set_str(o, "version", version);
	obj_set_str(o, "reason", reason ? reason : "");
	obj_set_str(o, "message", message ? message : "");
	obj_append(x->waits, o);
	return o;
}

static void set_next(struct obj *wait, const char *command)
{
	struct obj *list = obj_list();
	nextstep_add(list, command);
	obj_set(wait, "next", list);
}

static void set_steps(const struct overview *x, struct obj *wait, const struct obj *steps,
		      const char *version)
{
	if (obj_len(steps))
		obj_set(wait, "next", obj_copy(steps));
	else
		set_next(wait, nextstep_new(x->a, NULL, ASK_WHY_NOT "%s %s", x->name, version));
}

/* --- strategies --- */

static bool first_false(const struct obj *strategy, struct condition *ret)
{
	const struct obj *list = obj_path(strategy, "status.conditions");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *c = obj_at(list, i);
		const char *type = obj_str(c, "type"), *message = obj_str(c, "message");
		if (type && message && *message && cstr_eq(obj_str(c, "status"), "False"))
			return condition_get(strategy, type, ret);
	}
	return false;
}

static bool is_of_app(const struct overview *x, const struct obj *strategy)
{
	const char *ref = obj_str(strategy, "spec.appTypeRef.name");
	return cstr_eq(ref, x->name) || (ref && cstr_eq(ref, obj_str(x->app, "status.selfRef")));
}

/* A failure that a later success has made history. */
static bool is_over(const struct overview *x, const struct obj *strategy)
{
	const struct obj *all = obj_get(x->in->strategies, "items");
	int64_t revision = obj_i64(strategy, "status.revision", 0);
	for (size_t i = 0; i < obj_len(all); i++) {
		const struct obj *o = obj_at(all, i);
		if (is_of_app(x, o) && cstr_eq(obj_str(o, "status.phase"), "Succeeded") &&
		    obj_i64(o, "status.revision", 0) > revision)
			return true;
	}
	return false;
}

/* add_stalled() tells of it, with the step: "it goes on by itself" would contradict that. */
static bool is_stalled(const struct obj *o)
{
	struct condition c;
	return condition_get(o, stalled_type(o), &c) && cstr_eq(c.status, "True");
}

static void add_strategy(const struct overview *x, const struct obj *s)
{
	static const char *const moving[] = {"Pending", "Installing", "Verifying", "RollingBack",
					     NULL};
	static const char *const failed[] = {"Failed", "RolledBack", NULL};
	const char *phase = obj_str(s, "status.phase"), *version = version_of(s, x->a);
	struct condition why = {.reason = phase, .message = ""};
	(void)first_false(s, &why);
	if (meta_is_deleting(s)) {
		if (!meta_is_deleting(x->app))
			wait_new(
				x, "progress", version, "Deleting",
				"what its strategy installed is the app's now; the strategy goes, "
				"and is made again if it is still chosen, when no late write of it "
				"can come any more: a minute after its last one");
	} else if (cstr_eq(phase, "AwaitingApproval")) {
		(void)condition_get(s, "Approved", &why);
		struct obj *w = wait_new(x, "approval", version, why.reason, why.message);
		set_next(w, nextstep_new(x->a, NULL, "alm approve %s %s --reason TEXT", x->name,
					 version));
	} else if (cstr_eq(phase, "Blocked")) {
		struct obj *w = wait_new(x, "blocked", version, why.reason, why.message);
		set_steps(x, w, obj_path(s, "status.steps"), version);
	} else if (cstr_in(phase, failed) && !is_over(x, s)) {
		struct obj *w = wait_new(x, "failed", version, phase, why.message);
		set_next(w, nextstep_new(x->a, NULL, "alm retry %s %s", x->name, version));
	} else if (cstr_in(phase, moving) && !is_stalled(s)) {
		wait_new(x, "progress", version, phase, why.message);
	}
}

/* --- conditions --- */

static const struct obj *blocked_candidate(const struct overview *x, const char *reason)
{
	const struct obj *list = obj_path(x->app, "status.candidates");
	const char *available = obj_str(x->app, "status.availableVersion");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "reason"), reason) &&
		    cstr_eq(obj_str(obj_at(list, i), "version"), available))
			return obj_at(list, i);
	return NULL;
}

/* Of one version the strategy tells more than the app; NULL: nothing is reported of it. */
static struct obj *wait_of_version(const struct overview *x, const char *version)
{
	static const char *const whats[] = {"blocked", "failed", "approval", NULL};
	for (size_t i = 0; version && i < obj_len(x->waits); i++) {
		const struct obj *w = obj_at(x->waits, i);
		if (cstr_in(obj_str(w, "what"), whats) && cstr_eq(obj_str(w, "version"), version))
			return obj_at_mut(x->waits, i);
	}
	return NULL;
}

/* Or the one that only leads to them. */
static bool has_own_steps(const struct obj *wait)
{
	return !cstr_has_prefix(obj_as_string(obj_at(obj_get(wait, "next"), 0)), ASK_WHY_NOT);
}

static void add_blocked(const struct overview *x)
{
	struct condition c;
	if (!condition_get(x->app, "UpgradeBlocked", &c) || !cstr_eq(c.status, "True"))
		return;
	const struct obj *candidate = blocked_candidate(x, c.reason);
	const char *version = obj_str(candidate, "version");
	const char *installed = obj_str(x->app, "status.installedVersion");
	struct obj *w = wait_of_version(x, version);
	if (w && (!obj_len(obj_get(candidate, "steps")) || has_own_steps(w)))
		return;
	if (!w)
		w = wait_new(x, "blocked", version, c.reason, c.message);
	bool values = !version && installed && cstr_eq(c.reason, "PreviouslyFailed");
	if (values)
		set_next(w, nextstep_new(x->a, NULL, "alm retry %s %s", x->name, installed));
	else if (version)
		set_steps(x, w, obj_get(candidate, "steps"), version);
	else
		set_next(w, nextstep_new(x->a, NULL, "alm why %s", x->name));
}

static const char *resume_command(const struct overview *x)
{
	return nextstep_new(
		x->a, NULL,
		"kubectl patch apptype %s --type=merge -p '{\"spec\":{\"paused\":false}}'",
		x->name);
}

static const char *gate_text(const char *reason)
{
	if (cstr_eq(reason, "Paused"))
		return "it can be installed, but spec.paused is true: nothing new starts";
	if (cstr_eq(reason, "ModeNone"))
		return "it can be installed, but mode None installs nothing by itself";
	return "it can be installed";
}

static bool is_told(const struct overview *x, const char *reason)
{
	for (size_t i = 0; i < obj_len(x->waits); i++)
		if (cstr_eq(obj_str(obj_at(x->waits, i), "reason"), reason))
			return true;
	return false;
}

/* Whatever else waits: nothing of it starts. */
static void add_paused(const struct overview *x)
{
	struct condition c;
	if (condition_get(x->app, "Paused", &c) && cstr_eq(c.status, "True") &&
	    !is_told(x, "Paused"))
		set_next(wait_new(x, "paused", NULL, c.reason, c.message), resume_command(x));
}

/* A newer version that only time or mode holds back. */
static void add_available(const struct overview *x)
{
	static const char *const told[] = {"NewerInstallable", "AwaitingApproval", NULL};
	struct condition c;
	bool newer = condition_get(x->app, "UpgradeAvailable", &c) && cstr_eq(c.status, "True");
	if (!newer || cstr_in(c.reason, told))
		return;
	/* "0.9.6; OutsideWindow until Sat 02:00Z" */
	struct str version, until;
	bool timed = str_cut(str_of(c.message), ';', &version, &until);
	const char *newest = arena_strndup(x->a, version.ptr, version.len);
	const char *text =
		timed ? arena_fmt(x->a, "%.*s", STR_ARG(str_trim(until))) : gate_text(c.reason);
	if (timed && cstr_has_prefix(text, c.reason)) { /* it is told once */
		text += strlen(c.reason);
		text += strspn(text, ": ");
	}
	struct obj *w = wait_new(x, "upgrade", newest, c.reason, text);
	if (cstr_eq(c.reason, "Paused"))
		set_next(w, resume_command(x));
	else if (cstr_eq(c.reason, "Unreadable"))
		set_next(w, nextstep_new(x->a, NULL, "kubectl edit apptype %s", x->name));
	else if (cstr_eq(c.reason, "ModeNone"))
		set_next(w, nextstep_new(x->a, NULL, "alm upgrade %s --to %s", x->name, newest));
}

/* A reconcile that fails again and again (stalled.h), of the app or of one of its versions. */
static void add_stalled(const struct overview *x, const struct obj *o, const char *kind,
			const char *version)
{
	struct condition c;
	if (!condition_get(o, stalled_type(o), &c) || !cstr_eq(c.status, "True"))
		return;
	struct obj *w = wait_new(x, "stalled", version, c.reason, c.message);
	const char *next = stalled_next(kind, meta_name(o), c.reason, x->a);
	if (*next)
		set_next(w, next);
}

/* "Resolving" that took too long is "Unresolved" by now, for the same cause. */
static bool is_the_state(const struct overview *x, const struct condition *c)
{
	struct condition ready;
	return condition_get(x->app, "Ready", &ready) && !cstr_eq(ready.status, "True") &&
	       cstr_eq(c->type, "StateOverdue") && cstr_eq(ready.message, c->message);
}

/* What else is wrong: True is bad news for these. */
static void add_trouble(const struct overview *x)
{
	static const char *const types[] = {"Degraded",     "Drifted",    "CatalogStale",
					    "StateOverdue", "Deprecated", "DeletionBlocked"};
	struct condition c;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (condition_get(x->app, types[i], &c) && cstr_eq(c.status, "True") &&
		    !is_the_state(x, &c))
			set_next(wait_new(x, "trouble", NULL, c.reason, c.message),
				 nextstep_new(x->a, NULL, "alm describe apptype %s", x->name));
}

/* A pause, or a version that may come, is no reason why the app is not ready. */
static bool is_explained(const struct overview *x, const char *reason)
{
	static const char *const others[] = {"paused", "upgrade", "trouble", NULL};
	if (!reason)
		return true;
	for (size_t i = 0; i < obj_len(x->waits); i++)
		if (!cstr_in(obj_str(obj_at(x->waits, i), "what"), others))
			return true;
	struct condition c; /* Ready=False Degraded is reported by Degraded=True */
	return is_told(x, reason) ||
	       (condition_get(x->app, reason, &c) && cstr_eq(c.status, "True"));
}

static void add_unresolved(const struct overview *x)
{
	struct condition c;
	if (meta_is_deleting(x->app)) {
		if (!obj_len(x->waits))
			wait_new(x, "progress", NULL, "Deleting", "what it installed goes first");
		return;
	}
	if (!condition_get(x->app, "Ready", &c) || cstr_eq(c.status, "True") ||
	    is_explained(x, c.reason) || is_told(x, c.message)) /* "Unresolved: Paused" */
		return;
	struct obj *w = wait_new(x, "state", NULL, c.reason, c.message);
	if (cstr_eq(c.status, "False"))
		set_next(w, nextstep_new(x->a, NULL, "alm why %s", x->name));
}

/* --- the document --- */

static void set_if(struct obj *o, const char *key, const char *value)
{
	obj_set_str(o, key, value ? value : "");
}

static struct obj *app_obj(struct overview *x, const struct obj *app)
{
	struct condition ready = {.status = "Unknown", .reason = "New", .message = ""};
	struct obj *o = obj_map();
	const struct obj *strategies = obj_get(x->in->strategies, "items");
	const char *mode = obj_str(app, "spec.upgrade.mode");
	x->app = app;
	x->name = meta_name(app);
	x->waits = obj_list();
	(void)condition_get(app, "Ready", &ready);
	set_if(o, "name", x->name);
	set_if(o, "installed", obj_str(app, "status.installedVersion"));
	set_if(o, "available", obj_str(app, "status.availableVersion"));
	set_if(o, "mode", mode ? mode : "Automatic");
	set_if(o, "ready", ready.status);
	set_if(o, "state", meta_is_deleting(app) ? "Deleting" : ready.reason);
	set_if(o, "message", ready.message);
	for (size_t i = 0; i < obj_len(strategies); i++)
		if (is_of_app(x, obj_at(strategies, i)))
			add_strategy(x, obj_at(strategies, i));
	add_stalled(x, app, "apptype", NULL);
	for (size_t i = 0; i < obj_len(strategies); i++)
		if (is_of_app(x, obj_at(strategies, i)))
			add_stalled(x, obj_at(strategies, i), "installstrategy",
				    version_of(obj_at(strategies, i), x->a));
	add_blocked(x);
	add_available(x);
	add_paused(x);
	add_trouble(x);
	add_unresolved(x);
	obj_set(o, "waits", x->waits);
	return o;
}

static struct obj *catalog_objs(const struct obj *catalogs, struct arena *a)
{
	const struct obj *items = obj_get(catalogs, "items");
	struct obj *list = obj_list();
	struct condition c;
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		bool stalled = condition_get(o, stalled_type(o), &c) && cstr_eq(c.status, "True");
		bool known = stalled || condition_get(o, "Synced", &c);
		if (known && !stalled && cstr_eq(c.status, "True"))
			continue;
		struct obj *row = obj_map();
		set_if(row, "name", meta_name(o));
		set_if(row, "reason", known ? c.reason : "Syncing");
		set_if(row, "message", known ? c.message : "was never read");
		set_next(row, nextstep_new(a, NULL, "alm describe catalog %s", meta_name(o)));
		obj_append(list, row);
	}
	return list;
}

/* What is in the namespaces of a bundle and was declared by nobody, and when it goes. */
static struct obj *orphan_objs(const struct obj *bundle, int64_t now_ns, struct arena *a)
{
	const struct obj *orphans = obj_path(bundle, "status.orphans");
	struct obj *list = obj_list();
	for (size_t i = 0; i < obj_len(orphans); i++) {
		const struct obj *o = obj_at(orphans, i);
		struct obj *row = obj_map();
		set_if(row, "what",
		       arena_fmt(a, "%s %s/%s", obj_str(o, "kind"), obj_str(o, "namespace"),
				 obj_str(o, "name")));
		set_if(row, "text", bundle_orphan_text(o, now_ns, a));
		obj_append(list, row);
	}
	return list;
}

/* What a person does about a bundle in that state; NULL: it goes on by itself. */
static const char *bundle_next(const struct obj *o, const char *state, struct arena *a)
{
	static const char *const well[] = {
		"",        "Synced",  "New",         "Fetching", "Rendering", "Planning",
		"Rolling", "Soaking", "RollingBack", "Deleting", NULL};
	bool held = condition_is(o, "PruneHeld", "True");
	if (cstr_in(state, well) && !held)
		return condition_is(o, "OrphansUnknown", "True")
			       ? nextstep_new(a, NULL, "alm describe bundle %s", meta_name(o))
			       : NULL;
	if (held || cstr_eq(state, "AwaitingApproval"))
		return nextstep_new(a, NULL, "alm approve bundle/%s --prune --reason TEXT",
				    meta_name(o));
	if (retry_bundle_rests(state)) /* the line says why */
		return nextstep_new(a, NULL, "alm retry bundle/%s", meta_name(o));
	return nextstep_new(a, NULL, "alm describe bundle %s", meta_name(o));
}

static struct obj *bundle_objs(const struct overview_input *in, struct arena *a)
{
	const struct obj *items = obj_get(in->only ? NULL : in->bundles, "items");
	struct obj *list = obj_list();
	struct condition ready;
	for (size_t i = 0; i < obj_len(items); i++) {
		const struct obj *o = obj_at(items, i);
		const char *state = obj_str(o, "status.state");
		struct obj *row = obj_map();
		set_if(row, "name", meta_name(o));
		set_if(row, "state", state);
		set_if(row, "revision", obj_str(o, "status.revision"));
		set_if(row, "message", condition_get(o, "Ready", &ready) ? ready.message : "");
		if (condition_is(o, "OrphansUnknown", "True") &&
		    condition_get(o, "OrphansUnknown", &ready))
			set_if(row, "orphansUnknown", ready.message);
		if (condition_is(o, "Paused", "True"))
			obj_set_bool(row, "paused", true);
		obj_set(row, "orphans", orphan_objs(o, in->now_ns, a));
		if (obj_path(o, "status.instances"))
			obj_set(row, "instances", obj_ref(obj_path(o, "status.instances")));
		set_if(row, "held",
		       condition_get(o, "PruneHeld", &ready) && cstr_eq(state, "Synced")
			       ? ready.message
			       : "");
		const char *next = bundle_next(o, state ? state : "", a);
		if (next)
			set_next(row, next);
		obj_append(list, row);
	}
	return list;
}

struct obj *overview_new(const struct overview_input *in, struct arena *a)
{
	struct overview x = {.in = in, .a = a};
	struct obj *o = obj_map(), *apps = obj_list();
	const struct obj *items = obj_get(in->apps, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (!in->only || cstr_eq(meta_name(obj_at(items, i)), in->only))
			obj_append(apps, app_obj(&x, obj_at(items, i)));
	if (in->server)
		obj_set_str(o, "server", in->server);
	if (in->controller)
		obj_set_str(o, "controller", in->controller);
	obj_set(o, "apps", apps);
	obj_set(o, "catalogs", catalog_objs(in->catalogs, a));
	obj_set(o, "bundles", bundle_objs(in, a));
	return o;
}
