/*
 * own_ca: a certificate authority of ALM's own, in two files of a folder: NAME.crt, NAME.key
 * (0600). It is made when there is none, and when the two do not fit (a kill between them).
 *
 * When a third of its life is left, or the clock is outside of it, another one takes its place, in
 * three steps, so that whoever trusts it hears of the other one before anything is signed by that:
 * own_ca_prepare() makes it (NAME-next.crt, NAME-next.key), own_ca_bundle() has both from then on,
 * own_ca_switch() puts it into the place of the former. One that signs nothing more
 * (own_ca_is_over()) is replaced at once. Each step may be the last one of the process: the next
 * own_ca_open() finds a CA that works, the former or the other.
 *
 * NAME is the common name, which must not be that of what it signs ("alm"): clients would take that
 * for signed by itself.
 */
#ifndef ALM_IO_OWN_CA_H
#define ALM_IO_OWN_CA_H

#include "alm/base/strbuf.h"
#include "alm/io/loop.h"

#define OWN_CA_LAST_NS NS_PER_DAY /* of its life it signs nothing */

struct own_ca_pair {
	char *cert, *key; /* PEM; both or none */
};

struct own_ca {
	struct loop *loop;
	const char *dir, *name;       /* borrowed */
	struct own_ca_pair now, next; /* next: prepared, or none */
};

/* loop, dir and name are set. */
int own_ca_open(struct own_ca *c, struct error *err);
bool own_ca_is_due(const struct own_ca *c);
bool own_ca_is_over(const struct own_ca *c);
/* Does nothing when there is one already that signs. On an error there is none. */
int own_ca_prepare(struct own_ca *c, struct error *err);
/* next is set. On an error the former one stays, and next. */
int own_ca_switch(struct own_ca *c, struct error *err);
/* What is to be trusted: PEM. */
void own_ca_bundle(const struct own_ca *c, struct strbuf *b);
void own_ca_release(struct own_ca *c);

#endif
