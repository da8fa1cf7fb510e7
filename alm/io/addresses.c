#include "alm/io/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "alm/base/str.h"

static bool print(const struct sockaddr *sa, char out[INET6_ADDRSTRLEN])
{
	union {
		const struct sockaddr *sa;
		const struct sockaddr_in *v4;
		const struct sockaddr_in6 *v6;
	} u = {sa};
	if (sa && sa->sa_family == AF_INET)
		return inet_ntop(AF_INET, &u.v4->sin_addr, out, INET6_ADDRSTRLEN) != NULL;
	return sa && sa->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&u.v6->sin6_addr) &&
	       inet_ntop(AF_INET6, &u.v6->sin6_addr, out, INET6_ADDRSTRLEN) != NULL;
}

size_t addresses_local(struct arena *a, const char *ret[ADDRESSES_MAX])
{
	struct ifaddrs *all = NULL;
	size_t n = 0;
	if (getifaddrs(&all) < 0)
		return 0;
	for (const struct ifaddrs *i = all; i && n < ADDRESSES_MAX; i = i->ifa_next) {
		char text[INET6_ADDRSTRLEN];
		if ((i->ifa_flags & IFF_UP) && print(i->ifa_addr, text))
			ret[n++] = arena_strdup(a, text);
	}
	freeifaddrs(all);
	if (n)
		qsort(ret, n, sizeof(*ret), cstr_cmpp);
	return n;
}
