/* trees: see trees.h. */
#include "alm/client/trees.h"

#include "alm/obj/obj.h"

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
		tree_slot_clear(TAILQ_FIRST(&t->slots));
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

void tree_slot_clear(struct tree_slot *s)
{
	if (!s->in)
		return;
	TAILQ_REMOVE(&s->in->slots, s, link);
	s->in->bytes -= s->bytes;
	s->in = NULL;
	obj_unref(STEAL(s->tree));
}

void trees_put(struct trees *t, const struct informer_object *io, const struct obj *o)
{
	struct tree_slot *s = io->slot;
	tree_slot_clear(s);
	if (io->text.text_len > TREE_TEXT_MAX)
		return;
	while (t->bytes + io->text.text_len > t->bytes_max)
		tree_slot_clear(TAILQ_LAST(&t->slots, tree_list));
	*s = (struct tree_slot){.in = t, .tree = obj_ref(o), .bytes = io->text.text_len};
	TAILQ_INSERT_HEAD(&t->slots, s, link);
	t->bytes += s->bytes;
}

struct obj *trees_get(struct trees *t, const struct informer_object *io)
{
	if (!io)
		return NULL;
	struct tree_slot *s = io->slot;
	if (s->in) {
		TAILQ_REMOVE(&s->in->slots, s, link);
		TAILQ_INSERT_HEAD(&s->in->slots, s, link);
		return obj_ref(s->tree);
	}
	struct obj *o = informer_decode(io);
	if (o)
		trees_put(t, io, o);
	return o;
}
