/* credentials: what a Secret gives for one server. The values reach no log and no message. */
#ifndef ALM_CLIENT_CREDENTIALS_H
#define ALM_CLIENT_CREDENTIALS_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

struct credentials {
	const char *username, *password; /* basic */
	const char *token;               /* bearer; wins */
	const char *ca_pem;              /* "ca.crt": the only authority that is believed */
};

/* Keys username, password, token, ca.crt, or .dockerconfigjson (the entry of origin's host).
 * secret NULL: none. */
int credentials_read(const struct obj *secret, const char *origin, struct arena *a,
		     struct credentials *ret, struct error *err);
/* The value of an Authorization header; NULL: none. */
const char *credentials_header(const struct credentials *c, struct arena *a);
const char *credentials_basic(const char *username, const char *password, struct arena *a);

#endif
