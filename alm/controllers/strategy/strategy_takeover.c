#include "alm/controllers/strategy/strategy_takeover.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/app/helm_release.h"
#include "alm/controllers/app/release_record.h"
#include "alm/controllers/strategy/strategy_record.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/obj/nextstep.h"
#include "installers/release.h"

#define ASKED_FRESH_NS  (5 * NS_PER_S)
#define ADOPTED_AT_ONCE 100

static const char *question_id(const struct strategy_pass *s)
{
	return arena_fmt(s->v->a, "release:%s:r%lld", meta_uid(s->ref->o), (long long)s->revision);
}

static void ask(struct strategy_pass *s, const char *id, struct obj *needs)
{
	struct action *x = plan_work(s->plan, &ask_work, id);
	x->body = obj_keep(s->v->a, needs);
}

static enum ensured block(struct strategy_pass *s, const char *reason, const char *message,
			  const char *step)
{
	nextstep_add(s->steps, step);
	return strategy_enter(s, PHASE_BLOCKED, "PlanReady", reason, message);
}

/* Another chart under our name is somebody's application, not ours to replace. */
static enum ensured refuse_other_chart(struct strategy_pass *s, const struct helm_release *r)
{
	const struct package_version *e = entry_by_digest(s->v, s->archive, NULL);
	if (!e || !r->chart || !strcmp(r->chart, e->package))
		return DONE;
	struct arena *a = s->v->a;
	plan_requeue_after(s->plan, NS_PER_MIN / 4); /* what helm did is seen when asked for */
	return block(
		s, "ObjectNotOwned",
		arena_fmt(a, "release %s in %s is chart %s, made by helm; this is chart %s",
			  s->app->name, strategy_namespace(s), r->chart, e->package),
		nextstep_new(a,
			     "removes that release; another spec.installNamespace leaves it alone",
			     "helm uninstall %s -n %s", s->app->name, strategy_namespace(s)));
}

/* Values given to helm are not in the cluster's manifests: dropping them in silence could lose
 * data. */
static enum ensured refuse_lost_values(struct strategy_pass *s, const struct helm_release *r)
{
	if (!obj_len(r->config) || obj_path(s->app->o, "spec.values") ||
	    obj_path(s->ref->o, "spec.strategy.values"))
		return DONE;
	struct arena *a = s->v->a;
	return block(
		s, "ValuesNotTaken",
		arena_fmt(a,
			  "release %s in %s has values that helm was given, and spec.values is not "
			  "set",
			  s->app->name, strategy_namespace(s)),
		nextstep_new(
			a, "takes them; spec.values: {} takes the chart's own instead",
			"kubectl patch apptype %s --type=merge -p "
			"\"{\\\"spec\\\":{\\\"values\\\":$(helm get values %s -n %s -o json)}}\"",
			s->app->name, s->app->name, strategy_namespace(s)));
}

/* helm is at work, or was killed: that is not known before some time without a change. */
static enum ensured await_helm(struct strategy_pass *s, const struct helm_release *r)
{
	int64_t left = r->changed_ns + RECORD_BUSY_NS - s->v->now_ns;
	bool busy = release_is_pending(r->status) || !strcmp(r->status, "uninstalling");
	if (r->is_ours || !busy || left <= 0)
		return DONE;
	struct arena *a = s->v->a;
	plan_requeue_after(s->plan, ASKED_FRESH_NS);
	return block(
		s, "OtherInProgress",
		arena_fmt(a, "helm has revision %lld of release %s in %s in %s",
			  (long long)r->revision, s->app->name, strategy_namespace(s), r->status),
		nextstep_new(
			a,
			"let helm end; where it was killed, its release is taken over after 10 "
			"minutes without a change",
			"helm status %s -n %s", s->app->name, strategy_namespace(s)));
}

/* Taken over blindly, the user's values and what left the chart would be lost in silence. */
static enum ensured refuse_unreadable(struct strategy_pass *s, const struct helm_release *r)
{
	if (!r->unreadable)
		return DONE;
	struct arena *a = s->v->a;
	const char *name = s->app->name, *ns = strategy_namespace(s);
	plan_requeue_after(s->plan, NS_PER_MIN);
	return block(
		s, "RecordUnreadable",
		arena_fmt(a, "revision %lld of release %s in %s, made by helm: %s",
			  (long long)r->runs, name, ns, r->unreadable),
		nextstep_new(a,
			     "the objects of the release are then taken as they are; helm upgrade "
			     "or helm rollback makes a record that can be read instead",
			     "kubectl delete secret sh.helm.release.v1.%s.v%lld -n %s", name,
			     (long long)r->runs, ns));
}

static enum ensured block_large(struct strategy_pass *s, const struct error *why)
{
	struct arena *a = s->v->a;
	const char *name = s->app->name, *ns = strategy_namespace(s);
	plan_requeue_after(s->plan, NS_PER_MIN);
	return block(s, "RecordsTooLarge", arena_fmt(a, "release %s in %s: %s", name, ns, why->msg),
		     nextstep_new(a, "deletes the records of what is over",
				  "kubectl delete secrets -n %s "
				  "-l owner=helm,name=%s,status=superseded",
				  ns, name));
}

