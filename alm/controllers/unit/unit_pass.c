#include "alm/controllers/unit/unit_pass.h"

#include "alm/controllers/work/shared.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "alm/unit/canary.h"
#include "crds/marks.h"

/* --- ends --- */

bool unit_record_is_open(const struct obj *record)
{
	const char *state = obj_str(record, "state");
	return cstr_eq(state, "Running") || cstr_eq(state, "RollingBack");
}

bool unit_record_is_refused(const struct obj *record)
{
	return cstr_eq(obj_str(record, "state"), "Failed") && obj_flag(record, "refused", false) &&
	       !obj_flag(record, "begun", false);
}

static enum ensured end(struct unit_pass *s, const char *state, const char *reason,
			const char *message)
{
	const char *first = obj_str(s->record, "message"), *why = obj_str(s->record, "reason");
	if (s->back) { /* what failed first is what is told */
		message = arena_fmt(s->v->a, "%s; not rolled back: %s", first, message);
		reason = arena_strdup(s->v->a, why);
	}
	obj_set_str(s->record, "state", state);
	obj_set_str(s->record, "reason", reason);
	obj_set_str(s->record, "message", message);
	return ENDED;
}

void unit_succeed(struct unit_pass *s)
{
	end(s, "Succeeded", NULL, NULL);
}

enum ensured unit_fail(struct unit_pass *s, const char *reason, const char *message)
{
	return end(s, "Failed", reason, message);
}

enum ensured unit_refuse(struct unit_pass *s, const char *reason, const char *message)
{
	if (!s->back)
		obj_set(s->record, "refused", obj_bool(true));
	return end(s, "Failed", reason, message);
}

bool unit_owns(const struct unit *u, const struct obj *live)
{
	return cstr_eq(meta_label(live, LABEL_BUNDLE), u->bundle) &&
	       cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), u->owner_id);
}

bool unit_has_lost_mark(const struct unit *u, const struct obj *live)
{
	return live && !meta_label(live, LABEL_BUNDLE) && !meta_label(live, LABEL_STRATEGY) &&
	       cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), u->owner_id);
}

struct action *unit_write_book(struct unit_pass *s, struct obj *o, int stage)
{
	const char *as = s->plan->as;
	s->plan->as = NULL;
	struct action *x = plan_apply(s->plan, o, stage, true);
	s->plan->as = as;
	return x;
}

void unit_create_book(struct unit_pass *s, struct obj *o)
{
	const char *as = s->plan->as;
	s->plan->as = NULL;
	plan_create(s->plan, o);
	s->plan->as = as;
}

void unit_own_book(const struct unit_pass *s, struct obj *o)
{
	const struct owner_ref owner = {.api_version = "v1",
					.kind = "ConfigMap",
					.name = meta_name(s->inventory),
					.uid = meta_uid(s->inventory)};
	meta_set_annotation(o, ANNOTATION_OWNER_ID, s->unit->owner_id);
	meta_add_owner(o, &owner);
}

void unit_delete_book(struct unit_pass *s, const struct obj *live)
{
	const char *as = s->plan->as;
	s->plan->as = NULL;
	plan_delete(s->plan, live, "Background");
	s->plan->as = as;
}

const char *unit_selector(const struct unit_pass *s)
{
	const char *all = s->v->shared->units->selector;
	return all ? all : arena_fmt(s->v->a, LABEL_BUNDLE "=%s", s->unit->bundle);
}

const char *unit_id(const struct unit_pass *s, const char *what)
{
	return arena_fmt(s->v->a, "unit:%s:%lld:%s%s", s->key, (long long)s->job->attempt,
			 s->back     ? "back:"
			 : s->stands ? "former:"
				     : "",
			 what);
}

/* What is said is of the unit that was to be applied, not of the way back. */
const char *unit_told(const struct unit_pass *s, const char *what)
{
	return s->back ? NULL : canary_told(s->job->steer, what, s->v->a);
}

/* --- objects --- */

enum rollout_action unit_action(const struct unit_step *step, const struct unit_entry *e)
{
	bool once = cstr_eq(meta_annotation(e->object, ANNOTATION_ONE_OFF), "true");
	return once && step->action == ACTION_CREATE_OR_UPDATE ? ACTION_CREATE_IF_NOT_EXIST
							       : step->action;
}

const struct obj *unit_found(const struct unit_pass *s, size_t i)
{
	return s->entries[i].live ? s->entries[i].live
				  : obj_get(s->absent, arena_fmt(s->v->a, "o%zu", i));
}

bool unit_is_within(const struct unit_pass *s, const struct unit_entry *e)
{
	const char *ns = cstr_eq(e->kind, "Namespace") ? e->name : e->ns;
	for (size_t i = 0; ns && s->job && i < obj_len(s->job->namespaces); i++)
		if (cstr_eq(obj_as_string(obj_at(s->job->namespaces, i)), ns))
			return true;
	return !ns || !s->job || !s->job->namespaces;
}

bool unit_has_run_out(const struct unit_pass *s, size_t i)
{
	return !unit_found(s, i) && obj_path(s->entries[i].object, "spec.ttlSecondsAfterFinished");
}

