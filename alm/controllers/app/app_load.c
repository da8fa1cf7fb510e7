/* app_load: an app from the view: its strategies, what the resolver is asked, and what it answers. */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/account.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/claims.h"
#include "alm/controllers/app/install_plan.h"
#include "alm/controllers/app/unsupported.h"
#include "alm/controllers/app/usage.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "alm/sources/inplace.h"

/* An installed version that is being planned again for changed values, or whose way back from them
 * failed. It says itself that a former revision runs: what the app said may have been forgotten
 * over an old list without strategies. */
static bool is_tried_anew(const struct strategy_ref *s, const char *installed)
{
	bool ran = s->former || (s->revision > 0 && cstr_eq(s->version, installed));
	return ran && (phase_is_unfinished(s->phase) || s->phase == PHASE_BLOCKED ||
		       (s->phase == PHASE_FAILED && s->former));
}

static void load_strategies(const struct view *v, struct app *app)
{
	size_t n;
	const struct obj *const *all = view_strategies(v, app->name, &n);
	app->strategies = ARENA_ARRAY(v->a, struct strategy_ref, n);
	const char *installed = obj_str(app->o, "status.installedVersion");
	for (size_t i = 0; i < n; i++) {
		struct strategy_ref *s = &app->strategies[app->n++];
		*s = (struct strategy_ref){.o = all[i],
					   .name = meta_name(all[i]),
					   .version = strategy_version(all[i], v->a),
					   .sha256 = strategy_sha256(all[i]),
					   .phase = phase_of(all[i]),
					   .revision = obj_i64(all[i], "status.revision", 0),
					   .former = obj_i64(all[i], "status.former.revision", 0),
					   .by_alm = meta_annotation(all[i], ANNOTATION_MADE_BY) !=
						     NULL};
		s->managed = strategy_managed(all[i], v->a);
		if (phase_is_busy(s->phase))
			app->busy = s;
	}
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		if (s->phase == PHASE_SUCCEEDED &&
		    (!app->installed || s->revision > app->installed->revision))
			app->installed = s;
	}
	for (size_t i = 0; !app->installed && i < app->n; i++)
		if (is_tried_anew(&app->strategies[i], installed))
			app->installed = &app->strategies[i];
}

/* A strategy made by hand that its own planning refused: the resolver passes it over. That another
 * comes first is no refusal. */
static void tell_blocked(const struct strategy_ref *s, struct resolve_manual *m)
{
	struct condition c;
	bool told = condition_get(s->o, "PlanReady", &c) && cstr_eq(c.status, "False");
	if (!told)
		told = condition_get(s->o, "RequirementsMet", &c) && cstr_eq(c.status, "False") &&
		       cstr_eq(c.reason, "RequirementUnmet");
	if (s->phase != PHASE_BLOCKED || !told || cstr_eq(c.reason, "OtherInProgress"))
		return;
	m->blocked = c.reason;
	m->message = c.message;
}

/* What upgrade.to names may be in no catalog any more: its stored plan is enough. */
static bool is_way_back(const struct view *v, const struct app *app, const struct strategy_ref *s)
{
	return s->by_alm && s != app->installed && s->revision && s->sha256 &&
	       cstr_eq(s->version, app->in.to) &&
	       install_plan_newest(v, s->name, s->revision, NULL);
}

static void fill_manual(const struct view *v, struct app *app)
{
	struct resolve_manual *m = ARENA_ARRAY(v->a, struct resolve_manual, app->n);
	for (size_t i = 0; i < app->n; i++) {
		const struct strategy_ref *s = &app->strategies[i];
		bool stored = is_way_back(v, app, s);
		if ((s->by_alm && !stored) || meta_is_deleting(s->o))
			continue;
		m[app->in.n_manual] = (struct resolve_manual){.stored = stored,
							      .strategy = s->name,
							      .version = s->version,
							      .sha256 = s->sha256,
							      .resources = s->managed};
		tell_blocked(s, &m[app->in.n_manual++]);
	}
	app->in.manual = m;
}

static void free_claims(void *p)
{
	claims_free(p);
}

static void take_all(const struct view *v, unsigned kind, struct claims *c)
{
	size_t n;
	const struct obj *const *all = view_list(v, kind, NULL, &n);
	for (size_t i = 0; i < n; i++)
		claims_update(c, all[i], false);
}

static const struct resolve_claims *all_claims(const struct view *v)
{
	struct claims *c = v->shared->claims;
	if (!c) {
		c = claims_new();
		arena_defer(v->a, free_claims, c);
		take_all(v, WATCH_APPTYPE, c);
		take_all(v, WATCH_STRATEGY, c);
	}
	return claims_all(c, v);
}

