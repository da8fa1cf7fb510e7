/*
 * server: HTTP/1.1 in. The shell parses, bounds and queues; the handler decides.
 *
 * The handler gets an exchange that it owns until it has answered: exchange_reply() once, at once
 * or later (a write answers after its commit), or exchange_begin(), any number of exchange_write()
 * and exchange_end() for a stream (a watch, a long list). The request's memory lives as long as the
 * exchange. When the client goes away first, on_close is called once and the exchange is dead
 * afterwards; after reply or end it is never called.
 *
 * Who asks is decided at the head: admit authenticates, or answers by itself (a refusal, a page for
 * everybody). Of a request that it answers no body is kept: up to SERVER_DRAIN_BYTES of it are
 * thrown away, then the connection ends. Body bytes are never handed to the handler before they are
 * complete.
 *
 * Limits (reliability.md 10). What users may hold together stands in quota.h. Besides:
 * header 32 KiB, body 3 MiB or body_max (413), one Host, which must be a known name (hosts.h, 403),
 * Content-Length with Transfer-Encoding is 400; handshake and head 20 s, body 60 s or body_ns, idle or
 * nothing taken 120 s. Pipelined requests are served in order, the next one when at most SERVER_QUEUE_LOW
 * bytes of the last answers wait. A turn of the loop serves at most two requests of a connection
 * and takes SERVER_ACCEPTS new ones.
 *
 * Connections that have not authenticated have a pool of their own, in which an address may have
 * three quarters of the places. A new client always gets a place: of the oldest idle one, else of
 * the oldest one that has no request in work. Once authenticated, a connection is one of its user.
 * When a user, or all users, have as many as they may, the oldest idle one of them ends; only when
 * none is idle the new one is answered 429.
 *
 * Requests of those that have not authenticated share what one user may hold. When that is taken, the
 * body that has been under way longest, for SERVER_BODY_GRACE_NS at least, loses its connection to the
 * new request: who sends slowly keeps nobody out. Younger ones stay, and the new one is answered 429.
 *
 * A 401 to a client that sent a token is a failed login of its address (peers.h); those that are
 * too many are answered 429 after SERVER_PENALTY_NS. A right token is never refused for them.
 *
 * Every answer has X-Content-Type-Options: nosniff. There is no Strict-Transport-Security, as with
 * kube-apiserver: browsers would apply it to every port of localhost.
 */
#ifndef ALM_IO_SERVER_H
#define ALM_IO_SERVER_H

#include "alm/base/clock.h"
#include "alm/io/http.h"
#include "alm/io/loop.h"
#include "alm/io/quota.h"

#define SERVER_ANONYMOUS_MAX 256 /* connections that have not authenticated */
#define SERVER_ACCEPTS       16  /* new connections a turn */
#define SERVER_DRAIN_BYTES   ((size_t)64 << 10)
#define SERVER_QUEUE_HIGH    ((size_t)64 << 10) /* a stream of ready data stops to write here */
#define SERVER_QUEUE_LOW     ((size_t)16 << 10) /* and goes on here */
#define SERVER_PENALTY_NS    NS_PER_S
#define SERVER_BODY_GRACE_NS (NS_PER_S / 10) /* of megabytes in a cluster's network */

struct exchange;

struct exchange_ops {
	void (*reply)(struct exchange *x, int status, const struct http_headers *h,
		      struct str body);
	void (*begin)(struct exchange *x, int status, const struct http_headers *h);
	/* Copies or sends; returns bytes still queued for this client. */
	size_t (*write)(struct exchange *x, struct str chunk);
	void (*end)(struct exchange *x);
	void (*cut)(struct exchange *x); /* closes the connection without a clean end */
	/* NULL: there is room for everything. */
	enum quota_verdict (*charge)(struct exchange *x, enum quota_what what, size_t n);
	void (*discharge)(struct exchange *x, enum quota_what what); /* with charge */
	void (*keep)(struct exchange *x, struct arena *a); /* NULL: the memory stays as it is */
};

