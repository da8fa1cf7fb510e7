/* jsonql_parse: text -> syntax tree, and the refusals of jsonql.md. */
#include <string.h>

#include "alm/obj/query/jsonql_check.h"
#include "alm/obj/query/jsonql_lex.h"
#include "alm/obj/query/jsonql_node.h"

#define ARENA_BYTES ((size_t)1 << 20)

struct parser {
	struct jsonql *q;
	struct jsonql_text in;
	unsigned depth;
	struct jsonql_node **paths_tail;
	struct error *err;
};

static struct jsonql_node *parse_or(struct parser *p);
static struct jsonql_node *parse_add(struct parser *p);

static struct jsonql_node *new_node(struct parser *p, enum node_type type, size_t at)
{
	struct jsonql_node *n = ARENA_NEW(p->q->arena, struct jsonql_node);
	n->type = type;
	n->column = at;
	return n;
}

static bool deeper(struct parser *p)
{
	if (++p->depth <= JSONQL_DEPTH_MAX)
		return true;
	jsonql_fail(p->err, p->in.at, "more than %d levels", JSONQL_DEPTH_MAX);
	return false;
}

static bool read_string(struct parser *p, struct str *ret)
{
	return jsonql_read_string(&p->in, ret) ||
	       jsonql_fail(p->err, p->in.at, "the string has no end");
}

/* NOLINTBEGIN(misc-no-recursion): deeper() bounds the depth by JSONQL_DEPTH_MAX */
static bool parse_index(struct parser *p, struct seg *s)
{
	size_t start = p->in.at++;
	jsonql_skip_space(&p->in);
	if (jsonql_take(&p->in, "*"))
		s->type = SEG_ALL;
	else if (jsonql_take(&p->in, "?")) {
		s->type = SEG_FILTER;
		struct jsonql_node **tail = p->paths_tail; /* paths inside are the elements' own */
		s->filter = parse_or(p);
		*tail = NULL;
		p->paths_tail = tail;
		if (!s->filter)
			return false;
		if (!node_is_truth(s->filter)) {
			jsonql_fail(p->err, start, "a filter needs a comparison");
			return false;
		}
	} else {
		bool negative = jsonql_take(&p->in, "-");
		size_t n = jsonql_digits(&p->in, p->in.at);
		int64_t v = 0;
		if (!n || !str_parse_i64(str_sub(p->in.text, p->in.at, n), &v)) {
			jsonql_fail(p->err, p->in.at, "an index is a number, * or ?expression");
			return false;
		}
		p->in.at += n;
		s->type = SEG_INDEX;
		s->index = negative ? -v : v;
	}
	jsonql_skip_space(&p->in);
	if (!jsonql_take(&p->in, "]")) {
		jsonql_fail(p->err, p->in.at, "] is missing");
		return false;
	}
	return true;
}

/* One segment at the cursor: name, quoted name or index. */
static struct seg *parse_seg(struct parser *p, bool first)
{
	struct seg *s = ARENA_NEW(p->q->arena, struct seg);
	char c = jsonql_peek(&p->in, 0);
	struct str name;
	if (c == '[') {
		return parse_index(p, s) ? s : NULL;
	}
	if (!first && (c == '\'' || c == '"')) {
		if (!read_string(p, &name))
			return NULL;
	} else {
		name = jsonql_word(&p->in);
		p->in.at += name.len;
		if (!name.len) {
			jsonql_fail(p->err, p->in.at, "a name is missing");
			return NULL;
		}
	}
	s->type = SEG_NAME;
	s->name = arena_strndup(p->q->arena, name.ptr, name.len);
	return s;
}

static struct jsonql_node *parse_path(struct parser *p)
{
	struct jsonql_node *n = new_node(p, NODE_PATH, p->in.at);
	struct seg **tail = &n->path;
	bool dot = jsonql_take(&p->in, ".");
	char c = jsonql_peek(&p->in, 0);
	if (!dot || jsonql_is_name_char(c) || c == '\'' || c == '"' || c == '[') {
		do {
			struct seg *s = parse_seg(p, tail == &n->path && !dot);
			if (!s)
				return NULL;
			*tail = s;
			tail = &s->next;
		} while (jsonql_peek(&p->in, 0) == '[' || jsonql_take(&p->in, "."));
	}
	n->text = str_sub(p->in.text, n->column, p->in.at - n->column);
	*p->paths_tail = n;
	p->paths_tail = &n->next_path;
	return n;
}

