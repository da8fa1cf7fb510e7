/* TOML reading. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alm/base/map.h"
#include "installers/tmpl/fn/date.h"
#include "installers/tmpl/fn/toml_go.h"
#include "installers/value/print.h"

/* What is known of a table besides its entries; 0: made on the way to another. */
enum table_flags { TABLE_HEADER = 1, TABLE_DOTTED = 2, TABLE_CLOSED = 4 };

struct parser {
	struct arena *a;
	struct str s;
	size_t at;
	int line, depth;
	struct str last_key;
	struct str context; /* the path of the table at hand, for messages */
	bool in_header;
	struct map *flags; /* address of a struct vmap -> enum table_flags */
	struct strbuf *msg;
};

#define KEY_PARTS_MAX 64
struct key {
	struct str parts[KEY_PARTS_MAX];
	size_t n;
};

static int parse_value(struct parser *p, struct value *ret);

static int fail(struct parser *p, const char *text)
{
	strbuf_addf(p->msg, "toml: line %d", p->line);
	if (p->last_key.len) {
		strbuf_adds(p->msg, " (last key ");
		value_quote(p->msg, p->last_key);
		strbuf_addc(p->msg, ')');
	}
	strbuf_addf(p->msg, ": %s", text);
	return -E_INVALID;
}

static char peek(const struct parser *p)
{
	return p->at < p->s.len ? p->s.ptr[p->at] : 0;
}

static bool at_end(const struct parser *p)
{
	return p->at >= p->s.len;
}

static bool take(struct parser *p, const char *text)
{
	if (!str_has_prefix(str_skip(p->s, p->at), str_of(text)))
		return false;
	p->at += strlen(text);
	return true;
}

static int fail_at(struct parser *p, const char *expected)
{
	if (at_end(p))
		return fail(p, arena_fmt(p->a, "unexpected EOF; expected %s", expected));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	uint32_t rune;
	utf8_decode(str_skip(p->s, p->at), &rune);
	quote_rune(&b, rune, false);
	return fail(p, arena_fmt(p->a, "expected %s but found %s instead", expected, b.buf));
}

static void skip_blanks(struct parser *p)
{
	while (peek(p) == ' ' || peek(p) == '\t')
		p->at++;
}

static void skip_comment(struct parser *p)
{
	if (peek(p) == '#')
		while (!at_end(p) && peek(p) != '\n')
			p->at++;
}

static void skip_lines(struct parser *p)
{
	for (;;) {
		skip_blanks(p);
		skip_comment(p);
		if (take(p, "\r\n") || take(p, "\n"))
			p->line++;
		else
			return;
	}
}

static unsigned flags_of(struct parser *p, const struct vmap *m)
{
	char name[32];
	snprintf(name, sizeof(name), "%p", (const void *)m);
	return (unsigned)map_number(p->flags, name);
}

static void set_flags(struct parser *p, const struct vmap *m, unsigned flags)
{
	char name[32];
	snprintf(name, sizeof(name), "%p", (const void *)m);
	map_set_number(p->flags, name, flags);
}

/* ---- strings and keys ---- */

static int parse_unicode(struct parser *p, size_t digits, struct strbuf *b)
{
	uint32_t r = 0;
	for (size_t i = 0; i < digits; i++, p->at++) {
		char c = peek(p);
		if (!char_is_hex(c))
			return fail_at(p, "hexadecimal digits in an escape");
		r = r * 16 + (uint32_t)(char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10);
	}
	if (r > 0x10ffff || (r >= 0xd800 && r < 0xe000))
		return fail(p, "escaped character is not valid UTF-8");
	strbuf_addrune(b, r);
	return 0;
}

