/* metrics_server: plain HTTP with /metrics and /healthz, on a loopback address of its own. */
#ifndef ALM_MAIN_METRICS_SERVER_H
#define ALM_MAIN_METRICS_SERVER_H

#include "alm/io/metrics.h"
#include "alm/io/server.h"
#include "alm/main/allowed_hosts.h"

/* listen "off": *ret is NULL. NULL: the usual address; where that is taken, a warning and no more.
 * Everybody is answered, and no body of a request is read. */
int metrics_server_start(struct loop *l, const char *listen, const struct allowed_hosts *hosts,
			 struct metrics *m, struct server **ret, struct error *err);

#endif
