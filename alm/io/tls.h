/*
 * tls: certificates of the embedded server, TLS contexts, random tokens. PEM texts in and out;
 * where they are kept is the caller's business (the key 0600).
 */
#ifndef ALM_IO_TLS_H
#define ALM_IO_TLS_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/io/loop.h"

#define TLS_TOKEN_MAX 44 /* 32 random bytes as base64url, and the NUL */

/* EC P-256, valid from an hour before now for ten years. Owned texts. */
int tls_ca_new(struct loop *l, const char *common_name, char **ret_cert_pem, char **ret_key_pem,
	       struct error *err);
/* A serving certificate for 127.0.0.1, ::1, localhost, the machine's name, kubernetes.default.svc
 * (.cluster.local) and the given names or addresses ("" and NULL are passed over); valid for 30
 * days, and not longer than the CA, which must be valid itself. */
int tls_serving_new(struct loop *l, const char *ca_cert_pem, const char *ca_key_pem,
		    const char *const *names, size_t n_names, char **ret_cert_pem,
		    char **ret_key_pem, struct error *err);

/* From when until when a certificate is valid. */
int tls_lifetime(const char *cert_pem, int64_t *ret_from_ns, int64_t *ret_until_ns,
		 struct error *err);

void tls_token(struct loop *l, char out[TLS_TOKEN_MAX]);

/* Contexts of both sides take TLS 1.2 and newer, with authenticated encryption and forward secrecy
 * only (RFC 9325, 4.2). */
struct ssl_ctx_st;
/* For server_event.c. An SSL_CTX, ALPN http/1.1. client_ca_pem: one or more certificates; clients are
 * asked for one that they have signed, may come without, and are turned away with any other. NULL:
 * nobody is asked. */
int tls_server_context(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
		       struct ssl_ctx_st **ret, struct error *err);
/* The common name of the certificate that a client has shown and that client_ca_pem vouches for, of
 * a; NULL if it has shown none, or one without a name. */
struct ssl_st;
const char *tls_peer_name(const struct ssl_st *ssl, struct arena *a);
/* For transport_curl.c: what libcurl has made of its options. A certificate must name hosts or
 * addresses as subjectAltName, the common name is none (RFC 9525, 6.3); one that does not fails the
 * handshake and sets *nameless, which lives as long as the context. NULL: it is not verified. */
bool tls_client_context(struct ssl_ctx_st *ctx, bool *nameless);

#endif
