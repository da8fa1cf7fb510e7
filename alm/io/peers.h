/*
 * peers: what is kept of an address that clients come from: how many of its connections have not
 * authenticated, and how often a login from it failed. Pure.
 *
 * An address is an IPv4 address or the /64 of an IPv6 one, as text. Failed logins are counted with
 * a bucket: PEER_FAILURES at once, then one a second. Who knows a right token is never asked for
 * the state of the bucket: others behind the same address cannot lock anybody out.
 */
#ifndef ALM_IO_PEERS_H
#define ALM_IO_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/mem.h"

#define PEER_FAILURES 20
#define PEERS_MAX     4096 /* beyond it, addresses without connections are forgotten */

struct peer {
	size_t n_conns, n_anonymous; /* of n_conns, those that have not authenticated */
	int64_t paid_at_ns;          /* when the bucket is full again */
};

struct peers;

struct peers *peers_new(void);
void peers_free(struct peers *p);
DEFINE_FREEP(peers)

/* A new connection, which has not authenticated. Borrowed until peer_leave(). */
struct peer *peers_enter(struct peers *p, const char *address, int64_t now_ns);
void peer_authenticated(struct peer *peer); /* one of its connections has, now */
void peer_leave(struct peer *peer, bool anonymous);
size_t peers_count(const struct peers *p);

/* One more failure: false if there were too many. */
bool peer_may_fail(struct peer *peer, int64_t now_ns);

#endif
