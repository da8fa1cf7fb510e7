/* auth: who asks, and what he may (kube-api.md 6): tokens, ServiceAccount tokens, impersonation,
 * RBAC from the roles in the store, reviews. */
#ifndef ALM_APISERVER_AUTH_AUTH_H
#define ALM_APISERVER_AUTH_AUTH_H

#include "alm/apiserver/apiserver.h"
#include "alm/apiserver/request.h"

struct auth;

int auth_new(const struct apiserver_config *c, struct store *store, struct auth **ret,
	     struct error *err);
void auth_free(struct auth *a);

/* Fills r->user from the headers alone, impersonation included: E_UNAUTHORIZED "Unauthorized",
 * E_FORBIDDEN and E_BADREQUEST of impersonation. */
int auth_authenticate(struct auth *a, struct request *r, struct error *err);
/* Whose share of the server (quota.h) a request takes: the asker's, and one of all accounts of a
 * namespace together, as whoever may make accounts there has as many as he likes. */
const char *auth_share(const struct request *r);
struct rbac_attributes;
/* What the request asks for, texts of it. */
struct rbac_attributes auth_attributes(struct request *r);
/* E_FORBIDDEN about all of it, whoever r->user is. */
int auth_forbid(struct request *r, struct error *err);
/* E_FORBIDDEN with the text of golden G182 to G184. */
int auth_authorize(struct auth *a, struct request *r, struct error *err);
/* Another verb on the same: an update, patch or apply of what is not there needs the right to create,
 * too. */
int auth_authorize_also(struct auth *a, struct request *r, const char *verb, struct error *err);
/* May the user? ret_reason: by which binding, of arena; "" of an administrator or without a right. */
bool auth_may(struct auth *a, const struct user_info *u, const struct rbac_attributes *at,
	      struct arena *arena, const char **ret_reason);
/* {username, uid, groups, extra}, owned. */
struct obj *auth_user_obj(const struct user_info *u);
/* The user that a ServiceAccount is; of arena. */
struct user_info auth_account(const char *ns, const char *name, struct arena *arena);
/* Objects every store has: default roles and bindings. The n-th one, owned; NULL past the end. */
struct obj *auth_bootstrap(size_t n);
/* Rights that what is written needs: of a Role or binding all that it grants (escalation), of an approval
 * or a certificate those of its signer. before NULL on create. */
int auth_check_write(struct auth *a, struct request *r, const struct obj *before,
		     const struct obj *after, struct error *err);
/* Answers the paths of issuer discovery; false: another path. */
bool auth_page(struct auth *a, struct request *r);
/* POST of SelfSubjectAccessReview and the like, TokenReview, serviceaccounts/token: the answer. */
int auth_review(struct auth *a, struct request *r, const struct obj *body, struct obj **ret,
		struct error *err);

#endif
