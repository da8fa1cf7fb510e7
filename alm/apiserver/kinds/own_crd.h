/*
 * own_crd: the definitions of ALM itself on a server in whose process its controllers run (alm up).
 *
 * They are as this program brings them, whoever writes them: an older one (kubectl apply of last
 * year's file) would take fields and statuses away until the next start, and one that is gone would
 * take all apps with it. Elsewhere alm controller puts them back (alm/main/our_crds.h).
 */
#ifndef ALM_APISERVER_KINDS_OWN_CRD_H
#define ALM_APISERVER_KINDS_OWN_CRD_H

#include <stdbool.h>

#include "alm/obj/obj.h"

/* Is it the name of a definition of ALM? */
bool own_crd_is(const char *name);
/* Gives o, a definition with its defaults, the spec that this program brings; true if it had another
 * one. Others are left as they are. */
bool own_crd_keep(struct obj *o);
/* A kind in a group of ALM's own that none of its controllers acts on. */
bool own_crd_is_unserved(const struct obj *o);

#endif
