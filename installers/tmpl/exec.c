/*
 * exec: walks a tree and writes its text. Recursion follows blocks and includes. It runs on a stack
 * of its own, made for the run, and every entry checks what is used of it against the budget
 * (limits.stack_bytes), so no input can exhaust it and the depth does not depend on the caller.
 */
#include <assert.h>
#include <string.h>
#include <ucontext.h>

#include "installers/tmpl/run.h"
#include "installers/value/print.h"

/* Above the budget: what a function may need between two checks (printing, encoding, keys). */
#define STACK_MARGIN ((size_t)8 << 20)

enum walk { WALK_ON = 0, WALK_BREAK, WALK_CONTINUE };

static int walk(struct state *s, struct value dot, const struct tmpl_node *n);

static int over_limit(struct state *s, const char *budget, size_t limit)
{
	tmpl_over(s->run, budget, limit);
	return state_wrap_call(s, STR("")); /* adds the place */
}

int state_tick(struct state *s)
{
	struct tmpl_run *run = s->run;
	const struct tmpl_limits *l = run->limits;
	if (++run->steps > l->steps)
		return over_limit(s, "steps", l->steps);
	if (arena_bytes(run->arena) > l->arena_bytes)
		return over_limit(s, "bytes of values and strings", l->arena_bytes);
	const char *here = __builtin_frame_address(0);
	size_t used = here < run->stack_base ? (size_t)(run->stack_base - here)
					     : (size_t)(here - run->stack_base);
	if (used > l->stack_bytes)
		return over_limit(s, "bytes of nesting", l->stack_bytes);
	return 0;
}

void run_push_var(struct tmpl_run *run, struct str name, struct value v)
{
	ARRAY_GROW(run->vars, run->cap_vars, run->n_vars + 1);
	run->vars[run->n_vars++] = (struct var){name, v};
}

/* ---- actions ---- */
static int check_output(struct state *s)
{
	if (!s->out->over)
		return 0;
	return over_limit(s, "bytes of output of one file", s->out->limit);
}

static int walk_action(struct state *s, struct value dot, const struct tmpl_node *n)
{
	struct value v;
	int r = eval_pipeline(s, dot, n->branch.pipe, &v);
	if (r < 0)
		return r;
	if (n->branch.pipe->pipe.n_decl > 0)
		return 0;
	s->node = n;
	print_direct(s->out, v, s->run->set->profile);
	return check_output(s);
}

/* NOLINTBEGIN(misc-no-recursion): state_tick() bounds the stack by limits.stack_bytes */
static int walk_list(struct state *s, struct value dot, const struct tmpl_node *n)
{
	for (size_t i = 0; i < n->list.n; i++) {
		int r = walk(s, dot, n->list.items[i]);
		if (r != WALK_ON)
			return r;
	}
	return WALK_ON;
}

static int walk_if_or_with(struct state *s, struct value dot, const struct tmpl_node *n)
{
	size_t mark = s->run->n_vars;
	struct value v;
	int r = eval_pipeline(s, dot, n->branch.pipe, &v);
	if (r < 0)
		return r;
	if (value_truth(v))
		r = walk(s, n->kind == NODE_WITH ? v : dot, n->branch.list);
	else if (n->branch.else_list)
		r = walk(s, dot, n->branch.else_list);
	s->run->n_vars = mark;
	return r;
}

static int walk_template(struct state *s, struct value dot, const struct tmpl_node *n)
{
	const struct tmpl_tree *tree = run_lookup(s->run, n->call.name);
	if (!tree) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		strbuf_adds(&b, "template ");
		value_quote(&b, n->call.name);
		strbuf_adds(&b, " not defined");
		return state_fail_str(s, strbuf_str(&b));
	}
	struct value data = VALUE_NONE;
	if (n->call.pipe) {
		int r = eval_pipeline(s, dot, n->call.pipe, &data);
		if (r < 0)
			return r;
	}
	return run_execute(s->run, tree, data, s->out);
}

