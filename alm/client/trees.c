/* trees: see trees.h. */
#include "alm/client/trees.h"

#include <sys/queue.h>

#include "alm/base/pool.h"
#include "alm/obj/obj.h"

/* An object knows the slot that keeps it decoded, and the slot knows the object. */
struct tree_slot {
	struct trees *in;
	struct informer_object *of;
	struct obj *tree;
	TAILQ_ENTRY(tree_slot) link;
};

struct trees {
	TAILQ_HEAD(tree_list, tree_slot) slots; /* the one that was used last is the first */
	size_t bytes, bytes_max;
};

struct trees *trees_new(size_t text_max)
{
	struct trees *t = xcalloc(1, sizeof(*t));
	TAILQ_INIT(&t->slots);
	t->bytes_max = text_max;
	return t;
}

void trees_clear(struct trees *t)
{
	while (!TAILQ_EMPTY(&t->slots))
		trees_forget(TAILQ_FIRST(&t->slots)->of);
}

void trees_free(struct trees *t)
{
	if (!t)
		return;
	trees_clear(t);
	xfree(t);
}

bool trees_is_empty(const struct trees *t)
{
	return TAILQ_EMPTY(&t->slots);
}

void trees_forget(const struct informer_object *io)
{
	struct tree_slot *s = io->slot;
	if (!s)
		return;
	TAILQ_REMOVE(&s->in->slots, s, link);
	s->in->bytes -= io->text_len;
	s->of->slot = NULL;
	obj_unref(s->tree);
	pool_free(s, sizeof(*s));
}

void trees_put(struct trees *t, const struct informer_object *io, const struct obj *o)
{
	trees_forget(io);
	if (io->text_len > TREE_TEXT_MAX)
		return;
	while (t->bytes + io->text_len > t->bytes_max)
		trees_forget(TAILQ_LAST(&t->slots, tree_list)->of);
	struct tree_slot *s = pool_alloc(sizeof(*s));
	*s = (struct tree_slot){.in = t, .of = mem_unconst(io), .tree = obj_ref(o)};
	s->of->slot = s;
	TAILQ_INSERT_HEAD(&t->slots, s, link);
	t->bytes += io->text_len;
}

struct obj *trees_get(struct trees *t, const struct informer_object *io)
{
	if (!io)
		return NULL;
	struct tree_slot *s = io->slot;
	if (s) {
		TAILQ_REMOVE(&s->in->slots, s, link);
		TAILQ_INSERT_HEAD(&s->in->slots, s, link);
		return obj_ref(s->tree);
	}
	struct obj *o = informer_decode(io);
	if (o)
		trees_put(t, io, o);
	return o;
}
