#include "tests/lib/test.h"

#include <string.h>

#include "catalog/resolve/solve.h"

#define PACKAGES 8
#define VERSIONS 6
#define SEEDS    6000

static const char *const names[PACKAGES] = {"h", "b", "c", "a", "e", "g", "d", "f"};
static const char *const versions[VERSIONS] = {"6.0.0", "5.0.0", "4.0.0",
					       "3.0.0", "2.0.0", "1.0.0"};

/* A random catalog: facts are pairs of sets of values; bit 0 is "not installed". */
struct fact {
	size_t p, q, n;
	uint64_t a, b;
};

struct catalog {
	size_t n_packages, n_versions[PACKAGES];
	bool present[PACKAGES];
	struct fact facts[256];
	size_t n_facts;
	uint64_t state;
};

static uint64_t draw(struct catalog *c, uint64_t n)
{
	c->state ^= c->state << 13;
	c->state ^= c->state >> 7;
	c->state ^= c->state << 17;
	return c->state % n;
}

static uint64_t some_versions(struct catalog *c, size_t p, unsigned chance)
{
	uint64_t set = 0;
	for (size_t v = 1; v <= c->n_versions[p]; v++)
		if (draw(c, 100) < chance)
			set |= UINT64_C(1) << v;
	return set;
}

static void random_catalog(struct catalog *c, uint64_t seed)
{
	*c = (struct catalog){.state = seed * 0x9E3779B97F4A7C15u + 1};
	c->n_packages = 2 + draw(c, PACKAGES - 1);
	uint64_t requires_chance = 20 + draw(c, 50), width = 20 + draw(c, 60);
	for (size_t p = 0; p < c->n_packages; p++) {
		c->n_versions[p] = 1 + draw(c, VERSIONS);
		c->present[p] = p && draw(c, 10) == 0;
	}
	for (size_t p = 0; p < c->n_packages; p++)
		for (size_t v = 1; v <= c->n_versions[p]; v++)
			for (size_t q = 1; q < c->n_packages; q++) {
				if (q == p || draw(c, 100) >= requires_chance / (q + 1))
					continue;
				bool excludes = draw(c, 5) == 0;
				uint64_t set = some_versions(c, q, (unsigned)width);
				if (!excludes)
					set = ~set & ((UINT64_C(2) << c->n_versions[q]) - 1);
				if (set && c->n_facts < 250)
					c->facts[c->n_facts++] =
						(struct fact){p, q, 2, UINT64_C(1) << v, set};
			}
	for (size_t p = 1; p < c->n_packages; p++) {
		uint64_t gone = some_versions(c, p, 10);
		if (gone)
			c->facts[c->n_facts++] = (struct fact){.p = p, .n = 1, .a = gone};
	}
}

static struct solve *problem(const struct catalog *c)
{
	struct solve *s = solve_new();
	for (size_t p = 0; p < c->n_packages; p++)
		solve_package(s, names[p], versions, c->n_versions[p], c->present[p]);
	for (size_t i = 0; i < c->n_facts; i++) {
		const struct fact *f = &c->facts[i];
		struct solve_term t[] = {{f->p, &f->a}, {f->q, &f->b}};
		solve_fact(s, "fact", f, t, f->n);
	}
	return s;
}

/* --- the reference: the same order, by trying everything, without learning --- */

struct reference {
	const struct catalog *c;
	uint64_t open[PACKAGES];
	size_t value[PACKAGES];
	bool decided[PACKAGES];
};

/* NOLINTBEGIN(misc-no-recursion): a package a level, of PACKAGES */
static bool try_value(struct reference *r, size_t p, size_t v);

static bool try_all(struct reference *r)
{
	size_t best = PACKAGES;
	for (size_t p = 0; p < r->c->n_packages; p++) {
		if (r->decided[p] || (r->open[p] & 1))
			continue;
		int left = __builtin_popcountll(r->open[p]);
		int least = best < PACKAGES ? __builtin_popcountll(r->open[best]) : 99;
		if (left < least ||
		    (left == least && best < PACKAGES && strcmp(names[p], names[best]) < 0))
			best = p;
	}
	if (best == PACKAGES)
		return true;
	for (size_t v = 1; v <= r->c->n_versions[best]; v++) {
		struct reference copy = *r;
		if ((r->open[best] >> v & 1) && try_value(&copy, best, v)) {
			*r = copy;
			return true;
		}
	}
	return false;
}

