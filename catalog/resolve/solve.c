/* The problem and the search of solve.h: domains, watched terms, decisions. */
#include "catalog/resolve/solve.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/solve_internal.h"

#define WORDS(n) ((n) / 64 + 1)

struct solve *solve_new(void)
{
	struct solve *s = xcalloc(1, sizeof(*s));
	s->a = arena_new(SOLVE_BYTES_MAX);
	s->decisions_max = SOLVE_DECISIONS_MAX;
	s->conclusion = NO_INDEX;
	return s;
}

void solve_free(struct solve *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_packages; i++) {
		xfree(s->packages[i].watchers);
		xfree(s->packages[i].facts);
	}
	xfree(s->packages);
	xfree(s->clauses);
	xfree(s->steps);
	xfree(s->words);
	xfree(s->levels);
	xfree(s->undos);
	arena_free(s->a);
	xfree(s);
}

void solve_limit(struct solve *s, int64_t decisions_max)
{
	s->decisions_max = decisions_max;
}

size_t solve_package(struct solve *s, const char *name, const char *const *versions, size_t n,
		     bool present)
{
	assert(s->n_packages < SOLVE_PACKAGES_MAX && n <= SOLVE_VERSIONS_MAX);
	ARRAY_GROW(s->packages, s->cap_packages, s->n_packages + 1);
	struct package *p = &s->packages[s->n_packages];
	*p = (struct package){.name = name, .versions = versions, .n = n, .n_words = WORDS(n)};
	p->full = ARENA_ARRAY(s->a, uint64_t, p->n_words);
	for (size_t v = present; v <= n; v++)
		solve_set_add(p->full, v);
	p->open = arena_memdup(s->a, p->full, p->n_words * sizeof(uint64_t));
	p->last = NO_INDEX;
	return s->n_packages++;
}

uint64_t *solve_set(struct solve *s, size_t package)
{
	return ARENA_ARRAY(s->a, uint64_t, s->packages[package].n_words);
}

uint32_t solve_add_clause(struct solve *s, const struct solve_term *terms, size_t n)
{
	ARRAY_GROW(s->clauses, s->cap_clauses, s->n_clauses + 1);
	struct clause *c = &s->clauses[s->n_clauses];
	*c = (struct clause){.n = (uint32_t)n};
	c->terms = ARENA_ARRAY(s->a, struct solve_term, n);
	for (size_t i = 0; i < n; i++) {
		size_t bytes = s->packages[terms[i].package].n_words * sizeof(uint64_t);
		c->terms[i] = (struct solve_term){terms[i].package,
						  arena_memdup(s->a, terms[i].set, bytes)};
	}
	return (uint32_t)s->n_clauses++;
}

void solve_fact(struct solve *s, const char *text, const void *tag, const struct solve_term *terms,
		size_t n)
{
	assert(n == 1 || (n == 2 && terms[0].package != terms[1].package));
	uint32_t i = solve_add_clause(s, terms, n);
	s->clauses[i].text = text;
	s->clauses[i].tag = tag;
	for (size_t k = 0; k < n; k++) {
		struct package *p = &s->packages[terms[k].package];
		ARRAY_GROW(p->facts, p->cap_facts, p->n_facts + 1);
		p->facts[p->n_facts++] = i;
	}
}

/* --- domains --- */

bool solve_is_subset(const uint64_t *x, const uint64_t *of, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		if (x[i] & ~of[i])
			return false;
	return true;
}

static bool meets(const uint64_t *x, const uint64_t *y, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		if (x[i] & y[i])
			return true;
	return false;
}

static bool solve_entails(const struct solve *s, const struct solve_term *t)
{
	return solve_is_subset(solve_domain(s, t->package), t->set,
			       s->packages[t->package].n_words);
}

static uint64_t *new_step(struct solve *s, size_t package, int64_t cause)
{
	struct package *p = &s->packages[package];
	ARRAY_GROW(s->steps, s->cap_steps, s->n_steps + 1);
	ARRAY_GROW(s->words, s->cap_words, s->n_words + p->n_words);
	s->steps[s->n_steps] = (struct solve_step){.package = (uint32_t)package,
						   .before = p->last,
						   .cause = cause,
						   .level = (uint32_t)s->n_levels - 1,
						   .domain = s->n_words};
	p->last = (uint32_t)s->n_steps++;
	p->domain = s->n_words;
	s->n_words += p->n_words;
	return s->words + p->domain;
}

/* Narrows the domain to what is not in set. */
static void solve_remove(struct solve *s, size_t package, const uint64_t *set, int64_t cause)
{
	size_t was = s->packages[package].domain;
	uint64_t *now = new_step(s, package, cause);
	for (size_t i = 0; i < s->packages[package].n_words; i++)
		now[i] = s->words[was + i] & ~set[i];
}

static void decide(struct solve *s, size_t package, size_t value, int64_t cause)
{
	uint64_t *now = new_step(s, package, cause);
	memset(now, 0, s->packages[package].n_words * sizeof(uint64_t));
	solve_set_add(now, value);
}

