/*
 * server_internal: a server and its connections, for the files of the shell: server_event.c listens
 * and stops, server_conn.c is the life of a connection and reads requests, server_answer.c is what
 * handlers call, server_pool.c decides who stays when there are too many, server_end.c is the end of a
 * connection.
 *
 * A connection serves one exchange at a time, so pipelined requests are answered in order. What
 * follows an answer (the next request, the end of the connection) is done by the connection's task,
 * never inside the handler's call: the handler may touch the exchange's arena until it returns.
 */
#ifndef ALM_IO_SERVER_INTERNAL_H
#define ALM_IO_SERVER_INTERNAL_H

#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <openssl/ssl.h>

#include "alm/base/strbuf.h"
#include "alm/io/http_parse.h"
#include "alm/io/peers.h"
#include "alm/io/server.h"

enum conn_state {
	CONN_HEAD,     /* wants a request head */
	CONN_BODY,     /* wants the rest of a body */
	CONN_DRAIN,    /* answered; the rest of the body is thrown away */
	CONN_BUSY,     /* admit or the handler owns the exchange */
	CONN_PENALTY,  /* the answer to one failed login too many waits */
	CONN_ANSWERED, /* the task goes on, once the reader has taken enough */
	CONN_CLOSING,  /* the last bytes go out */
	CONN_LINGER,   /* what still comes in is thrown away, so that no reset eats the answer */
	CONN_GONE,     /* the task ends the connection */
};

struct conn {
	struct exchange exchange; /* first: the ops get it back */
	struct arena *spent;      /* of the exchange, until the task; or NULL */
	struct server *server;
	TAILQ_ENTRY(conn) link; /* of server.anonymous or server.known */
	struct bufferevent *bev;
	struct evbuffer_cb_entry *output_watch;
	enum conn_state state;
	bool keep_alive, is_1_0, is_head, streaming, eof, head_started;
	bool half_closed; /* the client sends no more */
	bool held;        /* what the client sends stays in its socket for now */
	bool served;      /* a request of it was answered */

	struct http_chunked chunked;
	uint64_t body_left; /* of a body with Content-Length */
	bool body_chunked, body_expected, body_read;
	int64_t body_began;
	size_t thrown_away; /* bytes, in DRAIN and LINGER */
	struct strbuf body;

	struct quota_user *user;  /* server.nobody until it has authenticated */
	size_t charged[N_QUOTAS]; /* for the exchange */
	size_t queued;            /* bytes of the output; in QUOTA_QUEUE_BYTES of user */

	struct timer timer;
	struct task task;
	uint64_t sent, sent_seen; /* bytes the peer took; to notice one that takes none */
	struct peer *peer;
	char peer_text[72]; /* "127.0.0.1:53122" */
};

TAILQ_HEAD(conn_list, conn);

struct server {
	struct loop *loop;
	server_handler handler;
	server_admit admit;
	void *arg;
	struct evconnlistener *listener;
	SSL_CTX *tls;
	char *cert_pem, *key_pem, *client_ca_pem; /* what it was made of */
	char address[80];
	char **hosts;
	size_t n_hosts;
	int64_t idle_ns, header_ns, body_ns;
	size_t body_max;

	struct conn_list anonymous; /* in order of arrival */
	struct conn_list known;     /* the longest idle first */
	size_t n_conns, n_anonymous, anonymous_max;
	struct quota *quota;
	struct quota_user *nobody;
	struct peers *peers;

	size_t n_accepted; /* in this turn */
	struct task accept_again;
	struct timer accept_later;

	struct timer grace;
	struct task stopped;
	bool stopping;
	char date[40];
	int64_t date_s;
};

/* server_conn.c */
/* Owns bev, and the entry of peer. */
void conn_new(struct server *s, struct bufferevent *bev, struct peer *peer, const char *peer_text);

/* server_end.c, below the others */
void conn_free(struct conn *c);
/* The client is gone. */
void conn_lost(struct conn *c);
/* Ends the connection from inside a call of a handler; tell: its on_close is called. */
void conn_doom(struct conn *c, bool tell);
void conn_wait_at_most(struct conn *c, int64_t ns);
void conn_settle_later(struct conn *c);
bool conn_is_anonymous(const struct conn *c);
/* It waits for a request and holds nothing. */
bool conn_is_idle(const struct conn *c);
/* What the exchange was charged is given back. */
void conn_discharge(struct conn *c, enum quota_what what);
/* The exchange is over: nothing of it is held any more. */
void conn_release_exchange(struct conn *c);

/* server_answer.c */
extern const struct exchange_ops server_exchange_ops;
/* A Status of the shell itself. */
void conn_refuse(struct conn *c, const struct error *err);

/* server_pool.c */
/* A place for a new one, of peer, that has not authenticated; false if there is none. */
bool pool_make_room(struct server *s, const struct peer *peer);
/* Ends the longest idle connection; false if none is idle. */
bool pool_drop_idle(struct server *s);
/* The connection is one of this client from now on. E_TOOMANY. */
int pool_identify(struct conn *c, const struct server_client *who, struct error *err);
/* More bytes are queued than may be: the readers that are most behind go. */
void pool_shed(struct conn *c);
/* Charges the exchange. When all is taken, who holds most loses what waits for him. */
enum quota_verdict pool_take(struct conn *c, enum quota_what what, size_t n);
/* The same, with an error: E_TOOMANY. */
int pool_charge(struct conn *c, enum quota_what what, size_t n, struct error *err);

#endif
