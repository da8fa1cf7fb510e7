/* Paths of upgrade edges (lifecycle.md 2.3). */
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

#define PATH_HOPS_MAX 1000

/* For every candidate, by index: hops from the installed version (0: unreachable), the first stop
 * of them, and the last before the candidate. */
struct resolver_paths {
	size_t *hops, *first, *from;
};

static bool has_edges(const struct package_version *p)
{
	return p && (p->replaces || p->n_skips || p->skip_range);
}

/* skips: its skipRange, parsed; NULL: none. */
static bool is_edge(const char *from, const struct version *fv, const struct candidate *to,
		    const struct range *skips)
{
	const struct package_version *p = to->entry;
	if (!has_edges(p))
		return version_cmp(fv, &to->parsed) < 0;
	if (p->replaces && !strcmp(p->replaces, from))
		return true;
	for (size_t i = 0; i < p->n_skips; i++)
		if (!strcmp(p->skips[i], from))
			return true;
	return skips && range_matches(skips, fv);
}

/* Candidates stand newest first, so index i is reached from the installed version or from a stop of
 * a higher index. */
static void lay_path(struct resolver *r, size_t i, const bool *stops, struct range *space)
{
	struct resolver_paths *x = r->paths;
	const struct candidate *to = &r->candidates[i];
	const struct range *skips = NULL;
	struct error err;
	if (version_cmp(&to->parsed, &r->installed) <= 0)
		return;
	if (to->entry && to->entry->skip_range &&
	    range_parse(str_of(to->entry->skip_range), r->a, space, &err) == 0)
		skips = space;
	if (is_edge(r->in->installed_version, &r->installed, to, skips)) {
		x->hops[i] = 1;
		x->first[i] = i;
		return;
	}
	for (size_t k = i + 1; has_edges(to->entry) && k < r->n; k++) {
		const struct candidate *stop = &r->candidates[k];
		bool on_path = stops[k] && x->hops[k] && x->hops[k] < PATH_HOPS_MAX;
		bool better = !x->hops[i] || x->hops[k] + 1 < x->hops[i] ||
			      (x->hops[k] + 1 == x->hops[i] && x->first[k] < x->first[i]);
		if (!on_path || !better || !is_edge(stop->version, &stop->parsed, to, skips))
			continue;
		x->hops[i] = x->hops[k] + 1;
		x->first[i] = x->first[k];
		x->from[i] = k;
	}
}

static const struct resolver_paths *lay_paths(struct resolver *r)
{
	if (r->paths)
		return r->paths;
	bool *stops = ARENA_ARRAY(r->a, bool, r->n);
	struct range *space = ARENA_NEW(r->a, struct range);
	r->paths = ARENA_NEW(r->a, struct resolver_paths);
	r->paths->hops = ARENA_ARRAY(r->a, size_t, r->n);
	r->paths->first = ARENA_ARRAY(r->a, size_t, r->n);
	r->paths->from = ARENA_ARRAY(r->a, size_t, r->n);
	for (size_t i = r->n; i-- > 0;) {
		stops[i] = resolver_is_stop(r, &r->candidates[i]);
		lay_path(r, i, stops, space);
	}
	return r->paths;
}

/* Fewest hops, then the higher first hop. */
size_t resolver_path(struct resolver *r, const struct candidate *c, const char ***ret_path)
{
	if (!r->has_edges || c->manual) {
		if (ret_path) {
			*ret_path = ARENA_ARRAY(r->a, const char *, 1);
			(*ret_path)[0] = c->version;
		}
		return 1;
	}
	const struct resolver_paths *x = lay_paths(r);
	size_t at = (size_t)(c - r->candidates), n = x->hops[at];
	if (n && ret_path) {
		*ret_path = ARENA_ARRAY(r->a, const char *, n);
		for (size_t h = n; h-- > 0; at = x->from[at])
			(*ret_path)[h] = r->candidates[at].version;
	}
	return n;
}
