/*
 * curl_request: what libcurl is told of a request: the connection with its TLS, proxy, password and
 * the addresses that it may go to, and the body. Private to transport_curl.c.
 */
#ifndef ALM_IO_CURL_REQUEST_H
#define ALM_IO_CURL_REQUEST_H

#include <sys/queue.h>

#include "alm/io/curl_lane.h"
#include "alm/io/transport.h"

struct call {
	TAILQ_ENTRY(call) link;
	struct remote *remote;
	struct curl_lane *lane;
	struct transport_events events;
	void *arg;
	struct arena *arena; /* the request's and the answer's texts */
	CURL *easy;
	struct curl_slist *headers, *connect_to;
	struct http_headers reply_headers;
	int64_t idle_ns;
	size_t body_max, body_bytes;
	struct timer idle;
	struct error failed; /* why we ended it ourselves */
	char message[CURL_ERROR_SIZE];
	bool added, head_sent, cancelled;
	bool connecting, refused; /* addresses: one was allowed, one was not */
};

enum { LANE_CALLS, LANE_STREAMS, LANES };

struct remote {
	struct transport transport;
	const struct curl_lib *curl;
	struct loop *loop;
	struct curl_lane lanes[LANES];
	struct task pump;
	struct arena *arena; /* texts of the configuration */
	struct transport_config config;
	char *base_url, *connect_to; /* connect_to: NULL, or "NAME:PORT:HOST:PORT" */
	char *host;                  /* without brackets */
	unsigned port;
	bool is_plain; /* http: no credentials go out */
	bool nameless; /* a handshake failed for want of a subjectAltName */
	char *token;   /* wiped when it is replaced */
	int64_t token_read_ns;
	char *ca_pem; /* of ca_file, since that was read again; config.ca_pem points to it then */
	int64_t ca_read_ns;
	TAILQ_HEAD(, call) calls;
};

/* What is refused here stands in c->failed. */
void curl_request_connection(struct call *c);
void curl_request_body(struct call *c, const struct transport_request *r);

#endif
