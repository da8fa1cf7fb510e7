/*
 * issuer: who signs the tokens of ServiceAccounts: the keys, the tokens themselves, and what others
 * need to verify them (issuer discovery of OpenID Connect, as the real server offers it).
 *
 * A key is no object of the API: it stands in the 0600 files of the data folder. Without one
 * (tests) a key is made that dies with the process.
 */
#ifndef ALM_APISERVER_AUTH_ISSUER_H
#define ALM_APISERVER_AUTH_ISSUER_H

#include "alm/apiserver/apiserver.h"
#include "alm/apiserver/auth/token.h"
#include "alm/apiserver/request.h"

/* A token lives a year at most; a longer wish is shortened, and reported by a warning. */
#define ISSUER_EXPIRATION_DEFAULT_S 3600
#define ISSUER_EXPIRATION_MIN_S     600
#define ISSUER_EXPIRATION_MAX_S     (INT64_C(86400) * 365)

struct issuer;

/* E_INVALID for a key that is none. */
int issuer_new(const struct apiserver_config *c, struct issuer **ret, struct error *err);
void issuer_free(struct issuer *i);
DEFINE_FREEP(issuer)

/* What a token is for unless it says otherwise: this server. */
const struct obj *issuer_audiences(const struct issuer *i);
int issuer_verify(const struct issuer *i, struct str token, const struct obj *audiences,
		  int64_t now_s, struct obj **ret_claims, struct error *err);
/* POST serviceaccounts/NAME/token: the answer, owned. */
int issuer_request(struct issuer *i, struct request *r, const struct obj *body, struct obj **ret,
		   struct error *err);
/* GET of /.well-known/openid-configuration and /openid/v1/jwks; false: another path. */
bool issuer_page(const struct issuer *i, struct request *r);
/* Removes the key that an alm of old kept in a Secret; tokens of it end. */
void issuer_retire_secret(struct apiserver *s);

#endif
