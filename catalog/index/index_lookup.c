#include "catalog/index/index_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/index/index.h"

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

struct refs {
	struct index_ref *items;
	size_t n, cap;
};

static void add(struct refs *l, const char *key, const struct package_version *p)
{
	ARRAY_GROW(l->items, l->cap, l->n + 1);
	l->items[l->n++] = (struct index_ref){key, p->package, p->app_type};
}

/* Sorted, without repetitions, in the arena; the list is gone. */
static struct index_ref *settle(struct refs *l, struct arena *a, size_t *ret_n)
{
	size_t kept = 0;
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), by_key);
	for (size_t i = 0; i < l->n; i++)
		if (!kept || by_key(&l->items[kept - 1], &l->items[i]))
			l->items[kept++] = l->items[i];
	struct index_ref *refs =
		l->items ? arena_memdup(a, l->items, kept * sizeof(*l->items)) : NULL;
	xfree(l->items);
	*ret_n = kept;
	return refs;
}

static int by_digest(const void *a, const void *b)
{
	const struct digest_ref *x = a, *y = b;
	int r = strcmp(x->digest, y->digest);
	return r ? r : (x->at > y->at) - (x->at < y->at);
}

static struct digest_ref *digests_of(const struct catalog_index *x)
{
	struct digest_ref *refs = x->n ? arena_alloc(x->arena, x->n * sizeof(*refs)) : NULL;
	for (size_t i = 0; i < x->n; i++)
		refs[i] = (struct digest_ref){x->versions[i]->digest, i};
	if (x->n)
		qsort(refs, x->n, sizeof(*refs), by_digest);
	return refs;
}

void index_lookup_build(struct catalog_index *x)
{
	struct refs apps = {0}, resources = {0};
	for (size_t i = 0; i < x->n; i++) {
		const struct package_version *p = x->versions[i];
		const struct package_version *before = i ? x->versions[i - 1] : NULL;
		if (!same_app(p, before))
			before = NULL;
		if (p->app_type && !before)
			add(&apps, p->app_type, p);
		for (size_t k = 0; k < p->n_provides; k++)
			if (!said_before(before, p->provides[k]))
				add(&resources, p->provides[k], p);
	}
	x->app_types = settle(&apps, x->arena, &x->n_app_types);
	x->resources = settle(&resources, x->arena, &x->n_resources);
	x->digests = digests_of(x);
}

struct package_version *index_by_digest(const struct catalog_index *x, struct str digest_prefix)
{
	size_t lo = 0, hi = x->n, first = x->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (str_cmp(str_of(x->digests[mid].digest), digest_prefix) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* behind are those that begin with it; the first of the versions is wanted */
	for (; lo < x->n && str_has_prefix(str_of(x->digests[lo].digest), digest_prefix); lo++)
		first = x->digests[lo].at < first ? x->digests[lo].at : first;
	return first < x->n ? x->versions[first] : NULL;
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
