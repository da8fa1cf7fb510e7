/*
 * repairs: how often an object was put back that somebody had changed. Two who each put back what the other does
 * would go on for ever: what was put back REPAIRS_MAX times within REPAIRS_NS is put back once in REPAIRS_PAUSE_NS
 * from then on, until it has stayed as it is to be for that long.
 *
 * Kept in the stash, by the name of the object, as a deleted one comes back with another uid. So memory only: after
 * a restart it may be put back REPAIRS_MAX times once more before it is left again.
 */
#ifndef ALM_ENGINE_REPAIRS_H
#define ALM_ENGINE_REPAIRS_H

#include "alm/base/clock.h"
#include "alm/engine/view.h"

#define REPAIRS_MAX      5
#define REPAIRS_NS       (10 * NS_PER_MIN)
#define REPAIRS_PAUSE_NS NS_PER_HOUR
#define REPAIRS_WHY                                                                               \
	"it was put back 5 times in 10 minutes, and from then on is once an hour: somebody else " \
	"writes it, too"

/* What is known of an object, with one more. Pure: {"ns": [times, oldest first], "hourly"}. Owned. */
struct obj *repairs_add(const struct obj *known, int64_t now_ns);
/* When it may be put back again; 0: now. */
int64_t repairs_left(const struct obj *known, int64_t now_ns);

/* The same of an object in the view (ns NULL: it has none); when it was put back last (0: never); and of one that a
 * write has just put back. */
int64_t repairs_wait(const struct view *v, const struct obj *o, const char *ns);
int64_t repairs_last(const struct view *v, const struct obj *o, const char *ns);
struct resource;
void repairs_note(struct stash *s, const struct resource *r, const char *ns, const char *name,
		  int64_t now_ns);

#endif
