/* jsonpath_parse: a text to the steps of a path (jsonpath.h). */
#include <limits.h>
#include <string.h>

#include "alm/obj/query/jsonpath.h"
#include "alm/obj/query/jsonpath_node.h"

struct parser {
	struct str text;
	size_t at;
	int depth;
	struct jsonpath *path;
	struct error *err;
};

#define FILTER_DEPTH_MAX 4

static int parse_path(struct parser *p, bool in_filter);

static int fail(struct parser *p, const char *what)
{
	return error_set(p->err, E_BADREQUEST, "jsonpath %.*s: %s at byte %zu", STR_ARG(p->text),
			 what, p->at);
}

static char peek(const struct parser *p)
{
	return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

static bool eat(struct parser *p, const char *token)
{
	struct str rest = str_skip(p->text, p->at);
	if (!str_has_prefix(rest, str_of(token)))
		return false;
	p->at += strlen(token);
	return true;
}

static void blanks(struct parser *p)
{
	while (peek(p) == ' ')
		p->at++;
}

static struct jsonpath_step *add_step(struct parser *p, enum step_type type)
{
	if (p->path->n == JSONPATH_STEPS_MAX)
		return NULL;
	struct jsonpath_step *s = &p->path->steps[p->path->n++];
	*s = (struct jsonpath_step){.type = type};
	return s;
}

static int too_long(struct parser *p)
{
	return fail(p, "too many steps");
}

/* A quoted text, with \' \" \\ unescaped; owned. */
static char *quoted(struct parser *p)
{
	char quote = peek(p);
	char *out = xmalloc(p->text.len + 1);
	size_t n = 0;
	for (p->at++; p->at < p->text.len && p->text.ptr[p->at] != quote; p->at++) {
		if (p->text.ptr[p->at] == '\\' && p->at + 1 < p->text.len)
			p->at++;
		out[n++] = p->text.ptr[p->at];
	}
	if (peek(p) != quote) {
		xfree(out);
		return NULL;
	}
	p->at++;
	out[n] = '\0';
	return out;
}

static bool is_name_end(char c, bool in_filter)
{
	return c == '\0' || c == '.' || c == '[' || c == ']' ||
	       (in_filter && (strchr(" =!<>)", c) != NULL));
}

static int parse_name(struct parser *p, bool in_filter)
{
	size_t start = p->at, n = 0;
	char *name = xmalloc(p->text.len - start + 1);
	while (p->at < p->text.len && !is_name_end(p->text.ptr[p->at], in_filter)) {
		if (p->text.ptr[p->at] == '\\' && p->at + 1 < p->text.len)
			p->at++;
		name[n++] = p->text.ptr[p->at++];
	}
	name[n] = '\0';
	if (!n) {
		xfree(name);
		return fail(p, "expected a name");
	}
	struct jsonpath_step *s = add_step(p, STEP_FIELD);
	if (!s) {
		xfree(name);
		return too_long(p);
	}
	s->names[s->n++] = name;
	return 0;
}

static bool integer(struct parser *p, int64_t *ret)
{
	size_t start = p->at;
	if (peek(p) == '-')
		p->at++;
	while (char_is_digit(peek(p)))
		p->at++;
	return str_parse_i64(str_sub(p->text, start, p->at - start), ret);
}

static int parse_literal(struct parser *p, struct jsonpath_step *s)
{
	if (peek(p) == '"' || peek(p) == '\'') {
		CLEANUP(xfreep) char *text = quoted(p);
		if (!text)
			return fail(p, "unterminated string");
		s->right = obj_string(text);
		return 0;
	}
	size_t start = p->at;
	while (p->at < p->text.len && !strchr(" )", peek(p)))
		p->at++;
	struct str word = str_sub(p->text, start, p->at - start);
	double number;
	int64_t whole;
	if (str_is(word, "true") || str_is(word, "false"))
		s->right = obj_bool(word.ptr[0] == 't');
	else if (str_is(word, "null"))
		s->right = obj_null();
	else if (str_parse_i64(word, &whole))
		s->right = obj_int(whole);
	else if (str_parse_double(word, &number))
		s->right = obj_double(number);
	else
		return fail(p, "expected a value");
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): filters nest at most FILTER_DEPTH_MAX deep */

/* "@.a.b"; a path of its own. */
static int parse_operand_path(struct parser *p, struct jsonpath **ret)
{
	struct jsonpath *outer = p->path;
	p->path = xcalloc(1, sizeof(struct jsonpath) +
				     JSONPATH_STEPS_MAX * sizeof(struct jsonpath_step));
	p->at++; /* @ */
	int r = parse_path(p, true);
	*ret = p->path;
	p->path = outer;
	return r;
}

/* clang-format off */
static const struct { const char *text; enum op op; } operators[] = {
	{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE}, {"<", OP_LT}, {">", OP_GT}};
/* clang-format on */

static int parse_filter(struct parser *p)
{
	struct jsonpath_step *s = add_step(p, STEP_FILTER);
	if (!s)
		return too_long(p);
	if (++p->depth > FILTER_DEPTH_MAX)
		return fail(p, "filters nest too deeply");
	blanks(p);
	if (peek(p) != '@')
		return fail(p, "expected @");
	if (parse_operand_path(p, &s->left) < 0)
		return -E_BADREQUEST;
	blanks(p);
	for (size_t i = 0; i < ARRAY_LEN(operators) && s->op == OP_EXISTS; i++)
		if (eat(p, operators[i].text))
			s->op = operators[i].op;
	if (s->op != OP_EXISTS) {
		blanks(p);
		int r = peek(p) == '@' ? parse_operand_path(p, &s->r_path) : parse_literal(p, s);
		if (r < 0)
			return r;
		blanks(p);
	}
	p->depth--;
	return eat(p, ")]") ? 0 : fail(p, "expected )]");
}

static int parse_names(struct parser *p)
{
	struct jsonpath_step *s = add_step(p, STEP_FIELD);
	if (!s)
		return too_long(p);
	do {
		blanks(p);
		if (s->n == JSONPATH_UNION_MAX)
			return fail(p, "too many names");
		if (peek(p) != '\'' && peek(p) != '"')
			return fail(p, "expected a quoted name");
		char *name = quoted(p);
		if (!name)
			return fail(p, "unterminated string");
		s->names[s->n++] = name;
		blanks(p);
	} while (eat(p, ","));
	return eat(p, "]") ? 0 : fail(p, "expected ]");
}

static int parse_slice(struct parser *p, struct jsonpath_step *s, int64_t from)
{
	s->type = STEP_SLICE;
	s->from = from;
	s->to = INT64_MAX;
	if (peek(p) != ']' && !integer(p, &s->to))
		return fail(p, "expected a number");
	return eat(p, "]") ? 0 : fail(p, "expected ]");
}

static int parse_indexes(struct parser *p)
{
	struct jsonpath_step *s = add_step(p, STEP_INDEX);
	if (!s)
		return too_long(p);
	if (eat(p, ":"))
		return parse_slice(p, s, 0);
	do {
		int64_t i;
		blanks(p);
		if (s->n == JSONPATH_UNION_MAX)
			return fail(p, "too many indexes");
		if (!integer(p, &i))
			return fail(p, "expected a number");
		if (!s->n && eat(p, ":"))
			return parse_slice(p, s, i);
		s->indexes[s->n++] = i;
		blanks(p);
	} while (eat(p, ","));
	return eat(p, "]") ? 0 : fail(p, "expected ]");
}

static int parse_bracket(struct parser *p)
{
	if (eat(p, "*]"))
		return add_step(p, STEP_ALL) ? 0 : too_long(p);
	if (eat(p, "?("))
		return parse_filter(p);
	if (peek(p) == '\'' || peek(p) == '"')
		return parse_names(p);
	return parse_indexes(p);
}

static int parse_dot(struct parser *p, bool in_filter)
{
	if (eat(p, ".") && !add_step(p, STEP_DESCEND))
		return too_long(p);
	if (eat(p, "*"))
		return add_step(p, STEP_ALL) ? 0 : too_long(p);
	if (peek(p) == '[')
		return 0;
	if (p->at == p->text.len && !p->path->n)
		return 0; /* "." is the object itself */
	return parse_name(p, in_filter);
}

static int parse_path(struct parser *p, bool in_filter)
{
	int r = 0;
	while (!r && p->at < p->text.len) {
		char c = peek(p);
		if (in_filter && strchr(" =!<>)", c))
			break;
		if (eat(p, "."))
			r = parse_dot(p, in_filter);
		else if (eat(p, "["))
			r = parse_bracket(p);
		else
			r = fail(p, "expected . or [");
	}
	return r;
}
/* NOLINTEND(misc-no-recursion) */

int jsonpath_parse(struct str text, struct jsonpath **ret, struct error *err)
{
	CLEANUP(jsonpath_freep) struct jsonpath *path =
		xcalloc(1, sizeof(*path) + JSONPATH_STEPS_MAX * sizeof(struct jsonpath_step));
	struct parser p = {.text = str_trim(text), .path = path, .err = err};
	int r = 0;
	eat(&p, "$");
	if (!p.at && peek(&p) != '.' && peek(&p) != '[' && p.text.len)
		r = parse_name(&p, false);
	if (r < 0)
		return r;
	r = parse_path(&p, false);
	if (r < 0)
		return r;
	/* Paths live long: give back the room for steps that were not needed. */
	size_t n = path->n;
	*ret = xreallocarray(STEAL(path), 1, sizeof(*path) + n * sizeof(struct jsonpath_step));
	return 0;
}
