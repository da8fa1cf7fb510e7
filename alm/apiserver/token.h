/*
 * token: ServiceAccount tokens, JSON Web Tokens with HMAC-SHA256 (RFC 7519, RFC 7515). Pure.
 *
 * Only this server reads them, so a shared key does what a key pair would; the algorithm of the
 * header is checked, never believed (RFC 8725).
 */
#ifndef ALM_APISERVER_TOKEN_H
#define ALM_APISERVER_TOKEN_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define TOKEN_KEY_BYTES 32
#define TOKEN_BYTES_MAX 8192
#define TOKEN_ISSUER    "https://kubernetes.default.svc.cluster.local"

struct token_claims {
	const char *ns, *account, *account_uid;
	const struct obj *audiences; /* list of strings; anything else: TOKEN_ISSUER */
	int64_t issued_s, expires_s;
};

void token_sign(const unsigned char key[TOKEN_KEY_BYTES], const struct token_claims *c,
		struct strbuf *b);
/* The claims of a token that this key signed and that has not expired; owned. E_UNAUTHORIZED. */
int token_verify(const unsigned char key[TOKEN_KEY_BYTES], struct str token, int64_t now_s,
		 struct obj **ret, struct error *err);

#endif