/* In no revision that helm has: the new number is reported first, then asked for again. */
static enum ensured ensure_number(struct strategy_pass *s, const struct helm_release *r)
{
	if (r->revision < s->revision || (r->revision == s->revision && r->is_ours))
		return DONE;
	s->revision = r->revision + 1;
	return strategy_wait_for_work(s, false);
}

enum ensured strategy_take_over(struct strategy_pass *s)
{
	const struct view *v = s->v;
	struct helm_release r;
	struct error err = ERROR_INIT;
	if (s->install)
		return DONE;
	const char *id = question_id(s);
	const struct outcome *o = view_outcome(v, id);
	bool old = o && o->at_ns + ASKED_FRESH_NS < v->now_ns;
	if (!o || (old && (s->phase == PHASE_BLOCKED || obj_has(obj_at(o->value, 0), "error")))) {
		ask(s, id, helm_release_question(s->app->name, strategy_namespace(s)));
		return strategy_wait_for_work(s, o != NULL);
	}
	if (helm_release_read(o->value, v->a, &r, &err) == -E_LIMIT)
		return block_large(s, &err);
	if (err.code)
		return strategy_fail_pass(s, &err);
	s->is_upgrade = s->app->installed || r.manifest;
	s->former = r.manifest;
	enum ensured state = refuse_unreadable(s, &r);
	if (state == DONE)
		state = refuse_other_chart(s, &r);
	if (state == DONE)
		state = refuse_lost_values(s, &r);
	if (state == DONE)
		state = await_helm(s, &r);
	return state == DONE ? ensure_number(s, &r) : state;
}

/* --- when the plan is carried out --- */

static bool has_marks(const struct strategy_pass *s, const struct obj *live)
{
	return cstr_eq(meta_annotation(live, "meta.helm.sh/release-name"), s->install->release) &&
	       cstr_eq(meta_annotation(live, "meta.helm.sh/release-namespace"), s->install->ns);
}

static void add_need(struct obj *list, const struct unit_entry *e)
{
	struct obj *need = obj_map();
	obj_set_str(need, "apiVersion", meta_api_version(e->object));
	obj_set_str(need, "kind", e->kind);
	obj_set_str(need, "namespace", e->ns ? e->ns : "");
	obj_set_str(need, "name", e->name);
	obj_append(list, need);
}

/* A record that cannot be read gets the label alone. */
static struct obj *adoption(const struct strategy_pass *s, const struct obj *o)
{
	struct error ignored;
	struct obj *patch = NULL;
	struct release_change same = {.status = meta_label(o, "status"), .now_ns = s->v->now_ns};
	if (!cstr_eq(obj_str(o, "type"), RELEASE_SECRET_TYPE) ||
	    release_change(o, &same, &patch, &ignored) < 0)
		return helm_adoption(o, s->app->name);
	meta_set_label(patch, LABEL_APP, s->app->name);
	return patch;
}

/* Of one object or of the items of a list: those that are the release's and not yet ours. writes:
 * they were read just now, so their resourceVersion may still be right. */
static size_t adopt(struct strategy_pass *s, const struct obj *value, bool writes)
{
	const struct obj *items = obj_get(value, "items");
	size_t n = 0;
	for (size_t i = 0; i < (items ? obj_len(items) : 1); i++) {
		const struct obj *o = items ? obj_at(items, i) : value;
		if (obj_type(o) != OBJ_MAP || cstr_eq(meta_label(o, LABEL_APP), s->app->name))
			continue;
		if (!items && !has_marks(s, o))
			continue;
		if (writes)
			plan_patch(s->plan, o, adoption(s, o));
		n++;
	}
	return n;
}

enum ensured strategy_ensure_number(struct strategy_pass *s)
{
	if (release_record_ensure_free(s->v, s->plan, s->install->doc) == DONE)
		return DONE;
	s->revision = strategy_next_revision(s->app);
	s->install = NULL;
	return strategy_enter(s, PHASE_PENDING, NULL, "Pending",
			      "helm made this revision meanwhile");
}

/* What is not known may not be passed over. */
static const char *unanswered(const struct strategy_pass *s, const struct obj *answers)
{
	for (size_t i = 0; i < obj_len(answers); i++) {
		const struct obj *a = obj_at(answers, i);
		const char *error = obj_str(a, "error"), *name = obj_str(a, "name");
		if (error)
			return arena_fmt(s->v->a, "%s %s of release %s cannot be read: %s",
					 obj_str(a, "kind"), name && *name ? name : "(records)",
					 s->install->release, error);
	}
	return NULL;
}

