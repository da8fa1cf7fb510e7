/* What is known before the first write: the objects of the unit, its inventory, and whose is what
 * stands at their names. What has no mark of ours no informer shows, so it is read live, once an
 * attempt. */
#include <string.h>

#include "alm/controllers/unit/unit_canary.h"
#include "alm/controllers/unit/unit_pass.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "alm/unit/takeover.h"
#include "crds/marks.h"

/* --- objects --- */

/* A namespaced kind that a CRD of this unit brings. */
static bool comes_namespaced(const struct unit_pass *s, const struct obj *o, bool *ret_comes)
{
	const struct obj *crd = unit_definition(s, o);
	*ret_comes = crd;
	return crd && cstr_eq(obj_str(crd, "spec.scope"), "Namespaced");
}

static void load(struct unit_pass *s)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	const char *selector = unit_selector(s);
	bool comes;
	s->n = obj_len(rows);
	s->entries = ARENA_ARRAY(s->v->a, struct unit_entry, s->n + 1);
	s->foreign = ARENA_ARRAY(s->v->a, bool, s->n + 1);
	for (size_t i = 0; i < s->n; i++) {
		struct unit_entry *e = &s->entries[i];
		unit_entry_load(s->v, obj_at(rows, i), s->unit->ns, selector, e, s->plan);
		if (!e->resource && !e->ns && comes_namespaced(s, e->object, &comes)) {
			struct obj *copy = obj_keep(s->v->a, obj_copy(e->object));
			obj_set_path(copy, "metadata.namespace", obj_string(s->unit->ns));
			e->object = copy;
			e->ns = s->unit->ns;
		}
	}
}

/* --- live reads --- */

static bool is_absent(const struct unit_entry *e)
{
	return e->resource && !e->live && !e->unknown;
}

static enum ensured read_absent(struct unit_pass *s)
{
	struct obj *rows = obj_list();
	for (size_t i = 0; i < s->n; i++)
		if (is_absent(&s->entries[i]))
			unit_survey_row(rows, arena_fmt(s->v->a, "o%zu", i), &s->entries[i]);
	if (!obj_len(rows)) {
		obj_unref(rows);
		return DONE;
	}
	const struct outcome *found = unit_survey(s, unit_id(s, UNIT_ABSENT), rows, 0);
	if (!found)
		return WAITING;
	s->absent = found->value;
	s->absent_ns = found->at_ns;
	return DONE;
}

/* What the informers have come to know since is newer than the live read. An object that is taken over keeps what
 * is somebody else's in it, as one does that a watch shows. */
static void take_found(struct unit_pass *s)
{
	const struct obj *rows = obj_get(s->unit->doc, "objects");
	for (size_t i = 0; i < s->n; i++) {
		const struct obj *o = unit_found(s, i);
		s->foreign[i] = o && !s->host->owns(s, o);
		if (!s->entries[i].live)
			unit_entry_spare(&s->entries[i], obj_at(rows, i), o, s->v->a);
	}
}

enum ensured unit_look_absent(struct unit_pass *s)
{
	enum ensured state = read_absent(s);
	if (state == DONE)
		take_found(s);
	return state;
}

/* After an attempt: what was there, and no informer shows any more, was deleted, or its mark was taken off. It is read
 * anew, once: what comes back is not asked for again, but when it goes again. */
static enum ensured look_for_lost(struct unit_pass *s)
{
	const struct obj *before = obj_get(s->record, "looked");
	struct obj *now = obj_map();
	bool is_new = false;
	for (size_t i = 0; i < s->n; i++) {
		const char *row = arena_fmt(s->v->a, "o%zu", i);
		if (!is_absent(&s->entries[i]))
			continue;
		is_new = is_new || !obj_has(before, row);
		obj_set_bool(now, row, true);
	}
	if (obj_len(now) || before)
		obj_set(s->record, "looked", obj_ref(now));
	obj_unref(now);
	if (!is_new || !view_outcome(s->v, unit_id(s, UNIT_ABSENT)))
		return DONE;
	unit_forget(s, UNIT_ABSENT);
	plan_requeue_after(s->plan, NS_PER_MS);
	return WAITING;
}

enum ensured unit_look(struct unit_pass *s)
{
	/* All at once: what is there already takes one look at its objects. */
	s->found = unit_read_books(s);
	enum ensured inventory = unit_read_inventory(s);
	enum ensured state = s->found ? inventory : WAITING;
	load(s);
	for (size_t i = 0; i < s->n && state == DONE; i++)
		if (s->entries[i].unknown)
			state = WAITING; /* the informer brings the key back */
	if (state == DONE && !unit_record_is_open(s->record))
		state = look_for_lost(s);
	return state == DONE ? unit_look_absent(s) : state;
}

