/* jsonpath: a path is a list of steps; evaluation maps a set of values through one step after the
 * other, so there is no recursion but that of "..", which obj's depth limit bounds. */
#include "alm/obj/query/jsonpath.h"

#include <limits.h>

#include "alm/obj/query/jsonpath_node.h"

/* NOLINTBEGIN(misc-no-recursion): filters nest as deep as jsonpath_parse.c allows, objects at
 * most OBJ_DEPTH_MAX */

void jsonpath_free(struct jsonpath *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		struct jsonpath_step *s = &p->steps[i];
		for (size_t j = 0; j < s->n && s->type == STEP_FIELD; j++)
			xfree(s->names[j]);
		jsonpath_free(s->left);
		jsonpath_free(s->r_path);
		obj_unref(s->right);
	}
	xfree(p);
}

void jsonpath_values_release(struct jsonpath_values *v)
{
	xfree((void *)v->items);
	*v = (struct jsonpath_values){0};
}

/* One more value is looked at; false: there is nothing left. */
static bool look(struct jsonpath_values *v)
{
	if (!v->work)
		return true;
	if (*v->work == 0)
		return false;
	--*v->work;
	return true;
}

static void push(struct jsonpath_values *v, const struct obj *o)
{
	if (!o || v->n >= JSONPATH_RESULTS_MAX || !look(v))
		return;
	if (v->n == v->cap) {
		v->cap = mem_grown(v->cap, v->n + 1);
		v->items = (const struct obj **)xreallocarray((void *)v->items, v->cap,
							      sizeof(*v->items));
	}
	v->items[v->n++] = o;
}

static void push_children(struct jsonpath_values *v, const struct obj *o)
{
	if (obj_type(o) == OBJ_MAP) {
		OBJ_EACH (it, o)
			push(v, it.value);
		return;
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		push(v, obj_at(o, i));
}

/* The value itself, then everything below it. */
static void push_all(struct jsonpath_values *v, const struct obj *o)
{
	if (v->n >= JSONPATH_RESULTS_MAX || (v->work && *v->work == 0))
		return;
	push(v, o);
	if (obj_type(o) == OBJ_MAP) {
		OBJ_EACH (it, o)
			push_all(v, it.value);
		return;
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		push_all(v, obj_at(o, i));
}

static void push_slice(const struct jsonpath_step *s, const struct obj *o,
		       struct jsonpath_values *v)
{
	int64_t n = (int64_t)obj_len(o), from = s->from, to = s->to;
	if (from < 0)
		from = n + from < 0 ? 0 : n + from;
	if (to < 0)
		to = n + to;
	for (int64_t i = from; i < to && i < n; i++)
		push(v, obj_at(o, (size_t)i));
}

static bool ordered(enum op op, int c)
{
	switch (op) {
	case OP_EQ:
		return c == 0;
	case OP_NE:
		return c != 0;
	case OP_LT:
		return c < 0;
	case OP_LE:
		return c <= 0;
	case OP_GT:
		return c > 0;
	case OP_GE:
		return c >= 0;
	case OP_EXISTS:
		break;
	}
	return true;
}

static bool filter_matches(const struct jsonpath_step *s, const struct obj *item, size_t *work)
{
	const struct obj *left = jsonpath_first_within(s->left, item, work);
	if (s->op == OP_EXISTS || !left)
		return left != NULL;
	const struct obj *right =
		s->r_path ? jsonpath_first_within(s->r_path, item, work) : s->right;
	double a, b;
	if (!right)
		return false;
	if (obj_is_number(left) && obj_is_number(right) && obj_as_double(left, &a) &&
	    obj_as_double(right, &b))
		return ordered(s->op, (a > b) - (a < b));
	if (obj_type(left) == OBJ_STRING && obj_type(right) == OBJ_STRING)
		return ordered(s->op, str_cmp(obj_as_str(left), obj_as_str(right)));
	bool equal = obj_equal(left, right);
	return s->op == OP_NE ? !equal : s->op == OP_EQ && equal;
}

static void push_filtered(const struct jsonpath_step *s, const struct obj *o,
			  struct jsonpath_values *v)
{
	if (obj_type(o) == OBJ_MAP) {
		OBJ_EACH (it, o)
			if (look(v) && filter_matches(s, it.value, v->work))
				push(v, it.value);
		return;
	}
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		if (look(v) && filter_matches(s, obj_at(o, i), v->work))
			push(v, obj_at(o, i));
}

static void eval_step(const struct jsonpath_step *s, const struct obj *o, struct jsonpath_values *v)
{
	switch (s->type) {
	case STEP_FIELD:
		for (size_t i = 0; i < s->n && obj_type(o) == OBJ_MAP; i++)
			push(v, obj_get(o, s->names[i]));
		break;
	case STEP_INDEX:
		for (size_t i = 0; i < s->n && obj_type(o) == OBJ_LIST; i++) {
			int64_t at = s->indexes[i] < 0 ? s->indexes[i] + (int64_t)obj_len(o)
						       : s->indexes[i];
			if (at >= 0)
				push(v, obj_at(o, (size_t)at));
		}
		break;
	case STEP_SLICE:
		if (obj_type(o) == OBJ_LIST)
			push_slice(s, o, v);
		break;
	case STEP_ALL:
		push_children(v, o);
		break;
	case STEP_DESCEND:
		push_all(v, o);
		break;
	case STEP_FILTER:
		push_filtered(s, o, v);
		break;
	}
}

void jsonpath_eval(const struct jsonpath *p, const struct obj *root, struct jsonpath_values *v)
{
	struct jsonpath_values now = {.work = v->work}, next = {.work = v->work};
	push(&now, root);
	for (size_t i = 0; i < p->n; i++) {
		next.n = 0;
		for (size_t j = 0; j < now.n; j++)
			eval_step(&p->steps[i], now.items[j], &next);
		struct jsonpath_values t = now;
		now = next;
		next = t;
	}
	for (size_t j = 0; j < now.n; j++)
		push(v, now.items[j]);
	jsonpath_values_release(&now);
	jsonpath_values_release(&next);
}

/* A chain of names, as most printer columns are, needs no sets. */
static bool is_plain(const struct jsonpath *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].type != STEP_FIELD || p->steps[i].n != 1)
			return false;
	return true;
}

const struct obj *jsonpath_first(const struct jsonpath *p, const struct obj *root)
{
	return jsonpath_first_within(p, root, NULL);
}

const struct obj *jsonpath_first_within(const struct jsonpath *p, const struct obj *root,
					size_t *work)
{
	if (is_plain(p)) {
		for (size_t i = 0; i < p->n && root; i++)
			root = obj_get(root, p->steps[i].names[0]);
		return root;
	}
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {.work = work};
	jsonpath_eval(p, root, &v);
	return v.n ? v.items[0] : NULL;
}
/* NOLINTEND(misc-no-recursion) */