static struct jsonql_node *constant(struct parser *p, size_t at, struct val v)
{
	struct jsonql_node *n = new_node(p, NODE_CONST, at);
	n->value = v;
	return n;
}

static struct jsonql_node *parse_call(struct parser *p, enum node_type type, size_t at)
{
	struct jsonql_node *n = new_node(p, type, at);
	p->in.at++; /* ( */
	jsonql_skip_space(&p->in);
	if (type == NODE_AGE && jsonql_take(&p->in, ")")) {
		struct seg *meta = ARENA_NEW(p->q->arena, struct seg);
		meta->name = "metadata";
		meta->next = ARENA_NEW(p->q->arena, struct seg);
		meta->next->name = "creationTimestamp";
		n->a = new_node(p, NODE_PATH, at);
		n->a->path = meta;
		n->a->text = STR("metadata.creationTimestamp");
		return n;
	}
	n->a = type == NODE_AGE ? parse_path(p) : parse_add(p);
	if (!n->a)
		return NULL;
	jsonql_skip_space(&p->in);
	if (!jsonql_take(&p->in, ")"))
		return jsonql_fail(p->err, p->in.at, ") is missing");
	return n;
}

/* true false null defined, len( age(, a number, or NULL without a fault: a path. */
static struct jsonql_node *parse_word(struct parser *p)
{
	static const struct {
		const char *word;
		struct val value;
	} words[] = {
		{"true", {.type = VAL_BOOL, .b = true}},
		{"false", {.type = VAL_BOOL}},
		{"null", {.type = VAL_NULL}},
		{"defined", {.type = VAL_DEFINED}},
	};
	size_t at = p->in.at;
	struct str w = jsonql_word(&p->in);
	struct val v;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(w, words[i].word)) {
			p->in.at += w.len;
			return constant(p, at, words[i].value);
		}
	if ((str_is(w, "len") || str_is(w, "age")) && jsonql_peek(&p->in, w.len) == '(') {
		p->in.at += w.len;
		p->q->uses_age = p->q->uses_age || w.ptr[0] == 'a';
		return parse_call(p, w.ptr[0] == 'a' ? NODE_AGE : NODE_LEN, at);
	}
	if (w.len && jsonql_read_number(&p->in, &v))
		return constant(p, at, v);
	return NULL;
}

static struct jsonql_node *parse_prim(struct parser *p);

static struct jsonql_node *parse_signed(struct parser *p, size_t at, bool negative)
{
	struct jsonql_node *a = parse_prim(p);
	if (!a)
		return NULL;
	a = jsonql_check_signed(a, at, p->err);
	if (!a || !negative)
		return a;
	struct jsonql_node *n = new_node(p, NODE_NEG, at);
	n->a = a;
	return n;
}

static struct jsonql_node *parse_prim(struct parser *p)
{
	struct jsonql_node *n = NULL;
	jsonql_skip_space(&p->in);
	size_t at = p->in.at;
	char c = jsonql_peek(&p->in, 0);
	if (!deeper(p))
		return NULL;
	if (c == '\0')
		jsonql_fail(p->err, at, "an operand is missing");
	else if (jsonql_take(&p->in, "(")) {
		n = parse_or(p);
		jsonql_skip_space(&p->in);
		if (n && !jsonql_take(&p->in, ")"))
			n = jsonql_fail(p->err, p->in.at, ") is missing");
	} else if (c == '+' || c == '-') {
		p->in.at++;
		n = parse_signed(p, at, c == '-');
	} else if (c == '\'' || c == '"') {
		struct val v = {.type = VAL_STRING};
		if (read_string(p, &v.s))
			n = constant(p, at, v);
		if (n && (jsonql_peek(&p->in, 0) == '.' || jsonql_peek(&p->in, 0) == '['))
			n = jsonql_fail(p->err, at, "a quoted first name is written .'name'");
	} else if (c == '.' || c == '[')
		n = c == '.' ? parse_path(p)
			     : jsonql_fail(p->err, at, "an operand is missing before [");
	else if (jsonql_is_name_char(c)) {
		n = parse_word(p);
		if (!n && !p->err->code)
			n = parse_path(p);
	} else
		jsonql_fail(p->err, at, "an operand is missing before %c", c);
	p->depth--;
	return n;
}