/* --- judgement --- */

static const char *belongs_to(const struct unit_pass *s, const struct unit_entry *e,
			      const struct obj *o)
{
	const char *bundle = meta_label(o, LABEL_BUNDLE);
	const char *instance = meta_label(o, LABEL_INSTANCE);
	bool is_twin = cstr_eq(bundle, s->unit->bundle); /* taken over, each would take it back */
	const char *takes = s->job->is_steered ? "spec.adopt: Any" : "--overwrite-ownership";
	if (bundle && !s->job->takes)
		return arena_fmt(s->v->a, "%s belongs to bundle %s%s%s%s; %s takes it over",
				 unit_entry_text(e, s->v->a), bundle, is_twin ? ", " : "",
				 is_twin && instance ? instance : "",
				 is_twin ? ": each needs a name of its own" : "", takes);
	const char *app = meta_label(o, LABEL_STRATEGY) ? meta_label(o, LABEL_APP) : NULL;
	if (!bundle && app && !s->job->takes)
		return arena_fmt(s->v->a,
				 "%s belongs to app %s; %s takes it over, once no strategy of the "
				 "app puts it back",
				 unit_entry_text(e, s->v->a), app, takes);
	if (!bundle && !app && !s->job->adopts)
		return arena_fmt(s->v->a, "%s is there and not managed by ALM; %s takes it over",
				 unit_entry_text(e, s->v->a),
				 s->job->is_steered ? "spec.adopt: Unowned" : "--adopt");
	return NULL;
}

enum ensured unit_take_over(struct unit_pass *s, size_t row)
{
	const struct obj *live = unit_found(s, row), *want = s->entries[row].object;
	if (!s->foreign[row] || !s->job || !(s->job->adopts || s->job->takes))
		return DONE;
	struct obj *patch = takeover_patch(live, want, s->plan->manager);
	if (!patch)
		return DONE;
	/* marked as ours, so that a watch shows it, and whoever goes on after a crash knows */
	meta_set_label(patch, LABEL_BUNDLE, s->unit->bundle);
	meta_set_annotation(patch, ANNOTATION_OWNER_ID, s->unit->owner_id);
	plan_patch(s->plan, live, patch);
	unit_forget(s, UNIT_ABSENT);
	return WAITING;
}

static bool is_applied_by_a_step(const struct unit *u, const struct unit_entry *e, size_t row)
{
	for (size_t p = 0; p < UNIT_PARTS; p++)
		for (size_t g = 0; g < u->parts[p].n; g++)
			for (size_t i = 0; i < u->parts[p].groups[g].n; i++) {
				const struct unit_step *step = &u->parts[p].groups[g].steps[i];
				for (size_t k = 0; k < step->n; k++)
					if (step->rows[k] == row &&
					    unit_action(step, e) == ACTION_CREATE_OR_UPDATE)
						return true;
			}
	return false;
}

/* Once an attempt the server is asked anew before: a definition that somebody brought no watch here shows. */
static enum ensured refuse_unknown(struct unit_pass *s, const struct unit_entry *e)
{
	const char *id = unit_id(s, "kinds");
	if (!view_outcome(s->v, id)) {
		(void)plan_work(s->plan, &kinds_work, id);
		return WAITING;
	}
	return unit_refuse(s, "UnknownObject",
			   arena_fmt(s->v->a,
				     "%s: the server has no kind %s in %s, and no CRD of the unit "
				     "brings it",
				     unit_entry_text(e, s->v->a), e->kind,
				     meta_api_version(e->object)));
}

enum ensured unit_judge(struct unit_pass *s)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(4096);
	for (size_t i = 0; i < s->n; i++) {
		const struct unit_entry *e = &s->entries[i];
		const struct obj *o = unit_found(s, i);
		bool comes = true;
		if (!e->resource)
			(void)comes_namespaced(s, e->object, &comes);
		if (!comes)
			return refuse_unknown(s, e);
		if (!s->foreign[i] || !is_applied_by_a_step(s->unit, e, i))
			continue;
		const char *why = belongs_to(s, e, o);
		if (why && all.len < 2000)
			strbuf_addf(&all, "%s%s", all.len ? "; " : "", why);
	}
	const char *no_canary = unit_canary_judge(s);
	if (no_canary)
		return unit_refuse(s, "CanaryUnsupported", no_canary);
	return all.len ? unit_refuse(s, "ObjectNotOwned", arena_strdup(s->v->a, all.buf)) : DONE;
}
