/* jsonql_parse: text -> syntax tree, and the refusals of jsonql.md. */
#include <inttypes.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/query/jsonql_node.h"

#define ARENA_BYTES ((size_t)1 << 20)

struct parser {
	struct jsonql *q;
	struct str text;
	size_t at;
	unsigned depth;
	struct jsonql_node **paths_tail;
	struct error *err;
};

static struct jsonql_node *parse_or(struct parser *p);
static struct jsonql_node *parse_add(struct parser *p);

/* Sets the first fault; NULL is what every parse function returns then. */
static struct jsonql_node *fail(struct parser *p, size_t at, const char *fmt, ...) PRINTF(3, 4);
static struct jsonql_node *fail(struct parser *p, size_t at, const char *fmt, ...)
{
	char msg[256];
	va_list args;
	va_start(args, fmt);
	struct error e;
	error_vset(&e, E_USAGE, fmt, args);
	va_end(args);
	size_t n = strlen(e.msg);
	n = n < sizeof(msg) ? n : sizeof(msg) - 1;
	memcpy(msg, e.msg, n);
	msg[n] = '\0';
	if (!p->err->code)
		error_set(p->err, E_USAGE, "column %zu: %s", at + 1, msg);
	return NULL;
}

static struct jsonql_node *new_node(struct parser *p, enum node_type type, size_t at)
{
	struct jsonql_node *n = ARENA_NEW(p->q->arena, struct jsonql_node);
	n->type = type;
	n->column = at;
	return n;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->text.len && char_is_space(p->text.ptr[p->at]))
		p->at++;
}

static char peek_at(const struct parser *p, size_t ahead)
{
	return p->at + ahead < p->text.len ? p->text.ptr[p->at + ahead] : '\0';
}

static bool is_name_char(char c)
{
	return c && !char_is_space(c) && !strchr("'\".()[],+-*/%^=!<>~&|", c);
}

static struct str word_here(const struct parser *p)
{
	size_t end = p->at;
	while (end < p->text.len && is_name_char(p->text.ptr[end]))
		end++;
	return str_sub(p->text, p->at, end - p->at);
}

/* A word operator, lower or upper case as a whole. */
static bool take_word(struct parser *p, const char *word)
{
	struct str w = word_here(p);
	size_t n = strlen(word);
	bool lower = true, upper = true;
	if (w.len != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		lower = lower && w.ptr[i] == word[i];
		upper = upper && w.ptr[i] == char_upper(word[i]);
	}
	if (!lower && !upper)
		return false;
	p->at += n;
	return true;
}

static bool take(struct parser *p, const char *symbol)
{
	size_t n = strlen(symbol);
	if (!str_has_prefix(str_skip(p->text, p->at), str_n(symbol, n)))
		return false;
	p->at += n;
	return true;
}

static bool deeper(struct parser *p)
{
	if (++p->depth <= JSONQL_DEPTH_MAX)
		return true;
	fail(p, p->at, "more than %d levels", JSONQL_DEPTH_MAX);
	return false;
}

/* Strings have no escapes; the other quote may stand inside. */
static bool parse_string(struct parser *p, struct str *ret)
{
	char quote = peek_at(p, 0);
	struct str rest = str_skip(p->text, p->at + 1);
	ptrdiff_t end = str_find_char(rest, quote);
	if (end < 0) {
		fail(p, p->at, "the string has no end");
		return false;
	}
	*ret = str_sub(rest, 0, (size_t)end);
	p->at += (size_t)end + 2;
	return true;
}

static const struct {
	const char *unit;
	double seconds;
} units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

static size_t digits(const struct parser *p, size_t at)
{
	size_t n = 0;
	while (at + n < p->text.len && char_is_digit(p->text.ptr[at + n]))
		n++;
	return n;
}

/* The length of a number at the cursor without unit, 0 if there is none. */
static size_t number_len(const struct parser *p, bool *ret_is_int)
{
	size_t n = digits(p, p->at);
	*ret_is_int = true;
	if (!n)
		return 0;
	size_t more = peek_at(p, n) == '.' ? digits(p, p->at + n + 1) : 0;
	if (more) {
		n += 1 + more;
		*ret_is_int = false;
	}
	char e = peek_at(p, n);
	if (e == 'e' || e == 'E') {
		size_t sign = peek_at(p, n + 1) == '-' || peek_at(p, n + 1) == '+';
		more = digits(p, p->at + n + 1 + sign);
		if (more) {
			n += 1 + sign + more;
			*ret_is_int = false;
		}
	}
	return n;
}