struct exchange {
	const struct exchange_ops *ops;
	struct http_request *request; /* of the arena */
	struct arena *arena; /* lives as long as the exchange; handlers may allocate from it */
	void *admitted;      /* of the handler: what admit found out, or NULL */
	void (*on_close)(void *arg);
	void *on_close_arg;
	/* Called between begin and end when what is queued has fallen to SERVER_QUEUE_LOW, for a
	 * stream that writes as its reader takes; such a one has an on_close, too. */
	void (*on_writable)(void *arg);
	void *on_writable_arg;
};

/* Bytes are copied; Content-Length is added by the shell. */
void exchange_reply(struct exchange *x, int status, const struct http_headers *h, struct str body);
void exchange_begin(struct exchange *x, int status, const struct http_headers *h);
size_t exchange_write(struct exchange *x, struct str chunk);
void exchange_end(struct exchange *x);
void exchange_cut(struct exchange *x);
/* Charges n to the user of the exchange until that is over; before the answer begins. Not QUOTA_OK:
 * nothing is charged, the answer is E_TOOMANY. WATCHES takes the place in REQUESTS back. */
enum quota_verdict exchange_charge(struct exchange *x, enum quota_what what, size_t n);
/* Gives back, before the exchange is over, all that was charged of this. */
void exchange_discharge(struct exchange *x, enum quota_what what);
/* Of a stream that may be silent for hours: a, which is given away, takes the place of the arena, and what stood there goes at the end
 * of the turn; x->request is NULL then. Where exchange_keeps() is false that is not done, and not to be called. */
bool exchange_keeps(const struct exchange *x);
void exchange_keep(struct exchange *x, struct arena *a);

typedef void (*server_handler)(void *arg, struct exchange *x);

/* Who asks, texts of the exchange's arena. */
struct server_client {
	const char *user; /* NULL: nobody; budgets are those of all nobodies together */
	bool is_admin;    /* has the reserved share */
};

/* Of a complete head, without body: false if it answers by itself, with exchange_reply(). */
typedef bool (*server_admit)(void *arg, struct exchange *x, struct server_client *ret);

struct server_config {
	const char *listen;             /* "127.0.0.1:6443", port 0 picks a free one, "[::1]:0" */
	const char *cert_pem, *key_pem; /* texts; both NULL: plain HTTP (metrics) */
	/* Whose clients are known by a certificate (http_request.client_name). NULL: nobody's. */
	const char *client_ca_pem;
	server_admit admit;       /* NULL: everything goes to the handler */
	const char *const *hosts; /* further names that may stand in Host; borrowed */
	size_t n_hosts;
	size_t anonymous_max;                /* 0: SERVER_ANONYMOUS_MAX */
	size_t body_max;                     /* 0: HTTP_BODY_BYTES_MAX */
	const struct quota_limit *limits;    /* borrowed; NULL: those of quota.h */
	int64_t idle_ns, header_ns, body_ns; /* 0: 120 s, 20 s, 60 s */
};

struct server;

/* E_EXISTS "127.0.0.1:6443 is already in use; ..." when the port is taken. */
int server_listen(struct loop *l, const struct server_config *c, server_handler handler, void *arg,
		  struct server **ret, struct error *err);
/* Whether server_listen() would get the address now: takes it and lets it go. */
int server_probe(struct loop *l, const char *listen, struct error *err);
/* For connections that come from now on; those that are open keep their certificate. */
int server_renew(struct server *s, const char *cert_pem, const char *key_pem, struct error *err);
/* Likewise another client_ca_pem, or NULL. */
int server_renew_clients(struct server *s, const char *client_ca_pem, struct error *err);
const char *server_address(const struct server *s); /* "127.0.0.1:41873" */
/* Stops accepting, ends idle connections; open exchanges finish or are cut after grace_ns. A second
 * call cuts them at once. */
void server_stop(struct server *s, int64_t grace_ns, void (*done)(void *arg), void *arg);
void server_free(struct server *s);
DEFINE_FREEP(server)

#endif
