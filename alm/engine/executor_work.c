/* Work of a plan: started, bounded, cancelled (work.h). What it is, only its kind knows. */
#include <assert.h>

#include "alm/base/map.h"
#include "alm/engine/executor_run.h"

static size_t *count_of(struct executor *x, const struct work_kind *kind)
{
	size_t i = 0;
	while (x->bounded[i].kind && x->bounded[i].kind != kind)
		i++;
	assert(i < ARRAY_LEN(x->bounded));
	x->bounded[i].kind = kind;
	return &x->bounded[i].n;
}

size_t executor_room(const struct executor *x, const struct work_kind *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(x->bounded); i++)
		if (x->bounded[i].kind == kind)
			return kind->at_once - x->bounded[i].n;
	return kind->at_once;
}

bool work_has_room(const struct executor *x, const struct action *a)
{
	for (;; a = a->next) {
		if (a->work->at_once && !executor_room(x, a->work))
			return false;
		if (!a->work->is_for_next || !a->next || a->next->type != ACT_WORK)
			return true;
	}
}

void work_start(struct executor_run *r, struct action *a)
{
	struct step_call *c = call_new(r, a);
	const struct executor_config *config = &r->x->c;
	c->work = xcalloc(1, sizeof(*c->work));
	*c->work = (struct work){.action = a,
				 .a = r->a,
				 .client = config->client,
				 .discovery = config->discovery,
				 .loop = config->loop,
				 .stash = config->stash,
				 .host = config->work_host,
				 .of = c};
	if (a->work->at_once)
		(*count_of(r->x, a->work))++;
	a->work->start(c->work);
}

void work_free(struct step_call *c)
{
	struct work *w = STEAL(c->work);
	if (!w)
		return;
	const struct work_kind *kind = w->action->work;
	if (kind->at_once)
		(*count_of(c->run->x, kind))--;
	if (w->call)
		client_cancel(w->client, w->call);
	if (kind->cancel)
		kind->cancel(w);
	obj_unref(w->found);
	xfree(w);
}

/* --- what a kind may ask for --- */

void work_put(struct work *w, const struct error *err, struct str bytes, struct obj *value)
{
	run_put(w->of->run, w->action->id, err, bytes, value);
}

void work_changed(struct work *w)
{
	w->of->run->changed = true;
}

void work_done(struct work *w)
{
	call_done(w->of);
}

void work_fail(struct work *w, const struct error *err)
{
	struct step_call *c = w->of;
	run_fail(c->run, err);
	call_done(c);
}

struct action *work_next(struct work *w)
{
	return w->of->run->next;
}

void work_stop(struct work *w)
{
	w->of->run->next = NULL;
}

struct error work_hide(struct work *w, const struct error *err)
{
	return run_hide(w->of->run, err);
}

const char *work_hide_text(struct work *w, const char *text)
{
	return run_hide_text(w->of->run, text);
}

int work_append(struct work *w, const struct audit_row *row, const char *key, const char *chain,
		struct error *err)
{
	struct executor *x = w->of->run->x;
	int64_t seq;
	const char *last;
	if (chain_key(x->chain, row->type, &row->subject, &last, err) < 0)
		return -err->code;
	if (cstr_eq(last, key))
		return 0;
	record_flush(x);
	if (audit_append_now(x->c.audit, row, &seq, err) < 0)
		return -err->code;
	chain_set_key(x->chain, row->type, &row->subject, key);
	chain_advance(x->chain, chain, seq);
	return 0;
}
