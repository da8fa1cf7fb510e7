/* core: see core.h. */
#include "alm/apiserver/core.h"

struct store_table *server_resource(struct apiserver *s, const struct kind *k)
{
	return store_resource(s->store, k->storage_group ? k->storage_group : k->group, k->plural);
}

void server_notice(struct apiserver *s, const char *fmt, ...)
{
	va_list args;
	if (s->n_notices == APISERVER_NOTICES_MAX)
		return;
	va_start(args, fmt);
	s->notices[s->n_notices++] = arena_vfmt(s->arena, fmt, args);
	va_end(args);
}
