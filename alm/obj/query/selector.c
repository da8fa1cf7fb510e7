/*
 * selector: label selectors. Lexer, parser and messages follow apimachinery's pkg/labels, as
 * kubectl shows them to users.
 */
#include "alm/obj/query/selector.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/gvk.h"

enum operator{ EXISTS, NOT_EXISTS, IN, NOT_IN, GREATER, LESS };

struct term {
	char *key;
	enum operator op;
	char **values;
	size_t n_values, cap;
	int64_t bound; /* of GREATER and LESS */
};

struct selector {
	struct term *terms;
	size_t n, cap;
	bool nothing;
};

enum token {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_IN,
	TOKEN_NOT_IN,
	TOKEN_NOT,
	TOKEN_EQUALS,
	TOKEN_NOT_EQUALS,
	TOKEN_GREATER,
	TOKEN_LESS,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
};

struct parser {
	struct str rest;
	struct selector *out;
	struct error *err;
};

static bool is_special(char c)
{
	return memchr("=!(),><", c, 7) != NULL;
}

static enum token special(struct str s, size_t *ret_len)
{
	static const struct {
		const char *text;
		enum token token;
	} table[] = {{"==", TOKEN_EQUALS}, {"!=", TOKEN_NOT_EQUALS}, {"=", TOKEN_EQUALS},
		     {"!", TOKEN_NOT},     {"(", TOKEN_OPEN},        {")", TOKEN_CLOSE},
		     {",", TOKEN_COMMA},   {">", TOKEN_GREATER},     {"<", TOKEN_LESS}};
	size_t i = 0;
	while (!str_has_prefix(s, str_of(table[i].text)))
		i++;
	*ret_len = strlen(table[i].text);
	return table[i].token;
}

/* The token at the front of *rest, which moves behind it. in and notin are words but where an
 * operator may stand. */
static enum token next(struct str *rest, bool operators, struct str *ret)
{
	size_t n = 0;
	enum token t = TOKEN_WORD;
	struct str s = str_trim_left(*rest);
	if (!s.len) {
		*rest = *ret = s;
		return TOKEN_END;
	}
	if (is_special(s.ptr[0])) {
		t = special(s, &n);
	} else {
		while (n < s.len && !is_special(s.ptr[n]) && !char_is_space(s.ptr[n]))
			n++;
	}
	*ret = str_sub(s, 0, n);
	*rest = str_skip(s, n);
	if (operators && str_is(*ret, "in"))
		return TOKEN_IN;
	if (operators && str_is(*ret, "notin"))
		return TOKEN_NOT_IN;
	return t;
}

static enum token peek(const struct parser *p, struct str *ret)
{
	struct str rest = p->rest;
	return next(&rest, false, ret);
}

static int expected(struct parser *p, struct str found, const char *what)
{
	return error_set(p->err, E_BADREQUEST, "found '%.*s', expected: %s", STR_ARG(found), what);
}

static void add_value(struct term *t, struct str value)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (str_is(value, t->values[i]))
			return;
	ARRAY_GROW(t->values, t->cap, t->n_values + 1);
	t->values[t->n_values++] = str_dup(value);
}

/* The inside of a (, as far as the ). */
static int parse_list(struct parser *p, struct term *t)
{
	struct str s;
	for (;;) {
		enum token token = next(&p->rest, false, &s);
		if (token == TOKEN_WORD) {
			add_value(t, s);
			token = peek(p, &s);
			if (token == TOKEN_CLOSE)
				return 0;
			if (token != TOKEN_COMMA)
				return expected(p, s, "',' or ')'");
		} else if (token == TOKEN_COMMA) {
			if (!t->n_values)
				add_value(t, STR(""));
			token = peek(p, &s);
			if (token == TOKEN_CLOSE) {
				add_value(t, STR(""));
				return 0;
			}
			if (token == TOKEN_COMMA) {
				next(&p->rest, false, &s);
				add_value(t, STR(""));
			}
		} else {
			return expected(p, s, "',', or identifier");
		}
	}
}

static int parse_values(struct parser *p, struct term *t)
{
	struct str s;
	if (next(&p->rest, false, &s) != TOKEN_OPEN)
		return error_set(p->err, E_BADREQUEST, "found '%.*s' expected: '('", STR_ARG(s));
	enum token token = peek(p, &s);
	if (token != TOKEN_WORD && token != TOKEN_COMMA && token != TOKEN_CLOSE)
		return expected(p, s, "',', ')' or identifier");
	if (token != TOKEN_CLOSE && parse_list(p, t) < 0)
		return -p->err->code;
	if (next(&p->rest, false, &s) != TOKEN_CLOSE)
		return expected(p, s, "')'");
	return 0;
}

static int parse_exact(struct parser *p, struct term *t)
{
	struct str s;
	enum token token = peek(p, &s);
	if (token == TOKEN_END || token == TOKEN_COMMA) {
		add_value(t, STR(""));
		return 0;
	}
	if (next(&p->rest, false, &s) != TOKEN_WORD)
		return expected(p, s, "identifier");
	add_value(t, s);
	return 0;
}

