/*
 * heap: intrusive binary heap, smallest first. A node knows its place, so removal is O(log n).
 * Ties are broken by insertion order: the order of every pop is defined.
 */
#ifndef ALM_BASE_HEAP_H
#define ALM_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
	int64_t key;
	uint64_t order; /* set by heap_push */
	size_t index;   /* 1-based; 0 = in no heap */
};

struct heap {
	struct heap_node **nodes;
	size_t n, cap;
	uint64_t pushed;
};

#define HEAP_INIT {0}

void heap_release(struct heap *h); /* the nodes are not touched */
void heap_push(struct heap *h, struct heap_node *node, int64_t key);
struct heap_node *heap_peek(const struct heap *h); /* NULL if empty */
struct heap_node *heap_pop(struct heap *h);
void heap_remove(struct heap *h, struct heap_node *node); /* no-op if in no heap */
bool heap_holds(const struct heap_node *node);

#endif
