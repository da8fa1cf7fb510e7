/*
 * What others do to custom resources of managed CRDs, on a server that has no record of it here
 * (audit.md 3, Observe): created, respecified, deleted. Its key is one instance:
 * "PLURAL.GROUP/NAMESPACE/NAME". The informer keeps metadata alone, so the object is read once a
 * generation; what it was before is kept, redacted, in the record of it.
 *
 * Others' statuses make no record, and a generation that ALM wrote has its Write record.
 */
#include <string.h>

#include "alm/audit/changes.h"
#include "alm/controllers/app/app.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/controller.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define FIELD_MANAGER "alm"

struct instance {
	const struct view *v;
	struct plan *plan;
	const char *key, *ns, *name;
	const struct resource *resource;
	const struct obj *now;  /* metadata; NULL: it is gone */
	const struct obj *last; /* its newest record; NULL: none */
};

static const char *api_version(const struct instance *i)
{
	return arena_fmt(i->v->a, "%s/%s", i->resource->group, i->resource->version);
}

static bool is_known(const struct instance *i)
{
	return i->last && !cstr_eq(obj_str(i->last, "reason"), "Deleted");
}

static bool is_same(const struct instance *i)
{
	return is_known(i) && cstr_eq(obj_str(i->last, "subject.uid"), meta_uid(i->now));
}

static struct obj *body_of(const struct instance *i, const struct obj *o)
{
	struct obj *body = obj_map(), *who = obj_map();
	const char *manager = meta_last_manager(o, NULL);
	obj_set_str(body, "apiVersion", api_version(i));
	if (meta_generation(o))
		obj_set_int(body, "generation", meta_generation(o));
	if (manager) {
		obj_set_str(who, "trust", "managedFields");
		obj_set_str(who, "via", manager);
	}
	obj_set(body, "who", who);
	return body;
}

static struct action *row(const struct instance *i, const char *reason, const struct obj *o,
			  struct obj *body)
{
	return plan_row(i->plan, "Observe", o, reason, NULL, body);
}

/* What a record is about, where only its name and uid are known: an informer of metadata gives
 * every object the kind PartialObjectMetadata. */
static const struct obj *subject_of(const struct instance *i, const char *uid)
{
	struct obj *o = meta_skeleton(api_version(i), i->resource->kind, i->ns, i->name);
	obj_set_path(o, "metadata.uid", obj_string(uid));
	return obj_keep(i->v->a, o);
}

/* The one that the newest record is about. */
static void tell_deleted(const struct instance *i)
{
	const struct obj *o = subject_of(i, obj_str(i->last, "subject.uid"));
	struct obj *body = body_of(i, o);
	obj_set_str(body, "before", obj_str(i->last, "body.after"));
	row(i, "Deleted", o, body);
}

/* Without its status, which others write. */
static const struct obj *kept_form(const struct instance *i, const struct obj *o)
{
	struct obj *redacted = i->v->ops->redacted(i->v->ops_arg, o);
	obj_del(redacted, "status");
	return obj_keep(i->v->a, redacted);
}

static const struct obj *form_before(const struct instance *i)
{
	struct error ignored;
	struct obj *o = NULL;
	const char *text = is_same(i) ? obj_str(i->last, "body.object") : NULL;
	if (!text || json_parse(str_of(text), &o, &ignored) < 0)
		return NULL;
	return obj_keep(i->v->a, o);
}

static void tell(const struct instance *i, const struct obj *live)
{
	bool created = !is_same(i);
	struct obj *body = body_of(i, live ? live : i->now);
	if (created && is_known(i))
		tell_deleted(i);
	if (!created)
		obj_set_str(body, "before", obj_str(i->last, "body.after"));
	if (live) {
		const struct obj *after = kept_form(i, live), *before = form_before(i);
		char digest[65];
		CLEANUP(xfreep) char *text = json_text(after);
		json_digest(after, digest);
		obj_set(body, "after", obj_stringf("sha256:%s", digest));
		obj_set_str(body, "object", text);
		if (before)
			changes_set(body, before, after, i->v->a);
	}
	const struct obj *about = live ? live : subject_of(i, meta_uid(i->now));
	row(i, created ? "Created" : "SpecChanged", about, body)->actor =
		meta_last_manager(live ? live : i->now, NULL);
}

