/*
 * The Installs of a Bundle (fleet.md 2.4): what runs, or ran, of it, as an object of its own. They are told, never
 * read: what is done the Bundle and its unit know, so nobody does anything by writing one. What is changed by hand is
 * put back, one that is made by hand is left alone, and an Event tells both.
 */
#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/client/client.h"
#include "alm/controllers/app/controllers.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/controllers/fleet/install_of.h"
#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/watched.h"
#include "alm/engine/repairs.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

#define LOOK_AGAIN_NS (5 * NS_PER_S)  /* while the namespace goes */
#define NEWS_NS       NS_PER_S        /* between states of one that goes on */
#define PROGRESS_NS   (10 * NS_PER_S) /* ... and between what it waits for */

#define MADE_KEPT_NS NS_PER_HOUR /* that it was made, at least: as long as a fight is known */

struct install_pass {
	const struct view *v;
	struct plan *plan;
	const char *key;
	const struct obj *bundle; /* NULL: there is none */
	struct bundle_now now;
	const char *name;       /* of the run that there is; NULL: nothing is known of any */
	const struct obj *live; /* its Install, whoever made it; NULL: absent */
	const struct obj **others;
	size_t n;
};

/* --- what there is --- */

static bool owner_bundle(const struct obj *o, struct owner_ref *ret)
{
	return meta_owner(o, 0, ret) && cstr_eq(ret->kind, "Bundle");
}

static bool is_owned(const struct install_pass *s, const struct obj *o)
{
	struct owner_ref owner;
	return s->bundle && owner_bundle(o, &owner) && cstr_eq(owner.uid, meta_uid(s->bundle));
}

/* The Bundle was deleted, this one was left (--cascade=orphan), and it was made again. */
static bool is_left(const struct install_pass *s, const struct obj *o)
{
	const struct obj *list = obj_path(o, "metadata.managedFields");
	bool told = false;
	for (size_t i = 0; i < obj_len(list); i++)
		told |= cstr_eq(obj_str(obj_at(list, i), "manager"), CLIENT_FIELD_MANAGER);
	const char *prefix = arena_fmt(s->v->a, "%s." BUNDLE_CLUSTER ".", s->key);
	return s->bundle && told && !obj_len(obj_path(o, "metadata.ownerReferences")) &&
	       obj_str(o, "status.state") && cstr_has_prefix(meta_name(o), prefix) &&
	       cstr_eq(obj_str(o, "spec.bundle"), s->key);
}

static bool is_ours(const struct install_pass *s, const struct obj *o)
{
	return cstr_eq(meta_namespace(o), INSTALL_NAMESPACE) && (is_owned(s, o) || is_left(s, o));
}

/* Nobody acts on it. Of one whose Bundle is gone, it goes by itself. The Event is of the Bundle: those of objects
 * without a namespace are where ALM may write them. */
static void tell_ignored(const struct install_pass *s, const struct obj *o)
{
	struct owner_ref owner;
	if (owner_bundle(o, &owner) && cstr_eq(meta_namespace(o), INSTALL_NAMESPACE))
		return;
	struct obj *body = obj_map();
	const char *text = arena_fmt(s->v->a,
				     "ALM alone makes Installs: %s/%s does nothing; a push to the "
				     "branch of a Bundle rolls out",
				     meta_namespace(o), meta_name(o));
	obj_set_str(body, "message", text);
	struct action *x = plan_row(s->plan, "Observe", o, "InstallIgnored", meta_uid(o), body);
	x->message = text;
	x->event_type = "Warning";
	x->event_of = s->bundle;
}

static int install_begin(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	(void)err;
	const struct bundle_side *side = v->shared->bundles;
	size_t n;
	if (!side)
		return STEP_STOP;
	struct install_pass *s = ARENA_NEW(v->a, struct install_pass);
	*v->pass = s;
	*s = (struct install_pass){.v = v, .plan = plan, .key = key};
	s->bundle = view_get(v, WATCH_BUNDLE, key);
	if (s->bundle && side->now(side->arg, key, &s->now) && s->now.job) {
		plan_hide(plan, s->now.job->unit->doc);
		s->name = install_name(&s->now, v->a);
		s->live = view_get(v, WATCH_INSTALL, s->name);
	}
	const struct obj *const *all = view_list(v, WATCH_INSTALL, key, &n);
	s->others = ARENA_ARRAY(v->a, const struct obj *, n + 1);
	for (size_t i = 0; i < n; i++) {
		bool is_it = cstr_eq(meta_name(all[i]), s->name) &&
			     cstr_eq(meta_namespace(all[i]), INSTALL_NAMESPACE);
		if (is_ours(s, all[i]) && !is_it)
			s->others[s->n++] = all[i];
		else if (!is_it && cstr_eq(obj_str(all[i], "spec.bundle"), key))
			tell_ignored(s, all[i]);
	}
	return s->bundle ? STEP_CONTINUE : STEP_STOP;
}

