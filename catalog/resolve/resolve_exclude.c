/* resolve_exclude: packages that exclude each other: by a conflict that one declares, or as both bring
 * one CRD. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/resolve_internal.h"
#include "catalog/resolve/resolve_relax.h"
#include "catalog/resolve/resolve_search.h"
#include "catalog/resolve/solve.h"

static void refuse(struct search *x, size_t node, size_t value, size_t other,
		   const struct package_conflict *q)
{
	const struct node *to = &x->nodes[other];
	uint64_t *set = solve_set(x->solve, other);
	bool any = false;
	for (size_t v = 1; v <= to->n; v++)
		if (search_in_range(x, q->versions, &to->values[v - 1]->parsed)) {
			solve_set_add(set, v);
			any = true;
		}
	if (!any || node == other)
		return;
	const char *text =
		arena_fmt(x->a, "%s %s conflicts with %s%s%s", x->nodes[node].name,
			  x->nodes[node].values[value - 1]->version, q->package,
			  q->versions && *q->versions ? " " : "", q->versions ? q->versions : "");
	solve_fact(x->solve, text, NULL,
		   (struct solve_term[]){{node, search_value(x, node, value)}, {other, set}}, 2);
}

/* Installed apps that this package refuses, or that refuse it, take part. */
void search_meet_conflicts(struct search *x, size_t node)
{
	const struct resolve_claims *claims = x->r->in->claims;
	size_t n = 0;
	const struct resolve_claim *const *f = NULL;
	const char *package = x->nodes[node].package;
	if (claims)
		f = claims_find(claims, CLAIM_REFUSAL, str_of(package), &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i]->self_ref, x->r->in->self_ref) != 0)
			search_claim(x, f[i]);
	for (size_t v = 0; claims && v < x->nodes[node].n; v++) {
		const struct package_version *e = x->nodes[node].values[v]->entry;
		for (size_t k = 0; e && k < e->n_conflicts; k++) {
			const char *other = e->conflicts[k].package;
			f = claims_find(claims, CLAIM_PACKAGE, str_of(other), &n);
			for (size_t i = 0; i < n; i++)
				if (strcmp(f[i]->self_ref, x->r->in->self_ref) != 0)
					search_claim(x, f[i]);
		}
	}
}

void search_emit_conflicts(struct search *x, size_t node, size_t value)
{
	const struct package_version *e = x->nodes[node].values[value - 1]->entry;
	for (size_t k = 0; e && k < e->n_conflicts; k++)
		for (size_t i = 0; i < x->n_nodes; i++)
			if (!strcmp(x->nodes[i].package, e->conflicts[k].package))
				refuse(x, node, value, i, &e->conflicts[k]);
}

struct bringer {
	const char *crd;
	size_t node;
	uint64_t *values;
};

static int by_crd(const void *a, const void *b)
{
	const struct bringer *x = a, *y = b;
	int r = strcmp(x->crd, y->crd);
	return r ? r : (x->node > y->node) - (x->node < y->node);
}

/* What each version of each package brings; owned. */
static struct bringer *bringers(struct search *x, size_t *ret_n)
{
	struct bringer *all = NULL;
	size_t n = 0, cap = 0, n_managed;
	for (size_t i = 0; x->n_nodes > 1 && i < x->n_nodes; i++)
		for (size_t v = 1; v <= x->nodes[i].n; v++) {
			const char *const *m =
				resolver_managed(x->nodes[i].values[v - 1], &n_managed);
			ARRAY_GROW(all, cap, n + n_managed + 1);
			assert(all);
			for (size_t k = 0; k < n_managed; k++)
				all[n++] = (struct bringer){resolver_crd_name(x->a, m[k]), i,
							    search_value(x, i, v)};
		}
	*ret_n = n;
	return all;
}

/* Two packages for one CRD exclude each other. */
void search_emit_shared_crds(struct search *x)
{
	size_t n = 0;
	struct bringer *all = bringers(x, &n);
	if (n)
		qsort(all, n, sizeof(*all), by_crd);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) { /* one for each CRD and package */
		struct bringer *last = kept ? &all[kept - 1] : NULL;
		if (!last || by_crd(last, &all[i])) {
			all[kept++] = all[i];
			continue;
		}
		for (size_t w = 0; w < x->nodes[last->node].n / 64 + 1; w++)
			last->values[w] |= all[i].values[w];
	}
	for (size_t i = 0; i < kept; i++)
		for (size_t k = i + 1; k < kept && !strcmp(all[i].crd, all[k].crd); k++) {
			const struct bringer *p = &all[i], *q = &all[k];
			const char *text = arena_fmt(
				x->a, "%s and %s both bring %s",
				search_versions(x, &x->nodes[p->node], p->values),
				search_versions(x, &x->nodes[q->node], q->values), p->crd);
			solve_fact(
				x->solve, text, NULL,
				(struct solve_term[]){{p->node, p->values}, {q->node, q->values}},
				2);
		}
	xfree(all);
}
