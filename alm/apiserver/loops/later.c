/* later: see later.h. */
#include "alm/apiserver/loops/later.h"

#include "alm/apiserver/loops/engine.h"
#include "alm/base/map.h"

static void due(void *arg)
{
	struct later_names *l = arg;
	struct map *names = l->names; /* who looks may add some for the next time */
	l->names = map_new(NULL);
	for (struct map_entry *e = map_first(names); e; e = map_next(e))
		l->look_at(l->arg, e->key);
	map_free(names);
}

void later_init(struct later_names *l, struct loop *loop,
		void (*look_at)(void *arg, const char *name), void *arg)
{
	*l = (struct later_names){.loop = loop,
				  .names = map_new(NULL),
				  .timer = {.fn = due, .arg = l},
				  .look_at = look_at,
				  .arg = arg};
}

void later_release(struct later_names *l)
{
	loop_disarm(l->loop, &l->timer);
	map_free(l->names);
}

void later_add(struct later_names *l, const char *name)
{
	if (!map_count(l->names))
		loop_arm(l->loop, &l->timer, ENGINE_RETRY_NS);
	map_set(l->names, name, NULL);
}
