/* RFC 6962 trees and proofs of every size up to 1,030 against a naive tree; proofs from the tiles
 * and rows of a log. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/audit/tree.h"
#include "tests/lib/audit_log.h"

#define SIZE_MAX_TESTED 1030

static unsigned char leaves[SIZE_MAX_TESTED][SHA256_BYTES];

/* Section 2.1, word by word. */
/* NOLINTNEXTLINE(misc-no-recursion): halves n */
static void naive(int64_t from, int64_t n, unsigned char out[SHA256_BYTES])
{
	unsigned char left[SHA256_BYTES], right[SHA256_BYTES];
	int64_t k = 1;
	if (n == 0) {
		sha256(STR(""), out);
		return;
	}
	if (n == 1) {
		memcpy(out, leaves[from], SHA256_BYTES);
		return;
	}
	while (2 * k < n)
		k *= 2;
	naive(from, k, left);
	naive(from + k, n - k, right);
	tree_node(left, right, out);
}

static int subtree(void *arg, unsigned level, int64_t index, unsigned char out[SHA256_BYTES],
		   struct error *err)
{
	(void)arg;
	(void)err;
	assert_true((index + 1) << level <= SIZE_MAX_TESTED);
	naive(index << level, INT64_C(1) << level, out);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	for (int64_t i = 0; i < SIZE_MAX_TESTED; i++)
		sha256(str_n((const char *)&i, sizeof(i)), leaves[i]);
	return 0;
}

static void test_audit_proof__roots_are_those_of_the_naive_tree(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct tree *t = xcalloc(1, sizeof(*t));
	unsigned char want[SHA256_BYTES], got[SHA256_BYTES];
	for (int64_t n = 0; n <= SIZE_MAX_TESTED; n++) {
		naive(0, n, want);
		tree_root(t, got);
		assert_memory_equal(got, want, SHA256_BYTES);
		assert_ok(proof_root(subtree, NULL, n, got, &err), &err);
		assert_memory_equal(got, want, SHA256_BYTES);
		if (n < SIZE_MAX_TESTED)
			assert_ok(tree_push(t, leaves[n], NULL, NULL, &err), &err);
	}
	xfree(t);
}

