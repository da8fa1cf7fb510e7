#include "catalog/index_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/index.h"

static int by_key(const void *a, const void *b)
{
	const struct index_ref *x = a, *y = b;
	int r = strcmp(x->key, y->key);
	if (!r)
		r = strcmp(x->package, y->package);
	if (!r)
		r = (x->app_type != NULL) - (y->app_type != NULL);
	return r || !x->app_type ? r : strcmp(x->app_type, y->app_type);
}

/* Versions of one package say the same again and again: what the one before said is left out. */
static bool said_before(const struct package_version *before, const char *resource)
{
	return before && package_provides(before, resource);
}

static bool same_app(const struct package_version *p, const struct package_version *before)
{
	return before && !strcmp(p->package, before->package) &&
	       (p->app_type == before->app_type ||
		(p->app_type && before->app_type && !strcmp(p->app_type, before->app_type)));
}

static size_t sort_refs(struct index_ref *refs, size_t n)
{
	size_t kept = 0;
	if (n)
		qsort(refs, n, sizeof(*refs), by_key);
	for (size_t i = 0; i < n; i++)
		if (!kept || by_key(&refs[kept - 1], &refs[i]))
			refs[kept++] = refs[i];
	return kept;
}

void index_lookup_build(struct catalog_index *x)
{
	size_t n_apps = 0, n_resources = 0, cap_apps = 0, cap_resources = 0;
	struct index_ref *apps = NULL, *resources = NULL;
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		const struct package_version *before = i ? x->versions[i - 1] : NULL;
		if (!same_app(p, before))
			before = NULL;
		if (p->app_type && !before) {
			ARRAY_GROW(apps, cap_apps, n_apps + 1);
			apps[n_apps++] = (struct index_ref){p->app_type, p->package, p->app_type};
		}
		for (size_t k = 0; k < p->n_provides; k++) {
			if (said_before(before, p->provides[k]))
				continue;
			ARRAY_GROW(resources, cap_resources, n_resources + 1);
			resources[n_resources++] =
				(struct index_ref){p->provides[k], p->package, p->app_type};
		}
	}
	n_apps = sort_refs(apps, n_apps);
	n_resources = sort_refs(resources, n_resources);
	x->app_types = apps ? arena_memdup(x->arena, apps, n_apps * sizeof(*apps)) : NULL;
	x->resources = resources
			       ? arena_memdup(x->arena, resources, n_resources * sizeof(*resources))
			       : NULL;
	x->n_app_types = n_apps;
	x->n_resources = n_resources;
	xfree(apps);
	xfree(resources);
}

/* <0, 0, >0 as the reference sorts before, among or after those of the key; with crd: the part
 * before the slash. */
static int compare(const struct index_ref *r, const char *key, size_t len, bool crd)
{
	int c = strncmp(r->key, key, len);
	if (c)
		return c;
	char next = r->key[len];
	if (!next)
		return 0;
	if (crd && next == '/')
		return 0;
	return crd && next < '/' ? -1 : 1;
}

static const struct index_ref *find(const struct index_ref *refs, size_t n, const char *key,
				    bool crd, size_t *ret_n)
{
	size_t lo = 0, hi = n, len = strlen(key);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (compare(&refs[mid], key, len, crd) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	size_t end = lo;
	while (end < n && !compare(&refs[end], key, len, crd))
		end++;
	*ret_n = end - lo;
	return refs ? refs + lo : NULL;
}

const struct index_ref *index_by_app_type(const struct catalog_index *x, const char *self_ref,
					  size_t *ret_n)
{
	return find(x->app_types, x->n_app_types, self_ref, false, ret_n);
}

const struct index_ref *index_by_resource(const struct catalog_index *x, const char *resource,
					  size_t *ret_n)
{
	return find(x->resources, x->n_resources, resource, false, ret_n);
}

const struct index_ref *index_by_crd(const struct catalog_index *x, const char *crd, size_t *ret_n)
{
	return find(x->resources, x->n_resources, crd, true, ret_n);
}
