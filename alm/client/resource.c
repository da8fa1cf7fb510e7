/* resource: see resource.h. */
#include "alm/client/resource.h"

#include "alm/io/http.h"

char *resource_path(const struct resource *r, const char *ns, const char *name, const char *sub,
		    struct arena *a)
{
	const char *root = *r->group ? arena_fmt(a, "/apis/%s/%s", r->group, r->version)
				     : arena_fmt(a, "/api/%s", r->version);
	const char *space = "", *object = "", *child = "";
	if (r->namespaced && ns && *ns)
		space = arena_fmt(a, "/namespaces/%s", url_encode(str_of(ns), a));
	if (name)
		object = arena_fmt(a, "/%s", url_encode(str_of(name), a));
	if (sub)
		child = arena_fmt(a, "/%s", sub);
	return arena_fmt(a, "%s%s/%s%s%s", root, space, r->plural, object, child);
}

struct resource resource_copy(const struct resource *r, struct arena *a)
{
	return (struct resource){.group = arena_strdup(a, r->group),
				 .version = arena_strdup(a, r->version),
				 .plural = arena_strdup(a, r->plural),
				 .kind = arena_strdup(a, r->kind),
				 .namespaced = r->namespaced};
}