/* --- propagation --- */

static void watch(struct solve *s, uint32_t clause, uint32_t term)
{
	struct package *p = &s->packages[s->clauses[clause].terms[term].package];
	ARRAY_GROW(p->watchers, p->cap_watchers, p->n_watchers + 1);
	p->watchers[p->n_watchers++] = clause;
}

enum unit { UNIT_NONE, UNIT_NARROWED, UNIT_CONFLICT };

/* All terms but the given one are true: it must not become so. */
static enum unit enforce(struct solve *s, uint32_t clause, uint32_t term)
{
	const struct solve_term *t = &s->clauses[clause].terms[term];
	if (solve_entails(s, t))
		return UNIT_CONFLICT;
	if (!meets(solve_domain(s, t->package), t->set, s->packages[t->package].n_words))
		return UNIT_NONE;
	solve_remove(s, t->package, t->set, clause);
	return UNIT_NARROWED;
}

/* The watched term of this package came true: another one is watched, or the last one enforced.
 * True if the clause still watches the package. */
static bool rewatch(struct solve *s, uint32_t clause, size_t package, bool *ret_conflict)
{
	struct clause *c = &s->clauses[clause];
	size_t w = c->terms[c->watch[0]].package == package ? 0 : 1;
	if (!solve_entails(s, &c->terms[c->watch[w]]))
		return true;
	uint32_t other = c->watch[!w];
	s->work += c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		if (i == other || i == c->watch[w] || solve_entails(s, &c->terms[i]))
			continue;
		c->watch[w] = i;
		watch(s, clause, i);
		return false;
	}
	*ret_conflict = enforce(s, clause, other) == UNIT_CONFLICT;
	return true;
}

/* The clause in conflict, or NO_INDEX. */
static uint32_t propagate(struct solve *s)
{
	while (s->done < s->n_steps) {
		size_t package = s->steps[s->done++].package, kept = 0;
		uint32_t conflict = NO_INDEX;
		for (size_t i = 0; i < s->packages[package].n_watchers; i++) {
			uint32_t clause = s->packages[package].watchers[i];
			bool is_conflict = false;
			if (conflict != NO_INDEX || rewatch(s, clause, package, &is_conflict))
				s->packages[package].watchers[kept++] = clause;
			if (is_conflict)
				conflict = clause;
		}
		s->packages[package].n_watchers = kept;
		if (conflict != NO_INDEX)
			return conflict;
	}
	return NO_INDEX;
}

/* The term that came true last, for the second watch: it is the first to be undone. */
static uint32_t latest_true(const struct solve *s, const struct clause *c, uint32_t but)
{
	uint32_t best = but, best_step = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t step = s->packages[c->terms[i].package].last;
		if (i != but && (best == but || step > best_step)) {
			best = i;
			best_step = step;
		}
	}
	return best;
}

/* A clause starts to be watched: at two terms that are not true yet, if it has them. */
static uint32_t attach(struct solve *s, uint32_t clause)
{
	struct clause *c = &s->clauses[clause];
	uint32_t open[2], n_open = 0;
	for (uint32_t i = 0; i < c->n && n_open < 2; i++)
		if (!solve_entails(s, &c->terms[i]))
			open[n_open++] = i;
	if (!n_open)
		return clause;
	c->watch[0] = open[0];
	c->watch[1] = n_open == 2 ? open[1] : latest_true(s, c, open[0]);
	watch(s, clause, c->watch[0]);
	if (c->watch[1] != c->watch[0])
		watch(s, clause, c->watch[1]);
	if (n_open == 1)
		enforce(s, clause, open[0]);
	return NO_INDEX;
}

/* --- decisions --- */

static int by_name(const void *a, const void *b)
{
	const struct package *const *x = a, *const *y = b;
	int r = strcmp((*x)->name, (*y)->name);
	return r ? r : (*x > *y) - (*x < *y);
}

static void rank_packages(struct solve *s)
{
	struct package **sorted = ARENA_ARRAY(s->a, struct package *, s->n_packages);
	for (size_t i = 0; i < s->n_packages; i++)
		sorted[i] = &s->packages[i];
	if (s->n_packages)
		qsort(sorted, s->n_packages, sizeof(*sorted), by_name);
	for (size_t i = 0; i < s->n_packages; i++)
		sorted[i]->rank = i;
}

static size_t count(const uint64_t *set, size_t n_words)
{
	size_t n = 0;
	for (size_t i = 0; i < n_words; i++)
		n += (size_t)__builtin_popcountll(set[i]);
	return n;
}

