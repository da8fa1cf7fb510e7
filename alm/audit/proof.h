/*
 * proof: RFC 6962 audit paths and consistency proofs (sections 2.1.1 and 2.1.2).
 * Pure: hashes of complete subtrees come in through a function.
 */
#ifndef ALM_AUDIT_PROOF_H
#define ALM_AUDIT_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"

#define PROOF_HASHES_MAX 63 /* c2sp.org/tlog-witness takes no more */

struct proof {
	size_t n;
	unsigned char hash[PROOF_HASHES_MAX][SHA256_BYTES];
};

/* The hash over the leaves index * 2^level up to (index + 1) * 2^level - 1, counted from 0. */
typedef int (*proof_subtree_fn)(void *arg, unsigned level, int64_t index,
				unsigned char out[SHA256_BYTES], struct error *err);

/* The root of the tree of the first size leaves. */
int proof_root(proof_subtree_fn fn, void *arg, int64_t size, unsigned char out[SHA256_BYTES],
	       struct error *err);
/* That leaf index (from 0) is in the tree of size; index < size. From the leaf's sibling up. */
int proof_inclusion(proof_subtree_fn fn, void *arg, int64_t index, int64_t size, struct proof *ret,
		    struct error *err);
/* That the tree of size old_size is a prefix of that of size; empty if old_size is 0 or size. */
int proof_consistency(proof_subtree_fn fn, void *arg, int64_t old_size, int64_t size,
		      struct proof *ret, struct error *err);

/* Base64, a line each. */
void proof_print(const struct proof *p, struct strbuf *b);

#endif
