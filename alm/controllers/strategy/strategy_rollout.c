#include "alm/controllers/strategy/strategy_rollout.h"

#include <string.h>

#include "alm/controllers/strategy/strategy_gate.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/watched.h"
#include "alm/obj/meta.h"
#include "alm/unit/feedback.h"
#include "alm/unit/rollout.h"

/* --- which one --- */

static const char *name_of(const struct strategy_pass *s)
{
	const char *own = obj_str(s->ref->o, "spec.rolloutRef.name");
	return own ? own : obj_str(s->app->o, "spec.rolloutRef.name");
}

static int parse(const struct strategy_pass *s, const struct obj *o, struct rollout **ret,
		 struct error *err)
{
	const struct rollout_options options = {
		.no_canary = true,
		.file = arena_fmt(s->v->a, "Rollout %s", meta_name(o) ? meta_name(o) : "")};
	return rollout_parse(o, &options, s->v->a, ret, err);
}

enum ensured strategy_find_rollout(struct strategy_pass *s)
{
	const char *name = name_of(s);
	struct rollout *parsed;
	struct error err = ERROR_INIT;
	if (!name)
		return DONE;
	s->rollout = view_get(s->v, WATCH_ROLLOUT, name);
	if (!s->rollout)
		return strategy_block(s, "PlanReady", "RolloutInvalid",
				      arena_fmt(s->v->a,
						"spec.rolloutRef: there is no Rollout %s; create "
						"it, or remove the field",
						name));
	if (parse(s, s->rollout, &parsed, &err) < 0)
		return strategy_block(s, "PlanReady", "RolloutInvalid",
				      arena_strdup(s->v->a, err.msg));
	return DONE;
}

/* --- the plan --- */

/* "templates/a.yaml" of "chart/templates/a.yaml". */
static const char *file_of(const char *path)
{
	const char *slash = path ? strchr(path, '/') : NULL;
	return slash ? slash + 1 : "";
}

/* The key of the i-th of a list, which is FILE, or FILE!N of several. */
static const char *key_at(const struct obj *paths, size_t i, struct arena *a)
{
	const char *path = obj_as_string(obj_at(paths, i));
	size_t before = 0, n = 0;
	for (size_t k = 0; k < obj_len(paths); k++) {
		bool same = cstr_eq(obj_as_string(obj_at(paths, k)), path);
		n += same;
		before += same && k < i;
	}
	return n > 1 ? arena_fmt(a, "%s!%zu", file_of(path), before) : file_of(path);
}

static const char *key_in(const struct obj *list, const struct obj *paths, const struct obj *o,
			  struct arena *a)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (obj_at(list, i) == o)
			return key_at(paths, i, a);
	return NULL;
}

static void set_keys(struct strategy_pass *s, struct obj *doc, const struct obj *rendered)
{
	struct arena *a = s->v->a;
	struct obj *rows = obj_get_mut(doc, "objects");
	for (size_t i = 0; i < obj_len(rows); i++) {
		struct obj *row = obj_at_mut(rows, i);
		const struct obj *o = obj_get(row, "object");
		const char *key =
			key_in(obj_get(rendered, "objects"), obj_get(rendered, "paths"), o, a);
		if (!key)
			key = key_in(obj_get(rendered, "crds"), obj_get(rendered, "crdPaths"), o,
				     a);
		obj_set_str(row, "key", key ? key : "");
	}
}

static int load_unit(const struct strategy_pass *s, const struct obj *doc, struct unit *u,
		     struct error *err)
{
	struct rollout *rollout = NULL;
	*u = (struct unit){.doc = doc,
			   .hub = "app",
			   .bundle = s->app->name,
			   .instance = s->ref->name,
			   .owner_id = meta_uid(s->ref->o),
			   .ns = obj_str(doc, "namespace")};
	if (parse(s, obj_get(doc, "rollout"), &rollout, err) < 0)
		return -err->code;
	return unit_lay_out(u, rollout, s->v->a, err);
}

/* Only what is created or updated is kept so afterwards. */
static bool *kept_rows(const struct unit *u, struct arena *a)
{
	bool *kept = ARENA_ARRAY(a, bool, obj_len(obj_get(u->doc, "objects")) + 1);
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++) {
				const struct unit_step *step = &u->parts[p].groups[g].steps[i];
				for (size_t k = 0; k < step->n; k++)
					if (step->action == ACTION_CREATE_OR_UPDATE)
						kept[step->rows[k]] = true;
			}
	return kept;
}

const char *strategy_lay_out(struct strategy_pass *s, struct obj *doc, const struct obj *rendered)
{
	struct error err = ERROR_INIT;
	struct unit u;
	if (!s->rollout)
		return NULL;
	struct obj *text = obj_map(), *names = obj_map();
	obj_set_str(text, "apiVersion", meta_api_version(s->rollout));
	obj_set_str(text, "kind", meta_kind(s->rollout));
	obj_set_str(names, "name", meta_name(s->rollout));
	obj_set(text, "metadata", names);
	obj_set(text, "spec", obj_ref(obj_get(s->rollout, "spec")));
	obj_set(doc, "rollout", text);
	set_keys(s, doc, rendered);
	if (load_unit(s, doc, &u, &err) < 0)
		return arena_strdup(s->v->a, err.msg);
	const bool *kept = kept_rows(&u, s->v->a);
	struct obj *rows = obj_get_mut(doc, "objects");
	for (size_t i = 0; i < obj_len(rows); i++) {
		struct obj *row = obj_at_mut(rows, i);
		bool first = obj_i64(row, "stage", UNIT_GROUP_FIRST) < UNIT_GROUP_FIRST;
		if (!kept[i] && !first)
			obj_set_bool(row, "passing", true);
	}
	return NULL;
}