/* What the facts about this value leave open elsewhere. */
static void narrow_open(struct solve *s, size_t package, size_t value)
{
	const struct package *p = &s->packages[package];
	for (size_t i = 0; i < p->n_facts; i++) {
		const struct clause *c = &s->clauses[p->facts[i]];
		if (c->n != 2)
			continue;
		size_t own = c->terms[0].package == package ? 0 : 1;
		const struct solve_term *other = &c->terms[!own];
		struct package *q = &s->packages[other->package];
		if (q->decided || !solve_set_has(c->terms[own].set, value) ||
		    !meets(q->open, other->set, q->n_words))
			continue;
		ARRAY_GROW(s->undos, s->cap_undos, s->n_undos + 1);
		s->undos[s->n_undos++] = (struct undo){(uint32_t)other->package, q->open};
		q->open = arena_memdup(s->a, q->open, q->n_words * sizeof(uint64_t));
		for (size_t k = 0; k < q->n_words; k++)
			q->open[k] &= ~other->set[k];
	}
}

static void new_level(struct solve *s, size_t package)
{
	ARRAY_GROW(s->levels, s->cap_levels, s->n_levels + 1);
	s->levels[s->n_levels++] =
		(struct level){s->n_steps, s->n_words, s->n_undos, (uint32_t)package};
}

/* The needed package with the fewest versions left, then the smaller name; NO_INDEX: all are
 * decided. */
static size_t next_package(const struct solve *s)
{
	size_t best = NO_INDEX, best_left = 0;
	for (size_t i = 0; i < s->n_packages; i++) {
		const struct package *p = &s->packages[i];
		if (p->decided || solve_set_has(p->open, 0))
			continue;
		size_t left = count(p->open, p->n_words);
		if (best == NO_INDEX || left < best_left ||
		    (left == best_left && p->rank < s->packages[best].rank)) {
			best = i;
			best_left = left;
		}
	}
	return best;
}

static size_t first_value(const uint64_t *set)
{
	size_t w = 0;
	while (!set[w])
		w++;
	return w * 64 + (size_t)__builtin_ctzll(set[w]);
}

static bool decide_next(struct solve *s)
{
	size_t package = next_package(s);
	if (package == NO_INDEX)
		return false;
	size_t value = first_value(solve_domain(s, package));
	new_level(s, package);
	s->packages[package].decided = true;
	decide(s, package, value, CAUSE_DECISION);
	narrow_open(s, package, value);
	s->n_decisions++;
	return true;
}

static void back_to(struct solve *s, size_t level)
{
	while (s->n_levels - 1 > level) {
		const struct level *l = &s->levels[--s->n_levels];
		while (s->n_undos > l->n_undo) {
			const struct undo *u = &s->undos[--s->n_undos];
			s->packages[u->package].open = u->was;
		}
		while (s->n_steps > l->n_steps) {
			const struct solve_step *step = &s->steps[--s->n_steps];
			struct package *p = &s->packages[step->package];
			p->last = step->before;
			p->domain = s->steps[p->last].domain;
		}
		s->n_words = l->n_words;
		s->packages[l->package].decided = false;
	}
	s->done = s->n_steps;
}

static void start(struct solve *s, size_t root, size_t version)
{
	s->root = root;
	new_level(s, root);
	for (size_t i = 0; i < s->n_packages; i++) {
		uint64_t *all = new_step(s, i, CAUSE_START);
		memcpy(all, s->packages[i].full, s->packages[i].n_words * sizeof(uint64_t));
	}
	decide(s, root, version, CAUSE_ROOT);
	s->packages[root].decided = true;
	rank_packages(s);
	for (size_t i = 0; i < s->n_clauses; i++)
		if (s->clauses[i].n == 1) {
			struct package *p = &s->packages[s->clauses[i].terms[0].package];
			for (size_t k = 0; k < p->n_words; k++)
				p->open[k] &= ~s->clauses[i].terms[0].set[k];
		}
	narrow_open(s, root, version);
}

static bool too_hard(const struct solve *s)
{
	return s->n_decisions >= s->decisions_max || s->work >= SOLVE_WORK_MAX || arena_over(s->a);
}

enum solve_result solve_run(struct solve *s, size_t root, size_t version)
{
	uint32_t conflict = NO_INDEX;
	start(s, root, version);
	size_t n_facts = s->n_clauses;
	for (uint32_t i = 0; i < n_facts && conflict == NO_INDEX; i++)
		conflict = attach(s, i);
	while (true) {
		if (conflict == NO_INDEX)
			conflict = propagate(s);
		if (conflict == NO_INDEX) {
			if (too_hard(s))
				return SOLVE_TOO_HARD;
			if (!decide_next(s))
				return SOLVE_YES;
			continue;
		}
		int64_t level = solve_learn(s, conflict, &s->conclusion);
		if (level < 0)
			return SOLVE_NO;
		back_to(s, (size_t)level);
		conflict = attach(s, s->conclusion);
	}
}

size_t solve_value(const struct solve *s, size_t package)
{
	const struct package *p = &s->packages[package];
	return p->decided ? first_value(solve_domain(s, package)) : 0;
}

int64_t solve_decisions(const struct solve *s)
{
	return s->n_decisions;
}
