/* resource: names a resource type of an API server and one object of it. Strings are borrowed. */
#ifndef ALM_CLIENT_RESOURCE_H
#define ALM_CLIENT_RESOURCE_H

#include <stdbool.h>

#include "alm/base/arena.h"

struct resource {
	const char *group, *version, *plural, *kind; /* group "" for core */
	bool namespaced;
};

/* Strings and all, into the arena. */
struct resource resource_copy(const struct resource *r, struct arena *a);
/* "/apis/g/v/namespaces/ns/plural/name/sub"; ns, name and sub may be NULL. */
char *resource_path(const struct resource *r, const char *ns, const char *name, const char *sub,
		    struct arena *a);

#endif