static bool try_value(struct reference *r, size_t p, size_t v)
{
	r->decided[p] = true;
	r->value[p] = v;
	for (size_t i = 0; i < r->c->n_facts; i++) {
		const struct fact *f = &r->c->facts[i];
		if (f->n == 1)
			continue;
		size_t other = f->p == p ? f->q : f->p;
		uint64_t own = f->p == p ? f->a : f->b, set = f->p == p ? f->b : f->a;
		if ((f->p != p && f->q != p) || !(own >> v & 1))
			continue;
		if (r->decided[other] && (set >> r->value[other] & 1))
			return false;
		r->open[other] &= ~set;
		if (!r->decided[other] && !r->open[other])
			return false;
	}
	return try_all(r);
}
/* NOLINTEND(misc-no-recursion) */

static bool reference(const struct catalog *c, struct reference *r)
{
	*r = (struct reference){.c = c};
	for (size_t p = 0; p < c->n_packages; p++)
		r->open[p] = ((UINT64_C(2) << c->n_versions[p]) - 1) & ~(uint64_t)c->present[p];
	for (size_t i = 0; i < c->n_facts; i++)
		if (c->facts[i].n == 1)
			r->open[c->facts[i].p] &= ~c->facts[i].a;
	return try_value(r, 0, 1);
}

/* --- is every line true? --- */

static uint64_t set_of(const struct solve_line *l, size_t p, uint64_t none)
{
	for (size_t i = 0; i < l->n_terms; i++)
		if (l->terms[i].package == p)
			return l->terms[i].set[0];
	return none;
}

static uint64_t full_set(const struct catalog *c, size_t p)
{
	return ((UINT64_C(2) << c->n_versions[p]) - 1) & ~(uint64_t)c->present[p];
}

static bool is_fact(const struct catalog *c, const struct solve_line *l)
{
	for (size_t i = 0; i < c->n_facts; i++) {
		const struct fact *f = &c->facts[i];
		if (l->tag == f && l->n_terms == f->n && set_of(l, f->p, 0) == f->a &&
		    (f->n == 1 || set_of(l, f->q, 0) == f->b))
			return true;
	}
	return false;
}

/* Where the line's terms hold, those of one of its two reasons do: on one package it is covered by
 * the union, on all others by both. */
static bool follows(const struct catalog *c, const struct solve_line *l, const struct solve_line *x,
		    const struct solve_line *y)
{
	size_t beyond = 0;
	for (size_t p = 0; p < c->n_packages; p++) {
		uint64_t full = full_set(c, p), mine = set_of(l, p, full) & full;
		uint64_t a = set_of(x, p, full), b = set_of(y, p, full);
		if (!(mine & ~a) && !(mine & ~b))
			continue;
		if (mine & ~(a | b))
			return false;
		beyond++;
	}
	return beyond <= 1;
}

static void check_explanation(const struct catalog *c, struct solve *s, uint64_t seed)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
	struct solve_explanation e;
	solve_explain(s, a, &e);
	if (!e.n || e.cut)
		fail_msg("seed %llu: %zu lines", (unsigned long long)seed, e.n);
	for (size_t i = 0; i < e.n; i++) {
		const struct solve_line *l = &e.lines[i];
		bool fact = !l->because[0] && !l->because[1];
		bool ok = fact ? is_fact(c, l)
			       : l->because[0] <= i && l->because[1] <= i &&
					  follows(c, l, &e.lines[l->because[0] - 1],
						  &e.lines[l->because[1] - 1]);
		if (!ok)
			fail_msg("seed %llu: line %zu is not true: %s", (unsigned long long)seed,
				 i + 1, l->text);
	}
	const struct solve_line *last = &e.lines[e.n - 1];
	for (size_t i = 0; i < last->n_terms; i++) {
		size_t p = last->terms[i].package;
		if (p != 0 && (full_set(c, p) & ~last->terms[i].set[0]))
			fail_msg("seed %llu: the conclusion is about %s", (unsigned long long)seed,
				 names[p]);
	}
	assert_true((set_of(last, 0, 2) & 2) != 0);
}

