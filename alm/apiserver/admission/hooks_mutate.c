/* hooks_mutate: mutating policies and, behind them, webhooks, one after the other; see hooks.h. */
#include "alm/apiserver/admission/draft.h"
#include "alm/apiserver/admission/hooks_internal.h"
#include "alm/apiserver/admission/mutating_policies.h"
#include "alm/apiserver/core.h"
#include "alm/apiserver/waiting.h"
#include "alm/obj/patch/patch.h"

/* A write on its way through them. m->after is the draft: the object as they see it. */
struct pass {
	struct mutation *m;
	struct hook_list list;
	bool *invoked, *again; /* may be asked once more; will be */
	bool changed;
	const struct obj *seen; /* as the last of them left it; NULL: none was asked yet */
	struct policy_rounds policies;
};

/* --- patches --- */

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
	if (draft_take(m, c->asked, c->as, patched, err) < 0)
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

/* What somebody else made of the object since they were asked makes them be asked again. */
static void see_change(struct pass *p)
{
	bool same = p->seen && obj_equal(p->seen, p->m->after);
	for (size_t i = 0; p->seen && !same && i < p->list.n; i++)
		p->again[i] |= p->invoked[i];
}

static int ask_all(struct pass *p, struct error *err)
{
	for (int round = 0; round < 2; round++) {
		bool *again = ARENA_ARRAY(p->m->r->arena, bool, p->list.n + 1);
		if (mutating_policies_run(&p->policies, p->m, round, err) < 0)
			return -err->code;
		see_change(p);
		for (size_t i = 0; i < p->list.n; i++)
			again[i] = round == 0 || p->again[i];
		for (size_t i = 0; i < p->list.n; i++)
			if (again[i] && ask_one(p, i, round, err) < 0)
				return -err->code;
		p->seen = p->m->after;
	}
	return 0;
}

int hooks_mutate(struct mutation *m, bool *ret_changed, struct error *err)
{
	struct pass p = {.m = m};
	struct asked asked;
	struct obj *before = m->after;
	bool any = hooks_any(m->r, HOOKS_MUTATING);
	*ret_changed = false;
	if ((!any && !mutating_policies_any(m->r)) || !asked_write(&asked, m))
		return 0;
	if (any)
		hooks_list(m->r, HOOKS_MUTATING, &p.list);
	p.invoked = ARENA_ARRAY(m->r->arena, bool, p.list.n);
	p.again = ARENA_ARRAY(m->r->arena, bool, p.list.n);
	m->after = draft_of(m);
	int rc = ask_all(&p, err);
	*ret_changed = p.changed || p.policies.changed;
	if (*ret_changed)
		draft_complete(m, before);
	else
		m->after = before;
	return rc;
}