/* False if what stands here is a name that begins with digits (0x3, 3rd). */
static bool parse_number(struct parser *p, struct val *ret)
{
	bool is_int;
	size_t n = number_len(p, &is_int);
	if (!n)
		return false;
	struct str text = str_sub(p->text, p->at, n);
	struct parser after = *p;
	after.at += n;
	struct str unit = word_here(&after);
	double scale = 0;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_is(unit, units[i].unit))
			scale = units[i].seconds;
	if (unit.len && scale <= 0)
		return false;
	*ret = (struct val){.type = VAL_DOUBLE};
	if (is_int && !unit.len && str_parse_i64(text, &ret->i))
		ret->type = VAL_INT;
	else if (is_int && !unit.len && str_parse_u64(text, &ret->u))
		ret->type = VAL_UINT;
	else if (!str_parse_double(text, &ret->d))
		return false;
	if (unit.len)
		ret->d *= scale;
	p->at += n + unit.len;
	return true;
}

/* NOLINTBEGIN(misc-no-recursion): deeper() bounds the depth by JSONQL_DEPTH_MAX */
static bool parse_index(struct parser *p, struct seg *s)
{
	size_t start = p->at++;
	skip_space(p);
	if (take(p, "*"))
		s->type = SEG_ALL;
	else if (take(p, "?")) {
		s->type = SEG_FILTER;
		struct jsonql_node **tail = p->paths_tail; /* paths inside are the elements' own */
		s->filter = parse_or(p);
		*tail = NULL;
		p->paths_tail = tail;
		if (!s->filter)
			return false;
		if (!node_is_truth(s->filter)) {
			fail(p, start, "a filter needs a comparison");
			return false;
		}
	} else {
		bool negative = take(p, "-");
		size_t n = digits(p, p->at);
		int64_t v = 0;
		if (!n || !str_parse_i64(str_sub(p->text, p->at, n), &v)) {
			fail(p, p->at, "an index is a number, * or ?expression");
			return false;
		}
		p->at += n;
		s->type = SEG_INDEX;
		s->index = negative ? -v : v;
	}
	skip_space(p);
	if (!take(p, "]")) {
		fail(p, p->at, "] is missing");
		return false;
	}
	return true;
}

/* One segment at the cursor: name, quoted name or index. */
static struct seg *parse_seg(struct parser *p, bool first)
{
	struct seg *s = ARENA_NEW(p->q->arena, struct seg);
	char c = peek_at(p, 0);
	struct str name;
	if (c == '[') {
		return parse_index(p, s) ? s : NULL;
	}
	if (!first && (c == '\'' || c == '"')) {
		if (!parse_string(p, &name))
			return NULL;
	} else {
		name = word_here(p);
		p->at += name.len;
		if (!name.len) {
			fail(p, p->at, "a name is missing");
			return NULL;
		}
	}
	s->type = SEG_NAME;
	s->name = arena_strndup(p->q->arena, name.ptr, name.len);
	return s;
}

static struct jsonql_node *parse_path(struct parser *p)
{
	struct jsonql_node *n = new_node(p, NODE_PATH, p->at);
	struct seg **tail = &n->path;
	bool dot = take(p, ".");
	char c = peek_at(p, 0);
	if (!dot || is_name_char(c) || c == '\'' || c == '"' || c == '[') {
		do {
			struct seg *s = parse_seg(p, tail == &n->path && !dot);
			if (!s)
				return NULL;
			*tail = s;
			tail = &s->next;
		} while (peek_at(p, 0) == '[' || take(p, "."));
	}
	n->text = str_sub(p->text, n->column, p->at - n->column);
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
	p->at++; /* ( */
	skip_space(p);
	if (type == NODE_AGE && take(p, ")")) {
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
	skip_space(p);
	if (!take(p, ")"))
		return fail(p, p->at, ") is missing");
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
	size_t at = p->at;
	struct str w = word_here(p);
	struct val v;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(w, words[i].word)) {
			p->at += w.len;
			return constant(p, at, words[i].value);
		}
	if ((str_is(w, "len") || str_is(w, "age")) && peek_at(p, w.len) == '(') {
		p->at += w.len;
		p->q->uses_age = p->q->uses_age || w.ptr[0] == 'a';
		return parse_call(p, w.ptr[0] == 'a' ? NODE_AGE : NODE_LEN, at);
	}
	if (w.len && parse_number(p, &v))
		return constant(p, at, v);
	return NULL;
}

