/* lex: a state is a function that either makes a token or, with NULL, hands on to lexer_next's
 * loop. Most of a template is ASCII: that is looked at as bytes and not decoded. */
#include "installers/tmpl/lex.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

#define RUNE_EOF          UINT32_MAX
#define KEYWORD_BYTES_MAX 8

static const struct {
	const char *word;
	enum token_type type;
} keywords[] = {
	{"block", TOK_BLOCK},
	{"break", TOK_BREAK},
	{"continue", TOK_CONTINUE},
	{"define", TOK_DEFINE},
	{"else", TOK_ELSE},
	{"end", TOK_END},
	{"if", TOK_IF},
	{"nil", TOK_NIL},
	{"range", TOK_RANGE},
	{"template", TOK_TEMPLATE},
	{"with", TOK_WITH},
	{"true", TOK_BOOL},
	{"false", TOK_BOOL},
};

void lexer_init(struct lexer *l, struct arena *a, struct str input)
{
	*l = (struct lexer){
		.arena = a, .input = input.ptr ? input : STR(""), .line = 1, .start_line = 1};
}

static struct str rest(const struct lexer *l)
{
	return str_skip(l->input, l->pos);
}

static bool is_blank(uint32_t r)
{
	return r == ' ' || r == '\t' || r == '\r' || r == '\n';
}

static bool is_word_char(char c)
{
	return char_is_alnum(c) || c == '_';
}

static uint32_t peek(const struct lexer *l)
{
	uint32_t r;
	if (l->pos < l->input.len && (unsigned char)l->input.ptr[l->pos] < 0x80)
		return (unsigned char)l->input.ptr[l->pos];
	return rune_next(rest(l), &r) ? r : RUNE_EOF;
}

static uint32_t next(struct lexer *l)
{
	uint32_t r;
	if (l->pos < l->input.len && (unsigned char)l->input.ptr[l->pos] < 0x80) {
		r = (unsigned char)l->input.ptr[l->pos++];
		l->line += r == '\n';
		return r;
	}
	size_t n = rune_next(rest(l), &r);
	if (n == 0)
		return RUNE_EOF;
	l->pos += n;
	if (r == '\n')
		l->line++;
	return r;
}

static int count_lines(struct str s)
{
	int n = 0;
	for (size_t i = 0; i < s.len; i++)
		n += s.ptr[i] == '\n';
	return n;
}

static struct token *emit(struct lexer *l, enum token_type type)
{
	*l->token = (struct token){type, l->start_line, l->start,
				   str_n(l->input.ptr + l->start, l->pos - l->start)};
	l->start = l->pos;
	l->start_line = l->line;
	return l->token;
}

/* Skips what was read since start; counts its lines. */
static void ignore(struct lexer *l)
{
	l->line += count_lines(str_sub(l->input, l->start, l->pos - l->start));
	l->start = l->pos;
	l->start_line = l->line;
}

static struct token *fail(struct lexer *l, const struct strbuf *msg)
{
	*l->token = (struct token){TOK_ERROR, l->start_line, l->start,
				   value_text(value_take(l->arena, msg))};
	l->input = STR("");
	l->pos = l->start = 0;
	l->failed = true;
	return l->token;
}

static struct token *fail_text(struct lexer *l, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, text);
	return fail(l, &b);
}

/* Go's %#U: U+002D '-'. */
static struct token *fail_rune(struct lexer *l, const char *text, uint32_t r)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (r == RUNE_EOF) { /* -1 as unsigned, so Go prints it */
		strbuf_addf(&b, "%s U+FFFFFFFFFFFFFFFF", text);
	} else {
		strbuf_addf(&b, "%s U+%04X", text, r);
		if (rune_is_print(r)) {
			strbuf_adds(&b, " '");
			strbuf_addrune(&b, r);
			strbuf_addc(&b, '\'');
		}
	}
	return fail(l, &b);
}

static bool has_left_trim(struct str s)
{
	return s.len >= 2 && s.ptr[0] == '-' && is_blank((unsigned char)s.ptr[1]);
}

static bool has_right_trim(struct str s)
{
	return s.len >= 2 && is_blank((unsigned char)s.ptr[0]) && s.ptr[1] == '-';
}

static bool is_right_delim(struct str s)
{
	return s.len >= 2 && s.ptr[0] == '}' && s.ptr[1] == '}';
}

static bool at_right_delim(const struct lexer *l, bool *ret_trim)
{
	struct str s = rest(l);
	*ret_trim = has_right_trim(s) && is_right_delim(str_skip(s, 2));
	return *ret_trim || is_right_delim(s);
}

static size_t blanks_left(struct str s)
{
	size_t n = 0;
	while (n < s.len && is_blank((unsigned char)s.ptr[n]))
		n++;
	return n;
}

static size_t blanks_right(struct str s)
{
	size_t n = 0;
	while (n < s.len && is_blank((unsigned char)s.ptr[s.len - 1 - n]))
		n++;
	return n;
}

