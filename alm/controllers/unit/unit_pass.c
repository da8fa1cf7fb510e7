#include "alm/controllers/unit/unit_pass.h"

#include "alm/controllers/work/works.h"
#include "alm/obj/gvk.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

/* --- ends --- */

static enum ensured end(struct unit_pass *s, const char *state, const char *reason,
			const char *message)
{
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
	obj_set(s->record, "refused", obj_bool(true));
	return end(s, "Failed", reason, message);
}

bool unit_owns(const struct unit *u, const struct obj *live)
{
	return cstr_eq(meta_label(live, LABEL_BUNDLE), u->bundle) &&
	       cstr_eq(meta_annotation(live, ANNOTATION_OWNER_ID), u->owner_id);
}

const char *unit_id(const struct unit_pass *s, const char *what)
{
	return arena_fmt(s->v->a, "unit:%s:%lld:%s", s->key, (long long)s->job->attempt, what);
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

const char *unit_step_id(const struct unit_pass *s, const struct unit_part *part, size_t g,
			 size_t i)
{
	return arena_fmt(s->v->a, "%td.%zu.%zu %s/%s", part - s->unit->parts, g + 1, i + 1,
			 part->groups[g].name, part->groups[g].steps[i].name);
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

const struct outcome *unit_survey(struct unit_pass *s, const char *id, struct obj *rows,
				  int64_t age_ns)
{
	const struct outcome *o = view_outcome(s->v, id);
	obj_keep(s->v->a, rows);
	if (o && !o->code && (!age_ns || s->v->now_ns - o->at_ns <= age_ns))
		return o;
	struct action *x = plan_work(s->plan, &survey_work, id);
	x->body = rows;
	return NULL;
}
