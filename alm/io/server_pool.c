/* server_pool: who stays when there are too many, connections or bytes. */
#include <assert.h>

#include "alm/io/server_internal.h"

static bool is_evictable(const struct conn *c)
{
	return c->state != CONN_BUSY && c->state != CONN_GONE;
}

/* Of those that came from peer (NULL: from anywhere): the oldest that has had an answer, else the
 * oldest. So a client that has just arrived is not driven out by those that sit. */
static struct conn *anonymous_victim(struct server *s, const struct peer *peer)
{
	struct conn *c, *oldest = NULL;
	TAILQ_FOREACH (c, &s->anonymous, link) {
		if (!is_evictable(c) || (peer && c->peer != peer))
			continue;
		if (c->served)
			return c;
		if (!oldest)
			oldest = c;
	}
	return oldest;
}

bool pool_make_room(struct server *s, const struct peer *peer)
{
	size_t max = s->anonymous_max, peer_max = max - max / 4;
	bool peer_full = peer->n_anonymous > peer_max;
	if (s->n_anonymous < max && !peer_full)
		return true;
	struct conn *victim = anonymous_victim(s, peer_full ? peer : NULL);
	if (victim)
		conn_free(victim);
	return victim != NULL;
}

bool pool_drop_idle(struct server *s)
{
	struct conn_list *const lists[] = {&s->anonymous, &s->known};
	struct conn *c;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		TAILQ_FOREACH (c, lists[i], link) {
			if (!conn_is_idle(c))
				continue;
			conn_free(c);
			return true;
		}
	}
	return false;
}

static struct conn *idle_of(struct server *s, const struct quota_user *u, enum quota_verdict full)
{
	struct conn *c;
	TAILQ_FOREACH (c, &s->known, link)
		if (conn_is_idle(c) &&
		    (full == QUOTA_USER_FULL ? c->user == u : c->user->is_admin == u->is_admin))
			return c;
	return NULL;
}

static int too_many(enum quota_what what, enum quota_verdict v, struct error *err)
{
	return error_set(err, E_TOOMANY, "too many %s %s, please try again later", quota_name(what),
			 v == QUOTA_USER_FULL ? "of this user" : "at a time");
}

/* What waits is thrown away at once: the end of the connection comes with its task. */
static void cut_reader(struct conn *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	bool owned = c->state == CONN_BUSY;
	if (owned && !c->exchange.on_close)
		conn_lost(c);
	else
		conn_doom(c, owned);
	evbuffer_unfreeze(out, 1);
	evbuffer_drain(out, SIZE_MAX);
	evbuffer_freeze(out, 1);
}

/* --- everything is taken --- */

/* For its client, not for us: to cut it loses no work. */
static bool waits(const struct conn *c)
{
	if (c->state == CONN_BUSY)
		return c->streaming && (c->charged[QUOTA_WATCHES] || c->queued);
	return c->state != CONN_PENALTY && c->state != CONN_GONE;
}

/* Of the ordinary user who holds most, and more than twice of what u would: a connection that waits
 * and holds some of it, the one most behind. NULL: the room is shared fairly, or in work. */
static struct conn *greedy_conn(struct server *s, const struct quota_user *u, enum quota_what what,
				size_t n)
{
	struct conn *c, *found = NULL;
	size_t fair = 2 * (u->held[what] + n);
	if (u == s->nobody)
		return NULL;
	TAILQ_FOREACH (c, &s->known, link) {
		size_t held = c->user->held[what];
		if (c->user == u || c->user->is_admin || held <= fair || !waits(c) ||
		    (what != QUOTA_CONNECTIONS && !c->charged[what]))
			continue;
		if (!found || held > found->user->held[what] ||
		    (c->user == found->user && c->queued > found->queued))
			found = c;
	}
	return found;
}

/* Of those that have not authenticated: whose body has been under way longest, and too long. */
static struct conn *stalled_conn(struct server *s, const struct conn *by, enum quota_what what)
{
	struct conn *c, *found = NULL;
	if (!conn_is_anonymous(by))
		return NULL;
	TAILQ_FOREACH (c, &s->anonymous, link)
		if (c != by && c->state == CONN_BODY && c->charged[what] &&
		    (!found || c->body_began < found->body_began))
			found = c;
	return found && loop_mono(s->loop) - found->body_began >= SERVER_BODY_GRACE_NS ? found
										       : NULL;
}

