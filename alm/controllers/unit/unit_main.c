/* The object that a unit is run for: a finalizer, so that what was made for it goes before it does,
 * and a status that tells how far the unit is. Neither is written where somebody wants it left as
 * it is (unit_job.touches). */
#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/unit/feedback.h"
#include "crds/marks.h"

#define TRIES_MAX         3 /* a schema may leave out a part of the status, each time */
#define FINALIZER         "app.coreos.com/unit"
#define ANNOTATION_STATUS "app.coreos.com/status"

static void plan_finalizers(struct unit_pass *s, struct obj *changed)
{
	struct obj *patch = obj_map();
	const struct obj *left = obj_path(changed, "metadata.finalizers");
	obj_set_path(patch, "metadata.finalizers", left ? obj_ref(left) : obj_null());
	plan_patch(s->plan, s->job->main, patch);
	obj_unref(changed);
}

enum ensured unit_hold_main(struct unit_pass *s)
{
	const struct obj *main = s->job->main;
	bool held = main && meta_has_finalizer(main, FINALIZER);
	/* without its finalizer nobody would know what was made for it */
	if (s->job->watched && !s->job->deleting && !held && (!main || meta_is_deleting(main)))
		return unit_refuse(s, "ObjectDeleted", "the object that it is run for is deleted");
	if (!main || !s->job->touches || s->job->deleting || held)
		return DONE;
	struct obj *copy = obj_copy(main);
	meta_add_finalizer(copy, FINALIZER);
	plan_finalizers(s, copy);
	return WAITING; /* the watch brings it */
}

/* A late create of what pruning keeps would give it its owner back, and the garbage collector would take it. */
static bool is_kept_from_late(const struct unit_pass *s)
{
	for (size_t i = 0; i < s->watched.n; i++)
		if (s->watched.lines[i].uid)
			return true;
	return false;
}

enum ensured unit_release_main(struct unit_pass *s)
{
	const struct obj *main = s->job->main;
	if (!s->job->deleting || !main || !meta_has_finalizer(main, FINALIZER))
		return DONE;
	if (is_kept_from_late(s) && unit_await_late(s) != DONE)
		return WAITING;
	struct obj *copy = obj_copy(main);
	meta_remove_finalizer(copy, FINALIZER);
	plan_finalizers(s, copy);
	return WAITING;
}

/* --- status --- */

static struct obj *status_of(const struct unit_pass *s)
{
	const struct obj *main = s->job->main;
	struct obj *status = obj_map();
	struct obj *conditions = obj_copy_list(obj_path(main, "status.conditions"));
	const char *state = obj_str(s->record, "state"), *reason = obj_str(s->record, "reason"),
		   *message = obj_str(s->record, "message");
	bool ok = cstr_eq(state, "Succeeded"), bad = !ok && !unit_record_is_open(s->record);
	/* what holds its deletion is all that there is to say of it then */
	const char *waits = s->job->deleting ? obj_str(s->record, "waits") : NULL;
	const struct condition deleting = {.type = "Ready",
					   .status = "False",
					   .reason = "Deleting",
					   .message = waits ? waits : "",
					   .observed_generation = meta_generation(main)};
	const struct condition c = {.type = "Ready",
				    .status = ok    ? "True"
					      : bad ? "False"
						    : "Unknown",
				    .reason = cstr_has_prefix(state, "Roll") ? state
					      : reason                       ? reason
					      : ok                           ? "RolledOut"
									     : "Progressing",
				    .message = message ? message : "",
				    .observed_generation = meta_generation(main)};
	(void)condition_set(conditions, waits ? &deleting : &c, s->v->now_ns);
	obj_set_int(status, "observedGeneration", meta_generation(main));
	if (!waits)
		obj_set(status, "groups", feedback_groups(s->job->unit, s->record));
	obj_set(status, "conditions", conditions);
	return status;
}

/* What the server said to the last write of it, if it refused. */
static const struct outcome *refused(const struct unit_pass *s)
{
	const struct obj *main = s->job->main;
	return view_refusal(s->v, main, meta_namespace(main));
}

/* A conflict, or a server that was away, says nothing of the schema. */
static bool is_lost(const struct unit_pass *s)
{
	const struct outcome *no = refused(s);
	return no && no->code && error_retry(no->code) != RETRY_NEVER && no->code != E_FORBIDDEN;
}

/* A kind without a status has it in an annotation. */
static void write_status(struct unit_pass *s, struct obj *status)
{
	const struct obj *main = s->job->main;
	struct obj *patch = obj_map();
	const struct outcome *no = refused(s);
	bool without = (no && no->code == E_NOTFOUND) || meta_annotation(main, ANNOTATION_STATUS);
	if (without) {
		CLEANUP(xfreep) char *text = json_text(status);
		meta_set_annotation(patch, ANNOTATION_STATUS, text);
		obj_unref(status);
	} else {
		obj_set(patch, "status", status);
	}
	struct action *x = plan_patch(s->plan, main, patch);
	if (!without)
		x->subresource = "status";
}

/* A schema may leave out what it does not know: that is not missed. */
static bool is_told(const struct obj *main, const struct obj *status)
{
	const struct obj *is = condition_find(obj_path(main, "status.conditions"), "Ready");
	const struct obj *want = condition_find(obj_get(status, "conditions"), "Ready");
	const struct obj *groups = obj_get(status, "groups");
	return (!groups || unit_holds(obj_path(main, "status.groups"), groups)) &&
	       cstr_eq(obj_str(is, "status"), obj_str(want, "status")) &&
	       cstr_eq(obj_str(is, "reason"), obj_str(want, "reason")) &&
	       cstr_eq(obj_str(is, "message"), obj_str(want, "message"));
}

void unit_feedback(struct unit_pass *s)
{
	char told[SHA256_HEX];
	const struct obj *main = s->job->main;
	if (!main || !s->job->touches)
		return;
	if (s->job->deleting ? !obj_has(s->record, "waits") : meta_is_deleting(main))
		return;
	struct obj *status = obj_keep(s->v->a, status_of(s));
	/* times and what a schema leaves out are no reason to say it again */
	CLEANUP(obj_unrefp) struct obj *bare = obj_copy(status);
	const struct obj *ready = condition_find(obj_get(bare, "conditions"), "Ready");
	obj_set(bare, "conditions",
		obj_stringf("%s %s", obj_str(ready, "reason"), obj_str(ready, "message")));
	json_digest(bare, told);
	bool same = cstr_eq(obj_str(s->record, "told"), told);
	int64_t tries = same ? obj_i64(s->record, "tries", 0) : 0;
	if (tries && is_lost(s))
		tries--;
	obj_set_str(s->record, "told", told);
	if (tries >= TRIES_MAX || is_told(main, status))
		return;
	obj_set_int(s->record, "tries", tries + 1);
	write_status(s, obj_ref(status));
}