/* ---- outside of actions ---- */
/* After {{ and a trim marker. NULL: the comment was skipped. */
static struct token *lex_comment(struct lexer *l)
{
	l->pos += 2;
	ptrdiff_t x = str_find(rest(l), STR("*/"));
	if (x < 0)
		return fail_text(l, "unclosed comment");
	l->pos += (size_t)x + 2;
	bool trim;
	if (!at_right_delim(l, &trim))
		return fail_text(l, "comment ends before closing delimiter");
	l->pos += trim ? 4 : 2;
	if (trim)
		l->pos += blanks_left(rest(l));
	ignore(l);
	return NULL;
}

/* At {{. */
static struct token *lex_left_delim(struct lexer *l)
{
	l->pos += 2;
	size_t marker = has_left_trim(rest(l)) ? 2 : 0;
	if (str_has_prefix(str_skip(rest(l), marker), STR("/*"))) {
		l->pos += marker;
		ignore(l);
		return lex_comment(l);
	}
	struct token *t = emit(l, TOK_LEFT_DELIM);
	l->inside_action = true;
	l->pos += marker;
	ignore(l);
	l->paren_depth = 0;
	return t;
}

/* The bytes before the next {{, or all. */
static size_t text_bytes(struct str s)
{
	for (size_t n = 0; n < s.len; n++) {
		ptrdiff_t x = str_find_char(str_skip(s, n), '{');
		if (x < 0)
			break;
		n += (size_t)x;
		if (n + 1 < s.len && s.ptr[n + 1] == '{')
			return n;
	}
	return s.len;
}

static struct token *lex_text(struct lexer *l)
{
	size_t n = text_bytes(rest(l));
	if (n == l->input.len - l->pos) {
		l->pos = l->input.len;
		l->line += count_lines(str_skip(l->input, l->start));
		return emit(l, l->pos > l->start ? TOK_TEXT : TOK_EOF);
	}
	if (n == 0)
		return lex_left_delim(l);
	l->pos += n;
	size_t trim = 0;
	if (has_left_trim(str_skip(rest(l), 2)))
		trim = blanks_right(str_sub(l->input, l->start, n));
	l->pos -= trim;
	l->line += count_lines(str_sub(l->input, l->start, n - trim));
	struct token *t = emit(l, TOK_TEXT);
	l->pos += trim;
	ignore(l);
	return t->val.len > 0 ? t : lex_left_delim(l);
}

/* ---- inside an action ---- */
static struct token *lex_right_delim(struct lexer *l)
{
	bool trim;
	at_right_delim(l, &trim);
	if (trim) {
		l->pos += 2;
		ignore(l);
	}
	l->pos += 2;
	struct token *t = emit(l, TOK_RIGHT_DELIM);
	if (trim) {
		l->pos += blanks_left(rest(l));
		ignore(l);
	}
	l->inside_action = false;
	return t;
}

static struct token *lex_space(struct lexer *l)
{
	size_t n = blanks_left(rest(l));
	l->line += count_lines(str_sub(l->input, l->pos, n));
	l->pos += n;
	struct str last = str_skip(l->input, l->pos - 1);
	if (has_right_trim(last) && is_right_delim(str_skip(last, 2))) {
		l->pos--; /* before the blank of the marker */
		if (l->input.ptr[l->pos] == '\n')
			l->line--;
		if (n == 1)
			return lex_right_delim(l);
	}
	return emit(l, TOK_SPACE);
}

static bool at_terminator(const struct lexer *l)
{
	struct str s = rest(l);
	return !s.len || is_blank((unsigned char)s.ptr[0]) || memchr(".,|:)(", s.ptr[0], 6) ||
	       is_right_delim(s);
}

static void skip_word(struct lexer *l)
{
	for (;;) {
		while (l->pos < l->input.len && is_word_char(l->input.ptr[l->pos]))
			l->pos++;
		uint32_t r = peek(l);
		if (r < 0x80 || !rune_is_alnum(r)) /* nor is RUNE_EOF */
			return;
		next(l);
	}
}

static struct token *lex_identifier(struct lexer *l)
{
	skip_word(l);
	struct str word = str_sub(l->input, l->start, l->pos - l->start);
	if (!at_terminator(l))
		return fail_rune(l, "bad character", peek(l));
	for (size_t i = 0; word.len <= KEYWORD_BYTES_MAX && i < ARRAY_LEN(keywords); i++) {
		if (word.ptr[0] == keywords[i].word[0] && str_is(word, keywords[i].word))
			return emit(l, keywords[i].type);
	}
	return emit(l, TOK_IDENTIFIER);
}

/* After the . or $. */
static struct token *lex_field(struct lexer *l, enum token_type type)
{
	if (at_terminator(l))
		return emit(l, type == TOK_VARIABLE ? type : TOK_DOT);
	skip_word(l);
	if (!at_terminator(l))
		return fail_rune(l, "bad character", peek(l));
	return emit(l, type);
}

