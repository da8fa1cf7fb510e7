/*
 * remote: HTTPS requests to the servers of one catalog source: redirects, credentials, limits.
 *
 * The law: an Authorization header goes to the origin it was given for and to no other; redirects
 * lead to https:// only, five at most. Every answer has a largest size and a largest time, so a
 * source that never ends, or sends a byte a minute, costs one failed sync.
 *
 * done is called once, in a later turn, unless the call was cancelled; the reply is borrowed.
 */
#ifndef ALM_SOURCES_REMOTE_H
#define ALM_SOURCES_REMOTE_H

#include "alm/io/transport.h"
#include "catalog/weburl.h"

#define REMOTE_REDIRECTS_MAX 5
#define REMOTE_ORIGINS_MAX   16
#define REMOTE_TIMEOUT_NS    (INT64_C(120) * 1000000000)
#define REMOTE_IDLE_NS       (INT64_C(20) * 1000000000)

struct remote;
struct remote_call;

/* ca_pem NULL: the system's. addresses, borrowed: see transport.h. */
struct remote *remote_new(struct loop *l, const char *ca_pem,
			  const struct address_policy *addresses);
void remote_free(struct remote *r); /* cancels what is under way; not from inside done */
DEFINE_FREEP(remote)

struct remote_request {
	const char *method; /* NULL: GET */
	const struct weburl *url;
	const char *authorization; /* for the origin of url only; NULL: none */
	const char *accept, *content_type, *if_none_match, *if_modified_since; /* NULL: none */
	struct str body;
	size_t body_max;    /* of the answer; required */
	int64_t timeout_ns; /* 0: REMOTE_TIMEOUT_NS */
};

struct remote_reply {
	int status; /* 0: there was no answer */
	const struct http_headers *headers;
	const struct weburl *url; /* after redirects */
	struct str body;
	const struct error *err; /* no answer, or one that broke off; names the URL */
};
typedef void (*remote_done)(void *arg, const struct remote_reply *reply);

/* Everything is copied. */
struct remote_call *remote_send(struct remote *r, const struct remote_request *q, remote_done done,
				void *arg);
void remote_cancel(struct remote_call *c);
/* The error of an answer that is not 2xx: "URL: 404 Not Found" with what helps; 0 for 2xx. */
int remote_check(const struct remote_reply *reply, struct error *err);

#endif
