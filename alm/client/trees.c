/* trees: see trees.h. */
#include "alm/client/trees.h"

#include "alm/obj/json.h"

struct trees {
	TAILQ_HEAD(tree_list, tree_slot) slots; /* the one that was used last is the first */
	size_t bytes;
};

struct trees *trees_new(void)
{
	struct trees *t = xcalloc(1, sizeof(*t));
	TAILQ_INIT(&t->slots);
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
	if (io->text.len > TREE_TEXT_MAX)
		return;
	while (t->bytes + io->text.len > TREES_TEXT_MAX)
		tree_slot_clear(TAILQ_LAST(&t->slots, tree_list));
	*s = (struct tree_slot){.in = t, .tree = obj_ref(o), .bytes = io->text.len};
	TAILQ_INSERT_HEAD(&t->slots, s, link);
	t->bytes += s->bytes;
}

struct obj *trees_get(struct trees *t, const struct informer_object *io)
{
	struct error err;
	struct obj *o = NULL;
	if (!io)
		return NULL;
	struct tree_slot *s = io->slot;
	if (s->in) {
		TAILQ_REMOVE(&s->in->slots, s, link);
		TAILQ_INSERT_HEAD(&s->in->slots, s, link);
		return obj_ref(s->tree);
	}
	if (json_parse(io->text, &o, &err) < 0)
		return NULL;
	trees_put(t, io, o);
	return o;
}