static struct jsonql_node *parse_prim(struct parser *p);

static struct jsonql_node *parse_signed(struct parser *p, size_t at, bool negative)
{
	struct jsonql_node *a = parse_prim(p);
	if (!a)
		return NULL;
	if (node_is_truth(a) && a->type != NODE_PATH)
		return fail(p, at, "a sign needs a number");
	if (a->type == NODE_CONST && !val_is_number(&a->value))
		return fail(p, at, "a sign needs a number");
	if (!negative)
		return a;
	struct jsonql_node *n = new_node(p, NODE_NEG, at);
	n->a = a;
	return n;
}

static struct jsonql_node *parse_prim(struct parser *p)
{
	struct jsonql_node *n = NULL;
	skip_space(p);
	size_t at = p->at;
	char c = peek_at(p, 0);
	if (!deeper(p))
		return NULL;
	if (c == '\0')
		fail(p, at, "an operand is missing");
	else if (take(p, "(")) {
		n = parse_or(p);
		skip_space(p);
		if (n && !take(p, ")"))
			n = fail(p, p->at, ") is missing");
	} else if (c == '+' || c == '-') {
		p->at++;
		n = parse_signed(p, at, c == '-');
	} else if (c == '\'' || c == '"') {
		struct val v = {.type = VAL_STRING};
		if (parse_string(p, &v.s))
			n = constant(p, at, v);
		if (n && (peek_at(p, 0) == '.' || peek_at(p, 0) == '['))
			n = fail(p, at, "a quoted first name is written .'name'");
	} else if (c == '.' || c == '[')
		n = c == '.' ? parse_path(p) : fail(p, at, "an operand is missing before [");
	else if (is_name_char(c)) {
		n = parse_word(p);
		if (!n && !p->err->code)
			n = parse_path(p);
	} else
		fail(p, at, "an operand is missing before %c", c);
	p->depth--;
	return n;
}

static bool is_const(const struct jsonql_node *n)
{
	return n->type == NODE_CONST || (n->type == NODE_NEG && is_const(n->a)) ||
	       (n->type == NODE_ARITH && is_const(n->a) && is_const(n->b));
}

/* Constants must work: what can never have a value is a mistake. */
static struct jsonql_node *arith(struct parser *p, int op, size_t at, struct jsonql_node *a,
				 struct jsonql_node *b)
{
	struct jsonql_node *n = new_node(p, NODE_ARITH, at);
	if (!a || !b)
		return NULL;
	n->op = op;
	n->a = a;
	n->b = b;
	const struct jsonql_node *sides[] = {a, b};
	for (size_t i = 0; i < 2; i++) {
		const struct jsonql_node *s = sides[i];
		if (node_is_truth(s) && s->type != NODE_PATH)
			return fail(p, at, "%c needs values, not a truth value", op);
		if (s->type != NODE_CONST || val_is_number(&s->value))
			continue;
		if (op != '+' || s->value.type != VAL_STRING)
			return fail(p, at, "%c needs numbers", op);
	}
	if (is_const(n)) {
		CLEANUP(arena_freep) struct arena *tmp = arena_new(4096);
		struct eval e = {.arena = tmp};
		struct vals v = {0};
		node_values(&e, n, &v);
		if (!v.n)
			return fail(p, at, "%c has no value for these constants", op);
	}
	return n;
}

static struct jsonql_node *parse_pow(struct parser *p)
{
	struct jsonql_node *a = parse_prim(p);
	if (!a)
		return NULL;
	skip_space(p);
	size_t at = p->at;
	if (!take(p, "^"))
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
		skip_space(p);
		char c = peek_at(p, 0);
		size_t at = p->at;
		if (c != '*' && c != '/' && c != '%')
			break;
		p->at++;
		a = arith(p, c, at, a, parse_pow(p));
	}
	return a;
}

