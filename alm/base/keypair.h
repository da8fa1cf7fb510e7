/* keypair: does a private key fit a certificate, as Go's tls.X509KeyPair judges it? Nothing of the key is kept, or told. */
#ifndef ALM_BASE_KEYPAIR_H
#define ALM_BASE_KEYPAIR_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

#define KEYPAIR_BLOCKS_MAX 4096 /* of a text; what follows is not looked at */

/* Both are PEM (RFC 7468), of certificates the first is meant. NULL: it does; else why not, in the words of Go, from a. */
const char *keypair_fault(struct str certificate, struct str key, struct arena *a);

#endif
