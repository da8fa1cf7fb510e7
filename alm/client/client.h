/*
 * client: the verbs of the Kubernetes API as asynchronous requests (kube-api.md 16).
 *
 * A reply callback is called exactly once, in a later turn, unless the request was cancelled. The
 * error of a refused request has the code of its Status (reason before HTTP code) and the server's
 * message; retry_after_ns is what Retry-After or details.retryAfterSeconds said, else 0. Reads are
 * retried on 429, 5xx and lost connections with jittered back-off (0.8 s doubling to 30 s, at least
 * Retry-After) until their deadline, or for client_hurry()'s time; writes only where 429 or 503 says when: the caller reads the
 * object first, as any other write may have happened.
 */
#ifndef ALM_CLIENT_CLIENT_H
#define ALM_CLIENT_CLIENT_H

#include "alm/base/error.h"
#include "alm/client/resource.h"
#include "alm/io/transport.h"
#include "alm/obj/obj.h"

struct client;
struct client_call;

#define CLIENT_WRITES_MAX    8 /* in flight; more wait in order, their time starts when they go */
#define CLIENT_FIELD_MANAGER "alm"

struct client_reply {
	int status;              /* HTTP status; 0 if there was none */
	const struct obj *body;  /* parsed JSON answer, borrowed; NULL on error without body */
	struct str text;         /* its bytes */
	const struct error *err; /* NULL on success */
	int64_t retry_after_ns;
	bool maybe_applied; /* a write whose reply was lost */
	/* Texts of the Warning: 299 headers, at most CLIENT_WARNINGS_MAX. */
	const char *const *warnings;
	size_t n_warnings;
};
#define CLIENT_WARNINGS_MAX 16

typedef void (*client_reply_fn)(void *arg, const struct client_reply *reply);

struct client *client_new(struct loop *l, struct transport *t); /* borrows both */
void client_free(struct client *c);
DEFINE_FREEP(client)
struct transport *client_transport(struct client *c);
struct loop *client_loop(struct client *c);
/* Somebody sits and waits: while no server has answered, reads are retried only this long after they
 * began. One that has answered before may come back: its time is the deadline, as without this. */
void client_hurry(struct client *c, int64_t ns);

struct client_options {
	const char *field_manager; /* NULL: "alm" */
	bool force;                /* apply only */
	bool dry_run;              /* dryRun=All */
	bool strict;               /* fieldValidation=Strict */
	bool asks;                 /* a review, a dry run: waits as a write, retried as a read */
	bool urgent;               /* a write that waits for no other one's place */
	bool takes_5xx;            /* a read for which a 5xx is an answer: not retried on it */
	bool metadata_only;        /* list: of what the server can cut down to that */
	const char *subresource;   /* "status"; NULL: none */
	const char *propagation;   /* delete: "Background"; NULL: the server's default */
	const char *uid, *resource_version; /* delete: preconditions */
	const char *audit_id; /* "op" of the audit entry (audit.md 7); also sent as Audit-ID */
	const char *as;       /* the user to impersonate, who needs the rights; NULL: nobody */
	int64_t timeout_ns;   /* 0: 30 s */
	size_t body_max;      /* 0: 16 MiB */
};

/* All copy what they are given; o may be NULL. The groups of an impersonated ServiceAccount are the
 * server's to add. */
struct client_call *client_get(struct client *c, const struct resource *r, const char *ns,
			       const char *name, const struct client_options *o, client_reply_fn fn,
			       void *arg);
/* query: "labelSelector=a%3Db&limit=500", already encoded; "" for none. */
struct client_call *client_list(struct client *c, const struct resource *r, const char *ns,
				const char *query, client_reply_fn fn, void *arg);
/* The same with options. */
struct client_call *client_list_with(struct client *c, const struct resource *r, const char *ns,
				     const char *query, const struct client_options *o,
				     client_reply_fn fn, void *arg);
struct client_call *client_create(struct client *c, const struct resource *r, const char *ns,
				  const struct obj *body, const struct client_options *o,
				  client_reply_fn fn, void *arg);
struct client_call *client_replace(struct client *c, const struct resource *r, const char *ns,
				   const char *name, const struct obj *body,
				   const struct client_options *o, client_reply_fn fn, void *arg);
/* Server-side apply. */
struct client_call *client_apply(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const struct obj *body,
				 const struct client_options *o, client_reply_fn fn, void *arg);
/* type: "application/merge-patch+json" and kin. */
struct client_call *client_patch(struct client *c, const struct resource *r, const char *ns,
				 const char *name, const char *type, const struct obj *patch,
				 const struct client_options *o, client_reply_fn fn, void *arg);
struct client_call *client_delete(struct client *c, const struct resource *r, const char *ns,
				  const char *name, const struct client_options *o,
				  client_reply_fn fn, void *arg);
/* Any path: GET of "/version". */
struct client_call *client_raw(struct client *c, const char *method, const char *target,
			       struct str body, const char *content_type, client_reply_fn fn,
			       void *arg);
/* GET of any path in a chosen form: the Accept header, NULL for JSON. Retried as all reads. */
struct client_call *client_read(struct client *c, const char *target, const char *accept,
				const struct client_options *o, client_reply_fn fn, void *arg);
/* GET of any path with options, whatever it answers with: reply.text. */
struct client_call *client_text(struct client *c, const char *target,
				const struct client_options *o, client_reply_fn fn, void *arg);
void client_cancel(struct client *c, struct client_call *call);

/* The error of a Status object, with retryAfterSeconds; http is used without a reason. */
void client_status_error(const struct obj *status, int http, struct error *ret,
			 int64_t *ret_retry_after_ns);
/* The next pause of a jittered back-off: base doubling (n: 0, 1, ...) up to max. */
int64_t client_backoff(struct loop *l, unsigned n, int64_t base_ns, int64_t max_ns);

/* What is none has no items, and would be taken for an empty list: all that it does not name would count as gone. */
bool client_is_list(const struct obj *body);
/* Does this answer to a write say that the object itself is wrong, so that it will never be taken
 * as it is? Fields that a schema lacks, an InternalError of kube-apiserver, are E_INVALID here. */
bool client_refuses_body(const struct error *err);

#endif
