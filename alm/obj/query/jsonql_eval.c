/* jsonql_eval: the meaning of the tree. A comparison holds if it holds for any pair of values. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/query/jsonql_node.h"
#include "alm/obj/query/jsonql_value.h"

#define EVAL_BYTES ((size_t)4 << 20)

bool node_is_truth(const struct jsonql_node *n)
{
	switch (n->type) {
	case NODE_PATH:
	case NODE_CMP:
	case NODE_IN:
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
		return true;
	case NODE_CONST:
		return n->value.type == VAL_BOOL;
	case NODE_ARITH:
	case NODE_NEG:
	case NODE_LEN:
	case NODE_AGE:
		break;
	}
	return false;
}

static bool node_truth(struct eval *e, const struct jsonql_node *n);
static void note(struct eval *e, const char *fmt, ...) PRINTF(2, 3);
static void note(struct eval *e, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(JSONQL_NOTES_MAX);
	va_list args;
	if (!e->notes)
		return;
	va_start(args, fmt);
	strbuf_vaddf(&b, fmt, args);
	va_end(args);
	if (str_contains(strbuf_str(e->notes), strbuf_str(&b)))
		return;
	if (e->notes->len)
		strbuf_adds(e->notes, "; ");
	strbuf_addstr(e->notes, strbuf_str(&b));
}

/* Past the memory of one evaluation there are no more values: the answer is no. */
static struct val *add(struct eval *e, struct vals *v)
{
	if (arena_over(e->arena))
		return &e->sink;
	if (!v->items)
		v->items = ARENA_ARRAY(e->arena, struct val, 4);
	else if (v->n >= 4 && (v->n & (v->n - 1)) == 0) {
		struct val *more = ARENA_ARRAY(e->arena, struct val, v->n * 2);
		memcpy(more, v->items, v->n * sizeof(*more));
		v->items = more;
	}
	return &v->items[v->n++];
}

