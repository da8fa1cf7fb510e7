/* solve_internal: shared by solve.c (problem, search), solve_learn.c (conflicts) and
 * solve_explain.c (sentences). */
#ifndef CATALOG_RESOLVE_SOLVE_INTERNAL_H
#define CATALOG_RESOLVE_SOLVE_INTERNAL_H

#include "catalog/resolve/solve.h"

#define NO_INDEX UINT32_MAX

struct clause { /* its terms cannot all be true */
	struct solve_term *terms;
	uint32_t n;
	uint32_t watch[2]; /* of terms; the same twice if there is one */
	const char *text;  /* of a fact; NULL: learned */
	const void *tag;
	uint32_t *chain;  /* learned: the first clause, then those it was resolved with */
	uint32_t *pivots; /* pivots[i]: the package on which chain[i] was resolved */
	uint32_t n_chain;
};

struct package {
	const char *name;
	const char *const *versions;
	size_t n;       /* versions; values are 0..n */
	size_t n_words; /* of a set */
	size_t rank;    /* in order of name */
	uint64_t *full; /* all values it may have at all */
	size_t domain;  /* offset of the current one in trail words */
	uint32_t last;  /* newest trail entry about it */
	uint64_t *open; /* values left by facts about decided packages alone: gives the order */
	bool decided;
	uint32_t *watchers, *facts; /* clauses that watch it; facts that name it */
	size_t n_watchers, cap_watchers, n_facts, cap_facts;
};

enum cause { CAUSE_START = -3, CAUSE_ROOT = -2, CAUSE_DECISION = -1 }; /* else a clause */

struct solve_step {               /* one change of one domain */
	uint32_t package, before; /* before: previous step about the same package, or NO_INDEX */
	int64_t cause;
	uint32_t level;
	size_t domain; /* offset of the set after it */
};

struct level { /* one decision */
	size_t n_steps, n_words, n_undo;
	uint32_t package;
};

struct undo { /* of package.open */
	uint32_t package;
	uint64_t *was;
};

struct solve {
	struct arena *a;
	struct package *packages;
	size_t n_packages, cap_packages;
	struct clause *clauses;
	size_t n_clauses, cap_clauses;
	struct solve_step *steps;
	size_t n_steps, cap_steps, done; /* done: propagated so far */
	uint64_t *words;
	size_t n_words, cap_words;
	struct level *levels; /* levels[0] is before the first decision */
	size_t n_levels, cap_levels;
	struct undo *undos;
	size_t n_undos, cap_undos;
	int64_t n_decisions, decisions_max, work; /* work: terms looked at */
	size_t root;
	uint32_t conclusion; /* clause to explain; NO_INDEX */
};

static inline const uint64_t *solve_domain(const struct solve *s, size_t package)
{
	return s->words + s->packages[package].domain;
}
bool solve_is_subset(const uint64_t *x, const uint64_t *of, size_t n_words);
/* Appends a clause with copies of the terms; it is not watched yet. */
uint32_t solve_add_clause(struct solve *s, const struct solve_term *terms, size_t n);

/* A conflict becomes a learned clause. The level to go back to, or -1: there is no solution; the
 * clause is *ret. */
int64_t solve_learn(struct solve *s, uint32_t conflict, uint32_t *ret);

/* The terms of a clause while it is resolved: at most one per package. */
struct scratch {
	uint64_t **sets; /* by package; NULL: not in it */
	uint32_t *list;
	size_t n;
};
void scratch_init(struct scratch *x, const struct solve *s, struct arena *a);
void scratch_load(struct scratch *x, const struct solve *s, const struct clause *c,
		  struct arena *a);
/* Resolves with c on the package: the union there, the intersection elsewhere. */
void scratch_resolve(struct scratch *x, const struct solve *s, const struct clause *c,
		     uint32_t pivot, struct arena *a);
struct solve_term *scratch_terms(const struct scratch *x, struct arena *a);

#endif
