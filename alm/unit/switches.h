/*
 * switches: what an object of a unit says of itself, in annotations app.coreos.com/: one-off and force
 * ("true"), wait and prune ("disabled"). Pure.
 *
 * force: a change that the server refuses because a field of it is immutable is made by deleting the
 * object and making it anew. That object alone; never one whose deletion takes with it what nobody could
 * make again.
 */
#ifndef ALM_UNIT_SWITCHES_H
#define ALM_UNIT_SWITCHES_H

#include "alm/base/error.h"
#include "alm/obj/obj.h"

/* E_INVALID: one of them has a value that says nothing. The message begins with the annotation. */
int switches_check(const struct obj *o, struct error *err);
/* force: true */
bool switches_force(const struct obj *o);
/* Does a server say of a change with this that it cannot be made to what is there? */
bool switches_is_immutable(int code, const char *message);
/* Why an object is not made anew that is to be; NULL: it is. live may be NULL. Constant text. */
const char *switches_spare(const struct obj *want, const struct obj *live);

#endif