/* What it holds is free at once. */
static void take_away(struct conn *c)
{
	cut_reader(c);
	for (int i = 0; i < N_QUOTAS; i++)
		conn_discharge(c, (enum quota_what)i);
}

enum quota_verdict pool_take(struct conn *c, enum quota_what what, size_t n)
{
	struct server *s = c->server;
	for (;;) {
		enum quota_verdict v = quota_take(s->quota, c->user, what, n);
		struct conn *victim = NULL;
		if (v == QUOTA_ALL_FULL)
			victim = greedy_conn(s, c->user, what, n);
		if (v != QUOTA_OK && !victim)
			victim = stalled_conn(s, c, what);
		if (!victim) {
			c->charged[what] += v == QUOTA_OK ? n : 0;
			return v;
		}
		take_away(victim);
	}
}

static int take_place(struct server *s, struct quota_user *u, struct error *err)
{
	for (;;) {
		enum quota_verdict v = quota_take(s->quota, u, QUOTA_CONNECTIONS, 1);
		struct conn *victim = v == QUOTA_OK ? NULL : idle_of(s, u, v);
		if (v == QUOTA_OK)
			return 0;
		if (victim) {
			conn_free(victim);
			continue;
		}
		victim = v == QUOTA_ALL_FULL ? greedy_conn(s, u, QUOTA_CONNECTIONS, 1) : NULL;
		if (!victim)
			return too_many(QUOTA_CONNECTIONS, v, err);
		take_away(victim); /* its place is free when its task has run */
		quota_add(s->quota, u, QUOTA_CONNECTIONS, 1);
		return 0;
	}
}

int pool_identify(struct conn *c, const struct server_client *who, struct error *err)
{
	struct server *s = c->server;
	bool was_anonymous = conn_is_anonymous(c);
	if (!was_anonymous && quota_user_is(c->user, who->user, who->is_admin))
		return 0;
	struct quota_user *u = quota_user_ref(s->quota, who->user, who->is_admin);
	int r = take_place(s, u, err);
	if (r < 0) {
		quota_user_unref(s->quota, u);
		return r;
	}
	if (was_anonymous) {
		peer_authenticated(c->peer);
		s->n_anonymous--;
		TAILQ_REMOVE(&s->anonymous, c, link);
		TAILQ_INSERT_TAIL(&s->known, c, link);
	} else {
		quota_give(s->quota, c->user, QUOTA_CONNECTIONS, 1);
	}
	quota_give(s->quota, c->user, QUOTA_QUEUE_BYTES, c->queued);
	quota_add(s->quota, u, QUOTA_QUEUE_BYTES, c->queued);
	quota_user_unref(s->quota, c->user);
	c->user = u;
	return 0;
}

static void find_most_behind(struct conn_list *list, const struct quota_user *u,
			     enum quota_verdict full, struct conn **ret)
{
	struct conn *c;
	TAILQ_FOREACH (c, list, link) {
		bool counts =
			full == QUOTA_USER_FULL ? c->user == u : c->user->is_admin == u->is_admin;
		if (counts && c->queued > (*ret ? (*ret)->queued : 0))
			*ret = c;
	}
}

void pool_shed(struct conn *c)
{
	struct server *s = c->server;
	for (;;) {
		struct conn *victim = NULL;
		enum quota_verdict v = quota_check(s->quota, c->user, QUOTA_QUEUE_BYTES);
		if (v == QUOTA_OK)
			return;
		find_most_behind(&s->known, c->user, v, &victim);
		find_most_behind(&s->anonymous, c->user, v, &victim);
		assert(victim);
		cut_reader(victim);
	}
}

int pool_charge(struct conn *c, enum quota_what what, size_t n, struct error *err)
{
	enum quota_verdict v = pool_take(c, what, n);
	return v == QUOTA_OK ? 0 : too_many(what, v, err);
}