/* Operator and values of a term whose key is known. */
static int parse_operation(struct parser *p, struct term *t)
{
	struct str s;
	switch (next(&p->rest, true, &s)) {
	case TOKEN_IN:
		t->op = IN;
		return parse_values(p, t);
	case TOKEN_NOT_IN:
		t->op = NOT_IN;
		return parse_values(p, t);
	case TOKEN_EQUALS:
		t->op = IN;
		return parse_exact(p, t);
	case TOKEN_NOT_EQUALS:
		t->op = NOT_IN;
		return parse_exact(p, t);
	case TOKEN_GREATER:
		t->op = GREATER;
		return parse_exact(p, t);
	case TOKEN_LESS:
		t->op = LESS;
		return parse_exact(p, t);
	case TOKEN_END:
	case TOKEN_WORD:
	case TOKEN_NOT:
	case TOKEN_OPEN:
	case TOKEN_CLOSE:
	case TOKEN_COMMA:
	default:
		return expected(p, s, "in, notin, =, ==, !=, gt, lt");
	}
}

/* What NewRequirement() of apimachinery checks. */
static int term_check(struct term *t, struct error *err)
{
	const char *fault = name_fault(NAME_QUALIFIED, str_of(t->key));
	if (fault)
		return error_set(err, E_BADREQUEST, "key: Invalid value: \"%s\": %s", t->key,
				 fault);
	if ((t->op == IN || t->op == NOT_IN) && !t->n_values)
		return error_set(err, E_BADREQUEST,
				 "values: Invalid value: []: for 'in', 'notin' operators, values "
				 "set can't be empty");
	if ((t->op == GREATER || t->op == LESS) &&
	    (t->n_values != 1 || !str_parse_i64(str_of(t->values[0]), &t->bound)))
		return error_set(err, E_BADREQUEST,
				 "values[0]: Invalid value: \"%s\": for 'Gt', 'Lt' operators, the "
				 "value must be an integer",
				 t->n_values ? t->values[0] : "");
	for (size_t i = 0; i < t->n_values; i++) {
		fault = name_fault(NAME_LABEL_VALUE, str_of(t->values[i]));
		if (fault)
			return error_set(err, E_BADREQUEST,
					 "values[%zu][%s]: Invalid value: \"%s\": %s", i, t->key,
					 t->values[i], fault);
	}
	return 0;
}

static struct term *add_term(struct selector *s, struct str key)
{
	ARRAY_GROW(s->terms, s->cap, s->n + 1);
	s->terms[s->n] = (struct term){.key = str_dup(key)};
	return &s->terms[s->n++];
}

static int parse_term(struct parser *p)
{
	struct str s;
	enum token token = next(&p->rest, false, &s);
	bool negated = token == TOKEN_NOT;
	if (negated)
		token = next(&p->rest, false, &s);
	if (token != TOKEN_WORD)
		return expected(p, s, "identifier");
	struct term *t = add_term(p->out, s);
	struct str after;
	token = peek(p, &after);
	if (negated)
		t->op = NOT_EXISTS;
	else if (token == TOKEN_END || token == TOKEN_COMMA)
		t->op = EXISTS;
	else if (parse_operation(p, t) < 0)
		return -p->err->code;
	return term_check(t, p->err);
}

static int parse_all(struct parser *p)
{
	struct str s;
	for (;;) {
		enum token token = peek(p, &s);
		if (token == TOKEN_END)
			return 0;
		if (token != TOKEN_WORD && token != TOKEN_NOT)
			return expected(p, s, "!, identifier, or 'end of string'");
		if (p->out->n == SELECTOR_TERMS_MAX)
			return error_set(p->err, E_BADREQUEST, "more than %d requirements",
					 SELECTOR_TERMS_MAX);
		if (parse_term(p) < 0)
			return error_wrap(p->err, "unable to parse requirement");
		token = next(&p->rest, false, &s);
		if (token == TOKEN_END)
			return 0;
		if (token != TOKEN_COMMA)
			return expected(p, s, "',' or 'end of string'");
		token = peek(p, &s);
		if (token != TOKEN_WORD && token != TOKEN_NOT)
			return expected(p, s, "identifier after ','");
	}
}

