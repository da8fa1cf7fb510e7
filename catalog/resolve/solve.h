/*
 * solve: which versions of several packages go together (lifecycle.md 2.4). Pure; it knows names,
 * versions in order of preference, and facts. What the facts mean is the caller's (resolve_deps.c).
 *
 * A package is a variable whose values are 0 (not installed) and 1..n (its versions, the preferred
 * first). A fact says that up to two things cannot be true together: "web is 2.0.0" and "cert-
 * manager is none of 1.14.2, 1.15.0". The search is conflict-driven as PubGrub's: unit propagation,
 * learned facts, backjumps. The next package is the one with the fewest versions left after the
 * facts about what is already decided, then the smaller name; the next version the preferred one.
 * What was learned only cuts branches without a solution, so the answer is the first solution of
 * that order, whatever was learned on the way.
 *
 *	struct solve *s = solve_new();
 *	size_t web = solve_package(s, "web", web_versions, 1, false);
 *	solve_fact(s, "web 2.0.0 requires cert-manager", NULL, (struct solve_term[]){...}, 2);
 *	if (solve_run(s, web, 1) == SOLVE_NO)
 *		solve_explain(s, a, &explanation);
 *	solve_free(s);
 *
 * Ownership: the problem owns everything but names, version texts and sentences, which are
 * borrowed; an explanation lives in the arena it was made in.
 */
#ifndef CATALOG_RESOLVE_SOLVE_H
#define CATALOG_RESOLVE_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/arena.h"

#define SOLVE_DECISIONS_MAX 100000
#define SOLVE_WORK_MAX      5000000 /* terms looked at: about a second, as it runs in a reconcile */
#define SOLVE_PACKAGES_MAX  4096
#define SOLVE_VERSIONS_MAX  4096
#define SOLVE_BYTES_MAX     ((size_t)256 << 20) /* of facts, learned ones included */
#define SOLVE_LINES_MAX     200

struct solve;

/* package is one of the values in set, a bit each; bit 0 is "not installed". */
struct solve_term {
	size_t package;
	const uint64_t *set;
};

enum solve_result { SOLVE_YES, SOLVE_NO, SOLVE_TOO_HARD };

struct solve *solve_new(void);
void solve_free(struct solve *s);
DEFINE_FREEP(solve)

/* The number of the package. present: value 0 is excluded, as it is installed and stays. */
size_t solve_package(struct solve *s, const char *name, const char *const *versions, size_t n,
		     bool present);
/* A zeroed set for solve_fact(), which copies it. */
uint64_t *solve_set(struct solve *s, size_t package);
static inline void solve_set_add(uint64_t *set, size_t value)
{
	set[value / 64] |= UINT64_C(1) << (value % 64);
}
static inline bool solve_set_has(const uint64_t *set, size_t value)
{
	return set[value / 64] >> (value % 64) & 1;
}
/* The terms (1 or 2, of different packages) cannot all be true. text is the sentence about it, tag
 * comes back in the lines of an explanation. */
void solve_fact(struct solve *s, const char *text, const void *tag, const struct solve_term *terms,
		size_t n);

/* Once per problem: root is installed in this version. */
enum solve_result solve_run(struct solve *s, size_t root, size_t version);
void solve_limit(struct solve *s, int64_t decisions_max);  /* for tests; before solve_run() */
size_t solve_value(const struct solve *s, size_t package); /* after SOLVE_YES; 0: not installed */
int64_t solve_decisions(const struct solve *s);

struct solve_line {
	const char *text;               /* without number and without "so" */
	const void *tag;                /* of a fact */
	size_t because[2];              /* numbers (from 1) of two earlier lines; 0, 0: a fact */
	const struct solve_term *terms; /* what cannot all be true */
	size_t n_terms;
};

struct solve_explanation {
	struct solve_line *lines; /* the last one is the conclusion */
	size_t n;
	bool cut; /* there were more than SOLVE_LINES_MAX; the first ones and the last are here */
	const void **tags; /* of all facts it rests on, also of lines that were cut */
	size_t n_tags;
};

/* After SOLVE_NO: why not. After SOLVE_TOO_HARD: the last thing that was learned, and why. */
void solve_explain(const struct solve *s, struct arena *a, struct solve_explanation *ret);

#endif
