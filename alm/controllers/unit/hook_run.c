#include "alm/controllers/unit/hook_run.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/ready.h"
#include "alm/unit/unit.h"
#include "crds/marks.h"
#include "installers/hooks.h"

#define SURVEY_PAUSE_NS NS_PER_S

struct one {                      /* a hook of the event */
	const struct obj *object; /* with its namespace */
	const struct obj *row;    /* of the plan */
	struct hook order;
	const char *text, *ns;
	const struct resource *resource; /* NULL: not served */
	struct obj *record;              /* NULL: has not begun */
	const struct obj *live;          /* of this run or an older one; NULL: absent */
	int found;                       /* as view_live */
};

static bool has_word(const struct obj *list, const char *word)
{
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_as_string(obj_at(list, i)), word))
			return true;
	return false;
}

static const char *label_of(const struct hook_run *h)
{
	return h->label ? h->label : LABEL_APP;
}

static const char *selector_of(const struct hook_run *h)
{
	return h->label ? arena_fmt(h->v->a, "%s=%s", h->label, h->app) : LABEL_APP;
}

static bool has_policy(const struct one *o, const char *policy)
{
	return has_word(obj_get(o->row, "policies"), policy);
}

static const char *run_name(const struct hook_run *h)
{
	return arena_fmt(h->v->a, "%s/%s/%s", meta_uid(h->owner), h->run, h->event);
}

static bool is_of_run(const struct hook_run *h, const struct obj *live)
{
	return cstr_eq(meta_annotation(live, ANNOTATION_HOOK_RUN), run_name(h));
}

static struct obj *record_of(const struct hook_run *h, const struct one *o)
{
	for (size_t i = 0; i < obj_len(h->records); i++) {
		struct obj *r = obj_at_mut(h->records, i);
		if (cstr_eq(obj_str(r, "run"), h->run) && cstr_eq(obj_str(r, "event"), h->event) &&
		    cstr_eq(obj_str(r, "kind"), meta_kind(o->object)) &&
		    cstr_eq(obj_str(r, "name"), meta_name(o->object)) &&
		    cstr_eq(obj_str(r, "namespace"), o->ns))
			return r;
	}
	return NULL;
}

static void load(const struct hook_run *h, const struct obj *row, struct one *o)
{
	const struct view *v = h->v;
	const struct obj *object = obj_get(row, "object");
	struct gvk g = {"", "", ""};
	gvk_of(object, v->a, &g);
	*o = (struct one){.row = row, .object = object};
	o->resource = v->ops->resource(v->ops_arg, g.group, g.version, g.kind);
	bool namespaced = o->resource ? o->resource->namespaced : meta_namespace(object) != NULL;
	if (namespaced && !meta_namespace(object)) {
		struct obj *copy = obj_keep(v->a, obj_copy(object));
		obj_set_path(copy, "metadata.namespace", obj_string(obj_str(h->doc, "namespace")));
		o->object = copy;
	}
	o->ns = namespaced ? meta_namespace(o->object) : NULL;
	o->text = arena_fmt(v->a, "%s hook %s %s%s%s", h->event, g.kind, o->ns ? o->ns : "",
			    o->ns ? "/" : "", meta_name(o->object) ? meta_name(o->object) : "");
	o->order = (struct hook){.weight = (int)obj_i64(row, "weight", 0),
				 .name = str_of(meta_name(object) ? meta_name(object) : ""),
				 .kind = str_of(g.kind)};
	o->record = record_of(h, o);
	o->found =
		o->resource ? view_live(v, o->resource, o->ns, meta_name(o->object), &o->live) : 0;
	if (o->found < 0)
		plan_watch(h->plan, o->resource, selector_of(h), false);
}

static int by_order(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	return hook_cmp(&x->order, &y->order);
}

static size_t load_all(const struct hook_run *h, struct one **ret)
{
	const struct obj *hooks = obj_get(h->doc, "hooks");
	struct one *list = ARENA_ARRAY(h->v->a, struct one, obj_len(hooks));
	size_t n = 0;
	for (size_t i = 0; i < obj_len(hooks); i++)
		if (has_word(obj_get(obj_at(hooks, i), "events"), h->event))
			load(h, obj_at(hooks, i), &list[n++]);
	qsort(list, n, sizeof(*list), by_order);
	*ret = list;
	return n;
}

/* --- one hook --- */

static enum ensured wait_for(const struct hook_run *h, const struct one *o, const char *what,
			     const char **ret_why)
{
	*ret_why = arena_fmt(h->v->a, "%s: %s", o->text, what);
	return WAITING;
}

static void set_time(const struct hook_run *h, struct obj *record, const char *key)
{
	char now[CLOCK_TEXT_MAX];
	clock_format(h->v->now_ns, CLOCK_SECONDS, now);
	obj_set_str(record, key, now);
}

