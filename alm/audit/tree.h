/*
 * tree: the RFC 6962 Merkle tree of a growing log, kept as its right edge.
 *
 * A level holds the hashes of complete subtrees that do not fill a tile of 256 yet; level 0 are
 * leaves, level l subtrees of 256^l leaves. Pure.
 */
#ifndef ALM_AUDIT_TREE_H
#define ALM_AUDIT_TREE_H

#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/hash.h"

#define TREE_TILE       256
#define TREE_TILE_BYTES (TREE_TILE * SHA256_BYTES)
#define TREE_LEVELS     6 /* 256^6 rows */

struct tree {
	int64_t size;
	struct tree_level {
		unsigned n;
		unsigned char hash[TREE_TILE][SHA256_BYTES];
	} level[TREE_LEVELS];
};

/* A tile is full: number index of its level, TREE_TILE_BYTES. Negative stops the push. */
typedef int (*tree_tile_fn)(void *arg, unsigned level, int64_t index, const unsigned char *hashes,
			    struct error *err);

void tree_init(struct tree *t);
int tree_push(struct tree *t, const unsigned char leaf[SHA256_BYTES], tree_tile_fn fn, void *arg,
	      struct error *err);
/* SHA-256("") for the empty tree. */
void tree_root(const struct tree *t, unsigned char out[SHA256_BYTES]);
void tree_node(const unsigned char left[SHA256_BYTES], const unsigned char right[SHA256_BYTES],
	       unsigned char out[SHA256_BYTES]);
/* The root over one full tile. */
void tree_tile_root(const unsigned char *hashes, unsigned char out[SHA256_BYTES]);
/* Key of the audit_tile table. */
int64_t tree_tile_id(unsigned level, int64_t index);

#endif
