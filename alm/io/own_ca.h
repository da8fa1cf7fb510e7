/*
 * own_ca: a certificate authority of ALM's own, in two files of a folder: NAME.crt, NAME.key
 * (0600). It is made when there is none, when the two do not fit (a kill between them), and again
 * when a third of its life is left or the clock is outside of it: whoever trusts it has to be told
 * then. NAME is its common name, which must not be that of what it signs ("alm"): clients would take
 * that for signed by itself.
 */
#ifndef ALM_IO_OWN_CA_H
#define ALM_IO_OWN_CA_H

#include "alm/io/loop.h"

struct own_ca {
	struct loop *loop;
	const char *dir, *name; /* borrowed */
	char *cert, *key;       /* PEM */
};

/* loop, dir and name are set. */
int own_ca_open(struct own_ca *c, struct error *err);
bool own_ca_is_due(const struct own_ca *c);
/* Another one, in the files too. On an error the former one stays. */
int own_ca_renew(struct own_ca *c, struct error *err);
void own_ca_release(struct own_ca *c);

#endif
