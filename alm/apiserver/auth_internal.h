/* auth_internal: the parts of auth, for auth.c and reviews.c. */
#ifndef ALM_APISERVER_AUTH_INTERNAL_H
#define ALM_APISERVER_AUTH_INTERNAL_H

#include "alm/apiserver/auth.h"
#include "alm/apiserver/rbac.h"
#include "alm/apiserver/token.h"
#include "alm/base/hash.h"

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
};

/* Who a bearer token stands for; texts in arena a. E_UNAUTHORIZED. */
int auth_token_user(struct auth *a, struct str token, struct arena *arena, struct user_info *ret,
		    struct error *err);
/* The key of ServiceAccount tokens, a Secret of kube-system; made on first use if create is set.
 * E_NOTFOUND if there is none yet. */
int auth_account_key(struct auth *a, bool create, unsigned char key[TOKEN_KEY_BYTES],
		     struct error *err);
/* Groups every authenticated user has beside his own; the array is of the arena. */
void auth_add_group(struct user_info *u, const char *group, struct arena *arena);

#endif
