/* health: /healthz, /livez and /readyz (kube-api.md 3), open to everybody, and /metrics. */
#ifndef ALM_APISERVER_HEALTH_H
#define ALM_APISERVER_HEALTH_H

#include "alm/apiserver/request.h"
#include "alm/io/metrics.h"

struct health_check {
	const char *name; /* "ping", "audit" */
	bool ok;
	bool ready_only;  /* counts for /readyz alone */
	const char *note; /* with ?verbose, where it is ok: how far it got; NULL or "": none */
};

/* True if the path is one of health, with or without /NAME: no rights are needed for it. */
bool health_is_path(const char *path);
/* Answers such a request: 200 "ok", or 500 with the checks that failed; ?verbose lists all. */
void health_handle(struct request *r, const struct health_check *checks, size_t n);

/* Answers /metrics. */
void health_metrics(struct request *r, const struct metrics *m);

#endif
