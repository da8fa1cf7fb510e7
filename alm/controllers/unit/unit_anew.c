/* What the server does not change is deleted and made anew, if the object asks for that (switches.h): once
 * a step, whose record has the uid that goes. */
#include "alm/controllers/unit/unit_pass.h"
#include "alm/obj/meta.h"
#include "alm/unit/prune.h"
#include "alm/unit/switches.h"
#include "crds/marks.h"

static bool is_immutable(const struct unit_pass *s, const struct unit_entry *e, const char *no)
{
	const struct outcome *o = no ? view_refusal(s->v, e->object, e->ns) : NULL;
	return o && switches_is_immutable(o->code, no);
}

/* On the way back what is there says it, which the failed unit has made. */
static bool is_forced(const struct unit_pass *s, const struct unit_entry *e)
{
	return switches_force(e->object) || (s->back && switches_force(e->live));
}

/* Why it is not made anew; NULL: it is. */
static const char *spares(const struct unit_pass *s, size_t row, bool was_anew)
{
	const struct unit_entry *e = &s->entries[row];
	const char *why = switches_spare(e->object, e->live);
	if (why)
		return why;
	if (!is_forced(s, e))
		return "annotation " ANNOTATION_FORCE ": \"true\" would have it so";
	if (s->foreign[row])
		return "it is somebody else's";
	return was_anew ? "it was in this step already" : NULL;
}

static const char *text_of(const struct unit_pass *s, const struct obj *live)
{
	const char *held = meta_is_deleting(live) ? prune_waits_for(live, s->v->a) : NULL;
	return arena_fmt(s->v->a, "being deleted, to be made anew%s%s", held ? ": " : "",
			 held ? held : "");
}

enum ensured unit_make_anew(struct unit_pass *s, size_t row, struct obj *record, const char *no,
			    const char **ret_why)
{
	const struct unit_entry *e = &s->entries[row];
	const char *key = arena_fmt(s->v->a, "%zu", row);
	const char *was = obj_str(obj_get(record, "anew"), key);
	bool goes = e->live && was && cstr_eq(was, meta_uid(e->live));
	bool immutable = is_immutable(s, e, no);
	if (!e->live ||
	    (no ? !immutable : !goes)) /* no: of the deletion, or of what is wrong anyway */
		return DONE;
	const char *spared = goes ? NULL : spares(s, row, was);
	if (spared) {
		*ret_why = arena_fmt(s->v->a, "ImmutableField: %s; it is not made anew: %s", no,
				     spared);
		return ENDED;
	}
	if (!obj_has(record, "anew"))
		obj_set(record, "anew", obj_map());
	obj_set_str(obj_get_mut(record, "anew"), key, meta_uid(e->live));
	if (!meta_is_deleting(e->live))
		plan_delete(s->plan, e->live, "Foreground");
	*ret_why = text_of(s, e->live);
	return WAITING;
}
