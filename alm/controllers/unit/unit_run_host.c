/* unit_run_host: what the walker asks of a unit that this process was told to run (struct unit_host). */
#include "alm/controllers/unit/hook_run.h"
#include "alm/controllers/unit/unit_pass.h"
#include "crds/marks.h"

static struct obj *run_decorate(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	return unit_decorate(s, e->object, e->digest, row);
}

static bool run_owns(const struct unit_pass *s, const struct obj *live)
{
	return unit_owns(s->unit, live) || unit_has_lost_mark(s->unit, live);
}

/* A Job does not run again for a unit that was through with all of its steps once, nor on the way
 * back to one. */
static bool run_has_run_jobs(const struct unit_pass *s)
{
	return s->back || (cstr_eq(s->current.digest, s->unit->digest) &&
			   cstr_eq(s->succeeded.digest, s->unit->digest));
}

/* Definitions are never put back: what they have taken since would be lost (lifecycle.md 7.4). */
static bool run_is_left(const struct unit_pass *s, const struct unit_entry *e)
{
	return s->back && e->live && cstr_eq(e->kind, "CustomResourceDefinition");
}

/* unit_judge() has. */
static const char *run_refuses(const struct unit_pass *s, const struct unit_entry *e, size_t row)
{
	(void)s;
	(void)e;
	(void)row;
	return NULL;
}

static void run_own_jobs(const struct unit_pass *s, struct hook_run *h)
{
	struct obj *owner = obj_keep(s->v->a, obj_map());
	obj_set_path(owner, "metadata.uid", obj_string(s->unit->owner_id));
	h->app = s->unit->bundle;
	h->label = LABEL_BUNDLE;
	h->owner = owner;
	h->unowned = true;
}

const struct unit_host unit_run_host = {.owns = run_owns,
					.decorate = run_decorate,
					.is_left = run_is_left,
					.refuses = run_refuses,
					.has_run_jobs = run_has_run_jobs,
					.own_jobs = run_own_jobs};