static int parse_escape(struct parser *p, bool multi, struct strbuf *b)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\x1b\"\\";
	char c = peek(p);
	const char *hit = c ? strchr(from, c) : NULL;
	if (multi && (c == '\n' || c == '\r' || c == ' ' || c == '\t')) {
		while (memchr(" \t\r\n", peek(p), 4) && !at_end(p))
			p->line += p->s.ptr[p->at++] == '\n';
		return 0;
	}
	p->at++;
	if (hit)
		strbuf_addc(b, to[hit - from]);
	else if (c == 'u' || c == 'U' || c == 'x')
		return parse_unicode(p, c == 'x' ? 2 : c == 'u' ? 4 : 8, b);
	else
		return fail(p, arena_fmt(p->a, "invalid escape character '%c'", c));
	return 0;
}

static bool closes(struct parser *p, char quote, bool multi)
{
	if (peek(p) != quote)
		return false;
	if (!multi) {
		p->at++;
		return true;
	}
	struct str rest = str_skip(p->s, p->at);
	size_t n = 0;
	while (n < rest.len && rest.ptr[n] == quote)
		n++;
	if (n < 3)
		return false;
	/* up to two quotes may stand before the end */
	return n == 3 ? (p->at += 3, true) : false;
}

static int parse_string(struct parser *p, bool is_key, struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(p->s.len + 16);
	char quote = peek(p), triple[] = {quote, quote, quote, 0};
	bool multi = !is_key && take(p, triple);
	if (!multi)
		p->at++;
	else if (take(p, "\r\n") || take(p, "\n"))
		p->line++;
	while (!closes(p, quote, multi)) {
		char c = peek(p);
		if (at_end(p))
			return fail(p, arena_fmt(p->a, "unexpected EOF; expected '%c'", quote));
		if (c == '\n' && !multi)
			return fail(p, "strings cannot contain newlines");
		if (((unsigned char)c < 0x20 && !memchr("\t\n\r", c, 3)) || c == 0x7f)
			return fail(p, "control characters are not allowed inside strings");
		p->at++;
		p->line += c == '\n';
		if (c == '\\' && quote == '"') {
			if (parse_escape(p, multi, &b) < 0)
				return -E_INVALID;
		} else {
			strbuf_addc(&b, c);
		}
	}
	*ret = str_n(arena_text(p->a, b.buf, b.len), b.len);
	return 0;
}

static bool is_bare(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '_' && s.ptr[i] != '-')
			return false;
	return s.len > 0;
}

/* The character at hand as Go's %q writes it. */
static const char *quoted_char(struct parser *p)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	uint32_t rune = 0;
	if (!at_end(p))
		utf8_decode(str_skip(p->s, p->at), &rune);
	quote_rune(&b, rune, false);
	return arena_strdup(p->a, b.buf);
}

/* A table's name that starts or goes on as none does. */
static int fail_table_name(struct parser *p, bool at_start)
{
	if (at_start && peek(p) == '.')
		return fail(p, "unexpected table separator (table names cannot be empty)");
	if (at_start && (peek(p) == ']' || at_end(p)))
		return fail(p, "unexpected end of table name (table names cannot be empty)");
	const char *got = quoted_char(p);
	p->line += peek(p) == '\n';
	return fail(p, arena_fmt(p->a, "expected '.' or ']' to end table name, but got %s instead",
				 got));
}

static int fail_key(struct parser *p, bool at_start, bool is_first)
{
	if (p->in_header)
		return fail_table_name(p, at_start);
	if (at_end(p))
		return fail(p, "unexpected EOF; expected key separator '='");
	if (at_start && peek(p) == '=')
		return fail(p,
			    is_first ? "unexpected '=': key name appears blank" : "unexpected '='");
	if (at_start && peek(p) == '.')
		return fail(p, is_first ? "unexpected '.': keys cannot start with a '.'"
					: "unexpected '.'");
	return fail(p, arena_fmt(p->a, "expected '.' or '=', but got %s instead", quoted_char(p)));
}

static int parse_key_part(struct parser *p, bool is_first, struct str *ret)
{
	if (peek(p) == '"' || peek(p) == '\'')
		return parse_string(p, true, ret);
	size_t start = p->at;
	while (char_is_alnum(peek(p)) || peek(p) == '_' || peek(p) == '-')
		p->at++;
	if (p->at == start)
		return fail_key(p, true, is_first);
	*ret = str_sub(p->s, start, p->at - start);
	return 0;
}

