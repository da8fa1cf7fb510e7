#include "alm/controllers/app/spec_seen.h"

#include "alm/audit/changes.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

static const struct obj *last_of(const struct view *v, const struct obj *o)
{
	struct obj *row = v->ops->last_reason
				  ? v->ops->last_reason(v->ops_arg, "Observe", "SpecChanged",
							meta_kind(o), meta_name(o))
				  : NULL;
	if (row)
		obj_keep(v->a, row);
	return row && cstr_eq(obj_str(row, "subject.uid"), meta_uid(o)) ? row : NULL;
}

/* Its spec alone: conditions and marks are written by ALM itself. */
static const struct obj *form_of(const struct view *v, const struct obj *o)
{
	struct obj *redacted = obj_keep(v->a, v->ops->redacted(v->ops_arg, o));
	struct obj *form = obj_keep(v->a, obj_map());
	obj_set(form, "spec", obj_ref(obj_get(redacted, "spec")));
	return form;
}

static void set_change(const struct view *v, const struct obj *o, const struct obj *last,
		       struct obj *body)
{
	struct error ignored;
	struct obj *before = NULL;
	const char *was = obj_str(last, "body.object");
	const struct obj *form = form_of(v, o);
	CLEANUP(xfreep) char *text = json_text(form);
	obj_set_str(body, "object", text);
	if (was && json_parse(str_of(was), &before, &ignored) == 0)
		changes_set(body, obj_keep(v->a, before), form, v->a);
}

static struct action *row_of(const struct view *v, struct plan *plan, const struct obj *o,
			     const char *key, struct obj *body, const struct obj *last)
{
	const char *manager = meta_last_manager(o, NULL);
	obj_set_int(body, "generation", meta_generation(o));
	if (v->settings->foreign && v->ops->redacted) {
		set_change(v, o, last, body);
		if (manager) {
			obj_set_path(body, "who.trust", obj_string("managedFields"));
			obj_set_path(body, "who.via", obj_string(manager));
		}
	}
	struct action *x = plan_row(plan, "Observe", o, "SpecChanged", key, body);
	if (v->settings->foreign)
		x->actor = manager;
	return x;
}

struct action *spec_seen_row(const struct view *v, struct plan *plan, const struct obj *o,
			     const char *key, struct obj *body)
{
	return row_of(v, plan, o, key, body, v->settings->foreign ? last_of(v, o) : NULL);
}

struct action *spec_seen_once(const struct view *v, struct plan *plan, const struct obj *o)
{
	const struct obj *last = last_of(v, o);
	if (last && obj_i64(last, "body.generation", 0) >= meta_generation(o))
		return NULL;
	return row_of(v, plan, o, NULL, obj_map(), last);
}
