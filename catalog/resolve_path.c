/* Paths of upgrade edges (lifecycle.md 2.3). */
#include <string.h>

#include "catalog/resolve_internal.h"

#define PATH_HOPS_MAX 1000

static bool is_edge(const struct resolver *r, const char *from, const struct version *fv,
		    const struct candidate *to)
{
	const struct package_version *p = to->entry;
	struct error err;
	if (!p || (!p->replaces && !p->n_skips && !p->skip_range))
		return version_cmp(fv, &to->parsed) < 0;
	if (p->replaces && !strcmp(p->replaces, from))
		return true;
	for (size_t i = 0; i < p->n_skips; i++)
		if (!strcmp(p->skips[i], from))
			return true;
	struct range range;
	return p->skip_range && range_parse(str_of(p->skip_range), r->a, &range, &err) == 0 &&
	       range_matches(&range, fv);
}

/* Fewest hops, then the higher first hop. Candidates stand newest first, so index i is reached from
 * the installed version or from a stop of a higher index. */
size_t resolver_path(struct resolver *r, const struct candidate *c, const char ***ret_path)
{
	size_t target = (size_t)(c - r->candidates);
	if (!r->has_edges || c->manual) {
		if (ret_path) {
			*ret_path = ARENA_ARRAY(r->a, const char *, 1);
			(*ret_path)[0] = c->version;
		}
		return 1;
	}
	size_t *hops = ARENA_ARRAY(r->a, size_t, r->n), *first = ARENA_ARRAY(r->a, size_t, r->n);
	size_t *from = ARENA_ARRAY(r->a, size_t, r->n);
	for (size_t i = r->n; i-- > target;) {
		const struct candidate *to = &r->candidates[i];
		if (version_cmp(&to->parsed, &r->installed) <= 0 ||
		    (i != target && !resolver_is_stop(r, to)))
			continue;
		if (is_edge(r, r->in->installed_version, &r->installed, to)) {
			hops[i] = 1;
			first[i] = i;
			continue;
		}
		for (size_t k = i + 1; k < r->n; k++) {
			const struct candidate *stop = &r->candidates[k];
			bool on_path = hops[k] && hops[k] < PATH_HOPS_MAX;
			bool better = !hops[i] || hops[k] + 1 < hops[i] ||
				      (hops[k] + 1 == hops[i] && first[k] < first[i]);
			if (!on_path || !better || !is_edge(r, stop->version, &stop->parsed, to))
				continue;
			hops[i] = hops[k] + 1;
			first[i] = first[k];
			from[i] = k;
		}
	}
	if (hops[target] && ret_path) {
		*ret_path = ARENA_ARRAY(r->a, const char *, hops[target]);
		size_t at = target;
		for (size_t h = hops[target]; h-- > 0; at = from[at])
			(*ret_path)[h] = r->candidates[at].version;
	}
	return hops[target];
}
