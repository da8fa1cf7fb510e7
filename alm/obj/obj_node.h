/*
 * obj_node: how the values of obj.h lie in memory. Private to obj.c and obj_map.c.
 *
 * A node is one small allocation: a scalar has its text right behind it, a list has a pointer to
 * its elements (of one element, the element itself), a map has a pointer to its members. A text
 * of n bytes so becomes a tree of less than 20 n, whatever it holds, which is what the limits of
 * readers count on. Scalars and keys are immutable: copies share them.
 */
#ifndef ALM_OBJ_OBJ_NODE_H
#define ALM_OBJ_OBJ_NODE_H

#include "alm/obj/obj.h"

struct obj {
	uint32_t refs; /* owners */
	uint32_t len;  /* bytes of text, elements, members */
	uint8_t type;  /* enum obj_type */
	bool fixed;    /* one for the whole program: refs is not counted */
};

struct obj_members;

struct obj_list_node {
	struct obj head;
	uint32_t cap; /* 1: one is the element */
	union {
		struct obj *one, **many;
	};
};

struct obj_map_node {
	struct obj head;
	struct obj_members *members; /* NULL: there was never one */
};

static inline const char *node_text(const struct obj *o)
{
	return (const char *)(o + 1);
}

/* These count what lives; n is the size that was asked for. */
void *node_alloc(size_t n);
void node_free(void *p, size_t n);

struct obj *node_scalar(enum obj_type type, struct str text); /* refs 1 */
struct obj *node_map_copy(const struct obj *o);
void node_map_release(struct obj *o); /* the members, not the node */

#endif