/* --- writing --- */

/* Who else has set something of "spec", or "status"; NULL: nobody. What was put back is ours again. */
static const char *editor(const struct obj *o, const char *part)
{
	const struct obj *list = obj_path(o, "metadata.managedFields");
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *m = obj_at(list, i);
		const char *manager = obj_str(m, "manager");
		if (manager && strcmp(manager, CLIENT_FIELD_MANAGER) != 0 &&
		    obj_len(obj_get(obj_get(m, "fieldsV1"), part)))
			return manager;
	}
	return NULL;
}

/* What somebody else has written goes back, but not for ever. */
static enum ensured await_put_back(const struct install_pass *s, const struct obj *o)
{
	return plan_await(s->plan, repairs_wait(s->v, o, INSTALL_NAMESPACE));
}

static void put_back(const struct install_pass *s, const struct obj *o, struct action *x,
		     const char *what)
{
	const char *by = editor(o, arena_fmt(s->v->a, "f:%s", what));
	x->repairs = true;
	x->subject = s->bundle;
	x->event_type = "Warning";
	x->reason = "InstallPutBack";
	x->message = arena_fmt(s->v->a,
			       "the %s of Install %s was changed by hand (claimed by manager %s), "
			       "which did nothing, and is put back",
			       what, meta_name(o), by ? by : "unknown");
}

/* Of a merge patch: what there is and is wanted no more is taken out. */
static void set_nulls(struct obj *wanted, const struct obj *live)
{
	OBJ_EACH (it, live)
		if (!obj_has(wanted, it.key))
			obj_set(wanted, it.key, obj_null());
}

static void write_status(const struct install_pass *s, const struct obj *live, struct obj *status)
{
	struct obj *patch = obj_map();
	status = plan_hide_messages(s->plan, live, status);
	set_nulls(status, obj_get(live, "status"));
	obj_set(patch, "status", status);
	struct action *x = plan_own_patch(s->plan, live, patch);
	x->subresource = "status";
	if (editor(live, "f:status"))
		put_back(s, live, x, "status");
}

/* repairs: the part that somebody else has changed; NULL: it is news. */
static void write_spec(const struct install_pass *s, const struct obj *live, struct obj *patch,
		       const char *repairs)
{
	struct action *x = plan_own_patch(s->plan, live, patch);
	if (repairs)
		put_back(s, live, x, repairs);
}

/* --- those whose time is over --- */

static struct install_of of(const struct install_pass *s, const struct obj *live)
{
	return (struct install_of){
		.now = &s->now, .live = live, .now_ns = s->v->now_ns, .a = s->v->a};
}

/* A merge patch of what of its spec is not as its status says; NULL: nothing. */
static struct obj *spec_patch(const struct obj *o)
{
	struct obj *spec = obj_map();
	const char *revision = obj_str(o, "status.revision");
	int64_t attempt = obj_i64(o, "status.attempt", 0);
	if (revision && !cstr_eq(obj_str(o, "spec.revision"), revision))
		obj_set_str(spec, "revision", revision);
	if (attempt && obj_i64(o, "spec.attempt", 0) != attempt)
		obj_set_int(spec, "attempt", attempt);
	if (!obj_len(spec)) {
		obj_unref(spec);
		return NULL;
	}
	struct obj *patch = obj_map();
	obj_set(patch, "spec", spec);
	return patch;
}

static const char *revision_text(const struct install_pass *s)
{
	const char *commit = obj_str(s->now.source, "commit");
	return s->now.job->deleting || !commit ? "the deletion of its Bundle"
					       : arena_fmt(s->v->a, "git:%s", commit);
}

static struct obj *owners(const struct install_pass *s)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	const struct owner_ref owner = {.api_version = meta_api_version(s->bundle),
					.kind = meta_kind(s->bundle),
					.name = meta_name(s->bundle),
					.uid = meta_uid(s->bundle),
					.controller = true};
	obj_set(o, "metadata", obj_map());
	meta_add_owner(o, &owner);
	return obj_ref(obj_path(o, "metadata.ownerReferences"));
}

/* Of one that was left nobody knows whether it is the first time, so it is counted, too. */
static void take_over(const struct install_pass *s, const struct obj *o)
{
	if (await_put_back(s, o) != DONE)
		return;
	struct obj *taken = obj_map();
	obj_set_path(taken, "metadata.ownerReferences", owners(s));
	plan_own_patch(s->plan, o, taken)->repairs = true;
}