static void add_obj(struct eval *e, const struct obj *o, struct vals *v)
{
	struct val x;
	if (val_of_obj(o, &x) && v->n < JSONQL_VALUES_MAX)
		*add(e, v) = x;
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by JSONQL_DEPTH_MAX and chains by
 * JSONQL_BYTES_MAX */
static bool filter_holds(struct eval *e, const struct jsonql_node *filter,
			 const struct obj *element)
{
	struct eval inner = *e;
	inner.root = element;
	inner.notes = NULL;
	return node_truth(&inner, filter);
}

static void walk(struct eval *e, const struct seg *s, const struct obj *o, struct vals *v)
{
	if (!s) {
		add_obj(e, o, v);
		return;
	}
	switch (s->type) {
	case SEG_NAME:
		if (obj_has(o, s->name))
			walk(e, s->next, obj_get(o, s->name), v);
		return;
	case SEG_INDEX: {
		int64_t n = (int64_t)obj_len(o), i = s->index < 0 ? n + s->index : s->index;
		if (obj_type(o) == OBJ_LIST && i >= 0 && i < n)
			walk(e, s->next, obj_at(o, (size_t)i), v);
		return;
	}
	case SEG_ALL:
	case SEG_FILTER:
		if (obj_type(o) == OBJ_MAP) {
			OBJ_EACH (it, o)
				if (s->type == SEG_ALL || filter_holds(e, s->filter, it.value))
					walk(e, s->next, it.value, v);
			return;
		}
		for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
			if (s->type == SEG_ALL || filter_holds(e, s->filter, obj_at(o, i)))
				walk(e, s->next, obj_at(o, i), v);
		return;
	}
}
/* NOLINTEND(misc-no-recursion) */

static struct str text_of(struct eval *e, const struct val *v)
{
	char buf[40];
	switch (v->type) {
	case VAL_STRING:
		return v->s;
	case VAL_BOOL:
		return v->b ? STR("true") : STR("false");
	case VAL_INT:
		(void)snprintf(buf, sizeof(buf), "%" PRId64, v->i);
		break;
	case VAL_UINT:
		(void)snprintf(buf, sizeof(buf), "%" PRIu64, v->u);
		break;
	case VAL_DOUBLE: {
		CLEANUP(obj_unrefp) struct obj *o = isfinite(v->d) ? obj_double(v->d) : obj_int(0);
		struct str t = obj_number_text(o);
		return str_n(arena_strndup(e->arena, t.ptr, t.len), t.len);
	}
	case VAL_NULL:
	case VAL_DEFINED:
	case VAL_OBJ:
		return STR_NONE;
	}
	return str_of(arena_strdup(e->arena, buf));
}

static bool arith_int(int op, int64_t a, int64_t b, bool literal, struct val *ret)
{
	*ret = (struct val){.type = VAL_INT};
	switch (op) {
	case '+':
		return !__builtin_add_overflow(a, b, &ret->i);
	case '-':
		return !__builtin_sub_overflow(a, b, &ret->i);
	case '*':
		return !__builtin_mul_overflow(a, b, &ret->i);
	case '/':
		if (b == 0 || !literal || (a == INT64_MIN && b == -1))
			return false;
		ret->i = a / b;
		return true;
	case '%':
		if (b == 0 || b == -1)
			return false;
		ret->i = a % b;
		return true;
	default:
		return false;
	}
}

static bool arith_double(int op, double a, double b, double *ret)
{
	switch (op) {
	case '+':
		*ret = a + b;
		break;
	case '-':
		*ret = a - b;
		break;
	case '*':
		*ret = a * b;
		break;
	case '/':
		if (b == 0.0)
			return false;
		*ret = a / b;
		break;
	case '%':
		if (b == 0.0 || floor(a) != a || floor(b) != b)
			return false;
		*ret = fmod(a, b);
		break;
	default:
		*ret = pow(a, b);
		break;
	}
	return isfinite(*ret);
}

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by JSONQL_DEPTH_MAX and chains by
 * JSONQL_BYTES_MAX */
bool node_is_literal(const struct jsonql_node *n)
{
	return n->type == NODE_CONST || (n->type == NODE_NEG && node_is_literal(n->a)) ||
	       (n->type == NODE_ARITH && node_is_literal(n->a) && node_is_literal(n->b));
}

static bool arith_pair(struct eval *e, const struct jsonql_node *n, const struct val *a,
		       const struct val *b, struct val *ret)
{
	if (val_is_number(a) && val_is_number(b)) {
		bool literal = node_is_literal(n->a) && node_is_literal(n->b);
		if (a->type == VAL_INT && b->type == VAL_INT &&
		    arith_int(n->op, a->i, b->i, literal, ret))
			return true;
		*ret = (struct val){.type = VAL_DOUBLE};
		return arith_double(n->op, val_as_double(a), val_as_double(b), &ret->d);
	}
	if (n->op != '+' || arena_over(e->arena))
		return false;
	struct str x = text_of(e, a), y = text_of(e, b);
	if (!x.ptr || !y.ptr)
		return false;
	char *joined = arena_alloc(e->arena, x.len + y.len + 1);
	memcpy(joined, x.ptr, x.len);
	memcpy(joined + x.len, y.ptr, y.len);
	*ret = (struct val){.type = VAL_STRING, .s = str_n(joined, x.len + y.len)};
	return true;
}

static bool is_single_name(const struct jsonql_node *n)
{
	return n->type == NODE_PATH && n->path && !n->path->next && n->path->type == SEG_NAME;
}

static void arith_values(struct eval *e, const struct jsonql_node *n, struct vals *ret)
{
	struct vals a = {0}, b = {0};
	node_values(e, n->a, &a); /* once: twice would double at every level */
	if (n->op == '-' && !a.n && n->a->type == NODE_PATH && is_single_name(n->b)) {
		struct str path = n->a->text, head, tail;
		if (!str_rcut(path, '.', &head, &tail)) {
			head = STR("");
			tail = path;
		}
		note(e, "%.*s is missing (for the key %.*s-%.*s write %.*s.'%.*s-%.*s')",
		     STR_ARG(path), STR_ARG(tail), STR_ARG(n->b->text), STR_ARG(head),
		     STR_ARG(tail), STR_ARG(n->b->text));
		return;
	}
	node_values(e, n->b, &b);
	for (size_t i = 0; i < a.n; i++)
		for (size_t k = 0; k < b.n && ret->n < JSONQL_VALUES_MAX; k++) {
			struct val v;
			if (arith_pair(e, n, &a.items[i], &b.items[k], &v))
				*add(e, ret) = v;
		}
}

static void len_values(struct eval *e, const struct jsonql_node *n, struct vals *ret)
{
	struct vals a = {0};
	node_values(e, n->a, &a);
	for (size_t i = 0; i < a.n; i++) {
		const struct val *v = &a.items[i];
		struct val len = {.type = VAL_INT};
		if (v->type == VAL_OBJ)
			len.i = (int64_t)obj_len(v->o);
		else if (v->type == VAL_STRING)
			len.i = (int64_t)utf8_count(v->s);
		else
			continue;
		*add(e, ret) = len;
	}
}

static void age_values(struct eval *e, const struct jsonql_node *n, struct vals *ret)
{
	struct vals a = {0};
	int64_t then;
	node_values(e, n->a, &a);
	for (size_t i = 0; i < a.n; i++)
		if (a.items[i].type == VAL_STRING && clock_parse(a.items[i].s, &then))
			*add(e, ret) = (struct val){.type = VAL_DOUBLE,
						    .d = (double)(e->now_ns - then) / 1e9};
}

static void neg_values(struct eval *e, const struct jsonql_node *n, struct vals *ret)
{
	struct vals a = {0};
	node_values(e, n->a, &a);
	for (size_t i = 0; i < a.n; i++) {
		struct val v = a.items[i];
		if (v.type == VAL_INT && v.i != INT64_MIN)
			v.i = -v.i;
		else if (val_is_number(&v))
			v = (struct val){.type = VAL_DOUBLE, .d = -val_as_double(&v)};
		else
			continue;
		*add(e, ret) = v;
	}
}

void node_values(struct eval *e, const struct jsonql_node *n, struct vals *ret)
{
	switch (n->type) {
	case NODE_CONST:
		*add(e, ret) = n->value;
		return;
	case NODE_PATH:
		walk(e, n->path, e->root, ret);
		ret->missing = ret->n == 0;
		return;
	case NODE_ARITH:
		arith_values(e, n, ret);
		return;
	case NODE_NEG:
		neg_values(e, n, ret);
		return;
	case NODE_LEN:
		len_values(e, n, ret);
		return;
	case NODE_AGE:
		age_values(e, n, ret);
		return;
	case NODE_CMP:
	case NODE_IN:
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
		*add(e, ret) = (struct val){.type = VAL_BOOL, .b = node_truth(e, n)};
		return;
	}
}
/* NOLINTEND(misc-no-recursion) */

/* NOLINTBEGIN(misc-no-recursion): the parser bounds the tree by JSONQL_DEPTH_MAX and chains by
 * JSONQL_BYTES_MAX */
/* is, isnot: one side is null or defined. */
static bool existence(struct eval *e, const struct jsonql_node *n)
{
	struct vals v = {0};
	bool left = n->a->type == NODE_CONST &&
		    (n->a->value.type == VAL_NULL || n->a->value.type == VAL_DEFINED);
	const struct jsonql_node *word = left ? n->a : n->b, *of = left ? n->b : n->a;
	struct eval quiet = *e;
	quiet.notes = NULL;
	node_values(&quiet, of, &v);
	if (word->value.type == VAL_DEFINED)
		return (v.n > 0) == (n->op == CMP_IS);
	for (size_t i = 0; i < v.n; i++)
		if ((v.items[i].type == VAL_NULL) == (n->op == CMP_IS))
			return true;
	return false;
}

static const char *type_name(const struct val *v)
{
	static const char *const names[] = {
		[VAL_INT] = "a number",    [VAL_UINT] = "a number",       [VAL_DOUBLE] = "a number",
		[VAL_STRING] = "a string", [VAL_BOOL] = "a boolean",      [VAL_NULL] = "null",
		[VAL_DEFINED] = "defined", [VAL_OBJ] = "a list or object"};
	return names[v->type];
}

static void note_missing(struct eval *e, const struct jsonql_node *n, const struct vals *v,
			 bool right)
{
	if (n->type != NODE_PATH || !v->missing)
		return;
	note(e, "%.*s is missing%s", STR_ARG(n->text),
	     right && is_single_name(n) ? " (a string needs quotes)" : "");
}

static bool any_pair(struct eval *e, const struct jsonql_node *n)
{
	struct vals a = {0}, b = {0};
	int worst = 0;
	node_values(e, n->a, &a);
	node_values(e, n->b, &b);
	note_missing(e, n->a, &a, false);
	note_missing(e, n->b, &b, true);
	for (size_t i = 0; i < a.n; i++)
		for (size_t k = 0; k < b.n; k++) {
			int r = val_compare(n, &a.items[i], &b.items[k]);
			if (r > 0)
				return true;
			worst = r < worst ? r : worst;
		}
	if (worst < 0 && n->a->type == NODE_PATH)
		note(e, "%.*s is %s and does not compare with %s", STR_ARG(n->a->text),
		     type_name(&a.items[0]), type_name(&b.items[0]));
	return false;
}

static bool in_list(struct eval *e, const struct jsonql_node *n)
{
	struct vals a = {0};
	node_values(e, n->a, &a);
	note_missing(e, n->a, &a, false);
	for (size_t k = 0; k < n->n_list; k++) {
		struct vals b = {0};
		node_values(e, n->list[k], &b);
		note_missing(e, n->list[k], &b, true);
		for (size_t i = 0; i < a.n; i++)
			for (size_t j = 0; j < b.n; j++)
				if (val_equal(&a.items[i], &b.items[j]) == 1)
					return true;
	}
	return false;
}

static bool path_truth(struct eval *e, const struct jsonql_node *n)
{
	struct vals v = {0};
	node_values(e, n, &v);
	note_missing(e, n, &v, false);
	for (size_t i = 0; i < v.n; i++)
		if (v.items[i].type == VAL_BOOL && v.items[i].b)
			return true;
	return false;
}

static bool node_truth(struct eval *e, const struct jsonql_node *n)
{
	switch (n->type) {
	case NODE_CONST:
		return n->value.type == VAL_BOOL && n->value.b;
	case NODE_CMP:
		if (n->op == CMP_IS || n->op == CMP_ISNOT)
			return existence(e, n);
		return any_pair(e, n);
	case NODE_IN:
		return in_list(e, n);
	case NODE_AND:
		return node_truth(e, n->a) && node_truth(e, n->b);
	case NODE_OR:
		return node_truth(e, n->a) || node_truth(e, n->b);
	case NODE_NOT:
		return !node_truth(e, n->a);
	case NODE_PATH:
		return path_truth(e, n);
	case NODE_ARITH:
	case NODE_NEG:
	case NODE_LEN:
	case NODE_AGE:
		break;
	}
	return false;
}
/* NOLINTEND(misc-no-recursion) */

bool jsonql_eval(const struct jsonql *q, const struct obj *o, int64_t now_ns, struct strbuf *notes)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES);
	struct eval e = {.root = o, .now_ns = now_ns, .arena = a, .notes = notes};
	return node_truth(&e, q->root);
}

void jsonql_values(const struct jsonql *q, const struct obj *o, struct strbuf *b)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(EVAL_BYTES);
	struct eval e = {.root = o, .arena = a};
	bool first = true;
	for (const struct jsonql_node *n = q->paths; n; n = n->next_path) {
		struct vals v = {0};
		walk(&e, n->path, o, &v);
		for (size_t i = 0; i < v.n; i++) {
			struct str text = text_of(&e, &v.items[i]);
			CLEANUP(xfreep) char *json = v.items[i].o ? json_text(v.items[i].o) : NULL;
			const char *quote = v.items[i].type == VAL_STRING ? "'" : "";
			strbuf_addf(b, "%s%.*s=%s", first ? "" : ", ", STR_ARG(n->text), quote);
			if (json)
				strbuf_adds(b, json);
			else
				strbuf_addstr(b, text.ptr ? text : STR("null"));
			strbuf_adds(b, quote);
			first = false;
		}
	}
}
