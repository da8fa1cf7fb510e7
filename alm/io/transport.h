/*
 * transport: HTTP out. One transport is one server with its credentials and its connection pool.
 *
 * transport_start() never calls back before it returned. The order of callbacks is head, data*,
 * done; done is called exactly once, with NULL after a complete answer or with an error (E_IO for a
 * lost connection, E_TIMEOUT, E_LIMIT for a body over body_max), unless the call was cancelled. An
 * HTTP status of 400 and more is no error here.
 */
#ifndef ALM_IO_TRANSPORT_H
#define ALM_IO_TRANSPORT_H

#include "alm/io/address.h"
#include "alm/io/http.h"
#include "alm/io/loop.h"
#include "alm/io/server.h"

struct transport;
struct call;

struct transport_request {
	const char *method;
	const char *target; /* path and query, already encoded */
	struct http_headers headers;
	struct str body;
	int64_t timeout_ns; /* of the whole answer; 0: none (a watch) */
	int64_t idle_ns;    /* without a byte; 0: none */
	size_t body_max;    /* 0: unlimited, for streams that consume as they go */
	/* Names the audit row of this request; believed only by the server of the same process. */
	const char *trusted_audit_id;
};

struct transport_events {
	void (*head)(void *arg, int status, const struct http_headers *h); /* optional */
	void (*data)(void *arg, struct str chunk);
	void (*done)(void *arg, const struct error *err);
};

struct transport_ops {
	struct call *(*start)(struct transport *t, const struct transport_request *r,
			      const struct transport_events *events, void *arg);
	void (*cancel)(struct transport *t, struct call *c);
	void (*free)(struct transport *t);
};

/* First member of a backend's struct. */
struct transport {
	const struct transport_ops *ops;
};

/* Everything the request points to is copied. */
struct call *transport_start(struct transport *t, const struct transport_request *r,
			     const struct transport_events *events, void *arg);
void transport_cancel(struct transport *t, struct call *c); /* no callback follows */
void transport_free(struct transport *t);
DEFINE_FREEP(transport)

struct transport_config {
	/* https://127.0.0.1:6443, optionally with a path. http:// is taken without credentials only
	 * (E_FORBIDDEN): `kubectl proxy`, a metrics or alert endpoint. */
	const char *base_url;
	const char *ca_pem, *cert_pem, *key_pem; /* texts, optional */
	/* Where ca_pem is from, NULL: nowhere. It is read again, once a second at the most, when a
	 * certificate is not believed: the CA of a server that has another one since. */
	const char *ca_file;
	const char *token, *token_file; /* token_file wins, read again each minute and on 401 */
	const char *username, *password;
	const char *tls_server_name, *proxy_url;
	bool insecure_skip_tls_verify;
	const char *user_agent; /* "alm/0.1" */
	/* For requests that are made for others; NULL: none. An address that it refuses is
	 * E_NOTALLOWED, and of a server that cannot be reached no more is told than that: who reads
	 * the message shall not scan a network with it. Borrowed. */
	const struct address_policy *addresses;
};

/* The real one, on libcurl multi. */
int transport_curl_new(struct loop *l, const struct transport_config *c, struct transport **ret,
		       struct error *err);
/* Of one made by transport_curl_new(): the token of its requests from here on. Copied. */
void transport_curl_renew(struct transport *t, const char *token);
/* Another one with a limit on the rate of its requests: burst at once, then qps a second, in order;
 * a watch is one request. inner is owned from here on. qps > 0, burst from 1 to TRANSPORT_BURST_MAX.
 */
#define TRANSPORT_BURST_MAX 10000
struct transport *transport_limited_new(struct loop *l, struct transport *inner, double qps,
					int64_t burst);
/* The server of this very process, without a socket: calls the handler in the next turn. */
struct transport *transport_local_new(struct loop *l, server_handler handler, void *arg,
				      const char *token);

#endif