/* ---- range ---- */
static int set_loop_vars(struct state *s, const struct tmpl_node *pipe, struct value key,
			 struct value item)
{
	struct tmpl_run *run = s->run;
	size_t n = pipe->pipe.n_decl;
	if (n == 0)
		return 0;
	if (pipe->pipe.assign) {
		int r = eval_set_var(s, pipe->pipe.decl[0]->path.names[0], n > 1 ? key : item);
		if (r == 0 && n > 1)
			r = eval_set_var(s, pipe->pipe.decl[1]->path.names[0], item);
		return r;
	}
	run->vars[run->n_vars - 1].value = item;
	if (n > 1)
		run->vars[run->n_vars - 2].value = key;
	return 0;
}

static int iterate(struct state *s, const struct tmpl_node *n, struct value key, struct value item)
{
	struct tmpl_run *run = s->run;
	if (++run->iterations > run->limits->iterations)
		return over_limit(s, "iterations of range", run->limits->iterations);
	int r = set_loop_vars(s, n->branch.pipe, key, item);
	if (r < 0)
		return r;
	size_t mark = run->n_vars;
	r = walk(s, item, n->branch.list);
	run->n_vars = mark;
	return r == WALK_CONTINUE ? WALK_ON : r;
}
/* NOLINTEND(misc-no-recursion) */

static size_t range_length(struct value v)
{
	if (value_is_int(v))
		return v.type == VALUE_UINT8 || v.type == VALUE_UINT64 ? v.u
		       : v.i > 0                                       ? (size_t)v.i
								       : 0;
	if (value_is_map(v))
		return vmap_count(v.map);
	return v.type == VALUE_NIL ? 0 : v.len;
}

/* Element i; a map may be changed by the body, so its entries were taken before. */
static struct value range_item(struct value v, const struct vmap_entry *entries, size_t i,
			       struct value *ret_key)
{
	struct value item;
	*ret_key = value_int((int64_t)i);
	if (value_is_int(v)) {
		item = v;
		item.i = (int64_t)i;
	} else if (value_is_map(v)) {
		assert(entries);
		*ret_key = value_str(entries[i].key);
		item = entries[i].value;
		item.iface = value_is_anymap(v);
	} else if (v.type == VALUE_BYTES) {
		item = (struct value){.type = VALUE_UINT8, .u = (unsigned char)v.s[i]};
	} else {
		item = v.items[i];
		item.iface = v.type == VALUE_LIST;
	}
	return item;
}

static int check_range(struct state *s, struct value v, const struct tmpl_node *n)
{
	const char *problem = NULL;
	if (value_is_int(v)) {
		if (n->branch.pipe->pipe.n_decl > 1)
			problem = "can't use %v to iterate over more than one variable";
	} else if (!value_is_map(v) && !value_is_list(v) && v.type != VALUE_BYTES &&
		   v.type != VALUE_NIL) {
		problem = "range can't iterate over %v";
	}
	if (!problem)
		return 0;
	if (v.type == VALUE_PTR)
		v.type = VALUE_STRUCT;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	print_sprintf(&b, str_of(problem), &v, 1, s->run->set->profile);
	return state_fail_str(s, strbuf_str(&b));
}

/* NOLINTBEGIN(misc-no-recursion): state_tick() bounds the stack by limits.stack_bytes */
static int walk_range(struct state *s, struct value dot, const struct tmpl_node *n)
{
	size_t mark = s->run->n_vars;
	struct value v;
	int r = eval_pipeline(s, dot, n->branch.pipe, &v);
	if (r < 0)
		return r;
	v.iface = 0;
	r = check_range(s, v, n);
	if (r < 0)
		return r;
	size_t len = range_length(v);
	const struct vmap_entry *entries = NULL;
	if (value_is_map(v) && len > 0)
		entries = arena_memdup(s->run->arena, v.map->entries, len * sizeof(*entries));
	for (size_t i = 0; i < len && r == WALK_ON; i++) {
		struct value key;
		struct value item = range_item(v, entries, i, &key);
		r = iterate(s, n, key, item);
	}
	if (len == 0 && n->branch.else_list)
		r = walk(s, dot, n->branch.else_list);
	else if (r == WALK_BREAK)
		r = WALK_ON;
	s->run->n_vars = mark;
	return r;
}