static bool ends_run(char c, uint32_t quote)
{
	return c == (char)quote || c == '\\' || c == '\n';
}

/* After the opening quote; the text between is looked at by the parser. */
static struct token *lex_quoted(struct lexer *l, uint32_t quote, enum token_type type,
				const char *message)
{
	for (;;) {
		while (l->pos < l->input.len && !ends_run(l->input.ptr[l->pos], quote))
			l->pos++;
		uint32_t r = next(l);
		if (r == '\\' && quote != '`') {
			r = next(l);
			if (r != RUNE_EOF && r != '\n')
				continue;
			return fail_text(l, message);
		}
		if (r == RUNE_EOF || (r == '\n' && quote != '`'))
			return fail_text(l, message);
		if (r == quote)
			return emit(l, type);
	}
}

/* What it reads of a number is of one line. */
static bool skip_number(struct lexer *l)
{
	size_t n;
	bool good = lex_scan_number(rest(l), &n);
	l->pos += n;
	return good;
}

static struct token *lex_number(struct lexer *l)
{
	bool good = skip_number(l);
	bool complex = good && (peek(l) == '+' || peek(l) == '-');
	if (complex)
		good = skip_number(l) && l->input.ptr[l->pos - 1] == 'i';
	if (good)
		return emit(l, complex ? TOK_COMPLEX : TOK_NUMBER);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "bad number syntax: ");
	quote_str(&b, str_sub(l->input, l->start, l->pos - l->start), false);
	return fail(l, &b);
}

static struct token *lex_paren(struct lexer *l, char c)
{
	if (c == '(') {
		l->paren_depth++;
		return emit(l, TOK_LEFT_PAREN);
	}
	if (--l->paren_depth < 0)
		return fail_text(l, "unexpected right paren");
	return emit(l, TOK_RIGHT_PAREN);
}

/* A letter beyond ASCII, or what stands for itself. */
static struct token *lex_rune(struct lexer *l)
{
	uint32_t r = peek(l);
	if (rune_is_alnum(r))
		return lex_identifier(l);
	next(l);
	if (r < 0x80 && rune_is_print(r))
		return emit(l, TOK_CHAR);
	return fail_rune(l, "unrecognized character in action:", r);
}

static struct token *lex_dot(struct lexer *l)
{
	struct str s = rest(l);
	if (s.len == 1 || char_is_digit(s.ptr[1]))
		return lex_number(l);
	l->pos++;
	return lex_field(l, TOK_FIELD);
}

static struct token *lex_declare(struct lexer *l)
{
	l->pos++;
	if (next(l) != '=')
		return fail_text(l, "expected :=");
	return emit(l, TOK_DECLARE);
}

/* One character is the token. */
static struct token *lex_one(struct lexer *l, enum token_type type)
{
	l->pos++;
	return emit(l, type);
}

/* At no letter, digit or blank of ASCII. */
static struct token *lex_sign(struct lexer *l, char c)
{
	switch (c) {
	case '.':
		return lex_dot(l);
	case '$':
		l->pos++;
		return lex_field(l, TOK_VARIABLE);
	case '(':
	case ')':
		l->pos++;
		return lex_paren(l, c);
	case '"':
		l->pos++;
		return lex_quoted(l, '"', TOK_STRING, "unterminated quoted string");
	case '`':
		l->pos++;
		return lex_quoted(l, '`', TOK_RAW_STRING, "unterminated raw quoted string");
	case '\'':
		l->pos++;
		return lex_quoted(l, '\'', TOK_CHAR_CONSTANT, "unterminated character constant");
	case '|':
		return lex_one(l, TOK_PIPE);
	case '=':
		return lex_one(l, TOK_ASSIGN);
	case ':':
		return lex_declare(l);
	case '+':
	case '-':
		return lex_number(l);
	default:
		return lex_rune(l);
	}
}

static struct token *lex_action(struct lexer *l)
{
	bool trim;
	if (l->pos == l->input.len)
		return fail_text(l, "unclosed action");
	char c = l->input.ptr[l->pos];
	if (is_word_char(c))
		return char_is_digit(c) ? lex_number(l) : lex_identifier(l);
	if ((c == '}' || is_blank((unsigned char)c)) && at_right_delim(l, &trim)) {
		if (l->paren_depth == 0)
			return lex_right_delim(l);
		return fail_text(l, "unclosed left paren");
	}
	return is_blank((unsigned char)c) ? lex_space(l) : lex_sign(l, c);
}

void lexer_next(struct lexer *l, struct token *ret)
{
	l->token = ret;
	if (l->failed)
		*ret = (struct token){TOK_EOF, l->start_line, l->pos, STR("EOF")};
	else if (l->inside_action)
		lex_action(l);
	else
		while (!lex_text(l))
			;
}
