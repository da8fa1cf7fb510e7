/*
 * token: ServiceAccount tokens: JSON Web Tokens signed with ES256 (RFC 7519, RFC 7515). Pure.
 *
 * The header is compared as a whole with the one that this server writes for the key, so neither
 * algorithm nor key is ever believed (RFC 8725). Issuer, audience and times are checked always.
 */
#ifndef ALM_APISERVER_AUTH_TOKEN_H
#define ALM_APISERVER_AUTH_TOKEN_H

#include "alm/base/strbuf.h"
#include "alm/io/jws.h"
#include "alm/obj/obj.h"

#define TOKEN_BYTES_MAX     8192
#define TOKEN_AUDIENCES_MAX 64
#define TOKEN_ISSUER        "https://kubernetes.default.svc.cluster.local"

/* The first one signs; all of them verify. */
struct token_keys {
	struct jws_key *items[2];
	size_t n;
};

struct token_claims {
	const char *ns, *account, *account_uid, *id;
	const struct obj *audiences; /* list of strings, not empty */
	int64_t issued_s, expires_s;
};

/* E_TOOLARGE if it does not fit TOKEN_BYTES_MAX. */
int token_sign(const struct token_keys *keys, const struct token_claims *c, struct strbuf *b,
	       struct error *err);
/* The claims of a token that one of the keys signed, that is valid now and meant for one of the
 * audiences; owned. E_UNAUTHORIZED. */
int token_verify(const struct token_keys *keys, struct str token, const struct obj *audiences,
		 int64_t now_s, struct obj **ret, struct error *err);
/* Those of the token's audiences that are wanted, in the wanted order; owned, may be empty. */
struct obj *token_audiences(const struct obj *of_token, const struct obj *wanted);

#endif
