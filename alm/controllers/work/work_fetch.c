/* An archive is read and checked: the outcome is its bytes. */
#include "alm/controllers/work/works.h"

static void fetched(void *arg, struct str bytes, const struct error *err)
{
	struct work *w = arg;
	struct str own = err ? STR_NONE : str_n(xmemdup(bytes.ptr, bytes.len), bytes.len);
	work_put(w, err, own, NULL);
	work_done(w);
}

static void start(struct work *w)
{
	const struct work_host *h = w->host;
	h->fetch(h->arg, w->action->key, fetched, w);
}

const struct work_kind fetch_work = {.name = "fetch", .start = start, .is_for_next = true};
