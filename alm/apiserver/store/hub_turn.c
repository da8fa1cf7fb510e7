/* hub_turn: a thousand watchers of one change are not told in one turn of the loop; see hub_internal.h. */
#include "alm/apiserver/store/hub_internal.h"

#include "alm/apiserver/core.h"

/* Far below HUB_TURN_BYTES nobody has to know when a turn ends, and few turns need a task for it. */
#define SMALL_TURN_BYTES (HUB_TURN_BYTES / 8)

static void post(struct hub *h)
{
	loop_post(h->server->loop, &h->turn);
}

void hub_turn_begin(struct hub *h)
{
	h->spent = 0;
}

struct watcher *hub_turn_next(struct hub *h)
{
	struct watcher *w = hub_is_spent(h) ? NULL : TAILQ_FIRST(&h->late);
	if (w)
		hub_wait_no_more(w);
	else if (!TAILQ_EMPTY(&h->late))
		post(h);
	return w;
}

void hub_spend(struct hub *h, size_t bytes)
{
	h->spent += bytes;
	if (h->spent >= SMALL_TURN_BYTES)
		post(h);
}

bool hub_is_spent(const struct hub *h)
{
	return h->spent >= HUB_TURN_BYTES;
}

void hub_wait(struct watcher *w)
{
	if (w->waits)
		return;
	w->waits = true;
	TAILQ_INSERT_TAIL(&w->hub->late, w, link);
	post(w->hub);
}

void hub_wait_no_more(struct watcher *w)
{
	if (w->waits)
		TAILQ_REMOVE(&w->hub->late, w, link);
	w->waits = false;
}
