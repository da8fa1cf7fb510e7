/* From a conflict to what is learned (solve.h): the clause in conflict is resolved with the causes
 * of its terms, newest first, until only one term of the newest level is left. */
#include <string.h>

#include "catalog/resolve/solve_internal.h"

void scratch_init(struct scratch *x, const struct solve *s, struct arena *a)
{
	x->sets = ARENA_ARRAY(a, uint64_t *, s->n_packages);
	x->list = ARENA_ARRAY(a, uint32_t, s->n_packages);
	x->n = 0;
}

static void add_term(struct scratch *x, const struct solve *s, const struct solve_term *t,
		     struct arena *a)
{
	size_t n_words = s->packages[t->package].n_words;
	uint64_t *set = x->sets[t->package];
	if (!set) {
		x->sets[t->package] = arena_memdup(a, t->set, n_words * sizeof(uint64_t));
		x->list[x->n++] = (uint32_t)t->package;
		return;
	}
	for (size_t i = 0; i < n_words; i++)
		set[i] &= t->set[i];
}

void scratch_load(struct scratch *x, const struct solve *s, const struct clause *c, struct arena *a)
{
	for (uint32_t i = 0; i < c->n; i++)
		add_term(x, s, &c->terms[i], a);
}

static void drop(struct scratch *x, uint32_t package)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->list[i] == package) {
			x->list[i] = x->list[--x->n];
			x->sets[package] = NULL;
			return;
		}
}

void scratch_resolve(struct scratch *x, const struct solve *s, const struct clause *c,
		     uint32_t pivot, struct arena *a)
{
	const struct package *p = &s->packages[pivot];
	for (uint32_t i = 0; i < c->n; i++) {
		const struct solve_term *t = &c->terms[i];
		if (t->package != pivot) {
			add_term(x, s, t, a);
			continue;
		}
		uint64_t *set = x->sets[pivot];
		for (size_t k = 0; set && k < p->n_words; k++)
			set[k] |= t->set[k];
		if (set && solve_is_subset(p->full, set, p->n_words))
			drop(x, pivot); /* true in any case */
	}
}

struct solve_term *scratch_terms(const struct scratch *x, struct arena *a)
{
	struct solve_term *terms = ARENA_ARRAY(a, struct solve_term, x->n);
	for (size_t i = 0; i < x->n; i++)
		terms[i] = (struct solve_term){x->list[i], x->sets[x->list[i]]};
	return terms;
}

/* The step at which the term came true. */
static uint32_t satisfier(const struct solve *s, uint32_t package, const uint64_t *set)
{
	uint32_t at = s->packages[package].last;
	while (s->steps[at].before != NO_INDEX &&
	       solve_is_subset(s->words + s->steps[s->steps[at].before].domain, set,
			       s->packages[package].n_words))
		at = s->steps[at].before;
	return at;
}

struct newest {
	uint32_t step;  /* of all terms */
	uint32_t level; /* of the others: 0 if there is none */
	bool any;
};

static struct newest find_newest(const struct solve *s, const struct scratch *x)
{
	struct newest n = {0};
	for (size_t i = 0; i < x->n; i++) {
		uint32_t step = satisfier(s, x->list[i], x->sets[x->list[i]]);
		uint32_t loser = step;
		if (!n.any || step > n.step) {
			loser = n.step;
			n.step = step;
		}
		if (n.any && s->steps[loser].level > n.level)
			n.level = s->steps[loser].level;
		n.any = true;
	}
	return n;
}

int64_t solve_learn(struct solve *s, uint32_t conflict, uint32_t *ret)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(SOLVE_BYTES_MAX);
	struct scratch x;
	scratch_init(&x, s, a);
	scratch_load(&x, s, &s->clauses[conflict], a);
	uint32_t *chain = NULL, *pivots = NULL;
	size_t n = 0, cap_chain = 0, cap_pivots = 0;
	int64_t back = -1;
	ARRAY_GROW(chain, cap_chain, 1);
	ARRAY_GROW(pivots, cap_pivots, 1);
	pivots[0] = NO_INDEX;
	chain[n++] = conflict;
	for (struct newest newest = find_newest(s, &x); newest.any; newest = find_newest(s, &x)) {
		const struct solve_step *step = &s->steps[newest.step];
		if (step->cause == CAUSE_ROOT || step->cause == CAUSE_START)
			break; /* nothing but the version asked for is left */
		if (step->cause == CAUSE_DECISION || newest.level < step->level) {
			back = newest.level;
			break;
		}
		scratch_resolve(&x, s, &s->clauses[step->cause], step->package, a);
		ARRAY_GROW(chain, cap_chain, n + 1);
		ARRAY_GROW(pivots, cap_pivots, n + 1);
		pivots[n] = step->package;
		chain[n++] = (uint32_t)step->cause;
	}
	uint32_t learned = solve_add_clause(s, scratch_terms(&x, a), x.n);
	struct clause *c = &s->clauses[learned];
	c->chain = arena_memdup(s->a, chain, n * sizeof(*chain));
	c->pivots = arena_memdup(s->a, pivots, n * sizeof(*pivots));
	c->n_chain = (uint32_t)n;
	xfree(chain);
	xfree(pivots);
	*ret = learned;
	return back;
}
