/*
 * theirs: fields of declared objects that somebody else writes (spec.ignore of a Bundle). An object
 * that is made has them as declared; from then on they are as they are live, which is neither drift
 * nor written over. Pure.
 *
 * A path is as `alm diff` prints it: spec.replicas, data["a.b"],
 * spec.template.spec.containers[0].image, and containers["app"] for the item of that name. A number
 * counts the declared list; live the item is the one of the same name, where it has a name. An item
 * that is not live is made, and has its fields as declared.
 */
#ifndef ALM_UNIT_THEIRS_H
#define ALM_UNIT_THEIRS_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/obj/obj.h"

#define THEIRS_STEPS_MAX 32  /* of a path */
#define THEIRS_PATH_MAX  512 /* bytes */

/* E_INVALID: it is none, or of what says which object it is, or of its status. */
int theirs_check(const char *path, struct error *err);
/* paths: a list of texts that were checked; NULL: none. want itself, or a copy (arena) that has at
 * these what live has, or nothing where that has nothing. live NULL: want. */
const struct obj *theirs_take(const struct obj *want, const struct obj *live,
			      const struct obj *paths, struct arena *a);
/* Is its first step that member, however it is spelt? */
bool theirs_begins(const char *path, const char *member);
/* Is the field one of those, or in one of those, however they are spelt? field: a path in live, with
 * the numbers that items have there. want: what is declared of it. Both may be NULL: then an item that
 * is named is not found by its number. */
bool theirs_has(const struct obj *paths, const struct obj *want, const struct obj *live,
		const char *field, struct arena *a);

#endif
