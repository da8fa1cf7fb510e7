/*
 * metrics_server: plain HTTP with /metrics, /healthz and /readyz, on a loopback address of its own.
 * Everybody is answered, and no body of a request is read.
 */
#ifndef ALM_IO_METRICS_SERVER_H
#define ALM_IO_METRICS_SERVER_H

#include "alm/io/metrics.h"
#include "alm/io/server.h"

struct metrics_server_config {
	const char *listen;       /* "off": none. NULL: the usual address; taken: a warning */
	const char *const *hosts; /* names that a Host header may have besides those of hosts.h */
	size_t n_hosts;
	struct metrics *metrics;
	/* /readyz: NULL is ready, else what is missing; not given: as /healthz. */
	const char *(*not_ready)(void *arg);
	void *arg;
};

/* *ret NULL: there is none. All of c but its texts is borrowed until metrics_server_free(). */
struct metrics_server;
int metrics_server_start(struct loop *l, const struct metrics_server_config *c,
			 struct metrics_server **ret, struct error *err);
const char *metrics_server_address(const struct metrics_server *s); /* "127.0.0.1:41873" */
void metrics_server_free(struct metrics_server *s);

#endif
