/* proof: see proof.h. Sizes are below 2^48, so that no recursion is deeper than 48. */
#include "alm/audit/proof.h"

#include <assert.h>
#include <string.h>

#include "alm/audit/tree.h"

struct walk {
	proof_subtree_fn fn;
	void *arg;
	struct proof *proof;
	struct error *err;
};

/* The largest power of two below n > 1, as its logarithm. */
static unsigned split_level(int64_t n)
{
	unsigned level = 0;
	while (INT64_C(2) << level < n)
		level++;
	return level;
}

/* Of n > 0. */
static bool is_power(int64_t n)
{
	return (n & (n - 1)) == 0;
}

/* MTH(D[from:from + n]); from is a multiple of the power of two above or equal to n. */
/* NOLINTNEXTLINE(misc-no-recursion): halves n */
static int range_hash(const struct walk *w, int64_t from, int64_t n,
		      unsigned char out[SHA256_BYTES])
{
	unsigned char left[SHA256_BYTES], right[SHA256_BYTES];
	if (is_power(n)) {
		unsigned level = n == 1 ? 0 : split_level(n) + 1;
		return w->fn(w->arg, level, from >> level, out, w->err);
	}
	int64_t k = INT64_C(1) << split_level(n);
	int r = range_hash(w, from, k, left);
	if (r >= 0)
		r = range_hash(w, from + k, n - k, right);
	if (r >= 0)
		tree_node(left, right, out);
	return r;
}

static int add(const struct walk *w, int64_t from, int64_t n)
{
	assert(w->proof->n < PROOF_HASHES_MAX);
	return range_hash(w, from, n, w->proof->hash[w->proof->n++]);
}

int proof_root(proof_subtree_fn fn, void *arg, int64_t size, unsigned char out[SHA256_BYTES],
	       struct error *err)
{
	struct walk w = {.fn = fn, .arg = arg, .err = err};
	if (size == 0) {
		sha256(STR(""), out);
		return 0;
	}
	return range_hash(&w, 0, size, out);
}

/* PATH(index, D[from:from + n]); index counts from from. */
/* NOLINTNEXTLINE(misc-no-recursion): halves n */
static int path(const struct walk *w, int64_t index, int64_t from, int64_t n)
{
	if (n == 1)
		return 0;
	int64_t k = INT64_C(1) << split_level(n);
	int r = index < k ? path(w, index, from, k) : path(w, index - k, from + k, n - k);
	if (r < 0)
		return r;
	return index < k ? add(w, from + k, n - k) : add(w, from, k);
}

int proof_inclusion(proof_subtree_fn fn, void *arg, int64_t index, int64_t size, struct proof *ret,
		    struct error *err)
{
	struct walk w = {.fn = fn, .arg = arg, .proof = ret, .err = err};
	assert(index >= 0 && index < size);
	ret->n = 0;
	return path(&w, index, 0, size);
}

/* SUBPROOF(m, D[from:from + n], whole) */
/* NOLINTNEXTLINE(misc-no-recursion): halves n */
static int subproof(const struct walk *w, int64_t m, int64_t from, int64_t n, bool whole)
{
	if (m == n)
		return whole ? 0 : add(w, from, n);
	int64_t k = INT64_C(1) << split_level(n);
	int r = m <= k ? subproof(w, m, from, k, whole)
		       : subproof(w, m - k, from + k, n - k, false);
	if (r < 0)
		return r;
	return m <= k ? add(w, from + k, n - k) : add(w, from, k);
}

int proof_consistency(proof_subtree_fn fn, void *arg, int64_t old_size, int64_t size,
		      struct proof *ret, struct error *err)
{
	struct walk w = {.fn = fn, .arg = arg, .proof = ret, .err = err};
	assert(old_size >= 0 && old_size <= size);
	ret->n = 0;
	return old_size == 0 ? 0 : subproof(&w, old_size, 0, size, true);
}

void proof_print(const struct proof *p, struct strbuf *b)
{
	for (size_t i = 0; i < p->n; i++) {
		base64_encode(str_n((const char *)p->hash[i], SHA256_BYTES), b);
		strbuf_addc(b, '\n');
	}
}
