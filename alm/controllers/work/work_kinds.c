/* The kinds that the server has are read anew: somebody may have brought one since, whose definition nobody here
 * watches. The outcome is empty. */
#include "alm/controllers/work/works.h"

static void known(void *arg, const struct error *failed)
{
	struct work *w = arg;
	w->state[0] = false;
	work_put(w, failed, STR_NONE, NULL);
	work_done(w);
}

static void start(struct work *w)
{
	w->state[0] = true;
	discovery_refresh(w->discovery, known, w);
}

static void cancel(struct work *w)
{
	if (w->state[0])
		discovery_cancel(w->discovery, w);
}

const struct work_kind kinds_work = {.name = "kinds", .start = start, .cancel = cancel};