static void fill_windows(const struct view *v, struct app *app)
{
	const struct obj *list = obj_path(app->o, "spec.upgrade.windows");
	size_t n = obj_len(list) < RESOLVE_WINDOWS_MAX ? obj_len(list) : RESOLVE_WINDOWS_MAX;
	struct resolve_window *w = ARENA_ARRAY(v->a, struct resolve_window, n);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char **days = app_strings(obj_path(o, "days"), v->a);
		if (!resolve_window_parse((const char *const *)days, obj_str(o, "from"),
					  obj_str(o, "to"), &w[i]))
			app->in.unreadable = arena_fmt(
				v->a,
				"spec.upgrade.windows[%zu]: want days like Sat or Saturday, and "
				"from and to as HH:MM between 00:00 and 24:00",
				i);
	}
	app->in.windows = w;
	app->in.n_windows = n;
}

static void fill_soak(const struct view *v, struct app *app)
{
	struct error err = ERROR_INIT;
	const char *text = obj_str(app->o, "spec.upgrade.soak");
	if (text && duration_parse(str_of(text), &app->in.soak_ns, &err) < 0)
		app->in.unreadable = arena_fmt(v->a, "spec.upgrade.soak: %s", err.msg);
	else if (app->in.soak_ns < 0)
		app->in.unreadable = arena_fmt(v->a, "spec.upgrade.soak: %s is negative", text);
}

/* What would be taken for its default, or for nothing. */
static void fill_unreadable(const struct view *v, struct app *app)
{
	static const char *const durations[] = {
		"spec.upgrade.approvalTTL", "spec.upgrade.deadlines.pending",
		"spec.upgrade.deadlines.installing", "spec.upgrade.deadlines.verifying"};
	struct error err = ERROR_INIT;
	struct range range;
	int64_t ns;
	const char *text = obj_str(app->o, "spec.upgrade.approveVersion");
	if (text && *text && range_parse(str_of(text), v->a, &range, &err) < 0)
		app->in.unreadable = arena_fmt(v->a, "spec.upgrade.approveVersion: %s", err.msg);
	for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
		text = obj_str(app->o, durations[i]);
		if (text && duration_parse(str_of(text), &ns, &err) < 0)
			app->in.unreadable = arena_fmt(v->a, "%s: %s", durations[i], err.msg);
	}
}

static void fill_waivers(const struct view *v, struct app *app)
{
	const struct obj *list = obj_path(app->o, "spec.upgrade.waivers");
	size_t n = obj_len(list);
	struct resolve_waiver *w = ARENA_ARRAY(v->a, struct resolve_waiver, n);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		const char *expires = obj_str(o, "expires");
		w[i] = (struct resolve_waiver){.rule = obj_str(o, "rule"),
					       .resource = obj_str(o, "resource"),
					       .path = obj_str(o, "path"),
					       .reason = obj_str(o, "reason")};
		if (expires && !clock_parse(str_of(expires), &w[i].expires_ns))
			w[i].expires_ns = 1; /* unreadable: expired */
	}
	app->in.waivers = w;
	app->in.n_waivers = n;
}

/* "VERSION@archive+values" of an upgrade that ended without its version, until it is tried again.
 */
static const char *failed_mark(const struct view *v, const struct app *app,
			       const struct strategy_ref *s)
{
	const char *values = obj_str(s->o, "status.failed.values"); /* of what runs again */
	if (!app->installed || (!values && s->phase != PHASE_ROLLING_BACK &&
				s->phase != PHASE_ROLLED_BACK && s->phase != PHASE_FAILED))
		return NULL;
	const struct obj *doc = values ? NULL : install_plan_stored(v, s->name, s->revision, NULL);
	if (!values)
		values = obj_str(doc, "values");
	return arena_fmt(v->a, "%s@%.12s+%s", s->version, s->sha256 ? s->sha256 : "",
			 values ? values : app->in.values_digest);
}

static bool is_retried(const struct app *app, const char *mark)
{
	const char *version = meta_annotation(app->o, ANNOTATION_RETRY);
	size_t n = version ? strlen(version) : 0;
	return n && !strncmp(mark, version, n) && mark[n] == '@';
}

/* What the status remembers, and what the strategies show that it may not have yet. */
static void fill_failed(const struct view *v, struct app *app)
{
	const struct obj *list = obj_path(app->o, "status.failedVersions");
	const char **marks = ARENA_ARRAY(v->a, const char *, obj_len(list) + app->n + 1);
	size_t n = 0;
	for (size_t i = 0; i < obj_len(list) + app->n; i++) {
		const char *mark =
			i < obj_len(list)
				? obj_as_string(obj_at(list, i))
				: failed_mark(v, app, &app->strategies[i - obj_len(list)]);
		bool known = !mark || is_retried(app, mark);
		for (size_t k = 0; k < n && !known; k++)
			known = !strcmp(marks[k], mark);
		if (!known)
			marks[n++] = mark;
	}
	app->in.failed = marks;
}

/* The Catalog of a package in place is somebody else's. */
static const char *inplace_taken(const struct view *v, const struct app *app)
{
	const char *name = inplace_catalog_name(app->name, v->a);
	const struct obj *o = inplace_is(app->o) ? view_get(v, WATCH_CATALOG, name) : NULL;
	if (!o || meta_annotation(o, ANNOTATION_MADE_BY))
		return NULL;
	return arena_fmt(v->a,
			 "spec.resources: Catalog %s is not ALM's, which keeps its own under that "
			 "name; delete it or give it another name",
			 name);
}

