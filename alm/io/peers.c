/* peers: see peers.h. */
#include "alm/io/peers.h"

#include <assert.h>

#include "alm/base/clock.h"
#include "alm/base/map.h"

#define REFILL_NS NS_PER_S

struct peers {
	struct map *by_address;
};

struct peers *peers_new(void)
{
	struct peers *p = xcalloc(1, sizeof(*p));
	p->by_address = map_new(xfree);
	return p;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	map_free(p->by_address);
	xfree(p);
}

/* Those that have paid; where that is not enough, all that have no connection. */
static void forget(struct peers *p, int64_t now_ns)
{
	for (int hard = 0; hard < 2 && map_count(p->by_address) >= PEERS_MAX; hard++) {
		for (struct map_entry *e = map_first(p->by_address), *next; e; e = next) {
			const struct peer *peer = e->value;
			next = map_next(e);
			if (peer->n_conns == 0 && (hard || peer->paid_at_ns <= now_ns))
				map_del(p->by_address, e->key);
		}
	}
}

struct peer *peers_enter(struct peers *p, const char *address, int64_t now_ns)
{
	struct peer *peer = map_get(p->by_address, address);
	if (!peer) {
		forget(p, now_ns);
		peer = xcalloc(1, sizeof(*peer));
		map_set(p->by_address, address, peer);
	}
	peer->n_conns++;
	peer->n_anonymous++;
	return peer;
}

void peer_authenticated(struct peer *peer)
{
	assert(peer->n_anonymous > 0);
	peer->n_anonymous--;
}

void peer_leave(struct peer *peer, bool anonymous)
{
	if (anonymous)
		peer_authenticated(peer);
	assert(peer->n_conns > 0);
	peer->n_conns--;
}

size_t peers_count(const struct peers *p)
{
	return map_count(p->by_address);
}

bool peer_may_fail(struct peer *peer, int64_t now_ns)
{
	int64_t from = peer->paid_at_ns > now_ns ? peer->paid_at_ns : now_ns;
	if (from - now_ns > (PEER_FAILURES - 1) * REFILL_NS)
		return false;
	peer->paid_at_ns = from + REFILL_NS;
	return true;
}