static void test_solve__agrees_with_trying_everything(void **state)
{
	(void)state;
	size_t n_no = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		static struct catalog c;
		struct reference want;
		random_catalog(&c, seed);
		bool possible = reference(&c, &want);
		CLEANUP(solve_freep) struct solve *s = problem(&c);
		enum solve_result got = solve_run(s, 0, 1);
		if (got != (possible ? SOLVE_YES : SOLVE_NO))
			fail_msg("seed %llu: %d", (unsigned long long)seed, got);
		for (size_t p = 0; possible && p < c.n_packages; p++)
			if (solve_value(s, p) != want.value[p])
				fail_msg("seed %llu: %s is %zu, want %zu", (unsigned long long)seed,
					 names[p], solve_value(s, p), want.value[p]);
		n_no += !possible;
		if (!possible)
			check_explanation(&c, s, seed);
	}
	assert_in_range(n_no, SEEDS / 10, SEEDS * 9 / 10); /* both answers are common */
}

/* Facts in another order are the same problem. */
static void test_solve__order_of_facts_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		static struct catalog c;
		random_catalog(&c, seed);
		CLEANUP(solve_freep) struct solve *s = problem(&c);
		enum solve_result first = solve_run(s, 0, 1);
		for (size_t i = c.n_facts; i > 1; i--) {
			size_t k = draw(&c, i);
			struct fact tmp = c.facts[i - 1];
			c.facts[i - 1] = c.facts[k];
			c.facts[k] = tmp;
		}
		CLEANUP(solve_freep) struct solve *t = problem(&c);
		assert_int_equal(solve_run(t, 0, 1), first);
		for (size_t p = 0; first == SOLVE_YES && p < c.n_packages; p++)
			assert_int_equal(solve_value(t, p), solve_value(s, p));
	}
}

/* n packages of which each needs the next; the last one is only there in a version nobody wants. */
static enum solve_result chain(size_t n, size_t n_versions, bool broken, int64_t *ret_decisions)
{
	static const char *const many[20] = {"20", "19", "18", "17", "16", "15", "14",
					     "13", "12", "11", "10", "9",  "8",  "7",
					     "6",  "5",  "4",  "3",  "2",  "1"};
	CLEANUP(solve_freep) struct solve *s = solve_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(16 << 20);
	for (size_t p = 0; p < n; p++)
		solve_package(s, arena_fmt(a, "p%05zu", p), many, n_versions, false);
	for (size_t p = 0; p + 1 < n; p++)
		for (size_t v = 1; v <= n_versions; v++) {
			uint64_t *own = solve_set(s, p), *rest = solve_set(s, p + 1);
			solve_set_add(own, v);
			solve_set_add(rest, 0);
			for (size_t w = v + 1; w <= n_versions; w++)
				solve_set_add(rest, w); /* needs the same version or a higher */
			solve_fact(s, "needs", NULL, (struct solve_term[]){{p, own}, {p + 1, rest}},
				   2);
		}
	uint64_t *gone = solve_set(s, n - 1);
	for (size_t w = 1; w + !broken <= n_versions; w++)
		solve_set_add(gone, w);
	solve_fact(s, "gone", NULL, (struct solve_term[]){{n - 1, gone}}, 1);
	enum solve_result r = solve_run(s, 0, n_versions);
	*ret_decisions = solve_decisions(s);
	return r;
}

static void test_solve__long_chains_end(void **state)
{
	(void)state;
	int64_t n;
	assert_int_equal(chain(2000, 20, false, &n), SOLVE_YES);
	assert_true(n < 3000);
	assert_int_equal(chain(2000, 20, true, &n), SOLVE_NO);
	assert_true(n < 3000);
}

/* n + 1 packages, all needed, of n versions each, no two the same: no solution, and no short proof.
 */