static int parse_key(struct parser *p, struct key *ret)
{
	ret->n = 0;
	for (;;) {
		skip_blanks(p);
		if (ret->n == KEY_PARTS_MAX)
			return fail(p, "key has too many parts");
		if (parse_key_part(p, !ret->n, &ret->parts[ret->n]) < 0)
			return -E_INVALID;
		ret->n++;
		skip_blanks(p);
		if (!take(p, "."))
			return 0;
	}
}

/* context.a."b c" for messages; the last part as it is if raw. */
static struct str key_text(struct parser *p, const struct key *k, size_t n, bool raw)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addstr(&b, p->context);
	for (size_t i = 0; i < n; i++) {
		if (b.len)
			strbuf_addc(&b, '.');
		if (is_bare(k->parts[i]) || (raw && i + 1 == n))
			strbuf_addstr(&b, k->parts[i]);
		else
			value_quote(&b, k->parts[i]);
	}
	return str_n(arena_text(p->a, b.buf, b.len), b.len);
}

static int fail_defined(struct parser *p, const struct key *k, size_t n)
{
	struct str name = key_text(p, k, n, false);
	return fail(p, arena_fmt(p->a, "Key '%.*s' has already been defined.", STR_ARG(name)));
}

static int fail_no_table(struct parser *p, const struct key *k, size_t n)
{
	struct str name = key_text(p, k, n, false);
	return fail(p, arena_fmt(p->a, "Key '%.*s' was already created as a hash.", STR_ARG(name)));
}

/* ---- scalars ---- */

/* Removes the underscores between digits; false if one stands elsewhere. */
static bool plain_number(struct str s, char *out, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '_') {
			if (!i || i + 1 == s.len || !char_is_hex(s.ptr[i - 1]) ||
			    !char_is_hex(s.ptr[i + 1]))
				return false;
			continue;
		}
		if (n + 1 >= size)
			return false;
		out[n++] = s.ptr[i];
	}
	out[n] = 0;
	return true;
}