static struct jsonql_node *arith(struct parser *p, int op, size_t at, struct jsonql_node *a,
				 struct jsonql_node *b)
{
	struct jsonql_node *n = new_node(p, NODE_ARITH, at);
	if (!a || !b)
		return NULL;
	n->op = op;
	n->a = a;
	n->b = b;
	return jsonql_check_arith(n, p->err);
}

static struct jsonql_node *parse_pow(struct parser *p)
{
	struct jsonql_node *a = parse_prim(p);
	if (!a)
		return NULL;
	jsonql_skip_space(&p->in);
	size_t at = p->in.at;
	if (!jsonql_take(&p->in, "^"))
		return a;
	if (!deeper(p))
		return NULL;
	struct jsonql_node *b = parse_pow(p);
	p->depth--;
	return arith(p, '^', at, a, b);
}

static struct jsonql_node *parse_mul(struct parser *p)
{
	struct jsonql_node *a = parse_pow(p);
	while (a) {
		jsonql_skip_space(&p->in);
		char c = jsonql_peek(&p->in, 0);
		size_t at = p->in.at;
		if (c != '*' && c != '/' && c != '%')
			break;
		p->in.at++;
		a = arith(p, c, at, a, parse_pow(p));
	}
	return a;
}

static struct jsonql_node *parse_add(struct parser *p)
{
	struct jsonql_node *a = parse_mul(p);
	while (a) {
		jsonql_skip_space(&p->in);
		char c = jsonql_peek(&p->in, 0);
		size_t at = p->in.at;
		if (c != '+' && c != '-')
			break;
		p->in.at++;
		a = arith(p, c, at, a, parse_mul(p));
	}
	return a;
}
/* NOLINTEND(misc-no-recursion) */

static void free_pattern(void *pattern)
{
	regex_free(pattern);
}

/* The pattern of a match, once for all evaluations, where it is a constant. */
static struct jsonql_node *compile(struct parser *p, struct jsonql_node *n)
{
	struct error inner = ERROR_INIT;
	bool is_match = n->op == CMP_MATCH || n->op == CMP_NOMATCH;
	if (!is_match || n->b->type != NODE_CONST || n->b->value.type != VAL_STRING)
		return n;
	if (regex_new(n->b->value.s, &n->pattern, &inner) < 0)
		return jsonql_fail(p->err, n->b->column, "%s", inner.msg);
	arena_defer(p->q->arena, free_pattern, n->pattern);
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): deeper() bounds the depth by JSONQL_DEPTH_MAX */
static struct jsonql_node *parse_in(struct parser *p, size_t at, struct jsonql_node *a)
{
	struct jsonql_node *n = new_node(p, NODE_IN, at), *item;
	n->a = a;
	size_t cap = 0;
	jsonql_skip_space(&p->in);
	if (!jsonql_take(&p->in, "("))
		return jsonql_fail(p->err, p->in.at, "in takes a list: in ('a', 'b')");
	do {
		if (n->n_list == JSONQL_IN_MAX)
			return jsonql_fail(p->err, p->in.at, "more than %d elements",
					   JSONQL_IN_MAX);
		item = parse_add(p);
		if (!item)
			return NULL;
		ARENA_GROW(p->q->arena, n->list, cap, n->n_list, 4);
		n->list[n->n_list++] = item;
		jsonql_skip_space(&p->in);
	} while (jsonql_take(&p->in, ","));
	return jsonql_take(&p->in, ")") ? n : jsonql_fail(p->err, p->in.at, ") is missing");
}

static struct jsonql_node *parse_cmp(struct parser *p)
{
	struct jsonql_node *a = parse_add(p);
	while (a) {
		jsonql_skip_space(&p->in);
		size_t at = p->in.at;
		if (jsonql_take_word(&p->in, "in")) {
			a = parse_in(p, at, a);
			continue;
		}
		int op = jsonql_take_cmp(&p->in);
		if (!op)
			break;
		struct jsonql_node *n = new_node(p, NODE_CMP, at);
		n->op = op;
		n->a = a;
		n->b = parse_add(p);
		a = n->b && jsonql_check_cmp(n, p->err) ? compile(p, n) : NULL;
	}
	return a;
}

