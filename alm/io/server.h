/*
 * server: HTTP/1.1 in. The shell parses, bounds and queues; the handler decides.
 *
 * The handler gets an exchange that it owns until it has answered: exchange_reply() once, at once
 * or later (a write answers after its commit), or exchange_begin(), any number of exchange_write()
 * and exchange_end() for a stream (a watch). The request's memory lives as long as the exchange.
 * When the client goes away first, on_close is called once and the exchange is dead afterwards;
 * after reply or end it is never called.
 *
 * Limits (specs/reliability.md 10): header 32 KiB, body 3 MiB (413), one Host, Content-Length with
 * Transfer-Encoding is 400, idle and header timeouts, connections; pipelined requests are served in
 * order. Body bytes are never handed to the handler before they are complete.
 */
#ifndef ALM_IO_SERVER_H
#define ALM_IO_SERVER_H

#include "alm/io/http.h"
#include "alm/io/loop.h"

struct exchange;

struct exchange_ops {
	void (*reply)(struct exchange *x, int status, const struct http_headers *h,
		      struct str body);
	void (*begin)(struct exchange *x, int status, const struct http_headers *h);
	/* Copies or sends; returns bytes still queued for this client. */
	size_t (*write)(struct exchange *x, struct str chunk);
	void (*end)(struct exchange *x);
	void (*cut)(struct exchange *x); /* closes the connection without a clean end */
};

struct exchange {
	const struct exchange_ops *ops;
	struct http_request request;
	struct arena *arena; /* lives as long as the exchange; handlers may allocate from it */
	void (*on_close)(void *arg);
	void *on_close_arg;
};

/* Bytes are copied; Content-Length is added by the shell. */
void exchange_reply(struct exchange *x, int status, const struct http_headers *h, struct str body);
void exchange_begin(struct exchange *x, int status, const struct http_headers *h);
size_t exchange_write(struct exchange *x, struct str chunk);
void exchange_end(struct exchange *x);
void exchange_cut(struct exchange *x);

typedef void (*server_handler)(void *arg, struct exchange *x);

struct server_config {
	const char *listen;             /* "127.0.0.1:6443", port 0 picks a free one, "[::1]:0" */
	const char *cert_pem, *key_pem; /* texts; both NULL: plain HTTP (metrics) */
	const char *client_ca_pem;      /* optional: verifies client certificates */
	size_t connections_max;         /* 0: 1,024 */
	int64_t idle_ns, header_ns;     /* 0: 120 s, 20 s */
};

struct server;

/* E_EXISTS "127.0.0.1:6443 is already in use; ..." when the port is taken. */
int server_listen(struct loop *l, const struct server_config *c, server_handler handler, void *arg,
		  struct server **ret, struct error *err);
const char *server_address(const struct server *s); /* "127.0.0.1:41873" */
/* Stops accepting, ends idle connections; open exchanges finish or are cut after grace_ns. A second
 * call cuts them at once. */
void server_stop(struct server *s, int64_t grace_ns, void (*done)(void *arg), void *arg);
void server_free(struct server *s);
DEFINE_FREEP(server)

#endif
