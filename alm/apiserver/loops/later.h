/*
 * later: names that a loop of the server looks at again after ENGINE_RETRY_NS: what was refused, or is not urgent. All that
 * came in that time are looked at together, each once.
 */
#ifndef ALM_APISERVER_LOOPS_LATER_H
#define ALM_APISERVER_LOOPS_LATER_H

#include "alm/io/loop.h"

struct later_names {
	struct loop *loop;
	struct map *names;
	struct timer timer;
	void (*look_at)(void *arg, const char *name);
	void *arg;
};

/* In place; it may not move. */
void later_init(struct later_names *l, struct loop *loop,
		void (*look_at)(void *arg, const char *name), void *arg);
void later_release(struct later_names *l);
void later_add(struct later_names *l, const char *name);

#endif
