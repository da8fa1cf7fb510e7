/* server_end: how a connection ends, and gives back what it held; what every file of the shell may call.
 */
#include "alm/io/loop_event.h"
#include "alm/io/server_internal.h"

#define BODY_KEEP_BYTES_MAX ((size_t)16 << 10)

void conn_wait_at_most(struct conn *c, int64_t ns)
{
	loop_arm(c->server->loop, &c->timer, ns);
}

void conn_settle_later(struct conn *c)
{
	loop_post(c->server->loop, &c->task);
}

bool conn_is_anonymous(const struct conn *c)
{
	return c->user == c->server->nobody;
}

bool conn_is_idle(const struct conn *c)
{
	return c->state == CONN_HEAD && !c->head_started && c->queued == 0;
}

void conn_discharge(struct conn *c, enum quota_what what)
{
	quota_give(c->server->quota, c->user, what, c->charged[what]);
	c->charged[what] = 0;
}

void conn_release_exchange(struct conn *c)
{
	arena_free(STEAL(c->spent));
	arena_free(c->exchange.arena);
	c->exchange = (struct exchange){.ops = c->exchange.ops};
	if (c->body.cap > BODY_KEEP_BYTES_MAX)
		strbuf_release(&c->body);
	strbuf_clear(&c->body);
	for (int i = 0; i < N_QUOTAS; i++)
		if (c->charged[i])
			conn_discharge(c, (enum quota_what)i);
}

static void leave_pool(struct conn *c)
{
	struct server *s = c->server;
	bool anonymous = conn_is_anonymous(c);
	TAILQ_REMOVE(anonymous ? &s->anonymous : &s->known, c, link);
	s->n_anonymous -= anonymous;
	s->n_conns--;
	if (!anonymous)
		quota_give(s->quota, c->user, QUOTA_CONNECTIONS, 1);
	quota_give(s->quota, c->user, QUOTA_QUEUE_BYTES, c->queued);
	c->queued = 0;
	quota_user_unref(s->quota, c->user);
	peer_leave(c->peer, anonymous);
}

void conn_free(struct conn *c)
{
	struct server *s = c->server;
	bool owned_by_handler = c->state == CONN_BUSY;
	c->state = CONN_GONE;
	if (owned_by_handler && c->exchange.on_close)
		c->exchange.on_close(c->exchange.on_close_arg);
	conn_release_exchange(c);
	strbuf_release(&c->body);
	loop_disarm(s->loop, &c->timer);
	loop_unpost(s->loop, &c->task);
	leave_pool(c);
	evbuffer_remove_cb_entry(bufferevent_get_output(c->bev), c->output_watch);
	bufferevent_free(c->bev);
	loop_slice(s->loop); /* what libevent frees later takes longer than what was done here */
	xfree(c);
	if (s->stopping && s->n_conns == 0 && s->stopped.fn)
		loop_post(s->loop, &s->stopped);
}

/* A handler that did not ask to be told answers later into the void. */
void conn_lost(struct conn *c)
{
	if (c->state != CONN_BUSY || c->exchange.on_close) {
		conn_free(c);
		return;
	}
	c->eof = true;
	c->keep_alive = false;
	loop_disarm(c->server->loop, &c->timer);
	bufferevent_disable(c->bev, EV_READ | EV_WRITE);
}

void conn_doom(struct conn *c, bool tell)
{
	if (!tell)
		c->exchange.on_close = NULL;
	/* BUSY is kept when the handler must still hear of it. */
	c->state = tell ? CONN_BUSY : CONN_GONE;
	c->exchange.on_writable = NULL;
	c->eof = true;
	c->keep_alive = false;
	bufferevent_disable(c->bev, EV_READ | EV_WRITE);
	conn_settle_later(c);
}