static struct obj *begin(const struct hook_run *h, struct one *o)
{
	struct obj *r = obj_map();
	obj_set_str(r, "run", h->run);
	obj_set_str(r, "event", h->event);
	obj_set_str(r, "kind", meta_kind(o->object));
	obj_set_str(r, "name", meta_name(o->object));
	obj_set_str(r, "namespace", o->ns);
	obj_set_str(r, "phase", "Running");
	set_time(h, r, "startedAt");
	obj_append(h->records, r);
	o->record = r;
	return r;
}

static void end(const struct hook_run *h, struct one *o, const char *phase, const char *message)
{
	struct obj *r = o->record ? o->record : begin(h, o);
	obj_set_str(r, "phase", phase);
	set_time(h, r, "completedAt");
	if (message)
		obj_set_str(r, "message", arena_fmt(h->v->a, "%.500s", message));
}

/* No ownership marks of the release: a hook is no part of it (charts.md 10.2). */
static void create(const struct hook_run *h, const struct one *o)
{
	struct obj *copy = obj_copy(o->object);
	struct owner_ref owner = {.api_version = meta_api_version(h->owner),
				  .kind = meta_kind(h->owner),
				  .name = meta_name(h->owner),
				  .uid = meta_uid(h->owner)};
	meta_set_label(copy, label_of(h), h->app);
	meta_set_annotation(copy, ANNOTATION_HOOK_RUN, run_name(h));
	if (!h->unowned && !unit_is_kept(copy))
		meta_add_owner(copy, &owner);
	plan_create(h->plan, copy);
}

/* --- what stands at the hook's name without our label --- */

static const char *survey_id(const struct hook_run *h, const struct one *o)
{
	return arena_fmt(h->v->a, "hook:%s:%s", run_name(h), o->text);
}

static void ask(const struct hook_run *h, const struct one *o)
{
	struct obj *rows = obj_list(), *row = obj_map();
	obj_set_str(row, "key", "hook");
	obj_set_str(row, "group", o->resource->group);
	obj_set_str(row, "version", o->resource->version);
	obj_set_str(row, "kind", o->resource->kind);
	obj_set_str(row, "namespace", o->ns);
	obj_set_str(row, "name", meta_name(o->object));
	obj_append(rows, row);
	struct action *a = plan_work(h->plan, &survey_work, survey_id(h, o));
	a->body = obj_keep(h->v->a, rows);
}

/* 1: *ret_live; 0: nothing; -1: not known yet, or still going. */
static int survey(const struct hook_run *h, const struct one *o, const struct obj **ret_live)
{
	const struct outcome *x = view_outcome(h->v, survey_id(h, o));
	const struct obj *found = x && !x->code ? obj_get(x->value, "hook") : NULL;
	if (x && !x->code && obj_type(found) != OBJ_MAP)
		return 0;
	if (found && !meta_is_deleting(found)) {
		*ret_live = found;
		return 1;
	}
	int64_t pause = found ? x->at_ns + SURVEY_PAUSE_NS - h->v->now_ns : 0;
	if (pause > 0)
		plan_requeue_after(h->plan, pause);
	else
		ask(h, o);
	return -1;
}

/* An object of another run, or of nobody's: by the policy it goes first, else the hook cannot be.
 */
static enum ensured clear(const struct hook_run *h, struct one *o, const struct obj *live,
			  const char **ret_why)
{
	if (!has_policy(o, "before-hook-creation")) {
		end(h, o, "Failed",
		    "an object of this name exists, and the delete policy keeps it: delete it, or "
		    "add before-hook-creation");
		return ENDED;
	}
	if (h->keeps_foreign && !o->ns && !cstr_eq(meta_label(live, label_of(h)), h->app)) {
		end(h, o, "Failed",
		    "an object of this name exists, and is somebody else's: delete it");
		return ENDED;
	}
	if (!meta_is_deleting(live))
		plan_delete(h->plan, live, "Background");
	if (live != o->live)
		ask(h, o); /* after the deletion */
	return wait_for(h, o, "its former object is being deleted", ret_why);
}

static enum ensured start(const struct hook_run *h, struct one *o, const char **ret_why)
{
	const struct obj *other = NULL;
	if (!o->resource)
		return wait_for(h, o, "the server does not serve its kind", ret_why);
	if (o->found < 0)
		return wait_for(h, o, "not watched yet", ret_why);
	if (o->live && !is_of_run(h, o->live))
		return clear(h, o, o->live, ret_why);
	if (!o->live) {
		int found = survey(h, o, &other);
		if (found < 0)
			return wait_for(h, o, "not looked up yet", ret_why);
		if (found)
			return clear(h, o, other, ret_why);
	}
	begin(h, o);
	if (!o->live)
		create(h, o);
	return wait_for(h, o, "started", ret_why);
}

