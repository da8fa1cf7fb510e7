/*
 * hosts: under which names a server answers. Pure.
 *
 * A page of any origin may let its own name point to 127.0.0.1 and then ask us with it (DNS
 * rebinding): what gives it away is the name in Host. An address is nobody's name, so addresses are
 * answered; names only when they are known: localhost, the one that is listened on, the machine's,
 * and those that the configuration adds.
 */
#ifndef ALM_IO_HOSTS_H
#define ALM_IO_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/mem.h"
#include "alm/base/str.h"

/* The host of HOST[:PORT], without brackets; STR_NONE if the text is no such thing. */
struct str host_of(struct str authority);
/* localhost, an address, or one of the names; letters of both cases and a last dot are alike. */
bool host_is_known(struct str host, const char *const *names, size_t n);

#endif
