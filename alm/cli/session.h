/*
 * session: one server as a command sees it: requests that are waited for.
 *
 * kubeconfig -> transport -> client and discovery, on a loop of its own. Every call runs the loop
 * until its answer is there. Answers live in the arena of the command.
 */
#ifndef ALM_CLI_SESSION_H
#define ALM_CLI_SESSION_H

#include "alm/cli/cli.h"
#include "alm/client/discovery.h"
#include "alm/io/transport.h"

struct session;

int session_open(struct cli *c, struct session **ret, struct error *err);
/* On a loop of the caller's, which lives longer. */
int session_open_on(struct cli *c, struct loop *loop, struct session **ret, struct error *err);
void session_free(struct session *s);
DEFINE_FREEP(session)
struct loop *session_loop(struct session *s);
struct transport *session_transport(struct session *s);
struct client *session_client(struct session *s);
/* -n, else the context's, else "default". */
const char *session_namespace(const struct session *s);
/* Where the server is and with which credentials, as the kubeconfig says. */
const struct transport_config *session_config(const struct session *s);

#define ACCEPT_JSON  "application/json"
#define ACCEPT_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define APPLY_PATCH  "application/apply-patch+yaml"
#define MERGE_PATCH  "application/merge-patch+json"

struct session_request {
	const char *method, *target;
	const char *accept, *content_type; /* NULL: JSON */
	const struct obj *body;            /* NULL: none */
	int64_t timeout_ns;                /* 0: 30 s */
	bool status_only;                  /* whatever it is, the body is not looked at */
};

struct session_reply {
	int status;
	const struct obj *body; /* arena; NULL if there was none */
};

/* A Status of 400 and more is an error with its code and message. Warnings go to stderr. */
int session_send(struct session *s, const struct session_request *q, struct session_reply *ret,
		 struct error *err);
int session_get(struct session *s, const char *target, const struct obj **ret, struct error *err);

/* What a user types: "apps", "Etcd", "ist", "deployments.apps". E_NOTFOUND as kubectl says it. */
int session_resource(struct session *s, const char *name, struct resource *ret, struct error *err);
int session_kind(struct session *s, const struct obj *o, struct resource *ret, struct error *err);
const struct discovery *session_discovery(struct session *s, struct error *err);

/* The namespace a request for the resource takes: NULL for cluster-scoped ones and with all. */
const char *session_ns(const struct session *s, const struct resource *r, bool all);
/* Path of the collection or the object, in the arena. query without '?', may be NULL. */
const char *session_target(struct session *s, const struct resource *r, const char *ns,
			   const char *name, const char *query);

/* A watch: fn gets each event object, borrowed, and ends the session_run() with session_stop(). */
struct session_watch;
typedef void (*session_event_fn)(void *arg, const struct obj *event);
typedef void (*session_closed_fn)(void *arg, const struct error *err);
struct session_watch *session_watch_start(struct session *s, const char *target, const char *accept,
					  session_event_fn fn, session_closed_fn closed, void *arg);
void session_watch_free(struct session_watch *w);
/* Runs the loop until session_stop() or the time is over: 0, or -E_TIMEOUT without message. */
int session_run(struct session *s, int64_t timeout_ns);
void session_stop(struct session *s);

#endif