const char *unit_step_id(const struct unit_pass *s, const struct unit_part *part, size_t g,
			 size_t i)
{
	return arena_fmt(s->v->a, "%td.%zu.%zu %s/%s", part - s->unit->parts, g + 1, i + 1,
			 part->groups[g].name, part->groups[g].steps[i].name);
}

struct obj *unit_decorate(const struct unit_pass *s, const struct obj *from, const char *digest,
			  size_t row)
{
	const struct unit *u = s->unit;
	struct obj *o = obj_copy(from);
	const struct obj *of = obj_at(obj_get(u->doc, "objects"), row);
	const char *instance = obj_str(of, "instance");
	meta_set_label(o, LABEL_BUNDLE, u->bundle);
	meta_set_label(o, LABEL_INSTANCE, instance ? instance : u->instance);
	meta_set_annotation(o, ANNOTATION_OWNER_ID, u->owner_id);
	meta_set_annotation(o, ANNOTATION_APPLIED, digest);
	meta_set_annotation(o, ANNOTATION_INTENT, obj_str(of, "key"));
	unit_add_main(s, unit_found(s, row), o);
	return o;
}

const char *unit_refusal(const struct unit_pass *s, const struct unit_entry *e,
			 const struct obj *record)
{
	const struct outcome *o = view_refusal(s->v, e->object, e->ns);
	bool mine = o && o->code && o->at_ns >= obj_i64(record, "sinceNs", 0);
	bool final = mine && (error_retry(o->code) == RETRY_NEVER || o->code == E_FORBIDDEN);
	return final ? o->msg : NULL;
}

/* --- lines of the inventory --- */

/* What only steps name that delete it is not wanted; what is there and somebody else's is ours when
 * it is taken over, and no more when it is left as it is. */
static void mark_wanted(const struct unit_pass *s, const struct unit_step *step, bool *wanted)
{
	for (size_t k = 0; k < step->n; k++) {
		size_t row = step->rows[k];
		enum rollout_action action = unit_action(step, &s->entries[row]);
		if (action == ACTION_CREATE_OR_UPDATE ||
		    (action != ACTION_DELETE_IF_EXIST && !s->foreign[row]))
			wanted[row] = true;
	}
}

static bool *wanted_rows(const struct unit_pass *s)
{
	bool *wanted = ARENA_ARRAY(s->v->a, bool, s->n + 1);
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < s->unit->parts[p].n; g++)
			for (size_t i = 0; i < s->unit->parts[p].groups[g].n; i++)
				mark_wanted(s, &s->unit->parts[p].groups[g].steps[i], wanted);
	return wanted;
}

bool unit_is_placed(const struct unit_pass *s, const struct unit_entry *e)
{
	/* The digest of a Secret tells nothing of its values. */
	bool secret = cstr_eq(e->kind, "Secret");
	return unit_is_applied(e) && s->host->owns(s, e->live) &&
	       !unit_loses_main(s, e->live, e->object) &&
	       (unit_holds_object(e->live, e->object) || (!secret && unit_is_as_left(s->v, e)));
}

struct inventory unit_wanted_lines(const struct unit_pass *s)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	struct inventory i = {.lines = ARENA_ARRAY(s->v->a, struct inventory_line,
						   s->n + s->had.n + s->late.n + 1)};
	const bool *wanted = wanted_rows(s);
	for (size_t k = 0; k < s->n; k++) {
		const struct unit_entry *e = &s->entries[k];
		if (!wanted[k])
			continue;
		i.lines[i.n++] = (struct inventory_line){.api_version = meta_api_version(e->object),
							 .kind = e->kind,
							 .ns = e->ns,
							 .name = e->name,
							 .uid = meta_uid(unit_found(s, k)),
							 .digest = e->digest,
							 .row = k,
							 .key = obj_str(obj_at(rows, k), "key")};
	}
	return i;
}

/* --- live reads --- */

void unit_survey_row(struct obj *rows, const char *key, const struct unit_entry *e)
{
	struct obj *row = obj_map();
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct gvk g = {"", "", ""};
	gvk_of(e->object, a, &g);
	obj_set_str(row, "key", key);
	obj_set_str(row, "group", g.group);
	obj_set_str(row, "version", g.version);
	obj_set_str(row, "kind", g.kind);
	obj_set_str(row, "namespace", e->ns);
	obj_set_str(row, "name", e->name);
	obj_append(rows, row);
}

void unit_forget(struct unit_pass *s, const char *what)
{
	plan_add(s->plan, ACT_FORGET)->id = unit_id(s, what);
}

const struct outcome *unit_survey(struct unit_pass *s, const char *id, struct obj *rows,
				  int64_t age_ns)
{
	const struct outcome *o = view_outcome(s->v, id);
	obj_keep(s->v->a, rows);
	if (o && !o->code && (!age_ns || outcome_is_younger(o, s->v->now_ns, age_ns)))
		return o;
	struct action *x = plan_work(s->plan, &survey_work, id);
	x->body = rows;
	return NULL;
}
