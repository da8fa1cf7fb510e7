/* What there is for an app that no package installs, and where. */
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

static bool is_listed(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

size_t resolve_offered(const struct resolve_input *in, const char *names[RESOLVE_OFFERED_MAX + 1])
{
	size_t n = 0;
	for (size_t i = 0; i < in->n_indexes; i++) {
		const struct catalog_index *x = in->indexes[i];
		for (size_t k = 0; k < x->n && n <= RESOLVE_OFFERED_MAX; k++)
			if (!is_listed(names, n, x->versions[k]->package))
				names[n++] = x->versions[k]->package;
	}
	return n;
}

/* ": a, b". */
static const char *package_names(const struct resolve_input *in, struct arena *a)
{
	const char *names[RESOLVE_OFFERED_MAX + 1], *text = "";
	size_t n = resolve_offered(in, names);
	for (size_t i = 0; i < n && i < RESOLVE_OFFERED_MAX; i++)
		text = arena_fmt(a, "%s%s%s", text, i ? ", " : ": ", names[i]);
	return n > RESOLVE_OFFERED_MAX ? arena_fmt(a, "%s, ...", text) : text;
}

const char *resolver_where_packages_are(const struct resolve_input *in, struct arena *a)
{
	if (in->n_indexes)
		return arena_fmt(a, "spec.package names one of theirs%s", package_names(in, a));
	if (in->n_unsynced)
		return arena_fmt(a, "%zu catalog%s there and not read so far; alm status says why",
				 in->n_unsynced, in->n_unsynced == 1 ? " is" : "s are");
	return "alm catalog add NAME URL makes a catalog";
}