/* RFC 9162, section 2.1.3.2 */
static bool inclusion_fits(const struct proof *p, const unsigned char leaf[SHA256_BYTES],
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

static bool consistency_fits(const struct proof *p, int64_t old_size,
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
	size_t at = !(old_size & (old_size - 1)) ? 0 : 1;
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

static void check_inclusion(int64_t index, int64_t n, const unsigned char root[SHA256_BYTES])
{
	struct error err = ERROR_INIT;
	struct proof p = {.n = 0};
	assert_ok(proof_inclusion(subtree, NULL, index, n, &p, &err), &err);
	assert_true(inclusion_fits(&p, leaves[index], index, n, root));
	assert_false(inclusion_fits(&p, leaves[(index + 1) % SIZE_MAX_TESTED], index, n, root));
	assert_false(inclusion_fits(&p, leaves[index], index + n, n, root));
	if (n > 1)
		assert_false(inclusion_fits(&p, leaves[index], (index + 1) % n, n, root));
	if (p.n) {
		p.hash[p.n / 2][5] ^= 1;
		assert_false(inclusion_fits(&p, leaves[index], index, n, root));
		p.hash[p.n / 2][5] ^= 1;
		p.n--;
		assert_false(inclusion_fits(&p, leaves[index], index, n, root));
	}
}

static void check_consistency(int64_t m, int64_t n, const unsigned char root[SHA256_BYTES])
{
	struct error err = ERROR_INIT;
	struct proof p = {.n = 0};
	unsigned char old[SHA256_BYTES], other[SHA256_BYTES];
	naive(0, m, old);
	memcpy(other, old, sizeof(other));
	other[0] ^= 1;
	assert_ok(proof_consistency(subtree, NULL, m, n, &p, &err), &err);
	assert_true(consistency_fits(&p, m, old, n, root));
	assert_false(consistency_fits(&p, n + 1, old, n, root));
	if (!m)
		return;
	assert_false(consistency_fits(&p, m, other, n, root));
	if (!p.n)
		return;
	p.hash[p.n - 1][31] ^= 1;
	assert_false(consistency_fits(&p, m, old, n, root));
}

static void test_audit_proof__every_size_proves_its_leaves_and_prefixes(void **state)
{
	(void)state;
	unsigned char root[SHA256_BYTES];
	for (int64_t n = 1; n <= SIZE_MAX_TESTED; n++) {
		int64_t step = n < 70 ? 1 : n / 17;
		naive(0, n, root);
		for (int64_t i = 0; i < n; i += step) {
			check_inclusion(i, n, root);
			check_consistency(i, n, root);
		}
		check_inclusion(n - 1, n, root);
		check_consistency(n, n, root);
	}
}

/* The same from the tables: full tiles, their right edge, and rows. */
static void check_log(struct db *d, int64_t n)
{
	struct error err = ERROR_INIT;
	unsigned char got[SHA256_BYTES], want[SHA256_BYTES], leaf[SHA256_BYTES];
	struct tree *t = xcalloc(1, sizeof(*t));
	assert_ok(log_load_tree(d, n, t, &err), &err);
	tree_root(t, want);
	assert_ok(proof_root(log_subtree, d, n, got, &err), &err);
	assert_memory_equal(got, want, SHA256_BYTES);
	for (int64_t i = 0; i < n; i += n / 5 + 1) {
		struct proof p = {.n = 0};
		assert_ok(proof_inclusion(log_subtree, d, i, n, &p, &err), &err);
		assert_ok(log_subtree(d, 0, i, leaf, &err), &err);
		assert_true(inclusion_fits(&p, leaf, i, n, want));
		assert_ok(log_load_tree(d, i, t, &err), &err);
		tree_root(t, got);
		assert_ok(proof_consistency(log_subtree, d, i, n, &p, &err), &err);
		assert_true(consistency_fits(&p, i, got, n, want));
	}
	xfree(t);
}

static void test_audit_proof__a_log_proves_its_rows(void **state)
{
	(void)state;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 1100, 50);
	static const int64_t sizes[] = {1,   2,   3,   255,  256,  257, 300,
					511, 512, 513, 1000, 1024, 1101};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		check_log(l.db, sizes[i]);
	audit_log_close(&l);
}

/* Hashes are asked for one by one: each of them may be the one that cannot be read. */
struct failing_tree {
	int n, at; /* asked for so far; which of them fails; 0: none */
};

static int failing_subtree(void *arg, unsigned level, int64_t index,
			   unsigned char out[SHA256_BYTES], struct error *err)
{
	struct failing_tree *t = arg;
	if (++t->n == t->at)
		return error_set(err, E_IO, "hash %d cannot be read", t->at);
	return subtree(NULL, level, index, out, err);
}

static int prove(int what, int64_t i, int64_t n, struct failing_tree *t, struct error *err)
{
	struct proof p;
	unsigned char root[SHA256_BYTES];
	t->n = 0;
	if (what == 0)
		return proof_root(failing_subtree, t, n, root, err);
	return what == 1 ? proof_inclusion(failing_subtree, t, i, n, &p, err)
			 : proof_consistency(failing_subtree, t, i, n, &p, err);
}

static void test_audit_proof__a_hash_that_cannot_be_read_makes_no_proof(void **state)
{
	(void)state;
	for (int64_t n = 1; n <= 20; n++)
		for (int64_t i = 0; i < 3 * n; i++) {
			struct error none = ERROR_INIT;
			struct failing_tree t = {.at = 0};
			assert_ok(prove((int)(i / n), i % n, n, &t, &none), &none);
			for (int k = t.n; k > 0; k--) {
				struct error err = ERROR_INIT;
				t.at = k;
				assert_int_equal(prove((int)(i / n), i % n, n, &t, &err), -E_IO);
				assert_int_equal(err.code, E_IO);
				assert_int_equal(t.n, k); /* and none is asked for after it */
			}
		}
}

/* A tile that is gone or damaged makes no tree; the one behind the last whole one is not asked for. */
static void test_audit_proof__a_tree_needs_each_of_its_tiles(void **state)
{
	(void)state;
	static const struct {
		const char *sql;
		bool ok;
	} rows[] = {
		{"DELETE FROM audit_tile WHERE id = 0", false},
		{"DELETE FROM audit_tile WHERE id = 1", false},
		{"UPDATE audit_tile SET id = 2 WHERE id = 1", false},
		{"UPDATE audit_tile SET id = id WHERE id = 1", true},
	};
	struct error err = ERROR_INIT;
	struct audit_log l;
	audit_log_open(&l, ":memory:", NULL);
	audit_log_fill(&l, 600, 100);
	assert_ok(db_exec(l.db, "DROP TRIGGER audit_tile_update", &err), &err);
	assert_ok(db_exec(l.db, "DROP TRIGGER audit_tile_delete", &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct tree t;
		assert_ok(db_begin(l.db, &err), &err);
		assert_ok(db_exec(l.db, rows[i].sql, &err), &err);
		int r = log_load_tree(l.db, 600, &t, &err);
		if (r != (rows[i].ok ? 0 : -E_ALTERED))
			fail_msg("%s: %d", rows[i].sql, r);
		if (r < 0)
			assert_string_equal(err.msg, "tiles of level 0 are missing or damaged");
		db_rollback(l.db);
	}
	audit_log_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_proof__a_tree_needs_each_of_its_tiles),
		cmocka_unit_test(test_audit_proof__a_hash_that_cannot_be_read_makes_no_proof),
		cmocka_unit_test(test_audit_proof__roots_are_those_of_the_naive_tree),
		cmocka_unit_test(test_audit_proof__every_size_proves_its_leaves_and_prefixes),
		cmocka_unit_test(test_audit_proof__a_log_proves_its_rows),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
