/*
 * credentials: what a Secret gives a source of packages, and to which servers it may be sent.
 *
 * The law: whoever may write a Catalog names a Secret that ALM reads with its own rights, so the
 * Secret itself says that it is meant for that. It lies in CREDENTIALS_NAMESPACE, its type is one
 * of those below, and it names the origins (scheme, host, port) that may see it; every other Secret
 * and every other server gets nothing. Values reach no log and no message.
 *
 *	app.coreos.com/catalog-credentials   username, password or token; ca.crt; origins
 *	kubernetes.io/basic-auth             the same keys; origins
 *	kubernetes.io/dockerconfigjson       the entry of auths for the host; origins for others
 *	kubernetes.io/ssh-auth               ssh-privatekey, known_hosts; origins (ssh://HOST[:PORT])
 *
 * origins: "https://HOST[:PORT]" one after the other, with blanks or line ends between: the server
 * of spec.source.url, servers that its archives lie on, token services that its registry names. A
 * Secret of any type but dockerconfigjson may have the keys of ssh, for servers that are read by it.
 */
#ifndef ALM_SOURCES_CREDENTIALS_H
#define ALM_SOURCES_CREDENTIALS_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define CREDENTIALS_NAMESPACE   "alm-system"
#define CREDENTIALS_TYPE        "app.coreos.com/catalog-credentials"
#define CREDENTIALS_ORIGINS_MAX 32

struct credentials {
	const char *username, *password;   /* basic */
	const char *token;                 /* bearer; wins */
	const char *ca_pem;                /* "ca.crt": the only authority that is believed */
	const char *ssh_key, *known_hosts; /* both, for an origin of ssh; else NULL */
	const char *const *origins;        /* who may see the first three */
	size_t n_origins;
};

/* E_NOTALLOWED for a Secret of another namespace, which is not even asked for; ns NULL: ours. */
int credentials_check_namespace(const char *ns, struct error *err);
/* E_NOTALLOWED for a Secret that is not there: the same words as for one of another type, so that
 * nobody learns of Secrets that are meant for something else. */
int credentials_absent(const char *name, struct error *err);
/* For a server of that origin. secret NULL: none. E_NOTALLOWED for the wrong type, if the origin is
 * not named, or if one of ssh finds no key and no known_hosts. */
int credentials_read(const struct obj *secret, const char *origin, struct arena *a,
		     struct credentials *ret, struct error *err);
bool credentials_are_for(const struct credentials *c, const char *origin);
/* The value of an Authorization header; NULL: none. */
const char *credentials_header(const struct credentials *c, struct arena *a);
const char *credentials_basic(const char *username, const char *password, struct arena *a);

/* Texts that no message may have, NULL-ended; c NULL: none. In the arena. */
void credentials_hidden(const struct credentials *c, struct arena *a, const char *ret[4]);

#endif
