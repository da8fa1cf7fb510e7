/* A catalog's source is read; a new revision that catalog_judge() takes is in the log before it is
 * used. The outcome is what the Catalog's status says. */
#include <string.h>

#include "alm/base/log.h"
#include "alm/controllers/work/catalog_judge.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"

/* The observation that every later decision of its apps goes back to. */
static int append_changed(struct work *w, const struct catalog_index *old,
			  const struct catalog_index *new, struct error *err)
{
	const struct action *a = w->action;
	const struct audit_row row = {
		.type = "Observe",
		.reason = "CatalogChanged",
		.subject = {.kind = "Catalog", .name = a->key, .uid = meta_uid(a->subject)},
		.body = obj_keep(w->a, catalog_change(a->key, old, new))};
	return work_append(w, &row, new->revision, arena_fmt(w->a, "catalog:%s", a->key), err);
}

static void put_failed(struct work *w, const char *bad_digest, const struct error *err)
{
	const struct action *a = w->action;
	const struct error failed = work_hide(w, err);
	const struct outcome *last = stash_get(w->stash, a->id);
	if (!last || !cstr_eq(last->msg, failed.msg)) /* reported once, not at every poll */
		log_warn("catalog not read", "catalog", a->key, "error", failed.msg);
	work_put(w, &failed, STR_NONE, catalog_refused(bad_digest));
}

static void synced(void *arg, struct catalog_index *index, const char *bad_digest,
		   const struct error *err)
{
	struct work *w = arg;
	const struct action *a = w->action;
	const struct work_host *h = w->host;
	CLEANUP(index_freep) struct catalog_index *new = index;
	const struct catalog_index *old = h->index(h->arg, a->key);
	struct error failed = err ? *err : ERROR_INIT;
	const char *bad = bad_digest;
	if (!err && catalog_judge(old, new, a->body, loop_now(w->loop), &bad, &failed) == 0 && new)
		append_changed(w, old, new, &failed);
	if (failed.code) {
		put_failed(w, bad, &failed);
	} else {
		work_put(w, NULL, STR_NONE, catalog_outcome(new ? new : old));
		if (new)
			h->swap_index(h->arg, a->key, STEAL(new));
	}
	work_done(w);
}

static void start(struct work *w)
{
	const struct work_host *h = w->host;
	h->sync(h->arg, w->action->key, w->action->body, synced, w);
}

const struct work_kind sync_work = {.name = "sync", .start = start};
