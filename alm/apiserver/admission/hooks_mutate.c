/* hooks_mutate: mutating webhooks, one after the other; see hooks.h. */
#include "alm/apiserver/admission/hooks_internal.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/kinds/convert.h"
#include "alm/apiserver/kinds/scale.h"
#include "alm/apiserver/status.h"
#include "alm/apiserver/waiting.h"
#include "alm/obj/meta.h"
#include "alm/obj/patch/patch.h"

/* A write on its way through them. m->after is the draft: the object as they see it. */
struct pass {
	struct mutation *m;
	struct hook_list list;
	bool *invoked, *again; /* may be asked once more; will be */
	bool changed;
};

/* What a create gets from the server comes later there, as does what a PUT leaves out. */
static const char *const given_later[] = {"uid", "creationTimestamp", "generation"};

static bool has_generated_name(const struct mutation *m)
{
	return !m->head && m->r->fixed.name;
}

static struct obj *draft_of(const struct mutation *m)
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
static void complete(struct mutation *m, const struct obj *before)
{
	const struct obj *was = obj_get(before, "metadata");
	struct obj *meta = obj_get_mut(m->after, "metadata");
	if (obj_has(meta, "managedFields")) /* it may take them away */
		copy_member(meta, was, "managedFields");
	obj_del(meta, "resourceVersion");
	if (has_generated_name(m) && !obj_get(meta, "name"))
		copy_member(meta, was, "name");
}

/* --- patches --- */

/* What was shown in another form goes back into that of the request. */
static struct obj *back(const struct consult *c, const struct mutation *m, struct obj *patched,
			struct error *err)
{
	struct request *r = m->r;
	const struct admission *w = &c->asked->w;
	struct obj *o;
	if (cstr_eq(c->asked->body_kind, "Scale")) {
		o = obj_keep(r->arena, obj_copy(m->after));
		return scale_put(r, o, obj_i64(patched, "spec.replicas", 0), err) < 0 ? NULL : o;
	}
	if (cstr_eq(c->as->version, w->version))
		return patched;
	const struct kind *shown =
		kinds_find(r->server->kinds, w->group, c->as->version, w->resource);
	const struct obj *form = shown ? convert_between(shown, r->kind, patched, r->arena) : NULL;
	return form ? obj_keep(r->arena, obj_copy(form)) : patched;
}

/* What is unknown goes in silence: findings were told already, and the client did not write it. */
static int shape(struct mutation *m, struct error *err)
{
	struct error inner = ERROR_INIT;
	m->by_webhook = true;
	int rc = mutation_shape(m, &inner);
	m->by_webhook = false;
	return rc < 0 ? hook_internal_error(m->r, inner.msg, err) : 0;
}

static int apply_patch(struct pass *p, const struct consult *c, bool *ret_changed,
		       struct error *err)
{
	struct mutation *m = p->m;
	struct request *r = m->r;
	struct obj *patched = NULL;
	const struct obj *before = m->after;
	struct error inner = ERROR_INIT;
	if (patch_json(c->as->in.object, c->answer.patch, &patched, &inner) < 0)
		return hook_internal_error(r, inner.msg, err);
	obj_keep(r->arena, patched);
	if (obj_type(patched) != OBJ_MAP || obj_type(obj_get(patched, "metadata")) != OBJ_MAP)
		return hook_internal_error(r, "the patch leaves no object", err);
	struct obj *next = back(c, m, patched, err);
	if (!next)
		return -err->code;
	m->after = next;
	if (shape(m, err) < 0)
		return -err->code;
	*ret_changed = !obj_equal(before, m->after);
	return 0;
}

/* --- all of them --- */

static void note_mutation(const struct consult *c, bool changed)
{
	struct request *r = c->asked->r;
	const char *value =
		arena_fmt(r->arena, "{\"configuration\":\"%s\",\"webhook\":\"%s\",\"mutated\":%s}",
			  c->hook->configuration, c->hook->name, changed ? "true" : "false");
	request_annotate(r,
			 arena_fmt(r->arena, "mutation.webhook.admission.k8s.io/round_%d_index_%zu",
				   c->round, c->index),
			 str_of(value));
}

static int ask_one(struct pass *p, size_t i, int round, struct error *err)
{
	struct asked asked;
	bool changed = false;
	struct consult c = {.hook = p->list.items[i],
			    .asked = &asked,
			    .stage = HOOKS_MUTATING,
			    .round = round,
			    .index = i};
	asked_draft(&asked, p->m);
	int rc = hook_consult(&c, err);
	if (rc == CONSULT_OPEN)
		return waiting_for(p->m->r, err);
	if (rc != CONSULT_SAID)
		return rc;
	if (c.answer.patch && apply_patch(p, &c, &changed, err) < 0)
		return -err->code;
	note_mutation(&c, changed);
	/* Those before it have not seen what it did. */
	for (size_t k = 0; changed && k < p->list.n; k++)
		p->again[k] |= p->invoked[k];
	p->invoked[i] |= c.hook->reinvokes;
	p->changed |= changed;
	return 0;
}

static int ask_all(struct pass *p, struct error *err)
{
	for (int round = 0; round < 2; round++) {
		bool *again = ARENA_ARRAY(p->m->r->arena, bool, p->list.n + 1);
		for (size_t i = 0; i < p->list.n; i++)
			again[i] = round == 0 || p->again[i];
		for (size_t i = 0; i < p->list.n; i++)
			if (again[i] && ask_one(p, i, round, err) < 0)
				return -err->code;
	}
	return 0;
}

int hooks_mutate(struct mutation *m, bool *ret_changed, struct error *err)
{
	struct pass p = {.m = m};
	struct asked asked;
	struct obj *before = m->after;
	*ret_changed = false;
	if (!hooks_any(m->r, HOOKS_MUTATING) || !asked_write(&asked, m))
		return 0;
	hooks_list(m->r, HOOKS_MUTATING, &p.list);
	p.invoked = ARENA_ARRAY(m->r->arena, bool, p.list.n + 1);
	p.again = ARENA_ARRAY(m->r->arena, bool, p.list.n + 1);
	m->after = draft_of(m);
	int rc = ask_all(&p, err);
	if (p.changed)
		complete(m, before);
	else
		m->after = before;
	*ret_changed = p.changed;
	return rc;
}
