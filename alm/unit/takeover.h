/*
 * takeover: what becomes of the field managers and marks of a live object that is taken over from
 * kubectl or Helm (fleet.md 2.6, charts.md 10.2). Pure.
 *
 * Managers that declare an object as a whole, so that a field they leave out goes (kubectl apply of
 * both kinds, helm, another bundle), move: what they had is what the new owner has applied, and goes with its next
 * apply, unless that has it too. Those that set a field by hand (kubectl create, edit, scale ..) go:
 * the value stays, as it would at a kubectl apply, and is nobody's.
 */
#ifndef ALM_UNIT_TAKEOVER_H
#define ALM_UNIT_TAKEOVER_H

#include "alm/obj/obj.h"

enum manager_fate { MANAGER_STAYS, MANAGER_MOVES, MANAGER_GOES };

/* Of kubectl's, Helm's and another bundle's ("alm:HUB:BUNDLE"); all others stay. */
enum manager_fate takeover_fate(const struct obj *entry);
/* metadata.managedFields of live, in which what moves is one Apply entry of own, together with that it has.
 * It is of one version of the API: an entry of another one goes. Owned; NULL: as it is. */
struct obj *takeover_managers(const struct obj *live, const char *own,
			      enum manager_fate (*fate)(const struct obj *entry));
/* A merge patch for it, without their marks, but for those that want has too: what is going to be applied.
 * Owned; NULL: there are neither managers nor marks of them. */
struct obj *takeover_patch(const struct obj *live, const struct obj *want, const char *own);

#endif
