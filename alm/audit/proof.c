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

static bool is_power(int64_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
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

/* RFC 9162, section 2.1.3.2 */
bool proof_inclusion_fits(const struct proof *p, const unsigned char leaf[SHA256_BYTES],
			  int64_t index, int64_t size, const unsigned char root[SHA256_BYTES])
{
	unsigned char r[SHA256_BYTES];
	int64_t fn = index, sn = size - 1;
	if (index < 0 || index >= size)
		return false;
	memcpy(r, leaf, sizeof(r));
	for (size_t i = 0; i < p->n; i++) {
		if (sn == 0)
			return false;
		if ((fn & 1) || fn == sn) {
			tree_node(p->hash[i], r, r);
			while (!(fn & 1) && fn) {
				fn >>= 1;
				sn >>= 1;
			}
		} else
			tree_node(r, p->hash[i], r);
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0 && !memcmp(r, root, sizeof(r));
}

/* RFC 9162, section 2.1.4.2; at is the first hash of the path that is left to read. */
static bool walk_consistency(const struct proof *p, size_t at, int64_t fn, int64_t sn,
			     unsigned char fr[SHA256_BYTES], unsigned char sr[SHA256_BYTES])
{
	for (; at < p->n; at++) {
		if (sn == 0)
			return false;
		if ((fn & 1) || fn == sn) {
			tree_node(p->hash[at], fr, fr);
			tree_node(p->hash[at], sr, sr);
			while (!(fn & 1) && fn) {
				fn >>= 1;
				sn >>= 1;
			}
		} else
			tree_node(sr, p->hash[at], sr);
		fn >>= 1;
		sn >>= 1;
	}
	return sn == 0;
}

bool proof_consistency_fits(const struct proof *p, int64_t old_size,
			    const unsigned char old_root[SHA256_BYTES], int64_t size,
			    const unsigned char root[SHA256_BYTES])
{
	unsigned char fr[SHA256_BYTES], sr[SHA256_BYTES];
	int64_t fn = old_size - 1, sn = size - 1;
	if (old_size < 0 || old_size > size)
		return false;
	if (old_size == 0)
		return p->n == 0;
	if (old_size == size)
		return p->n == 0 && !memcmp(old_root, root, SHA256_BYTES);
	/* The old tree is one complete subtree: its root is the first hash. */
	size_t at = is_power(old_size) ? 0 : 1;
	if (p->n < at)
		return false;
	memcpy(fr, at ? p->hash[0] : old_root, sizeof(fr));
	memcpy(sr, fr, sizeof(sr));
	while (fn & 1) {
		fn >>= 1;
		sn >>= 1;
	}
	return walk_consistency(p, at, fn, sn, fr, sr) && !memcmp(fr, old_root, sizeof(fr)) &&
	       !memcmp(sr, root, sizeof(sr));
}

void proof_print(const struct proof *p, struct strbuf *b)
{
	for (size_t i = 0; i < p->n; i++) {
		base64_encode(str_n((const char *)p->hash[i], SHA256_BYTES), b);
		strbuf_addc(b, '\n');
	}
}
