/* addresses: those of this machine's interfaces, which move under DHCP and VPNs. */
#ifndef ALM_IO_ADDRESSES_H
#define ALM_IO_ADDRESSES_H

#include "alm/base/arena.h"

#define ADDRESSES_MAX 64

/* Texts ("192.168.1.7", "fd00::1") in byte order, without those that mean one link or nothing: at
 * most ADDRESSES_MAX, in the arena. */
size_t addresses_local(struct arena *a, const char *ret[ADDRESSES_MAX]);

#endif
