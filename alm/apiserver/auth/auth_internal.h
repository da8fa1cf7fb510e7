/* auth_internal: the parts of auth, for auth.c and reviews.c. */
#ifndef ALM_APISERVER_AUTH_AUTH_INTERNAL_H
#define ALM_APISERVER_AUTH_AUTH_INTERNAL_H

#include "alm/apiserver/auth/auth.h"
#include "alm/apiserver/auth/issuer.h"
#include "alm/apiserver/auth/rbac.h"
#include "alm/base/hash.h"

#define AUTHENTICATED       "system:authenticated"
#define UNAUTHENTICATED     "system:unauthenticated"
#define ACCOUNT_USER_PREFIX "system:serviceaccount:"

struct known_token {
	unsigned char digest[SHA256_BYTES];
	struct user_info user; /* texts in auth's arena */
};

struct auth {
	struct arena *arena;
	struct loop *loop;
	struct store *store;
	struct known_token *tokens;
	size_t n_tokens;
	struct rbac_source source;
	struct issuer *issuer;
};

/* Who a bearer token stands for; texts in arena. audiences: whom it has to be meant for (one of
 * them; none: this server); *ret_audiences: those that it is, kept by arena. E_UNAUTHORIZED. */
int auth_token_user(struct auth *a, struct str token, const struct obj *audiences,
		    struct arena *arena, struct user_info *ret, struct obj **ret_audiences,
		    struct error *err);

/* Parts of a user; the arrays are of the arena, the texts are borrowed. A group is there once. */
bool auth_has_group(const struct user_info *u, const char *group);
void auth_add_group(struct user_info *u, const char *group, struct arena *arena);
void auth_add_extra(struct user_info *u, const char *key, const char *value, struct arena *arena);
/* The groups of every ServiceAccount of the namespace. */
void auth_account_groups(struct user_info *u, const char *ns, struct arena *arena);

/* An access review in its shape: what is wrong with it; E_INVALID (reviews_check.c). */
int reviews_check(struct request *r, const struct obj *o, struct error *err);
/* Which selectors of such a review could not be read, all or in part, and do not count; "": none. */
const char *reviews_unread(const struct obj *spec, struct arena *arena);

/* Sets r->user to whom the Impersonate-* headers name, if there are any: E_FORBIDDEN for the first
 * right that r->user lacks, E_BADREQUEST for parts without a user. Asks the headers alone. */
int auth_impersonate(struct auth *a, struct request *r, struct error *err);
/* Writing a CertificateSigningRequest: verbs approve and sign on its signer. before NULL on create. */
int signers_check_write(struct auth *a, struct request *r, const struct obj *before,
			const struct obj *after, struct error *err);
/* E_FORBIDDEN in the words of the real server; what was asked for stands in the details. */
int auth_forbidden(struct request *r, const struct rbac_attributes *at, struct error *err);

#endif
