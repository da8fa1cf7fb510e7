/* Which app claims a CRD, needs a resource, refuses a package. */
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/resolve_internal.h"

static size_t crd_len(const char *resource)
{
	return strcspn(resource, "/");
}

static int by_key(const void *a, const void *b)
{
	const struct claim_ref *x = a, *y = b;
	size_t least = x->len < y->len ? x->len : y->len;
	int r = memcmp(x->key, y->key, least);
	if (!r)
		r = (x->len > y->len) - (x->len < y->len);
	return r ? r : strcmp(x->claim->app, y->claim->app);
}

static void sort(struct claim_table *t)
{
	if (t->n)
		qsort(t->refs, t->n, sizeof(*t->refs), by_key);
}

static void add(struct claim_table *t, const char *key, size_t len, const struct resolve_claim *c,
		bool *touched) /* NOLINT(readability-non-const-parameter): kept, to be written */
{
	ARRAY_GROW(t->refs, t->cap, t->n + 1);
	t->refs[t->n++] = (struct claim_ref){key, len, c, touched};
}

static void release(void *p)
{
	struct resolve_claims *c = p;
	xfree(c->crds.refs);
	xfree(c->needs.refs);
	xfree(c->refusals.refs);
	xfree(c->self_refs.refs);
	xfree(c->packages.refs);
}

const struct resolve_claims *resolve_claims_new(const struct resolve_claim *list, size_t n,
						struct arena *a)
{
	struct resolve_claims *all = ARENA_NEW(a, struct resolve_claims);
	arena_defer(a, release, all);
	all->list = list;
	all->n = n;
	all->touched = ARENA_ARRAY(a, bool, n);
	for (size_t i = 0; i < n; i++) {
		const struct resolve_claim *c = &list[i];
		const struct package_version *e = c->entry;
		bool *t = &all->touched[i];
		add(&all->self_refs, c->self_ref, strlen(c->self_ref), c, t);
		for (const char *const *m = c->managed; m && *m; m++)
			add(&all->crds, *m, crd_len(*m), c, t);
		for (size_t k = 0; e && k < e->n_requires; k++)
			add(&all->needs, e->requires[k].resource, strlen(e->requires[k].resource),
			    c, t);
		for (size_t k = 0; e && k < e->n_conflicts; k++)
			add(&all->refusals, e->conflicts[k].package,
			    strlen(e->conflicts[k].package), c, t);
		if (e)
			add(&all->packages, e->package, strlen(e->package), c, t);
	}
	sort(&all->self_refs);
	sort(&all->crds);
	sort(&all->needs);
	sort(&all->refusals);
	sort(&all->packages);
	return all;
}

static int compare(const struct claim_ref *r, const char *key, size_t len)
{
	size_t least = r->len < len ? r->len : len;
	int c = memcmp(r->key, key, least);
	return c ? c : (r->len > len) - (r->len < len);
}

const struct claim_ref *claims_find(const struct claim_table *t, const char *key, size_t len,
				    size_t *ret_n)
{
	size_t lo = 0, hi = t->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (compare(&t->refs[mid], key, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	size_t end = lo;
	while (end < t->n && !compare(&t->refs[end], key, len))
		end++;
	*ret_n = end - lo;
	for (size_t i = lo; i < end; i++)
		*t->refs[i].touched = true;
	return t->refs ? t->refs + lo : NULL;
}

const struct resolve_claim *claims_app(const struct resolver *r, const char *self_ref)
{
	size_t n = 0;
	const struct claim_ref *f = NULL;
	if (r->in->claims && self_ref && strcmp(self_ref, r->in->self_ref) != 0)
		f = claims_find(&r->in->claims->self_refs, self_ref, strlen(self_ref), &n);
	return n ? f->claim : NULL;
}

const struct resolve_claim *claims_crd(const struct resolver *r, const char *crd)
{
	size_t n = 0;
	const struct claim_ref *f = NULL;
	if (r->in->claims)
		f = claims_find(&r->in->claims->crds, crd, crd_len(crd), &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i].claim->self_ref, r->in->self_ref) != 0)
			return f[i].claim;
	return NULL;
}
