#include "alm/audit/tree.h"

#include <assert.h>
#include <string.h>

void tree_init(struct tree *t)
{
	t->size = 0;
	for (unsigned i = 0; i < TREE_LEVELS; i++)
		t->level[i].n = 0;
}

void tree_node(const unsigned char left[SHA256_BYTES], const unsigned char right[SHA256_BYTES],
	       unsigned char out[SHA256_BYTES])
{
	char buf[1 + 2 * SHA256_BYTES];
	buf[0] = 1;
	memcpy(buf + 1, left, SHA256_BYTES);
	memcpy(buf + 1 + SHA256_BYTES, right, SHA256_BYTES);
	sha256(str_n(buf, sizeof(buf)), out);
}

/* A perfect subtree over n hashes, n a power of two. */
static void perfect_root(const unsigned char *hashes, size_t n, unsigned char out[SHA256_BYTES])
{
	unsigned char row[TREE_TILE / 2][SHA256_BYTES];
	if (n == 1) {
		memcpy(out, hashes, SHA256_BYTES);
		return;
	}
	for (size_t i = 0; i < n / 2; i++)
		tree_node(hashes + 2 * i * SHA256_BYTES, hashes + (2 * i + 1) * SHA256_BYTES,
			  row[i]);
	for (n /= 2; n > 1; n /= 2)
		for (size_t i = 0; i < n / 2; i++)
			tree_node(row[2 * i], row[2 * i + 1], row[i]);
	memcpy(out, row[0], SHA256_BYTES);
}

void tree_tile_root(const unsigned char *hashes, unsigned char out[SHA256_BYTES])
{
	perfect_root(hashes, TREE_TILE, out);
}

int64_t tree_tile_id(unsigned level, int64_t index)
{
	return (int64_t)level << 40 | index;
}

int tree_push(struct tree *t, const unsigned char leaf[SHA256_BYTES], tree_tile_fn fn, void *arg,
	      struct error *err)
{
	unsigned char hash[SHA256_BYTES];
	memcpy(hash, leaf, SHA256_BYTES);
	t->size++;
	int64_t full = t->size;
	for (unsigned l = 0; l < TREE_LEVELS; l++) {
		struct tree_level *level = &t->level[l];
		memcpy(level->hash[level->n++], hash, SHA256_BYTES);
		if (level->n < TREE_TILE)
			return 0;
		full /= TREE_TILE;
		if (fn) {
			int r = fn(arg, l, full - 1, level->hash[0], err);
			if (r < 0)
				return r;
		}
		tree_tile_root(&level->hash[0][0], hash);
		level->n = 0;
	}
	assert(!"a log of 256^6 rows");
	return 0;
}

void tree_root(const struct tree *t, unsigned char out[SHA256_BYTES])
{
	bool some = false;
	if (t->size == 0) {
		sha256(STR(""), out);
		return;
	}
	/* From the right edge to the left: complete subtrees grow, so each is the left child. */
	for (unsigned l = 0; l < TREE_LEVELS; l++) {
		const struct tree_level *level = &t->level[l];
		unsigned at = level->n;
		for (unsigned width = 1; width <= level->n; width *= 2) {
			if (!(level->n & width))
				continue;
			unsigned char sub[SHA256_BYTES];
			at -= width;
			perfect_root(level->hash[at], width, sub);
			if (some)
				tree_node(sub, out, out);
			else
				memcpy(out, sub, SHA256_BYTES);
			some = true;
		}
	}
}
