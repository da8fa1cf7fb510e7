/* cert: keys and certificates for fn_crypto.c, the only other file that knows OpenSSL here. */
#ifndef INSTALLERS_TMPL_FN_CERT_H
#define INSTALLERS_TMPL_FN_CERT_H

#include "installers/tmpl/tmpl.h"

/* Everything random below is drawn from the entropy of the request while this is set. */
struct cert_random {
	struct tmpl_run *run;
	unsigned char seed[32];
	uint64_t counter;
};

struct cert_request {
	struct str cn;
	struct value ips, names; /* lists, or none */
	int64_t days;
	bool ca;
	struct str key;             /* PEM of the own key; ptr NULL: a new RSA key */
	const struct value *signer; /* a certificate struct; NULL: itself */
};
/* A sprig.certificate. */
int cert_make(struct tmpl_run *run, const struct cert_request *rq, struct value *ret);
/* rsa, dsa, ecdsa, ed25519. */
int cert_private_key(struct tmpl_run *run, struct str type, struct value *ret);
int cert_build_custom(struct tmpl_run *run, struct str cert_b64, struct str key_b64,
		      struct value *ret);

#endif
