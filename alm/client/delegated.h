/*
 * delegated: who asks a server beside a cluster, and what he may, as the cluster's API server says.
 *
 * Who: behind the API server (an APIService) it is whom the X-Remote-* headers name, which are
 * believed only on a connection whose client certificate is of the CA, and has one of the names, in
 * ConfigMap kube-system/extension-apiserver-authentication; that is read again each minute, as its
 * CA is replaced now and then. Else it is whose token the TokenReview says. What he may is a
 * SubjectAccessReview each time, so a right that is taken ends with the next request; system:masters
 * may everything. Nothing is kept about tokens.
 */
#ifndef ALM_CLIENT_DELEGATED_H
#define ALM_CLIENT_DELEGATED_H

#include "alm/client/client.h"
#include "alm/io/server.h"
#include "alm/obj/query/rbac_rule.h"

#define DELEGATED_TOKEN_BYTES_MAX 16384
#define DELEGATED_GROUPS_MAX      HTTP_HEADERS_MAX
#define DELEGATED_READ_NS         NS_PER_MIN
#define DELEGATED_READ_AGAIN_NS   (5 * NS_PER_S) /* while it cannot be read */
#define DELEGATED_REVIEW_NS       (10 * NS_PER_S)

/* What that ConfigMap says. */
struct proxy_trust {
	const char *ca_pem;                                   /* NULL: nobody is believed */
	const struct obj *names, *user, *uid, *group, *extra; /* lists of strings; names NULL or
							       * empty: all of the CA's */
};

/* Pure; texts of configmap, lists of a. A list that is no JSON list of strings is empty, but for
 * names: then nobody is believed. */
struct proxy_trust proxy_trust_read(const struct obj *configmap, struct arena *a);
/* {user, uid, groups, extra} of a SubjectAccessReview, owned; NULL: the headers are not believed,
 * or name nobody. */
struct obj *proxy_user(const struct proxy_trust *t, const struct http_request *r, struct arena *a);

struct delegated;
struct delegated *delegated_new(struct client *c); /* borrowed */
void delegated_free(struct delegated *d);          /* no ask is under way */
/* From here on the ConfigMap is read. trust is told its CA whenever that is another one, NULL: none;
 * it makes it the server's (server_renew_clients()). If it fails, the former one counts. */
typedef int (*delegated_trust_fn)(void *arg, const char *ca_pem, struct error *err);
void delegated_start(struct delegated *d, delegated_trust_fn trust, void *arg);
/* The name of him whom the headers of a believed proxy name, of a; NULL: somebody else asks. */
const char *delegated_proxied(const struct delegated *d, const struct http_request *r,
			      struct arena *a);

/* done: err NULL: he may; E_UNAUTHORIZED, E_FORBIDDEN, or E_UNAVAILABLE: the API server does not
 * say. user "" until that is known. Called once, never before delegated_ask() has returned, unless
 * it was cancelled. What x and at hold lives as long. */
struct delegated_ask;
typedef void (*delegated_fn)(void *arg, const char *user, const struct error *err);
struct delegated_ask *delegated_ask(struct delegated *d, const struct exchange *x,
				    const struct rbac_attributes *at, const char *version,
				    delegated_fn done, void *arg);
void delegated_cancel(struct delegated_ask *q); /* NULL is fine */

#endif