/* --- the walk --- */

static const struct strategy_pass *strategy_of(const struct unit_pass *w)
{
	return w->host_arg;
}

static bool owns(const struct unit_pass *w, const struct obj *live)
{
	return cstr_eq(meta_label(live, LABEL_APP), w->unit->bundle);
}

static struct obj *decorate(const struct unit_pass *w, const struct unit_entry *e, size_t row)
{
	const struct strategy_pass *s = strategy_of(w);
	(void)row;
	return install_plan_decorate(s->v, s->app, s->ref, s->install, e, false);
}

/* Definitions and Namespaces are there by then. */
static bool is_left(const struct unit_pass *w, const struct unit_entry *e)
{
	(void)w;
	return e->group < UNIT_GROUP_FIRST;
}

static const char *refuses(const struct unit_pass *w, const struct unit_entry *e, size_t row)
{
	const struct strategy_pass *s = strategy_of(w);
	const char *who = install_plan_foreign(s->app, s->install, e, unit_found(w, row), s->v->a);
	return who ? arena_fmt(s->v->a, "ObjectNotOwned: it belongs to %s", who) : NULL;
}

static bool has_run_jobs(const struct unit_pass *w)
{
	(void)w;
	return false;
}

static void own_jobs(const struct unit_pass *w, struct hook_run *h)
{
	h->app = w->unit->bundle;
	h->owner = strategy_of(w)->ref->o;
}

static const struct unit_host app_host = {.owns = owns,
					  .decorate = decorate,
					  .is_left = is_left,
					  .refuses = refuses,
					  .has_run_jobs = has_run_jobs,
					  .own_jobs = own_jobs};

/* Of this revision; a former one's is over. */
static struct obj *begin_course(const struct strategy_pass *s)
{
	const struct obj *old = obj_path(s->ref->o, "status.rollout");
	if (old && obj_i64(old, "revision", 0) == s->revision)
		return obj_keep(s->v->a, obj_copy(old));
	struct obj *course = obj_keep(s->v->a, obj_map());
	obj_set_int(course, "revision", s->revision);
	obj_set(course, "run", obj_stringf("r%lld", (long long)s->revision));
	obj_set(course, "steps", obj_map());
	obj_set(course, "hooks", obj_list());
	return course;
}

static void load_entries(const struct strategy_pass *s, struct unit_pass *w)
{
	const struct obj *rows = obj_get(s->install->doc, "objects");
	w->n = obj_len(rows);
	w->entries = ARENA_ARRAY(s->v->a, struct unit_entry, w->n + 1);
	w->foreign = ARENA_ARRAY(s->v->a, bool, w->n + 1);
	for (size_t i = 0; i < w->n; i++)
		unit_entry_load(s->v, obj_at(rows, i), s->install->ns, LABEL_APP, &w->entries[i],
				s->plan);
}

static bool is_known(const struct unit_pass *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->entries[i].unknown)
			return false;
	return true;
}

enum ensured strategy_roll_out(struct strategy_pass *s)
{
	struct unit *u = ARENA_NEW(s->v->a, struct unit);
	struct unit_job *job = ARENA_NEW(s->v->a, struct unit_job);
	struct error err = ERROR_INIT;
	const char *why = NULL;
	if (load_unit(s, s->install->doc, u, &err) < 0)
		return strategy_give_up(s, "Applied", "RolloutInvalid",
					arena_strdup(s->v->a, err.msg));
	*job = (struct unit_job){.unit = u, .attempt = s->revision};
	struct unit_pass w = {.host = &app_host,
			      .host_arg = s,
			      .v = s->v,
			      .plan = s->plan,
			      .key = arena_fmt(s->v->a, "app:%s", meta_uid(s->ref->o)),
			      .job = job,
			      .unit = u,
			      .course = begin_course(s)};
	w.record = w.course;
	load_entries(s, &w);
	if (!is_known(&w) || unit_look_absent(&w) != DONE)
		return WAITING;
	enum ensured state = unit_walk(&w, &why);
	s->course = w.course;
	s->rolled = u;
	if (state == ENDED)
		return strategy_give_up(s, "Applied", "StepFailed", why);
	if (state == WAITING)
		strategy_condition(s, "Applied", "False", "Installing", why);
	return state;
}

void strategy_set_rollout(const struct strategy_pass *s, struct obj *status)
{
	if (s->course) {
		obj_set(status, "rollout", obj_ref(s->course));
		obj_set(status, "groups", feedback_groups(s->rolled, s->course));
	} else if (s->phase == PHASE_PENDING) { /* those of a former plan */
		obj_del(status, "rollout");
		obj_del(status, "groups");
	}
}