static void hard(int64_t decisions_max)
{
	enum { HOLES = 12 };
	static const char *const places[HOLES] = {"1", "2", "3", "4",  "5",  "6",
						  "7", "8", "9", "10", "11", "12"};
	static const char *const one[1] = {"1"};
	CLEANUP(solve_freep) struct solve *s = solve_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
	struct solve_explanation e;
	size_t root = solve_package(s, "root", one, 1, false);
	for (size_t p = 1; p <= HOLES + 1; p++) {
		solve_package(s, arena_fmt(a, "p%02zu", p), places, HOLES, false);
		uint64_t *own = solve_set(s, root), *none = solve_set(s, p);
		solve_set_add(own, 1);
		solve_set_add(none, 0);
		solve_fact(s, "root needs it", NULL, (struct solve_term[]){{root, own}, {p, none}},
			   2);
		for (size_t q = 1; q < p; q++)
			for (size_t v = 1; v <= HOLES; v++) {
				uint64_t *x = solve_set(s, p), *y = solve_set(s, q);
				solve_set_add(x, v);
				solve_set_add(y, v);
				solve_fact(s, "one place", NULL,
					   (struct solve_term[]){{p, x}, {q, y}}, 2);
			}
	}
	if (decisions_max)
		solve_limit(s, decisions_max);
	assert_int_equal(solve_run(s, root, 1), SOLVE_TOO_HARD);
	if (decisions_max)
		assert_int_equal(solve_decisions(s), decisions_max);
	else
		assert_true(solve_decisions(s) <= SOLVE_DECISIONS_MAX);
	solve_explain(s, a, &e);
	assert_true(e.n > 0 && e.n <= SOLVE_LINES_MAX);
}

static void test_solve__hard_instances_end_within_the_limit(void **state)
{
	(void)state;
	hard(1000);
	hard(0);
}

static void test_solve__sentences(void **state)
{
	(void)state;
	static const char *const web[1] = {"2.0.0"}, *const cert[2] = {"1.14.2", "1.12.3"};
	CLEANUP(solve_freep) struct solve *s = solve_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct solve_explanation e;
	size_t w = solve_package(s, "web", web, 1, false),
	       c = solve_package(s, "cert", cert, 2, true);
	uint64_t it = 2, old = 5, new = 2;
	solve_fact(s, "web 2.0.0 requires X from cert >=1.14", NULL,
		   (struct solve_term[]){{w, &it}, {c, &old}}, 2);
	solve_fact(s, "cert 1.14.2 is not approved", NULL, (struct solve_term[]){{c, &new}}, 1);
	assert_int_equal(solve_run(s, w, 1), SOLVE_NO);
	solve_explain(s, a, &e);
	assert_int_equal(e.n, 3);
	assert_string_equal(e.lines[2].text, "web 2.0.0 cannot be installed");
	assert_int_equal(e.lines[2].because[0] + e.lines[2].because[1], 3);
}

/* "requires what nobody has": the term is true in any case, and no part of what follows. */
static void test_solve__what_is_always_true_is_not_told(void **state)
{
	static const char *const web[2] = {"2.0.0", "1.0.0"}, *const cert[2] = {"1.14.2", "1.12.3"};
	(void)state;
	for (int present = 0; present < 2; present++) {
		CLEANUP(solve_freep) struct solve *s = solve_new();
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		struct solve_explanation e;
		size_t w = solve_package(s, "web", web, 2, false),
		       c = solve_package(s, "cert", cert, 2, present);
		uint64_t it = 2, any = 7;
		solve_fact(s, "web 2.0.0 requires cert 9", NULL,
			   (struct solve_term[]){{w, &it}, {c, &any}}, 2);
		assert_int_equal(solve_run(s, w, 1), SOLVE_NO);
		solve_explain(s, a, &e);
		assert_int_equal(e.n, 1);
		assert_string_equal(e.lines[0].text, "web 2.0.0 requires cert 9");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_solve__agrees_with_trying_everything),
		cmocka_unit_test(test_solve__order_of_facts_changes_nothing),
		cmocka_unit_test(test_solve__long_chains_end),
		cmocka_unit_test(test_solve__hard_instances_end_within_the_limit),
		cmocka_unit_test(test_solve__sentences),
		cmocka_unit_test(test_solve__what_is_always_true_is_not_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