/* Who deletes the strategy of what is installed takes its record, not the consent to another version
 * (lifecycle.md 8): the same one is made again. One made by hand is its author's to make. */
static const char *version_to_restore(const struct app *app)
{
	const char *package = obj_str(app->o, "spec.package");
	const char *was = obj_str(app->o, "status.source.package");
	if (app->installed || inplace_is(app->o) || (package && !cstr_eq(package, was)))
		return NULL;
	return obj_str(app->o, "status.source.version");
}

static void fill_input(const struct view *v, struct app *app, const struct resolve_claims *claims)
{
	struct resolve_input *in = &app->in;
	const struct obj *o = app->o;
	*in = (struct resolve_input){
		.app = app->name,
		.self_ref = app->self_ref,
		.package = obj_str(o, "spec.package"),
		.catalog = inplace_is(o) ? inplace_catalog_name(app->name, v->a)
					 : obj_str(o, "spec.catalog"),
		.channel = obj_str(o, "spec.channel"),
		.range = obj_str(o, "spec.version"),
		.to = obj_str(o, "spec.upgrade.to"),
		.restore = version_to_restore(app),
		.kube_version = v->settings->kube_version,
		.indexes = v->shared->indexes,
		.n_indexes = v->shared->n_indexes,
		.n_unsynced = v->shared->n_unsynced,
		.now_ns = v->now_ns,
		.values_digest = values_digest(app->values, v->a),
		.mode = app->mode,
		.paused = app->paused,
	};
	fill_failed(v, app);
	if (app->installed) {
		in->installed_version = app->installed->version;
		in->installed_managed = (const char *const *)app->installed->managed;
		in->installed_digest = app->installed->sha256;
	} else if (in->restore) {
		in->installed_digest = obj_str(o, "status.source.digest");
	}
	if (app->installed ? app->installed->by_alm : in->restore != NULL) {
		in->installed_package = obj_str(o, "status.source.package");
		in->installed_catalog = obj_str(o, "status.source.catalog");
	}
	fill_manual(v, app);
	fill_waivers(v, app);
	fill_windows(v, app);
	fill_soak(v, app);
	fill_unreadable(v, app);
	in->unsupported = unsupported_of_app(o, v->a);
	if (!in->unsupported)
		in->unsupported = inplace_taken(v, app);
	in->claims = claims ? claims : all_claims(v);
	usage_bind(v, app);
}

/* The version whose turn it is, unless time or mode makes it wait. */
static void decide_next(struct app *app)
{
	const struct resolution *r = &app->resolution;
	app->gate = r->gate;
	if (r->chosen && !r->gate)
		app->next = r->n_path ? r->path[0] : r->chosen->version;
}

static struct app *app_read(const struct view *v, const char *name)
{
	const struct obj *o = view_get(v, WATCH_APPTYPE, name);
	if (!o)
		return NULL;
	struct app *app = ARENA_NEW(v->a, struct app);
	app->o = o;
	app->name = meta_name(o);
	app->self_ref = app_self_ref(o, v->a);
	app->mode = obj_str(o, "spec.upgrade.mode");
	if (!app->mode)
		app->mode = "Automatic";
	app->install_namespace = obj_str(o, "spec.installNamespace");
	if (!app->install_namespace)
		app->install_namespace = app->name;
	account_of(app, v->a);
	app->paused = obj_flag(o, "spec.paused", false);
	app->deleting = meta_is_deleting(o);
	const struct obj *values = obj_path(o, "spec.values");
	app->values = obj_keep(v->a, obj_type(values) == OBJ_MAP ? obj_ref(values) : obj_map());
	load_strategies(v, app);
	return app;
}

struct app *app_load(const struct view *v, const char *name)
{
	struct app *app = app_read(v, name);
	if (!app || app->deleting) /* nothing is chosen any more */
		return app;
	fill_input(v, app, NULL);
	if (v->ops->resolving)
		v->ops->resolving(v->ops_arg, -1);
	resolve_run(&app->in, v->a, &app->resolution);
	if (v->ops->resolving)
		v->ops->resolving(v->ops_arg, app->resolution.decisions);
	decide_next(app);
	return app;
}

const struct resolve_input *app_input(const struct view *v, const char *name,
				      const struct resolve_claims *claims)
{
	struct app *app = app_read(v, name);
	if (!app)
		return NULL;
	fill_input(v, app, claims);
	return &app->in;
}

const struct resolve_input *app_input_new(const struct view *v, const char *self_ref,
					  const char *package)
{
	struct app *app = ARENA_NEW(v->a, struct app);
	app->self_ref = self_ref;
	app->name = arena_strndup(v->a, self_ref, strcspn(self_ref, "."));
	app->o = obj_keep(v->a, obj_map());
	app->mode = "Automatic";
	app->values = obj_keep(v->a, obj_map());
	fill_input(v, app, NULL);
	app->in.package = package;
	return &app->in;
}