static struct jsonql_node *parse_add(struct parser *p)
{
	struct jsonql_node *a = parse_mul(p);
	while (a) {
		skip_space(p);
		char c = peek_at(p, 0);
		size_t at = p->at;
		if (c != '+' && c != '-')
			break;
		p->at++;
		a = arith(p, c, at, a, parse_mul(p));
	}
	return a;
}
/* NOLINTEND(misc-no-recursion) */

/* clang-format off */
static const struct {
	const char *text;
	bool is_word;
	int op;
} cmp_ops[] = { /* longest first */
	{"!~=", false, CMP_NOMATCH},
	{"==", false, CMP_EQ},
	{"!=", false, CMP_NE},
	{"<>", false, CMP_NE},
	{">=", false, CMP_GE},
	{"<=", false, CMP_LE},
	{"~=", false, CMP_MATCH},
	{"=", false, CMP_EQ},
	{">", false, CMP_GT},
	{"<", false, CMP_LT},
	{"is", true, CMP_IS},
	{"isnot", true, CMP_ISNOT},
	{"contains", true, CMP_CONTAINS},
	{"startswith", true, CMP_STARTS},
	{"endswith", true, CMP_ENDS},
};
/* clang-format on */

static int take_cmp(struct parser *p)
{
	for (size_t i = 0; i < ARRAY_LEN(cmp_ops); i++)
		if (cmp_ops[i].is_word ? take_word(p, cmp_ops[i].text) : take(p, cmp_ops[i].text))
			return cmp_ops[i].op;
	return 0;
}

static bool is_const_of(const struct jsonql_node *n, enum val_type type)
{
	return n->type == NODE_CONST && n->value.type == type;
}

static bool is_existence(const struct jsonql_node *n)
{
	return is_const_of(n, VAL_NULL) || is_const_of(n, VAL_DEFINED);
}

static bool is_ordering(int op)
{
	return op == CMP_GT || op == CMP_LT || op == CMP_GE || op == CMP_LE;
}

/* A constant that is no string where only a string works. */
static bool no_text(const struct jsonql_node *n)
{
	return (n->type == NODE_CONST && n->value.type != VAL_STRING) || n->type == NODE_NEG ||
	       (n->type == NODE_ARITH && n->op != '+') ||
	       (node_is_truth(n) && n->type != NODE_PATH);
}

static bool compile_pattern(struct parser *p, struct jsonql_node *n)
{
	struct error inner = ERROR_INIT;
	if (!is_const_of(n->b, VAL_STRING))
		return true;
	if (regex_new(n->b->value.s, &n->pattern, &inner) < 0) {
		fail(p, n->b->column, "%s", inner.msg);
		return false;
	}
	return true;
}

static void free_pattern(void *pattern)
{
	regex_free(pattern);
}

static struct jsonql_node *check_cmp(struct parser *p, struct jsonql_node *n)
{
	bool truth = (node_is_truth(n->a) && n->a->type != NODE_PATH && n->a->type != NODE_CONST) ||
		     (node_is_truth(n->b) && n->b->type != NODE_PATH && n->b->type != NODE_CONST);
	bool text_op = n->op == CMP_MATCH || n->op == CMP_NOMATCH || n->op == CMP_STARTS ||
		       n->op == CMP_ENDS;
	if (n->op == CMP_IS || n->op == CMP_ISNOT) {
		if (!is_existence(n->a) && !is_existence(n->b))
			return fail(p, n->column, "is and isnot take null or defined; use = ");
		return n;
	}
	if (is_const_of(n->a, VAL_DEFINED) || is_const_of(n->b, VAL_DEFINED))
		return fail(p, n->column, "defined is for is and isnot");
	if (is_ordering(n->op) && truth)
		return fail(p, n->column,
			    "an order of truth values; 1 < n < 5 is written 1 < n && n < 5");
	if (is_ordering(n->op) && (is_const_of(n->a, VAL_NULL) || is_const_of(n->b, VAL_NULL)))
		return fail(p, n->column, "null has no order");
	if (text_op && (no_text(n->a) || no_text(n->b)))
		return fail(p, n->column, "both sides must be strings");
	if (n->op == CMP_CONTAINS && no_text(n->a))
		return fail(p, n->column, "the left side must be a list or a string");
	if ((n->op == CMP_MATCH || n->op == CMP_NOMATCH) && !compile_pattern(p, n))
		return NULL;
	if (n->pattern)
		arena_defer(p->q->arena, free_pattern, n->pattern);
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): deeper() bounds the depth by JSONQL_DEPTH_MAX */
static struct jsonql_node *parse_in(struct parser *p, size_t at, struct jsonql_node *a)
{
	struct jsonql_node *n = new_node(p, NODE_IN, at), *item;
	n->a = a;
	size_t cap = 0;
	skip_space(p);
	if (!take(p, "("))
		return fail(p, p->at, "in takes a list: in ('a', 'b')");
	do {
		if (n->n_list == JSONQL_IN_MAX)
			return fail(p, p->at, "more than %d elements", JSONQL_IN_MAX);
		item = parse_add(p);
		if (!item)
			return NULL;
		ARENA_GROW(p->q->arena, n->list, cap, n->n_list, 4);
		n->list[n->n_list++] = item;
		skip_space(p);
	} while (take(p, ","));
	return take(p, ")") ? n : fail(p, p->at, ") is missing");
}

