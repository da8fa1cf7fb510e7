/* A derivation in numbered plain sentences (lifecycle.md 2.4): each is a fact, or follows from two
 * earlier ones. */
#include <stdlib.h>
#include <string.h>

#include "catalog/resolve/solve_internal.h"

#define NAMED_MAX 4 /* versions named one by one */

struct explainer {
	const struct solve *s;
	struct arena *a;
	struct solve_explanation *ret;
	size_t *number; /* by clause: its line; 0: none yet */
};

/* --- words --- */

static const char *join(struct arena *a, const char *so_far, const char *sep, const char *more)
{
	return so_far ? arena_fmt(a, "%s%s%s", so_far, sep, more) : more;
}

static size_t collect(const struct package *p, const uint64_t *set, bool inverted, size_t *values)
{
	size_t n = 0;
	for (size_t v = 1; v <= p->n; v++)
		if (solve_set_has(p->full, v) && solve_set_has(set, v) != inverted)
			values[n++] = v;
	return n;
}

/* "web 2.0.0", "cert-manager 1.14.2 or 1.15.0", "every version of cert-manager", "x 1.9 ... 1.2" */
static const char *versions_text(const struct explainer *e, const struct package *p,
				 const uint64_t *set, bool inverted)
{
	size_t *v = ARENA_ARRAY(e->a, size_t, p->n + 1);
	size_t n = collect(p, set, inverted, v);
	if (n == p->n && n > 1)
		return arena_fmt(e->a, "%s%s", inverted ? "" : "every version of ", p->name);
	const char *text = NULL;
	for (size_t i = 0; i < n && (n <= NAMED_MAX || i < NAMED_MAX - 1); i++)
		text = join(e->a, text, i + 1 == n ? " or " : ", ", p->versions[v[i] - 1]);
	if (n > NAMED_MAX)
		text = arena_fmt(e->a, "%s or %zu others", text, n - (NAMED_MAX - 1));
	return arena_fmt(e->a, "%s %s", p->name, text ? text : "");
}

static int by_rank(const struct solve *s, const struct solve_term *x, const struct solve_term *y)
{
	size_t rx = x->package == s->root ? 0 : s->packages[x->package].rank + 1;
	size_t ry = y->package == s->root ? 0 : s->packages[y->package].rank + 1;
	return (rx > ry) - (rx < ry);
}

static void sort_terms(const struct solve *s, struct solve_term *t, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && by_rank(s, &t[k], &t[k - 1]) < 0; k--) {
			struct solve_term tmp = t[k];
			t[k] = t[k - 1];
			t[k - 1] = tmp;
		}
}

/* Terms that a package not installed makes true are requirements, told as what is needed. */
static const char *sentence(const struct explainer *e, const struct solve_term *t, size_t n)
{
	const char *given = NULL, *needed = NULL;
	size_t n_given = 0, n_needed = 0;
	for (size_t i = 0; i < n; i++) {
		const struct package *p = &e->s->packages[t[i].package];
		bool negative = solve_set_has(t[i].set, 0);
		const char *text = versions_text(e, p, t[i].set, negative);
		if (negative)
			needed = join(e->a, needed, n_needed++ ? ", or " : "", text);
		else
			given = join(e->a, given, n_given++ ? " with " : "", text);
	}
	if (!given && !needed)
		return "there is no way";
	if (!given)
		return arena_fmt(e->a, "%s is needed", needed);
	if (needed)
		return arena_fmt(e->a, "%s needs %s", given, needed);
	return arena_fmt(e->a,
			 n_given > 1 ? "%s cannot be installed together" : "%s cannot be installed",
			 given);
}

/* --- lines --- */

static size_t add_line(struct explainer *e, struct solve_line line)
{
	struct solve_explanation *ret = e->ret;
	if (ret->n >= SOLVE_LINES_MAX) {
		ret->cut = true;
		ret->lines[ret->n - 1] = line; /* the last one stays the conclusion */
		return ret->n;
	}
	ret->lines[ret->n++] = line;
	return ret->n;
}

static size_t add_fact(struct explainer *e, const struct clause *c)
{
	return add_line(e, (struct solve_line){.text = arena_strdup(e->a, c->text),
					       .tag = c->tag,
					       .terms = c->terms,
					       .n_terms = c->n});
}

/* One line for each clause that the learned one was resolved with. */
static size_t add_learned(struct explainer *e, const struct clause *c)
{
	size_t line = e->number[c->chain[0]];
	struct scratch x;
	scratch_init(&x, e->s, e->a);
	scratch_load(&x, e->s, &e->s->clauses[c->chain[0]], e->a);
	for (uint32_t i = 1; i < c->n_chain; i++) {
		scratch_resolve(&x, e->s, &e->s->clauses[c->chain[i]], c->pivots[i], e->a);
		struct solve_term *terms = scratch_terms(&x, e->a);
		for (size_t k = 0; k < x.n; k++) {
			size_t bytes = e->s->packages[terms[k].package].n_words * sizeof(uint64_t);
			terms[k].set = arena_memdup(e->a, terms[k].set, bytes);
		}
		sort_terms(e->s, terms, x.n);
		struct solve_line l = {.text = sentence(e, terms, x.n),
				       .because = {line, e->number[c->chain[i]]},
				       .terms = terms,
				       .n_terms = x.n};
		line = add_line(e, l);
	}
	return line;
}

struct frame {
	uint32_t clause, next;
};

/* What a clause rests on comes before it. Lines beyond the limit are not made. */
static void number_all(struct explainer *e, uint32_t conclusion)
{
	struct frame *stack = ARENA_ARRAY(e->a, struct frame, e->s->n_clauses);
	size_t depth = 0;
	stack[depth++] = (struct frame){conclusion, 0};
	while (depth) {
		struct frame *f = &stack[depth - 1];
		const struct clause *c = &e->s->clauses[f->clause];
		while (f->next < c->n_chain && e->number[c->chain[f->next]])
			f->next++;
		if (f->next < c->n_chain) {
			stack[depth++] = (struct frame){c->chain[f->next], 0};
			continue;
		}
		bool full = e->ret->cut && depth > 1;
		e->number[f->clause] = full      ? e->ret->n
				       : c->text ? add_fact(e, c)
						 : add_learned(e, c);
		if (c->text && c->tag)
			e->ret->tags[e->ret->n_tags++] = c->tag;
		depth--;
	}
}

void solve_explain(const struct solve *s, struct arena *a, struct solve_explanation *ret)
{
	*ret = (struct solve_explanation){0};
	if (s->conclusion == NO_INDEX)
		return;
	CLEANUP(arena_freep) struct arena *scratch = arena_new(SOLVE_BYTES_MAX);
	struct explainer e = {.s = s, .a = a, .ret = ret};
	ret->lines = ARENA_ARRAY(a, struct solve_line, SOLVE_LINES_MAX);
	ret->tags = ARENA_ARRAY(a, const void *, s->n_clauses);
	e.number = ARENA_ARRAY(scratch, size_t, s->n_clauses);
	number_all(&e, s->conclusion);
}
