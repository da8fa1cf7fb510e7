/* draft: see draft.h. */
#include "alm/apiserver/admission/draft.h"

#include "alm/apiserver/admission/hooks_internal.h"
#include "alm/apiserver/converting.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/scale.h"
#include "alm/obj/meta.h"

/* What a create gets from the server comes later there, as does what a PUT leaves out. */
static const char *const given_later[] = {"uid", "creationTimestamp", "generation"};

static bool has_generated_name(const struct mutation *m)
{
	return !m->head && m->r->fixed.name;
}

struct obj *draft_of(const struct mutation *m)
{
	struct obj *o = obj_keep(m->r->arena, obj_copy(m->after));
	struct obj *meta = obj_get_mut(o, "metadata");
	if (m->head && !m->is_unconditional)
		obj_set_str(meta, "resourceVersion", meta_resource_version(m->stored));
	if (m->is_bare) {
		obj_del(meta, "uid");
		obj_del(meta, "creationTimestamp");
	}
	if (m->head)
		return o;
	for (size_t i = 0; i < ARRAY_LEN(given_later); i++)
		obj_del(meta, given_later[i]);
	if (has_generated_name(m))
		obj_del(meta, "name");
	return o;
}

static void copy_member(struct obj *to, const struct obj *from, const char *key)
{
	const struct obj *v = obj_get(from, key);
	if (v)
		obj_set(to, key, obj_ref(v));
	else
		obj_del(to, key);
}

/* What no webhook can change is as it was before them. */
void draft_complete(struct mutation *m, const struct obj *before)
{
	const struct obj *was = obj_get(before, "metadata");
	struct obj *meta = obj_get_mut(m->after, "metadata");
	if (obj_has(meta, "managedFields")) /* it may take them away */
		copy_member(meta, was, "managedFields");
	obj_del(meta, "resourceVersion");
	if (has_generated_name(m) && !obj_get(meta, "name"))
		copy_member(meta, was, "name");
}

/* What was shown in another form goes back into that of the request. */
static struct obj *back(const struct asked *asked, const struct asked_as *as,
			const struct mutation *m, struct obj *patched, struct error *err)
{
	struct request *r = m->r;
	const struct admission *w = &asked->w;
	struct obj *o;
	if (cstr_eq(asked->body_kind, "Scale")) {
		o = obj_keep(r->arena, obj_copy(m->after));
		return scale_put(r, o, obj_i64(patched, "spec.replicas", 0), err) < 0 ? NULL : o;
	}
	if (cstr_eq(as->version, w->version))
		return patched;
	const struct kind *shown = kinds_find(r->server->kinds, w->group, as->version, w->resource);
	const struct obj *form = NULL;
	if (shown && converting_is_needed(shown)) {
		if (converting_between(r, r->kind, patched, &form, err) < 0)
			return NULL;
	} else if (shown) {
		form = convert_between(shown, r->kind, patched, r->arena);
	}
	return form ? obj_keep(r->arena, obj_copy(form)) : patched;
}

/* Findings of what the client sent were told already; those of the draft are draft_take_strictly()'s to read. */
static int shape(struct mutation *m, struct error *err)
{
	struct error inner = ERROR_INIT;
	m->by_webhook = true;
	int rc = mutation_shape(m, &inner);
	m->by_webhook = false;
	return rc < 0 ? hook_internal_error(m->r, inner.msg, err) : 0;
}

int draft_take(struct mutation *m, const struct asked *asked, const struct asked_as *as,
	       struct obj *made, struct error *err)
{
	if (obj_type(made) != OBJ_MAP || obj_type(obj_get(made, "metadata")) != OBJ_MAP)
		return hook_internal_error(m->r, "the patch leaves no object", err);
	struct obj *next = back(asked, as, m, made, err);
	if (!next)
		return -err->code;
	m->after = next;
	return shape(m, err);
}

int draft_take_strictly(struct mutation *m, const struct asked *asked, const struct asked_as *as,
			struct obj *made, struct error *err)
{
	m->findings.n = 0; /* their number is bounded */
	if (draft_take(m, asked, as, made, err) < 0)
		return -err->code;
	const char *first = m->findings.n ? m->findings.items[0] : NULL;
	m->findings.n = 0;
	if (!first || (m->kind->flags & KIND_CUSTOM))
		return 0;
	return hook_internal_error(m->r, arena_fmt(m->r->arena, "strict decoding error: %s", first),
				   err);
}