static int walk(struct state *s, struct value dot, const struct tmpl_node *n)
{
	s->node = n;
	if (n->kind == NODE_TEXT) {
		strbuf_addstr(s->out, n->text);
		return check_output(s);
	}
	int r = state_tick(s);
	if (r < 0)
		return r;
	switch ((int)n->kind) {
	case NODE_ACTION:
		return walk_action(s, dot, n);
	case NODE_IF:
	case NODE_WITH:
		return walk_if_or_with(s, dot, n);
	case NODE_RANGE:
		return walk_range(s, dot, n);
	case NODE_LIST:
		return walk_list(s, dot, n);
	case NODE_TEMPLATE:
		return walk_template(s, dot, n);
	case NODE_BREAK:
		return WALK_BREAK;
	default:
		return WALK_CONTINUE;
	}
}

/* ---- runs ---- */
const struct tmpl_tree *run_lookup(const struct tmpl_run *run, struct str name)
{
	for (const struct scope *sc = run->scope; sc; sc = sc->parent) {
		const struct tmpl_tree *t = table_get(&sc->trees, name);
		if (t)
			return t;
	}
	return set_tree(run->set, name);
}

int run_execute(struct tmpl_run *run, const struct tmpl_tree *tree, struct value data,
		struct strbuf *out)
{
	struct state s = {.run = run, .tree = tree, .node = tree->root, .out = out};
	if (run->frames >= run->limits->frames)
		return over_limit(&s, "templates in each other", run->limits->frames);
	run->frames++;
	s.base = run->n_vars;
	data.iface = 0;
	run_push_var(run, STR("$"), data);
	int r = walk(&s, data, tree->root);
	run->n_vars = s.base;
	run->frames--;
	return r < 0 ? r : 0;
}
/* NOLINTEND(misc-no-recursion) */

/* What goes over to the other stack and comes back. makecontext() hands on no pointers, hence the
 * static: there is one thread, and templates do not start renders. */
struct crossing {
	struct tmpl_run *run;
	const struct tmpl_tree *tree;
	struct value data;
	struct strbuf *text;
	int result;
	ucontext_t back, there;
};
static struct crossing *crossing;

static void on_own_stack(void)
{
	struct crossing *c = crossing;
	c->run->stack_base = __builtin_frame_address(0);
	c->result = run_execute(c->run, c->tree, c->data, c->text);
}

static int execute_on_own_stack(struct tmpl_run *run, const struct tmpl_tree *tree,
				struct value data, struct strbuf *text)
{
	struct crossing c = {.run = run, .tree = tree, .data = data, .text = text};
	struct crossing *outer = crossing;
	if (!run->stack) {
		run->stack_size = run->limits->stack_bytes + STACK_MARGIN;
		run->stack = mem_stack(run->stack_size);
	}
	if (getcontext(&c.there) < 0)
		return tmpl_fail_code(run, E_INTERNAL, "no context for the render");
	c.there.uc_stack.ss_sp = run->stack;
	c.there.uc_stack.ss_size = run->stack_size;
	c.there.uc_link = &c.back;
	makecontext(&c.there, on_own_stack, 0);
	crossing = &c;
	if (swapcontext(&c.back, &c.there) < 0)
		c.result = tmpl_fail_code(run, E_INTERNAL, "no context for the render");
	crossing = outer;
	return c.result;
}

int tmpl_run_file(struct tmpl_run *run, struct str name, struct value data, struct strbuf *out,
		  struct strbuf *msg)
{
	const struct tmpl_tree *tree = set_tree(run->set, name);
	if (!tree) {
		strbuf_adds(msg, "no template ");
		value_quote(msg, name);
		return -E_NOTFOUND;
	}
	run->failure = (struct tmpl_failure){0};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(run->limits->file_bytes);
	int r = execute_on_own_stack(run, tree, data, &text);
	run->output_bytes += text.len;
	if (r == 0 && run->output_bytes > run->limits->output_bytes)
		r = tmpl_over(run, "bytes of output", run->limits->output_bytes);
	if (r < 0) {
		failure_print(run, msg);
		run->n_vars = 0;
		run->frames = 0;
		run->scope = NULL;
		table_init(&run->includes, run->arena);
	}
	run->call_node = NULL;
	set_forget(run->set);
	if (r < 0)
		return r;
	tmpl_add_cleaned(out, strbuf_str(&text));
	return 0;
}