static int install_leave(const struct view *v, const char *key, struct plan *plan,
			 struct error *err)
{
	(void)key;
	(void)plan;
	(void)err;
	const struct install_pass *s = *v->pass;
	for (size_t i = 0; i < s->n; i++) {
		const struct obj *o = s->others[i];
		if (!is_owned(s, o) && !meta_is_deleting(o)) {
			if (!meta_is_deleting(s->bundle)) /* which may leave them (orphan) */
				take_over(s, o);
			continue;
		}
		const struct install_of x = of(s, o);
		struct obj *status = s->name && !meta_is_deleting(o)
					     ? install_supersede(&x, revision_text(s))
					     : NULL;
		if (status) {
			write_status(s, o, status);
			continue;
		}
		struct obj *patch =
			editor(o, "f:spec") && !meta_is_deleting(o) ? spec_patch(o) : NULL;
		if (patch && await_put_back(s, o) == DONE)
			write_spec(s, o, patch, "spec");
		else
			obj_unref(patch);
	}
	return STEP_CONTINUE;
}

static const char *begun(const struct obj *o)
{
	const char *at = obj_str(o, "status.startedAt");
	return at ? at : obj_str(o, "metadata.creationTimestamp");
}

static int newest_first(const void *a, const void *b)
{
	const struct obj *const *x = a, *const *y = b;
	const char *p = begun(*x), *q = begun(*y);
	int c = strcmp(q ? q : "", p ? p : "");
	return c ? c : strcmp(meta_name(*x), meta_name(*y));
}

static int install_forget(const struct view *v, const char *key, struct plan *plan,
			  struct error *err)
{
	(void)key;
	(void)err;
	struct install_pass *s = *v->pass;
	int64_t limit = obj_i64(s->bundle, "spec.historyLimit", INSTALLS_KEPT), n = 0;
	qsort(s->others, s->n, sizeof(*s->others), newest_first);
	for (size_t i = 0; i < s->n; i++) {
		const struct obj *o = s->others[i];
		bool ended = install_has_ended(install_state_find(obj_str(o, "status.state")));
		if (!s->name || !ended || meta_is_deleting(o) || n++ < limit)
			continue;
		plan_own_delete(plan, o);
	}
	return STEP_CONTINUE;
}

/* --- the one that there is --- */

/* Each rollout has one, which may have gone with its time: no repair. What is made once more in it is one. */
static bool is_first(const struct install_pass *s)
{
	const char *id = arena_fmt(s->v->a, "install:made:%s:%s:%s", meta_uid(s->bundle), s->name,
				   s->now.since ? s->now.since : "");
	return s->v->ops->left(s->v->ops_arg, id, MADE_KEPT_NS, MADE_KEPT_NS) == MADE_KEPT_NS;
}

/* With the namespace, where that is not there. It is left when all are gone: others may have put things there. */
static void create(const struct install_pass *s, struct obj *spec)
{
	const struct obj *ns = view_get(s->v, WATCH_NAMESPACE, INSTALL_NAMESPACE);
	struct obj *o = meta_skeleton(INSTALL_API, INSTALL_KIND, INSTALL_NAMESPACE, s->name);
	obj_set_path(o, "metadata.ownerReferences", owners(s));
	obj_set(o, "spec", spec);
	obj_keep(s->v->a, o);
	if (meta_is_deleting(ns)) {
		plan_requeue_after(s->plan, LOOK_AGAIN_NS);
		return;
	}
	bool repairs = !is_first(s);
	if (repairs && await_put_back(s, o) != DONE)
		return;
	if (!ns) {
		struct obj *made = meta_skeleton("v1", "Namespace", NULL, INSTALL_NAMESPACE);
		meta_set_annotation(made, ANNOTATION_MADE_BY, "alm");
		plan_own_create(s->plan, made);
	}
	plan_own_create(s->plan, obj_ref(o))->repairs = repairs;
}

/* It cannot say what this run is: it is of another, or its story is over. */
static bool is_another(const struct install_pass *s, const struct obj *spec,
		       const struct obj *status)
{
	static const char *const fixed[] = {"cluster", "bundle", "mode"};
	const struct obj *has = obj_get(s->live, "spec");
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (!cstr_eq(obj_str(has, fixed[i]), obj_str(spec, fixed[i])))
			return true;
	if (!cstr_eq(obj_str(has, "payload.digest"), obj_str(spec, "payload.digest")))
		return true;
	return !editor(s->live, "f:status") &&
	       !install_leads(install_state_find(obj_str(s->live, "status.state")),
			      install_state_find(obj_str(status, "state")));
}