/* "not" is an operator unless what follows makes it a field: not = 'x'. */
static bool take_not(struct parser *p)
{
	size_t start = p->in.at;
	if (jsonql_peek(&p->in, 0) == '!' && jsonql_peek(&p->in, 1) != '=' &&
	    jsonql_peek(&p->in, 1) != '~') {
		p->in.at++;
		return true;
	}
	if (!jsonql_take_word(&p->in, "not"))
		return false;
	bool glued = jsonql_peek(&p->in, 0) == '.' || jsonql_peek(&p->in, 0) == '[';
	jsonql_skip_space(&p->in);
	char c = jsonql_peek(&p->in, 0);
	if (!glued && c && (jsonql_is_name_char(c) || strchr("('\".!", c)) &&
	    !(c == '!' && (jsonql_peek(&p->in, 1) == '=' || jsonql_peek(&p->in, 1) == '~')))
		return true;
	p->in.at = start;
	return false;
}

static struct jsonql_node *parse_not(struct parser *p)
{
	jsonql_skip_space(&p->in);
	size_t at = p->in.at;
	if (!take_not(p))
		return parse_cmp(p);
	if (!deeper(p))
		return NULL;
	struct jsonql_node *n = new_node(p, NODE_NOT, at);
	n->a = parse_not(p);
	p->depth--;
	if (!n->a)
		return NULL;
	if (!node_is_truth(n->a))
		return jsonql_fail(p->err, n->a->column, "not needs a truth value");
	return n;
}

static struct jsonql_node *join(struct parser *p, enum node_type type, size_t at,
				struct jsonql_node *a, struct jsonql_node *b)
{
	struct jsonql_node *n = new_node(p, type, at);
	if (!a || !b)
		return NULL;
	n->a = a;
	n->b = b;
	return jsonql_check_join(n, p->err);
}

static struct jsonql_node *parse_and(struct parser *p)
{
	struct jsonql_node *a = parse_not(p);
	while (a) {
		jsonql_skip_space(&p->in);
		size_t at = p->in.at;
		if (!jsonql_take(&p->in, "&&") && !jsonql_take_word(&p->in, "and"))
			break;
		a = join(p, NODE_AND, at, a, parse_not(p));
	}
	return a;
}

static struct jsonql_node *parse_or(struct parser *p)
{
	if (!deeper(p))
		return NULL;
	struct jsonql_node *a = parse_and(p);
	while (a) {
		jsonql_skip_space(&p->in);
		size_t at = p->in.at;
		if (!jsonql_take(&p->in, "||") && !jsonql_take_word(&p->in, "or"))
			break;
		a = join(p, NODE_OR, at, a, parse_and(p));
	}
	p->depth--;
	return a;
}
/* NOLINTEND(misc-no-recursion) */

static struct jsonql_node *parse_all(struct parser *p)
{
	struct jsonql_node *n = parse_or(p);
	if (!n)
		return NULL;
	jsonql_skip_space(&p->in);
	if (p->in.at < p->in.text.len) {
		struct str rest = str_skip(p->in.text, p->in.at);
		return jsonql_fail(p->err, p->in.at, "an operator is missing before %.*s",
				   (int)(rest.len < 20 ? rest.len : 20), rest.ptr);
	}
	if (!node_is_truth(n))
		return jsonql_fail(p->err, n->column,
				   "the whole expression is a value; compare it with =");
	return n;
}

int jsonql_parse(struct str text, struct jsonql **ret, struct error *err)
{
	struct error fault = ERROR_INIT;
	if (text.len > JSONQL_BYTES_MAX)
		return error_set(err, E_USAGE, "column %d: the expression is longer than %d bytes",
				 JSONQL_BYTES_MAX, JSONQL_BYTES_MAX);
	CLEANUP(jsonql_freep) struct jsonql *q = xcalloc(1, sizeof(*q));
	q->arena = arena_new(ARENA_BYTES);
	struct parser p = {.q = q, .err = &fault, .paths_tail = &q->paths};
	p.in.text = str_n(arena_strndup(q->arena, text.ptr ? text.ptr : "", text.len), text.len);
	if (memchr(p.in.text.ptr, 0, p.in.text.len))
		return error_set(err, E_USAGE, "column 1: the expression has a NUL byte");
	q->root = parse_all(&p);
	if (!q->root)
		return error_copy(err, &fault);
	*ret = STEAL(q);
	return 0;
}

void jsonql_free(struct jsonql *q)
{
	if (!q)
		return;
	arena_free(q->arena);
	xfree(q);
}

bool jsonql_uses_age(const struct jsonql *q)
{
	return q->uses_age;
}
