/*
 * core: the parts of one API server, for the files of this folder.
 */
#ifndef ALM_APISERVER_CORE_H
#define ALM_APISERVER_CORE_H

#include "alm/apiserver/apiserver.h"
#include "alm/apiserver/auth/auth.h"
#include "alm/apiserver/docs/discovery.h"
#include "alm/apiserver/kinds/kinds.h"
#include "alm/apiserver/request.h"
#include "alm/apiserver/store/store.h"

struct hub;
struct gc;
struct quotas;
struct policies;
struct mutating_policies;
struct hooks;
struct hook_lines;
struct waitings;
struct converting;
struct collections;
struct quota_status;
struct namespaces;
struct crds;
struct event_ttl;
struct objects_check;
struct simulate;
struct virtuals;
struct metrics;
struct refusals;

struct apiserver {
	struct apiserver_config config; /* strings are copied into arena */
	struct arena *arena;
	struct loop *loop;
	struct audit *audit;
	struct kinds *kinds;
	struct store *store;
	struct auth *auth;
	struct api_docs *discovery;
	struct hub *hub;
	struct crds *crds;
	struct gc *gc;
	struct quotas *quotas;
	struct policies *policies;
	struct mutating_policies *mutating_policies;
	struct hooks *hooks;
	struct hook_lines *hook_lines;
	struct waitings *waitings;
	struct converting *converting;
	struct collections *collections;
	struct quota_status *quota_status;
	struct namespaces *namespaces;
	struct event_ttl *event_ttl;
	struct simulate *simulate; /* NULL: workloads are left alone */
	struct virtuals *virtuals;
	struct objects_check *objects_check;   /* NULL: no log */
	struct metrics *metrics, *own_metrics; /* own_metrics NULL: the caller's are used */
	struct refusals *refusals;
	const char *notices[APISERVER_NOTICES_MAX];
	size_t n_notices;
	struct timer trim; /* after large requests */
	bool trim_armed, had_large_body;
};

/* Adds to apiserver_notice(); past the limit it is dropped. */
void server_notice(struct apiserver *s, const char *fmt, ...) PRINTF(2, 3);

/* The storage row of a kind: events.k8s.io Events are those of the core group. */
struct store_table *server_resource(struct apiserver *s, const struct kind *k);

/* A request of the server itself, without exchange: the answers go nowhere. manager names the
 * component, as "system:serviceaccount:kube-system:generic-garbage-collector". */
struct request *request_internal(struct apiserver *s, struct arena *a, const char *user,
				 const char *manager, const struct kind *k, const char *ns,
				 const char *name);

#endif