static bool parse_radix(const char *s, struct value *ret)
{
	uint64_t base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 2, v = 0;
	if (!s[2])
		return false;
	for (s += 2; *s; s++) {
		uint64_t d = char_is_digit(*s) ? (uint64_t)(*s - '0')
			     : char_is_hex(*s) ? (uint64_t)(char_lower(*s) - 'a' + 10)
					       : 99;
		if (d >= base || v > ((uint64_t)INT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	*ret = value_int64((int64_t)v);
	return true;
}

static bool parse_number(struct str text, struct value *ret)
{
	char plain[128];
	int64_t i;
	double f;
	if (!plain_number(text, plain, sizeof(plain)))
		return false;
	const char *digits = plain + (plain[0] == '+' || plain[0] == '-');
	if (!strcmp(digits, "inf") || !strcmp(digits, "nan")) {
		double v = *digits == 'i' ? (double)INFINITY : (double)NAN;
		*ret = value_float(plain[0] == '-' ? -v : v);
		return true;
	}
	if (plain[0] == '0' && plain[1] && strchr("xob", plain[1]))
		return parse_radix(plain, ret);
	if (digits[0] == '0' && char_is_digit(digits[1]))
		return false;
	if (str_parse_i64(str_of(plain[0] == '+' ? digits : plain), &i)) {
		*ret = value_int64(i);
		return true;
	}
	if (!char_is_digit(*digits) || plain[strlen(plain) - 1] == '.' || strstr(plain, ".e") ||
	    !str_parse_double(str_of(digits), &f) || !isfinite(f))
		return false;
	*ret = value_float(plain[0] == '-' ? -f : f);
	return true;
}

static bool looks_like_date(struct str s)
{
	return (s.len >= 10 && s.ptr[4] == '-' && s.ptr[7] == '-') ||
	       (s.len >= 8 && s.ptr[2] == ':');
}

/* Dates and times without a zone are in zones of their own, named for what is missing. */
static void name_local(struct parser *p, struct str text, struct value *v)
{
	bool has_date = text.ptr[4] == '-', has_time = text.len > 10 || !has_date;
	struct str clock = has_date ? str_skip(text, 10) : text;
	bool zoned = has_date && has_time &&
		     (str_find_char(clock, 'Z') >= 0 || str_find_char(clock, 'z') >= 0 ||
		      str_find_char(clock, '+') >= 0 || str_find_char(clock, '-') >= 0);
	if (zoned || v->type != VALUE_TIME)
		return;
	struct vtime *t = arena_memdup(p->a, v->t, sizeof(*t));
	t->zone = date_fixed_zone(p->a, 0,
				  !has_time   ? STR("date-local")
				  : !has_date ? STR("time-local")
					      : STR("datetime-local"));
	v->t = t;
}

static int fail_number(struct parser *p, struct str text)
{
	char plain[64];
	bool is_float = str_find_char(text, '.') >= 0 || str_find_char(text, 'e') >= 0;
	struct str digits = str_skip(text, text.ptr[0] == '+' || text.ptr[0] == '-');
	if (!is_float && digits.len > 1 && digits.ptr[0] == '0' && char_is_digit(digits.ptr[1]))
		return fail(p,
			    arena_fmt(p->a, "Invalid integer \"%.*s\": cannot have leading zeroes",
				      STR_ARG(text)));
	if (plain_number(text, plain, sizeof(plain)))
		return fail(p, arena_fmt(p->a, "Invalid number: \"%.*s\"", STR_ARG(text)));
	return fail(p,
		    arena_fmt(p->a, "Invalid %s \"%.*s\": underscores must be surrounded by digits",
			      is_float ? "float" : "integer", STR_ARG(text)));
}

static int parse_scalar(struct parser *p, struct value *ret)
{
	size_t start = p->at;
	while (!at_end(p) && !strchr(" \t\r\n,]}#", peek(p)))
		p->at++;
	struct str text = str_sub(p->s, start, p->at - start);
	bool day = text.len == 10 && looks_like_date(text);
	if (day && peek(p) == ' ' && p->at + 1 < p->s.len && char_is_digit(p->s.ptr[p->at + 1])) {
		for (p->at++; !at_end(p) && !strchr(" \t\r\n,]}#", peek(p));)
			p->at++;
		text = str_sub(p->s, start, p->at - start);
	}
	if (!text.len)
		return fail_at(p, "value");
	if (str_is(text, "true") || str_is(text, "false")) {
		*ret = value_bool(str_is(text, "true"));
		return 0;
	}
	if (looks_like_date(text)) {
		if (value_time_parse(p->a, text, ret)) {
			name_local(p, text, ret);
			return 0;
		}
		return fail(p, arena_fmt(p->a, "invalid datetime: \"%.*s\"", STR_ARG(text)));
	}
	if (parse_number(text, ret))
		return 0;
	if (char_is_digit(text.ptr[0]) || strchr("+-", text.ptr[0]))
		return fail_number(p, text);
	return fail(p, arena_fmt(p->a, "expected value but found \"%.*s\" instead", STR_ARG(text)));
}

/* ---- tables ---- */

/* The table of the next part, made if it is absent; the last of a list of tables. */
static int descend(struct parser *p, struct vmap **m, const struct key *k, size_t i, unsigned made)
{
	struct value *v = vmap_get(*m, k->parts[i]);
	if (!v) {
		struct vmap *child = vmap_new(p->a);
		vmap_set(*m, k->parts[i], value_map(child));
		set_flags(p, child, made);
		*m = child;
		return 0;
	}
	if (v->type == VALUE_MAPS && v->len) {
		*m = v->items[v->len - 1].map;
		return 0;
	}
	if (v->type != VALUE_MAP && made != TABLE_DOTTED)
		return fail_no_table(p, k, i + 1);
	if (v->type != VALUE_MAP || (flags_of(p, v->map) & TABLE_CLOSED))
		return fail_defined(p, k, i + 1);
	*m = v->map;
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): parse_value() bounds the depth by TOML_DEPTH_MAX */
static int set_pair(struct parser *p, struct vmap *m, const struct key *k, struct value v)
{
	for (size_t i = 0; i + 1 < k->n; i++) {
		if (descend(p, &m, k, i, TABLE_DOTTED) < 0)
			return -E_INVALID;
	}
	struct value *old = vmap_get(m, k->parts[k->n - 1]);
	if (old && (old->type != VALUE_MAP || v.type == VALUE_MAP ||
		    flags_of(p, old->map) != TABLE_DOTTED))
		return fail_defined(p, k, k->n);
	if (!old || value_is_list(v))
		vmap_set(m, k->parts[k->n - 1], v);
	else /* made by a.b = 1 only: a = 2 is accepted once and says nothing */
		set_flags(p, old->map, TABLE_HEADER);
	return 0;
}

static int parse_pair(struct parser *p, struct vmap *m)
{
	struct key k = {.n = 0};
	struct value v = VALUE_NONE;
	struct str outer = p->context;
	int line = p->line;
	p->last_key = outer;
	if (parse_key(p, &k) < 0)
		return -E_INVALID;
	if (!take(p, "="))
		return fail_key(p, false, false);
	struct str name = p->last_key = key_text(p, &k, k.n, true);
	p->context = key_text(p, &k, k.n, false);
	skip_blanks(p);
	if (parse_value(p, &v) < 0)
		return -E_INVALID;
	p->context = outer;
	p->last_key = name;
	int end = p->line;
	p->line = line;
	int rc = set_pair(p, m, &k, v);
	p->line = end;
	return rc;
}

static int parse_inline_table(struct parser *p, struct value *ret)
{
	struct vmap *m = vmap_new(p->a);
	*ret = value_map(m);
	p->at++;
	skip_lines(p);
	while (!take(p, "}")) {
		if (parse_pair(p, m) < 0)
			return -E_INVALID;
		skip_lines(p);
		if (!take(p, ",") && peek(p) != '}')
			return fail(p, arena_fmt(p->a,
						 "expected a comma or an inline table terminator "
						 "'}', but got %s instead",
						 quoted_char(p)));
		skip_lines(p);
	}
	set_flags(p, m, TABLE_CLOSED);
	return 0;
}

struct items {
	struct value *v;
	size_t n, cap;
};

static void items_release(struct items *l)
{
	xfree(l->v);
}

static int parse_list(struct parser *p, struct value *ret)
{
	CLEANUP(items_release) struct items l = {0};
	bool tables = true;
	p->at++;
	skip_lines(p);
	while (!take(p, "]")) {
		ARRAY_GROW(l.v, l.cap, l.n + 1);
		if (parse_value(p, &l.v[l.n++]) < 0)
			return -E_INVALID;
		tables = tables && l.v[l.n - 1].type == VALUE_MAP;
		skip_lines(p);
		if (!take(p, ",") && peek(p) != ']')
			return fail(p,
				    arena_fmt(p->a,
					      "expected a comma (',') or array terminator (']'), "
					      "but got %s",
					      quoted_char(p)));
		skip_lines(p);
	}
	*ret = value_list(p->a, l.n && tables ? VALUE_MAPS : VALUE_LIST, l.n);
	if (l.n)
		memcpy(ret->items, l.v, l.n * sizeof(*l.v));
	return 0;
}

/* Recursion is bounded by TOML_DEPTH_MAX. */
static int parse_value(struct parser *p, struct value *ret)
{
	struct str s;
	if (++p->depth > TOML_DEPTH_MAX)
		return fail(p, "nested too deep");
	int rc = 0;
	if (peek(p) == '"' || peek(p) == '\'') {
		rc = parse_string(p, false, &s);
		if (rc == 0)
			*ret = value_str(s);
	} else if (peek(p) == '[') {
		rc = parse_list(p, ret);
	} else if (peek(p) == '{') {
		rc = parse_inline_table(p, ret);
	} else {
		rc = parse_scalar(p, ret);
	}
	p->depth--;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

static int append_table(struct parser *p, struct vmap *m, const struct key *k, struct vmap **ret)
{
	struct str name = k->parts[k->n - 1];
	struct value *v = vmap_get(m, name);
	if (v && v->type != VALUE_MAPS) {
		struct str text = key_text(p, k, k->n, false);
		return fail(p, arena_fmt(p->a,
					 "Key '%.*s' was already created and cannot be used as an "
					 "array.",
					 STR_ARG(text)));
	}
	size_t n = v ? v->len : 0;
	struct value list = value_list(p->a, VALUE_MAPS, n + 1);
	if (n)
		memcpy(list.items, v->items, n * sizeof(*list.items));
	*ret = vmap_new(p->a);
	list.items[n] = value_map(*ret);
	vmap_set(m, name, list);
	return 0;
}

static int parse_header(struct parser *p, struct vmap *root, struct vmap **ret)
{
	struct key k = {.n = 0};
	bool list = take(p, "[[");
	if (!list)
		p->at++;
	p->last_key = p->context;
	p->in_header = true;
	if (parse_key(p, &k) < 0)
		return -E_INVALID;
	if (!take(p, "]"))
		return fail_key(p, false, false);
	if (list && !take(p, "]"))
		return fail(p, arena_fmt(p->a,
					 "expected end of table array name delimiter ']', but got "
					 "%s instead",
					 quoted_char(p)));
	p->in_header = false;
	p->context = STR("");
	struct vmap *m = root;
	for (size_t i = 0; i + 1 < k.n; i++)
		if (descend(p, &m, &k, i, 0) < 0)
			return -E_INVALID;
	p->last_key = key_text(p, &k, k.n - 1, false);
	if (list && append_table(p, m, &k, ret) < 0)
		return -E_INVALID;
	if (list) {
		p->context = key_text(p, &k, k.n, false);
		return 0;
	}
	struct value *v = vmap_get(m, k.parts[k.n - 1]);
	if (v && (v->type != VALUE_MAP || (flags_of(p, v->map) & ~(unsigned)TABLE_DOTTED)))
		return fail_defined(p, &k, k.n);
	if (descend(p, &m, &k, k.n - 1, 0) < 0)
		return -E_INVALID;
	set_flags(p, m, TABLE_HEADER);
	p->context = key_text(p, &k, k.n, false);
	*ret = m;
	return 0;
}

static int fail_item_end(struct parser *p)
{
	p->last_key = p->context;
	return fail(p,
		    arena_fmt(p->a,
			      "expected a top-level item to end with a newline, comment, or EOF, "
			      "but got %s instead",
			      quoted_char(p)));
}

static int parse_document(struct parser *p, struct vmap *root)
{
	struct vmap *m = root;
	for (;;) {
		skip_lines(p);
		if (at_end(p))
			return 0;
		int rc = peek(p) == '[' ? parse_header(p, root, &m) : parse_pair(p, m);
		if (rc < 0)
			return rc;
		skip_blanks(p);
		skip_comment(p);
		if (!at_end(p) && peek(p) != '\n' && peek(p) != '\r')
			return fail_item_end(p);
	}
}

int toml_go_decode(struct arena *a, struct str text, struct vmap **ret, struct strbuf *msg)
{
	CLEANUP(map_freep) struct map *flags = map_new(NULL);
	struct parser p = {.a = a, .s = text, .line = 1, .flags = flags, .msg = msg};
	struct vmap *root = vmap_new(a);
	if (text.len > TOML_BYTES_MAX)
		return fail(&p, "text is too large");
	if (!utf8_valid(text))
		return fail(&p, "files must be valid UTF-8");
	take(&p, "\xef\xbb\xbf");
	if (parse_document(&p, root) < 0)
		return -E_INVALID;
	*ret = root;
	return 0;
}