/* The spec says another attempt first, then the status what became of it. DONE: it does. */
static enum ensured ensure_spec(const struct install_pass *s, const struct obj *spec,
				const struct obj *status)
{
	struct obj *patch = obj_map();
	bool is_told = obj_i64(s->live, "status.attempt", 0) == obj_i64(status, "attempt", 0) &&
		       cstr_eq(obj_str(s->live, "status.revision"), obj_str(status, "revision"));
	bool is_lost = !is_owned(s, s->live) && !meta_is_deleting(s->bundle),
	     differs = !obj_equal(obj_get(s->live, "spec"), spec);
	if (is_lost)
		obj_set_path(patch, "metadata.ownerReferences", owners(s));
	if (differs) {
		obj_set(patch, "spec", obj_copy(spec));
		set_nulls(obj_get_mut(patch, "spec"), obj_get(s->live, "spec"));
	}
	if (!is_lost && !differs) {
		obj_unref(patch);
		return DONE;
	}
	bool is_repair = is_lost || (is_told && editor(s->live, "f:spec"));
	if (is_repair && await_put_back(s, s->live) != DONE) {
		obj_unref(patch);
		return WAITING;
	}
	write_spec(s, s->live, patch, !is_repair ? NULL : is_lost ? "owner" : "spec");
	return WAITING;
}

static void tell(const struct install_pass *s, struct obj *status)
{
	CLEANUP(obj_unrefp) struct obj *own = plan_hide_messages(s->plan, s->live, status);
	bool is_news = install_is_news(s->live, own);
	if (!is_news && cstr_eq(obj_str(s->live, "status.message"), obj_str(own, "message")))
		return;
	if (editor(s->live, "f:status") && await_put_back(s, s->live) != DONE)
		return;
	int64_t pace = is_news ? NEWS_NS : PROGRESS_NS;
	const char *id = arena_fmt(s->v->a, "install:told:%d:%s:%s", is_news, meta_uid(s->live),
				   meta_resource_version(s->live));
	bool goes_on = !install_has_ended(install_state_find(obj_str(own, "state")));
	if (goes_on && obj_has(s->live, "status") &&
	    plan_await(s->plan, s->v->ops->left(s->v->ops_arg, id, pace, pace)) != DONE)
		return;
	write_status(s, s->live, obj_ref(own));
}

/* Nothing is made of a Bundle that goes with all it owns first, or has never made anything. */
static bool may_create(const struct install_pass *s)
{
	const struct obj *finalizers = obj_path(s->bundle, "metadata.finalizers");
	bool foreground = false;
	for (size_t i = 0; i < obj_len(finalizers); i++)
		foreground |= cstr_eq(obj_as_string(obj_at(finalizers, i)), "foregroundDeletion");
	if (!meta_is_deleting(s->bundle))
		return true;
	return s->now.job->deleting && !s->now.job->made_nothing && !foreground &&
	       unit_record_is_open(s->now.job->record);
}

static int install_tell(const struct view *v, const char *key, struct plan *plan, struct error *err)
{
	(void)key;
	(void)err;
	const struct install_pass *s = *v->pass;
	const struct install_of x = of(s, s->live);
	if (!s->name || (s->live && meta_is_deleting(s->live)))
		return STEP_CONTINUE;
	struct obj *status = obj_keep(v->a, install_status(&x));
	struct obj *spec = obj_keep(v->a, install_spec(&x, status));
	if (!s->live && may_create(s))
		create(s, obj_ref(spec));
	else if (s->live && is_another(s, spec, status))
		plan_own_delete(plan, s->live);
	else if (s->live && ensure_spec(s, spec, status) == DONE)
		tell(s, obj_ref(status));
	return STEP_CONTINUE;
}

/* --- whom a change concerns --- */

static const char *key_owner(const struct view *v, const struct obj *o, struct arena *a)
{
	struct owner_ref owner;
	(void)v;
	return owner_bundle(o, &owner) ? arena_strdup(a, owner.name) : NULL;
}

/* Whoever wrote it may have taken the owner out: what it says of itself, and its name. */
static const char *key_said(const struct view *v, const struct obj *o, struct arena *a)
{
	const char *said = obj_str(o, "spec.bundle");
	(void)v;
	return said ? arena_strdup(a, said) : NULL;
}

static const char *key_named(const struct view *v, const struct obj *o, struct arena *a)
{
	const char *name = meta_name(o), *end = name ? strstr(name, "." BUNDLE_CLUSTER ".") : NULL;
	(void)v;
	return end ? arena_strndup(a, name, (size_t)(end - name)) : NULL;
}

static const struct watch_rule watches[] = {
	{WATCH_BUNDLE, key_self, MEANS_KEY},
	{WATCH_INSTALL, key_owner, MEANS_KEY},
	{WATCH_INSTALL, key_said, MEANS_KEY},
	{WATCH_INSTALL, key_named, MEANS_KEY},
	{0},
};

static const struct step steps[] = {
	{"begin", install_begin},
	{"leave", install_leave},
	{"tell", install_tell},
	{"forget", install_forget},
	{0},
};

const struct controller install_controller = {
	.name = "install", .watches = watches, .steps = steps};
