/* Which app claims a CRD, needs a resource, refuses a package. */
#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/base/multimap.h"
#include "catalog/resolve/resolve_internal.h"

/* What was looked at while somebody records: readers of const claims note it. */
struct touched {
	const struct resolve_claim **items;
	size_t n, cap;
	bool on;
};

struct resolve_claims {
	struct map *apps; /* app -> its claim */
	struct multimap *tables[CLAIM_MAX];
	struct touched *touched;
};

struct resolve_claims *resolve_claims_new(void)
{
	struct resolve_claims *c = xcalloc(1, sizeof(*c));
	c->apps = map_new(NULL);
	c->touched = xcalloc(1, sizeof(*c->touched));
	for (size_t i = 0; i < CLAIM_MAX; i++)
		c->tables[i] = multimap_new();
	return c;
}

void resolve_claims_free(struct resolve_claims *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CLAIM_MAX; i++)
		multimap_free(c->tables[i]);
	map_free(c->apps);
	xfree(c->touched->items);
	xfree(c->touched);
	xfree(c);
}

/* --- changes --- */

typedef void visit_fn(struct multimap *t, const char *key, struct resolve_claim *c);

static int by_app(const void *a, const void *b)
{
	const struct resolve_claim *x = a, *y = b;
	return strcmp(x->app, y->app);
}

static void add(struct multimap *t, const char *key, struct resolve_claim *c)
{
	multimap_add_sorted(t, key, c, by_app);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): a visit_fn */
static void take_out(struct multimap *t, const char *key, struct resolve_claim *c)
{
	multimap_remove(t, key, c);
}

/* "etcds.etcd.coreos.com/v1" is a claim of the CRD. */
static struct str crd_of(const char *resource)
{
	return str_n(resource, strcspn(resource, "/"));
}

/* Each table with each key under which the claim stands there. */
static void visit(const struct resolve_claims *all, const struct resolve_claim *c, visit_fn *fn)
{
	struct resolve_claim *mine = mem_unconst(c);
	const struct package_version *e = c->entry;
	fn(all->tables[CLAIM_SELF_REF], c->self_ref, mine);
	for (const char *const *m = c->managed; m && *m; m++) {
		CLEANUP(xfreep) char *crd = str_dup(crd_of(*m));
		fn(all->tables[CLAIM_CRD], crd, mine);
	}
	for (size_t k = 0; e && k < e->n_requires; k++)
		fn(all->tables[CLAIM_NEED], e->requires[k].resource, mine);
	for (size_t k = 0; e && k < e->n_conflicts; k++)
		fn(all->tables[CLAIM_REFUSAL], e->conflicts[k].package, mine);
	if (e)
		fn(all->tables[CLAIM_PACKAGE], e->package, mine);
}

void resolve_claims_drop(struct resolve_claims *c, const char *app)
{
	const struct resolve_claim *old = map_take(c->apps, app);
	c->touched->n = 0;
	if (old)
		visit(c, old, take_out);
}

void resolve_claims_put(struct resolve_claims *c, const struct resolve_claim *claim)
{
	resolve_claims_drop(c, claim->app);
	map_set(c->apps, claim->app, mem_unconst(claim));
	visit(c, claim, add);
}

static void free_all(void *p)
{
	resolve_claims_free(p);
}

const struct resolve_claims *resolve_claims_of(const struct resolve_claim *list, size_t n,
					       struct arena *a)
{
	struct resolve_claims *c = resolve_claims_new();
	arena_defer(a, free_all, c);
	for (size_t i = 0; i < n; i++)
		resolve_claims_put(c, &list[i]);
	return c;
}

/* --- reading --- */

static int by_app_of(const void *a, const void *b)
{
	const struct resolve_claim *const *x = a, *const *y = b;
	return strcmp((*x)->app, (*y)->app);
}

static void sort(const struct resolve_claim **list, size_t n)
{
	if (n)
		qsort(list, n, sizeof(const struct resolve_claim *), by_app_of);
}

/* In order, each once. */
static void compact(struct touched *t)
{
	size_t n = 0;
	sort(t->items, t->n);
	for (size_t i = 0; i < t->n; i++)
		if (!n || t->items[n - 1] != t->items[i])
			t->items[n++] = t->items[i];
	t->n = n;
}

/* A search asks for the same ones again and again: what is kept is bounded by the apps there are.
 */
static void touch(const struct resolve_claims *c, void *const *claims, size_t n)
{
	struct touched *t = c->touched;
	if (t->n > 2 * map_count(c->apps))
		compact(t);
	ARRAY_GROW(t->items, t->cap, t->n + n);
	for (size_t i = 0; i < n; i++)
		t->items[t->n++] = claims[i];
}

const struct resolve_claim *const *claims_find(const struct resolve_claims *c, enum claim_table t,
					       struct str key, size_t *ret_n)
{
	void *const *found = multimap_getn(c->tables[t], key, ret_n);
	if (c->touched->on)
		touch(c, found, *ret_n);
	return (const struct resolve_claim *const *)found;
}

void claims_record(const struct resolve_claims *c)
{
	c->touched->n = 0;
	c->touched->on = true;
}

const struct resolve_claim **claims_list(const struct resolve_claims *c, struct arena *a,
					 size_t *ret_n)
{
	size_t n = 0;
	const struct resolve_claim **list =
		ARENA_ARRAY(a, const struct resolve_claim *, map_count(c->apps));
	for (const struct map_entry *e = map_first(c->apps); e; e = map_next(e))
		list[n++] = e->value;
	sort(list, n);
	*ret_n = n;
	return list;
}

const struct resolve_claim **claims_touched(const struct resolve_claims *c, struct arena *a,
					    size_t *ret_n)
{
	struct touched *t = c->touched;
	compact(t);
	t->on = false;
	*ret_n = t->n;
	return t->n ? arena_memdup(a, t->items, t->n * sizeof(const struct resolve_claim *)) : NULL;
}

const struct resolve_claim *claims_app(const struct resolver *r, const char *self_ref)
{
	size_t n = 0;
	const struct resolve_claim *const *f = NULL;
	if (r->in->claims && self_ref && strcmp(self_ref, r->in->self_ref) != 0)
		f = claims_find(r->in->claims, CLAIM_SELF_REF, str_of(self_ref), &n);
	return n ? *f : NULL;
}

const struct resolve_claim *claims_crd(const struct resolver *r, const char *crd)
{
	size_t n = 0;
	const struct resolve_claim *const *f = NULL;
	if (r->in->claims)
		f = claims_find(r->in->claims, CLAIM_CRD, crd_of(crd), &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i]->self_ref, r->in->self_ref) != 0)
			return f[i];
	return NULL;
}
