/*
 * http: the plain data of a request and of an answer, shared by server.h (in) and transport.h
 * (out).
 */
#ifndef ALM_IO_HTTP_H
#define ALM_IO_HTTP_H

#include "alm/base/arena.h"
#include "alm/base/str.h"
#include "alm/base/url_escape.h"

#define HTTP_HEADERS_MAX      64
#define HTTP_HEADER_BYTES_MAX 32768
#define HTTP_BODY_BYTES_MAX   ((size_t)3 << 20)

struct http_header {
	const char *name, *value;
};

struct http_headers {
	struct http_header items[HTTP_HEADERS_MAX];
	size_t n;
};

/* First value of the name (case-insensitive), or NULL. */
const char *http_header(const struct http_headers *h, const char *name);
/* Borrows both strings. False if the table is full. */
bool http_header_add(struct http_headers *h, const char *name, const char *value);

struct http_request {
	const char *method; /* "GET" */
	const char *path;   /* undecoded, without query: "/api/v1/namespaces" */
	const char *query;  /* undecoded, without '?'; "" if none */
	struct http_headers headers;
	struct str body;
	const char *peer; /* "127.0.0.1:53122"; "" outgoing */
	/* Whom the certificate of the connection names, verified (server_config.client_ca_pem), or
	 * NULL. */
	const char *client_name;
	/* Set by the process's own executor only, never from the wire (audit.md 7). */
	const char *trusted_audit_id;
};

/* Query parameters. The value is decoded into a; NULL if the name is absent. First one wins. */
const char *http_query(const char *query, const char *name, struct arena *a);

#endif
