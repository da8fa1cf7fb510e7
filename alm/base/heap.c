#include "alm/base/heap.h"

#include "alm/base/mem.h"

void heap_release(struct heap *h)
{
	xfree(h->nodes);
	*h = (struct heap)HEAP_INIT;
}

static bool before(const struct heap_node *a, const struct heap_node *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void put(struct heap *h, size_t i, struct heap_node *node)
{
	h->nodes[i] = node;
	node->index = i + 1;
}

static void up(struct heap *h, size_t i, struct heap_node *node)
{
	for (; i > 0 && before(node, h->nodes[(i - 1) / 2]); i = (i - 1) / 2)
		put(h, i, h->nodes[(i - 1) / 2]);
	put(h, i, node);
}

static void down(struct heap *h, size_t i, struct heap_node *node)
{
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && before(h->nodes[child + 1], h->nodes[child]))
			child++;
		if (!before(h->nodes[child], node))
			break;
		put(h, i, h->nodes[child]);
	}
	put(h, i, node);
}

void heap_push(struct heap *h, struct heap_node *node, int64_t key)
{
	ARRAY_GROW(h->nodes, h->cap, h->n + 1);
	node->key = key;
	node->order = ++h->pushed;
	h->n++;
	up(h, h->n - 1, node);
}

struct heap_node *heap_peek(const struct heap *h)
{
	return h->n ? h->nodes[0] : NULL;
}

void heap_remove(struct heap *h, struct heap_node *node)
{
	if (!node->index)
		return;
	size_t i = node->index - 1;
	node->index = 0;
	struct heap_node *last = h->nodes[--h->n];
	if (last == node)
		return;
	if (i > 0 && before(last, h->nodes[(i - 1) / 2]))
		up(h, i, last);
	else
		down(h, i, last);
}

struct heap_node *heap_pop(struct heap *h)
{
	struct heap_node *first = heap_peek(h);
	if (first)
		heap_remove(h, first);
	return first;
}

bool heap_holds(const struct heap_node *node)
{
	return node->index != 0;
}
