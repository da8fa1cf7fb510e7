/*
 * git_address: which addresses git may connect to (CWE-918). A host name is resolved by us, each of
 * its addresses is judged as one that stands in the URL would be, and git gets those that are
 * allowed and no others (http.curloptResolve; of ssh HostName, the first): it resolves nothing itself,
 * so a name that changes its address between the two is no way around. Pure.
 */
#ifndef ALM_CLIENT_GIT_ADDRESS_H
#define ALM_CLIENT_GIT_ADDRESS_H

#include "alm/base/arena.h"
#include "alm/io/address.h"

#define GIT_ADDRESSES_MAX 16 /* of one name; the others are left out */

struct git_host {
	const char *name; /* without brackets */
	unsigned port;
	bool literal; /* it is an address */
	struct address address;
};

/* Of https://HOST[:PORT]/PATH in the form of weburl.h, or of what git_url.h has. E_INVALID: programs
 * read such a name differently (a dot at its end, a dash at its beginning). */
int git_host_read(const char *url, struct arena *a, struct git_host *ret, struct error *err);
/* E_NOTALLOWED for an address that stands in the URL. */
int git_host_check(const struct git_host *h, const struct address_policy *p, struct error *err);

/* "git version 2.39.5\n" knows http.curloptResolve, as 2.37 and later do. */
bool git_can_pin(struct str version);
/* Those of what `getent ahosts HOST` printed that are allowed, in its order, which is the one to try
 * them in. E_UNAVAILABLE: there is none; E_NOTALLOWED: all are refused. */
struct git_addresses {
	struct str texts[GIT_ADDRESSES_MAX]; /* of the listing; without brackets */
	size_t n;
};
int git_addresses(const struct git_host *h, struct str listing, const struct address_policy *p,
		  struct git_addresses *ret, struct error *err);
/* The same as "HOST:PORT:ADDRESS,...". */
int git_pin(const struct git_host *h, struct str listing, const struct address_policy *p,
	    struct arena *a, const char **ret, struct error *err);

#endif
