/*
 * client_internal: a call between client_request.c, which fills the request in, and client.c, which sends it,
 * retries it and answers.
 */
#ifndef ALM_CLIENT_CLIENT_INTERNAL_H
#define ALM_CLIENT_CLIENT_INTERNAL_H

#include <sys/queue.h>

#include "alm/base/strbuf.h"
#include "alm/client/client.h"

struct client_call {
	struct client *client;
	TAILQ_ENTRY(client_call) link;
	struct arena *arena; /* of the request */
	struct transport_request request;
	bool is_read; /* it changes nothing, so it is retried */
	bool is_raw, is_list, is_urgent, takes_5xx;
	bool queued, slot; /* waits for a place; has one */
	client_reply_fn fn;
	void *arg;
	int64_t timeout, deadline;
	struct call *call; /* NULL between two attempts */
	struct timer retry;
	unsigned attempts;
	/* of the answer */
	int status;
	int64_t retry_after;
	struct strbuf body;
	const char *warnings[CLIENT_WARNINGS_MAX];
	size_t n_warnings;
};

/* The request has its method and no header. */
struct client_call *client_call_new(struct client *c, const char *method,
				    const struct client_options *o, client_reply_fn fn, void *arg);
/* At once, or when its turn comes; returns the call. */
struct client_call *client_call_start(struct client_call *k);

#endif