static const char *write_error(const struct hook_run *h, const struct one *o, int *ret_code)
{
	const struct outcome *x = view_refusal(h->v, o->object, o->ns);
	*ret_code = x ? x->code : 0;
	return x ? arena_strdup(h->v->a, x->msg) : NULL;
}

static enum ensured look_after(const struct hook_run *h, struct one *o, const char **ret_why)
{
	const char *why = NULL;
	int code;
	if (o->found < 0 || !o->resource)
		return wait_for(h, o, "not watched yet", ret_why);
	if (!o->live && obj_has(o->record, "uid")) {
		end(h, o, "Failed", "it was deleted before it had finished");
		return ENDED;
	}
	if (!o->live) {
		const char *refused = write_error(h, o, &code);
		if (code == E_INVALID || code == E_FORBIDDEN || code == E_BADREQUEST) {
			end(h, o, "Failed", refused);
			return ENDED;
		}
		create(h, o);
		return wait_for(h, o, refused ? refused : "started", ret_why);
	}
	if (!is_of_run(h, o->live)) {
		end(h, o, "Failed", "another object has taken its name");
		return ENDED;
	}
	obj_set_str(o->record, "uid", meta_uid(o->live));
	switch (ready_check(o->live, true, h->v->a, &why)) {
	case READY:
		end(h, o, "Succeeded", NULL);
		return DONE;
	case READY_FAILED:
		end(h, o, "Failed", why);
		return ENDED;
	case NOT_READY:
		break;
	}
	return wait_for(h, o, why, ret_why);
}

static enum ensured step(const struct hook_run *h, struct one *o, const char **ret_why)
{
	const char *phase = obj_str(o->record, "phase");
	if (cstr_eq(phase, "Succeeded"))
		return DONE;
	if (cstr_eq(phase, "Failed"))
		return ENDED;
	return o->record ? look_after(h, o, ret_why) : start(h, o, ret_why);
}

/* --- the event --- */

/* Those that shall go, in reverse order. Definitions are never deleted. */
static enum ensured clean_up(const struct hook_run *h, struct one *list, size_t n)
{
	enum ensured state = DONE;
	for (size_t i = n; i-- > 0;) {
		const struct one *o = &list[i];
		const char *phase = obj_str(o->record, "phase");
		bool goes = (cstr_eq(phase, "Succeeded") && has_policy(o, "hook-succeeded")) ||
			    (cstr_eq(phase, "Failed") && has_policy(o, "hook-failed"));
		if (!goes || cstr_eq(meta_kind(o->object), "CustomResourceDefinition"))
			continue;
		if (o->found < 0)
			state = WAITING;
		if (!o->live || !is_of_run(h, o->live))
			continue;
		state = WAITING;
		if (!meta_is_deleting(o->live))
			plan_delete(h->plan, o->live, "Background");
	}
	return state;
}

enum ensured hook_run(const struct hook_run *h, const char **ret_why)
{
	struct one *list;
	size_t n = load_all(h, &list);
	for (size_t i = 0; i < n; i++) {
		enum ensured state = step(h, &list[i], ret_why);
		if (state == DONE)
			continue;
		if (state == WAITING)
			return state;
		const char *message = obj_str(list[i].record, "message");
		*ret_why = arena_fmt(h->v->a, "%s: %s", list[i].text, message ? message : "failed");
		return clean_up(h, list, n) == DONE ? ENDED : WAITING;
	}
	if (clean_up(h, list, n) == DONE)
		return DONE;
	*ret_why = arena_fmt(h->v->a, "%s hooks are being deleted", h->event);
	return WAITING;
}

enum ensured hook_objects_delete(const struct view *v, struct plan *plan, const char *app,
				 const struct obj *doc)
{
	const struct hook_run h = {
		.v = v, .plan = plan, .doc = doc, .event = "", .run = "", .owner = doc};
	const struct obj *hooks = obj_get(doc, "hooks");
	enum ensured state = DONE;
	for (size_t i = 0; i < obj_len(hooks); i++) {
		struct one o;
		load(&h, obj_at(hooks, i), &o);
		if (o.found < 0)
			state = WAITING;
		if (unit_is_kept(o.object) || !cstr_eq(meta_label(o.live, LABEL_APP), app) ||
		    !meta_annotation(o.live, ANNOTATION_HOOK_RUN))
			continue;
		state = WAITING;
		if (!meta_is_deleting(o.live))
			plan_delete(plan, o.live, "Background");
	}
	return state;
}

void hook_records_keep(struct obj *records, const char *run)
{
	for (size_t i = obj_len(records); i-- > 0;)
		if (!cstr_eq(obj_str(obj_at(records, i), "run"), run))
			obj_del_at(records, i);
}