/* 0: asked for. */
static int read_live(const struct instance *i, const char *id, const struct obj **ret)
{
	const struct outcome *done = view_outcome(i->v, id);
	if (done && !done->code) {
		const struct obj *o = obj_get(done->value, "object");
		if (!o || (cstr_eq(meta_uid(o), meta_uid(i->now)) &&
			   meta_generation(o) >= meta_generation(i->now))) {
			*ret = o; /* NULL: deleted since; its metadata is what there is */
			return 1;
		}
		if (outcome_is_younger(done, i->v->now_ns,
				       SURVEY_AGE_NS)) { /* the cache is behind */
			plan_requeue_after(i->plan, SURVEY_AGE_NS);
			return 0;
		}
	}
	struct obj *rows = obj_list(), *o = obj_map();
	obj_set_str(o, "key", "object");
	obj_set_str(o, "group", i->resource->group);
	obj_set_str(o, "version", i->resource->version);
	obj_set_str(o, "kind", i->resource->kind);
	obj_set_str(o, "namespace", i->ns);
	obj_set_str(o, "name", i->name);
	obj_append(rows, o);
	struct action *x = plan_work(i->plan, &survey_work, id);
	x->body = obj_keep(i->v->a, rows);
	return 0;
}

/* A record of this generation is there, or who wrote it says so elsewhere. */
static bool is_told(const struct instance *i)
{
	if (!i->now)
		return !is_known(i);
	if (is_same(i) && obj_i64(i->last, "body.generation", 0) >= meta_generation(i->now))
		return true;
	return cstr_eq(meta_last_manager(i->now, NULL), FIELD_MANAGER);
}

static bool split(const struct view *v, const char *key, struct instance *i, const char **ret_crd)
{
	struct str crd, ns, name;
	if (!str_cut(str_of(key), '/', &crd, &name) || !str_cut(name, '/', &ns, &name))
		return false;
	*ret_crd = arena_strndup(v->a, crd.ptr, crd.len);
	i->ns = ns.len ? arena_strndup(v->a, ns.ptr, ns.len) : NULL;
	i->name = arena_strndup(v->a, name.ptr, name.len);
	return true;
}

static int instancelog_tell(const struct view *v, const char *key, struct plan *plan,
			    struct error *err)
{
	(void)err;
	struct instance i = {.v = v, .plan = plan, .key = key};
	const char *crd;
	struct obj *now = NULL, *last;
	const struct obj *live = NULL;
	if (!split(v, key, &i, &crd) ||
	    v->ops->instance(v->ops_arg, crd, i.ns, i.name, &i.resource, &now) < 0)
		return STEP_STOP; /* not known: its list has it */
	i.now = now ? obj_keep(v->a, now) : NULL;
	last = v->ops->last_observed(v->ops_arg, i.resource->kind, i.ns, i.name);
	i.last = last ? obj_keep(v->a, last) : NULL;
	if (is_told(&i))
		return STEP_STOP;
	if (!i.now) {
		tell_deleted(&i);
		return STEP_STOP;
	}
	const char *id = arena_fmt(v->a, "instance:%s", key);
	if (!read_live(&i, id, &live))
		return STEP_STOP;
	tell(&i, live);
	plan_add(plan, ACT_FORGET)->id = id;
	return STEP_STOP;
}

static const struct watch_rule watches[] = {{0}};

static const struct step steps[] = {
	{"tell", instancelog_tell},
	{0},
};

const struct controller instancelog_controller = {
	.name = "instancelog", .watches = watches, .steps = steps};
