/* eventttl: see eventttl.h. */
#include "alm/apiserver/loops/eventttl.h"

#include "alm/apiserver/loops/engine.h"

static const struct engine expirer = {.user = "system:apiserver", .manager = "kube-apiserver"};

struct event_ttl {
	struct apiserver *server;
	struct store_table *events;
	struct timer timer;
};

static void due(void *arg)
{
	struct event_ttl *e = arg;
	int64_t now = loop_mono(e->server->loop);
	int left = ENGINE_BATCH;
	size_t i = 0;
	while (i < e->events->n_heads && left) {
		struct error err = ERROR_INIT;
		struct head *h = e->events->heads[i];
		if (now - h->seen_ns < EVENT_TTL_NS) {
			i++;
			continue;
		}
		left--;
		if (engine_delete(e->server, &expirer, h, PROPAGATE_BACKGROUND, &err) < 0 ||
		    (i < e->events->n_heads && e->events->heads[i] == h))
			i++;
	}
	if (e->events->n_heads)
		loop_arm(e->server->loop, &e->timer, left ? NS_PER_MIN : 10 * NS_PER_MS);
}

static void changed(void *arg, const struct change *c)
{
	struct event_ttl *e = arg;
	if (c->resource == e->events && !heap_holds(&e->timer.node))
		loop_arm(e->server->loop, &e->timer, NS_PER_MIN);
}

struct event_ttl *event_ttl_new(struct apiserver *s)
{
	struct event_ttl *e = xcalloc(1, sizeof(*e));
	e->server = s;
	e->events = store_resource(s->store, "", "events");
	e->timer.fn = due;
	e->timer.arg = e;
	store_on_change(s->store, changed, e);
	if (e->events->n_heads)
		loop_arm(s->loop, &e->timer, NS_PER_MIN);
	return e;
}

void event_ttl_free(struct event_ttl *e)
{
	if (!e)
		return;
	loop_disarm(e->server->loop, &e->timer);
	xfree(e);
}