int selector_parse(struct str text, struct selector **ret, struct error *err)
{
	CLEANUP(selector_freep) struct selector *s = xcalloc(1, sizeof(*s));
	struct parser p = {.rest = text, .out = s, .err = err};
	int r = parse_all(&p);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

static int add_expression(struct selector *s, const struct obj *e, struct error *err)
{
	static const struct {
		const char *name;
		enum operator op;
	} operators[] = {
		{"In", IN}, {"NotIn", NOT_IN}, {"Exists", EXISTS}, {"DoesNotExist", NOT_EXISTS}};
	const char *name = obj_str(e, "operator"), *key = obj_str(e, "key");
	const struct obj *values = obj_get(e, "values");
	size_t i = 0;
	while (i < ARRAY_LEN(operators) && !cstr_eq(operators[i].name, name))
		i++;
	if (!key || i == ARRAY_LEN(operators))
		return error_set(err, E_BADREQUEST,
				 "\"%.64s\" is not a valid label selector operator",
				 name ? name : "");
	struct term *t = add_term(s, str_of(key));
	t->op = operators[i].op;
	if (t->op == IN || t->op == NOT_IN)
		for (size_t v = 0; v < obj_len(values); v++)
			add_value(t, obj_as_str(obj_at(values, v)));
	return term_check(t, err);
}

int selector_from_obj(const struct obj *label_selector, struct selector **ret, struct error *err)
{
	CLEANUP(selector_freep) struct selector *s = xcalloc(1, sizeof(*s));
	enum obj_type type = obj_type(label_selector);
	const struct obj *labels = obj_get(label_selector, "matchLabels");
	const struct obj *expressions = obj_get(label_selector, "matchExpressions");
	s->nothing = type == OBJ_ABSENT || type == OBJ_NULL;
	if (obj_len(labels) + obj_len(expressions) > SELECTOR_TERMS_MAX)
		return error_set(err, E_BADREQUEST, "more than %d requirements",
				 SELECTOR_TERMS_MAX);
	OBJ_EACH (it, labels) {
		struct term *t = add_term(s, str_of(it.key));
		t->op = IN;
		add_value(t, obj_as_str(it.value));
		if (term_check(t, err) < 0)
			return -err->code;
	}
	for (size_t i = 0; i < obj_len(expressions); i++)
		if (add_expression(s, obj_at(expressions, i), err) < 0)
			return -err->code;
	*ret = STEAL(s);
	return 0;
}

static void print_term(const struct term *t, struct strbuf *b)
{
	static const char *const after[] = {
		[EXISTS] = "", [NOT_EXISTS] = "", [IN] = " in (", [NOT_IN] = " notin ("};
	if (t->op == GREATER || t->op == LESS) {
		strbuf_addf(b, "%s%c%lld", t->key, t->op == GREATER ? '>' : '<',
			    (long long)t->bound);
		return;
	}
	strbuf_addf(b, "%s%s%s", t->op == NOT_EXISTS ? "!" : "", t->key, after[t->op]);
	for (size_t i = 0; i < t->n_values; i++)
		strbuf_addf(b, "%s%s", i ? "," : "", t->values[i]);
	if (*after[t->op])
		strbuf_addf(b, ")");
}

void selector_print(const struct selector *s, struct strbuf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		strbuf_addf(b, "%s", i ? "," : "");
		print_term(&s->terms[i], b);
	}
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t v = 0; v < s->terms[i].n_values; v++)
			xfree(s->terms[i].values[v]);
		xfree(s->terms[i].values);
		xfree(s->terms[i].key);
	}
	xfree(s->terms);
	xfree(s);
}

static bool term_holds(const struct term *t, struct str value)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (str_is(value, t->values[i]))
			return true;
	return false;
}

static bool term_matches(const struct term *t, const struct obj *labels)
{
	const struct obj *found = obj_get(labels, t->key);
	struct str value = obj_as_str(found);
	int64_t v;
	switch (t->op) {
	case EXISTS:
		return found != NULL;
	case NOT_EXISTS:
		return !found;
	case IN:
		return found && term_holds(t, value);
	case NOT_IN:
		return !found || !term_holds(t, value);
	case GREATER:
		return str_parse_i64(value, &v) && v > t->bound;
	case LESS:
	default:
		return str_parse_i64(value, &v) && v < t->bound;
	}
}

bool selector_matches(const struct selector *s, const struct obj *labels)
{
	for (size_t i = 0; i < s->n; i++)
		if (!term_matches(&s->terms[i], labels))
			return false;
	return !s->nothing;
}

bool selector_is_empty(const struct selector *s)
{
	return s->n == 0 && !s->nothing;
}

/* A Bloom filter of 63 bits, two for a label and its value; the highest says that there is one. */
static uint64_t pair_bits(const char *key, struct str value)
{
	uint64_t h = hash_key(str_of(key)) * 31 + hash_key(value);
	return (uint64_t)1 << h % 63 | (uint64_t)1 << (h >> 32) % 63;
}

uint64_t selector_bits(const struct obj *labels)
{
	uint64_t bits = (uint64_t)1 << 63;
	OBJ_EACH (it, labels)
		bits |= pair_bits(it.key, obj_as_str(it.value));
	return bits;
}

static bool term_excludes(const struct term *t, uint64_t bits)
{
	if (t->op != IN)
		return false;
	for (size_t i = 0; i < t->n_values; i++) {
		uint64_t wanted = pair_bits(t->key, str_of(t->values[i]));
		if ((bits & wanted) == wanted)
			return false;
	}
	return true;
}

bool selector_excludes(const struct selector *s, uint64_t bits)
{
	for (size_t i = 0; i < s->n; i++)
		if (term_excludes(&s->terms[i], bits))
			return true;
	return s->nothing;
}
