/*
 * transport: what every backend shares.
 */
#include "alm/io/transport.h"

struct call *transport_start(struct transport *t, const struct transport_request *r,
			     const struct transport_events *events, void *arg)
{
	return t->ops->start(t, r, events, arg);
}

void transport_cancel(struct transport *t, struct call *c)
{
	t->ops->cancel(t, c);
}

void transport_free(struct transport *t)
{
	if (t)
		t->ops->free(t);
}
