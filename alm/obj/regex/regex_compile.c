/* regex_compile: a tree to a program, by the rules of Go's regexp/syntax: x{2,4} is xx(x(x)?)?, and
 * x* of an x that may be empty is (x+)?, which decides what comes first. */
#include "alm/obj/regex/regex_node.h"

/* Its number, or -1: the program is too large. */
static int add(struct regex *re, enum inst_op op, uint32_t x)
{
	if (re->n == REGEX_INSTS_MAX)
		return -1;
	ARRAY_GROW(re->insts, re->cap, re->n + 1);
	re->insts[re->n] = (struct regex_inst){.op = op, .x = x};
	return (int)re->n++;
}

/* A fork whose ways are the next instruction and one that fork_to() tells; lazy: that one first. */
static int fork_new(struct regex *re)
{
	return add(re, INST_SPLIT, 0);
}

static void fork_to(struct regex *re, int at, bool lazy, size_t other)
{
	struct regex_inst *i = &re->insts[at];
	uint32_t next = (uint32_t)at + 1;
	i->x = lazy ? (uint32_t)other : next;
	i->y = lazy ? next : (uint32_t)other;
}

/* May it match nothing? */
/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by REGEX_DEPTH_MAX groups */
static bool is_nullable(const struct regex_node *n)
{
	switch (n->op) {
	case NODE_RUNE:
	case NODE_CLASS:
		return false;
	case NODE_ASSERT:
		return true;
	case NODE_GROUP:
		return is_nullable(n->first);
	case NODE_REPEAT:
		return n->min == 0 || is_nullable(n->first);
	case NODE_CONCAT:
		for (const struct regex_node *c = n->first; c; c = c->next)
			if (!is_nullable(c))
				return false;
		return true;
	case NODE_ALT:
		for (const struct regex_node *c = n->first; c; c = c->next)
			if (is_nullable(c))
				return true;
		return false;
	}
	return true;
}

static int write_node(struct regex *re, const struct regex_node *n);

static int write_plus(struct regex *re, const struct regex_node *x, bool lazy)
{
	size_t start = re->n;
	if (write_node(re, x) < 0)
		return -1;
	int at = fork_new(re);
	if (at < 0)
		return at;
	fork_to(re, at, !lazy, start); /* back is first, unless lazy */
	return 0;
}

static int write_star(struct regex *re, const struct regex_node *x, bool lazy)
{
	int at = fork_new(re);
	if (at < 0)
		return at;
	if (is_nullable(x)) {
		if (write_plus(re, x, lazy) < 0)
			return -1;
	} else if (write_node(re, x) < 0 || add(re, INST_JUMP, (uint32_t)at) < 0) {
		return -1;
	}
	fork_to(re, at, lazy, re->n);
	return 0;
}

/* (x(x(x)?)?)? of n, each fork leads to the end. */
static int write_options(struct regex *re, const struct regex_node *x, int n, bool lazy)
{
	CLEANUP(xfreep) int *forks = xcalloc((size_t)n, sizeof(*forks));
	for (int i = 0; i < n; i++) {
		forks[i] = fork_new(re);
		if (forks[i] < 0 || write_node(re, x) < 0)
			return -1;
	}
	for (int i = 0; i < n; i++)
		fork_to(re, forks[i], lazy, re->n);
	return 0;
}

static bool is_empty(const struct regex_node *n)
{
	return n->op == NODE_CONCAT && !n->first;
}

static int write_repeat(struct regex *re, const struct regex_node *n)
{
	const struct regex_node *x = n->first;
	if (is_empty(x))
		return 0;
	int times = n->max < 0 && n->min > 0 ? n->min - 1 : n->min;
	for (int i = 0; i < times; i++)
		if (write_node(re, x) < 0)
			return -1;
	if (n->max >= 0)
		return write_options(re, x, n->max - n->min, n->lazy);
	return n->min > 0 ? write_plus(re, x, n->lazy) : write_star(re, x, n->lazy);
}

static int write_group(struct regex *re, const struct regex_node *n)
{
	if (add(re, INST_SAVE, 2 * n->value) < 0 || write_node(re, n->first) < 0 ||
	    add(re, INST_SAVE, 2 * n->value + 1) < 0)
		return -1;
	return 0;
}

static int write_alternatives(struct regex *re, const struct regex_node *n)
{
	size_t count = 0;
	for (const struct regex_node *c = n->first; c; c = c->next)
		count++;
	CLEANUP(xfreep) int *jumps = xcalloc(count, sizeof(*jumps));
	count = 0;
	for (const struct regex_node *c = n->first; c; c = c->next) {
		int fork = c->next ? fork_new(re) : 0;
		if (fork < 0 || write_node(re, c) < 0)
			return -1;
		if (!c->next)
			break;
		jumps[count] = add(re, INST_JUMP, 0);
		if (jumps[count++] < 0)
			return -1;
		fork_to(re, fork, false, re->n);
	}
	for (size_t i = 0; i < count; i++)
		re->insts[jumps[i]].x = (uint32_t)re->n;
	return 0;
}

static int write_node(struct regex *re, const struct regex_node *n)
{
	switch (n->op) {
	case NODE_RUNE:
		return add(re, INST_RUNE, n->value);
	case NODE_CLASS:
		return add(re, INST_CLASS, n->value);
	case NODE_ASSERT:
		return add(re, INST_ASSERT, n->value);
	case NODE_GROUP:
		return write_group(re, n);
	case NODE_REPEAT:
		return write_repeat(re, n);
	case NODE_CONCAT:
		for (const struct regex_node *c = n->first; c; c = c->next)
			if (write_node(re, c) < 0)
				return -1;
		return 0;
	case NODE_ALT:
		return write_alternatives(re, n);
	}
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

/* Can it only match at the start of the text? */
static bool is_anchored(const struct regex *re)
{
	size_t i = 0;
	while (re->insts[i].op == INST_SAVE)
		i++;
	return re->insts[i].op == INST_ASSERT && re->insts[i].x == ASSERT_TEXT_START;
}

bool regex_compile(const struct regex_tree *tree, struct regex *re)
{
	if (write_node(re, tree->root) < 0 || add(re, INST_MATCH, 0) < 0)
		return false;
	re->anchored = is_anchored(re);
	return true;
}