static struct jsonql_node *parse_cmp(struct parser *p)
{
	struct jsonql_node *a = parse_add(p);
	while (a) {
		skip_space(p);
		size_t at = p->at;
		if (take_word(p, "in")) {
			a = parse_in(p, at, a);
			continue;
		}
		int op = take_cmp(p);
		if (!op)
			break;
		struct jsonql_node *n = new_node(p, NODE_CMP, at);
		n->op = op;
		n->a = a;
		n->b = parse_add(p);
		a = n->b ? check_cmp(p, n) : NULL;
	}
	return a;
}

/* "not" is an operator unless what follows makes it a field: not = 'x'. */
static bool take_not(struct parser *p)
{
	size_t start = p->at;
	if (peek_at(p, 0) == '!' && peek_at(p, 1) != '=' && peek_at(p, 1) != '~') {
		p->at++;
		return true;
	}
	if (!take_word(p, "not"))
		return false;
	bool glued = peek_at(p, 0) == '.' || peek_at(p, 0) == '[';
	skip_space(p);
	char c = peek_at(p, 0);
	if (!glued && c && (is_name_char(c) || strchr("('\".!", c)) &&
	    !(c == '!' && (peek_at(p, 1) == '=' || peek_at(p, 1) == '~')))
		return true;
	p->at = start;
	return false;
}

static struct jsonql_node *parse_not(struct parser *p)
{
	skip_space(p);
	size_t at = p->at;
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
		return fail(p, n->a->column, "not needs a truth value");
	return n;
}

static struct jsonql_node *join(struct parser *p, enum node_type type, size_t at,
				struct jsonql_node *a, struct jsonql_node *b)
{
	struct jsonql_node *n = new_node(p, type, at);
	if (!a || !b)
		return NULL;
	if (!node_is_truth(a) || !node_is_truth(b))
		return fail(p, node_is_truth(a) ? b->column : a->column,
			    "%s joins truth values; this is a value",
			    type == NODE_AND ? "&&" : "||");
	n->a = a;
	n->b = b;
	return n;
}

static struct jsonql_node *parse_and(struct parser *p)
{
	struct jsonql_node *a = parse_not(p);
	while (a) {
		skip_space(p);
		size_t at = p->at;
		if (!take(p, "&&") && !take_word(p, "and"))
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
		skip_space(p);
		size_t at = p->at;
		if (!take(p, "||") && !take_word(p, "or"))
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
	skip_space(p);
	if (p->at < p->text.len) {
		struct str rest = str_skip(p->text, p->at);
		return fail(p, p->at, "an operator is missing before %.*s",
			    (int)(rest.len < 20 ? rest.len : 20), rest.ptr);
	}
	if (!node_is_truth(n))
		return fail(p, n->column, "the whole expression is a value; compare it with =");
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
	p.text = str_n(arena_strndup(q->arena, text.ptr ? text.ptr : "", text.len), text.len);
	if (memchr(p.text.ptr, 0, p.text.len))
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