static enum ensured adopt_batch(struct strategy_pass *s, const char *id, struct obj *needs)
{
	const struct view *v = s->v;
	const struct outcome *o = view_outcome(v, id);
	bool fresh = o && o->at_ns + ASKED_FRESH_NS > v->now_ns;
	size_t n = 0;
	const char *error = o ? unanswered(s, o->value) : NULL;
	obj_keep(v->a, needs);
	if (error && fresh)
		return strategy_give_up(s, "Applied", "TakeoverFailed", error);
	for (size_t i = 0; o && i < obj_len(o->value); i++)
		n += adopt(s, obj_get(obj_at(o->value, i), "value"), fresh);
	if (o && !n && !error)
		return DONE;
	ask(s, id, obj_ref(needs)); /* again, after the patches */
	return WAITING;
}

/* The records, then the objects, few enough at a time for one answer. */
enum ensured strategy_adopt_release(struct strategy_pass *s)
{
	const struct install_plan *p = s->install;
	if (!obj_flag(p->doc, "takesOver", false))
		return DONE;
	const char *id = arena_fmt(s->v->a, "%s:adopt", question_id(s));
	enum ensured state = adopt_batch(s, id, helm_release_question(p->release, p->ns));
	for (size_t from = 0; state == DONE && from < p->n; from += ADOPTED_AT_ONCE) {
		struct obj *needs = obj_list();
		for (size_t i = from; i < p->n && i < from + ADOPTED_AT_ONCE; i++)
			if (!p->entries[i].is_crd && p->entries[i].resource)
				add_need(needs, &p->entries[i]);
		state = adopt_batch(s, arena_fmt(s->v->a, "%s:%zu", id, from), needs);
	}
	return state;
}

/* What helm has of any list of helm_leftovers(); id names the question. */
static enum ensured delete_leftover_rows(struct strategy_pass *s, const struct obj *rows,
					 const char *id)
{
	const struct view *v = s->v;
	const struct outcome *o = view_outcome(v, id);
	bool fresh = o && o->at_ns + NS_PER_S > v->now_ns, gone = o != NULL;
	if (!obj_len(rows))
		return DONE;
	for (size_t i = 0; o && i < obj_len(o->value); i++) {
		const struct obj *live = obj_get(obj_at(o->value, i), "value");
		if (obj_type(live) != OBJ_MAP || !has_marks(s, live) || unit_is_kept(live))
			continue;
		gone = false;
		if (fresh && !meta_is_deleting(live))
			plan_delete(s->plan, live, "Background");
	}
	if (gone)
		return DONE;
	if (!fresh)
		ask(s, id, obj_ref(rows));
	plan_requeue_after(s->plan, NS_PER_S);
	return WAITING;
}

enum ensured strategy_delete_former(struct strategy_pass *s)
{
	return delete_leftover_rows(s, obj_get(s->install->doc, "former"),
				    arena_fmt(s->v->a, "%s:former", question_id(s)));
}

/* --- when helm changes what is installed --- */

struct helm_change strategy_helm_change(struct strategy_pass *s)
{
	struct helm_change c = {0};
	int64_t highest = app_highest_revision(s->app);
	switch (release_record_state(s->v, s->plan, s->install->doc, highest, &c.newest)) {
	case RECORD_OURS: /* helm's before it are still to be superseded */
		c.told = !s->rollback_revision;
		break;
	case RECORD_UNKNOWN:
	case RECORD_BUSY:
		c.busy = true;
		break;
	case RECORD_NEWER:
	case RECORD_LOST:
		break;
	}
	return c;
}

/* What helm brought with its revision and the plan lacks. */
static enum ensured delete_helms(struct strategy_pass *s, const struct obj *record)
{
	struct release r;
	struct error ignored;
	if (!record || release_record_is_ours(record) ||
	    release_from_secret(record, s->v->a, &r, &ignored) < 0)
		return DONE;
	const struct obj *rows = obj_keep(s->v->a, helm_leftovers(r.manifest, s->install->doc));
	const char *id = arena_fmt(s->v->a, "release:%s:helm:%lld", meta_uid(s->ref->o),
				   (long long)r.revision);
	return delete_leftover_rows(s, rows, id);
}

void strategy_record_repair(struct strategy_pass *s, const struct helm_change *c)
{
	int64_t own = s->revision > s->rollback_revision ? s->revision : s->rollback_revision;
	int64_t newest = c->newest ? release_record_revision(c->newest) : 0;
	bool ours = c->newest && release_record_is_ours(c->newest);
	if (delete_helms(s, c->newest) == WAITING)
		return;
	if (newest >= own && !ours) { /* the number is reported first */
		s->rollback_revision = newest + 1;
		return;
	}
	struct release_record r = {.v = s->v,
				   .plan = s->plan,
				   .app = s->app,
				   .doc = s->install->doc,
				   .revision = own,
				   .status = "deployed",
				   .description = "Repaired as its AppType wants it"};
	if (s->failed) /* the number is that of its way back (strategy_back.c) */
		r.description = strategy_back_text(s, s->revision);
	release_record_ensure(&r);
}
