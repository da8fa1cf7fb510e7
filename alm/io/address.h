/*
 * address: which network addresses a request may go to that is made for somebody else: the source
 * of a Catalog, whose author shall not reach what only this machine reaches (CWE-918).
 *
 * Addresses of the public internet are allowed, all others (loopback, link-local with the cloud's
 * metadata, private, shared, multicast, reserved: the registries of RFC 6890) only if the
 * administrator lists them. What is judged is the address that is connected to, after names and
 * redirects, so a name that changes its address is no way around. Pure.
 */
#ifndef ALM_IO_ADDRESS_H
#define ALM_IO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/error.h"
#include "alm/base/str.h"

#define ADDRESS_RULES_MAX 256

struct address {
	bool v6;
	unsigned char bytes[16]; /* network order; the first 4 without v6 */
};

/* "10.0.0.1", "fd00::1"; without brackets. */
bool address_parse(struct str text, struct address *ret);
#define ADDRESS_TEXT_MAX 46
/* The one form of it (RFC 5952). */
void address_print(const struct address *a, char out[ADDRESS_TEXT_MAX]);
/* IPv6 that stands for IPv4 (mapped, NAT64, 6to4) is judged as that. */
bool address_is_public(const struct address *a);

struct address_policy;
/* Rules "HOST", "ADDRESS" or "CIDR", any port, and "HOST:PORT", "ADDRESS:PORT" ("[fd00::1]:443").
 * A HOST is allowed whatever its address is. E_USAGE names what is none of these. */
int address_policy_new(const char *const *rules, size_t n, struct address_policy **ret,
		       struct error *err);
void address_policy_free(struct address_policy *p);
DEFINE_FREEP(address_policy)
/* host: as the URL has it, lower case, without brackets. */
bool address_policy_allows(const struct address_policy *p, const char *host, unsigned port,
			   const struct address *a);

#endif
