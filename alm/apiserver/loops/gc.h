/*
 * gc: the garbage collector (kube-api.md 10). Works from the index uid -> dependents in the store,
 * never by polling: a change names the uids to look at, a task looks.
 *
 * A dependent is deleted when none of its owners exists; with a living owner only the dead
 * references are removed. It never deletes a CustomResourceDefinition: data of users hangs on it.
 */
#ifndef ALM_APISERVER_LOOPS_GC_H
#define ALM_APISERVER_LOOPS_GC_H

#include "alm/apiserver/core.h"

struct gc *gc_new(struct apiserver *s);
void gc_free(struct gc *g);
/* Looks at every object with owners; at start. */
void gc_load(struct gc *g);

#endif
