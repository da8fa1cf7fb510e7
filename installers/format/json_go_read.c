/* json_go_read: texts as Go's encoding/json reads them, with its messages (json_go.h). */
#include "installers/format/json_go.h"

#include <math.h>
#include <string.h>

struct parser {
	struct arena *a;
	struct str s;
	size_t at;
	int depth;
	bool exact; /* integers that no double is stay integers */
	struct strbuf *msg,
		late; /* late: a number out of range, reported after the syntax is checked */
};

static int parse_value(struct parser *p, struct value *ret);

static int fail_char(struct parser *p, const char *where)
{
	if (p->at >= p->s.len) {
		strbuf_adds(p->msg, "unexpected end of JSON input");
		return -E_INVALID;
	}
	unsigned char c = (unsigned char)p->s.ptr[p->at];
	CLEANUP(strbuf_release) struct strbuf q = STRBUF_INIT(STRBUF_SMALL);
	char utf8[4];
	strbuf_adds(p->msg, "invalid character ");
	if (c == '\'') {
		strbuf_adds(p->msg, "'\\''");
	} else if (c == '"') {
		strbuf_adds(p->msg, "'\"'");
	} else {
		value_quote(&q, str_n(utf8, utf8_encode(c, utf8)));
		strbuf_addf(p->msg, "'%.*s'", (int)q.len - 2, q.buf + 1);
	}
	strbuf_addf(p->msg, " %s", where);
	return -E_INVALID;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->s.len && memchr(" \t\r\n", p->s.ptr[p->at], 4))
		p->at++;
}

static char peek(const struct parser *p)
{
	return p->at < p->s.len ? p->s.ptr[p->at] : 0;
}

static int parse_hex4(struct parser *p, uint32_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		char c = peek(p);
		if (!char_is_hex(c))
			return fail_char(p, "in \\u hexadecimal character escape");
		*ret = *ret * 16 +
		       (uint32_t)(char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10);
		p->at++;
	}
	return 0;
}

static int parse_unicode(struct parser *p, struct strbuf *b)
{
	uint32_t hi, lo;
	if (parse_hex4(p, &hi) < 0)
		return -E_INVALID;
	if (hi >= 0xD800 && hi < 0xDC00 && str_has_prefix(str_skip(p->s, p->at), STR("\\u"))) {
		size_t mark = p->at;
		p->at += 2;
		if (parse_hex4(p, &lo) < 0)
			return -E_INVALID;
		if (lo >= 0xDC00 && lo < 0xE000) {
			strbuf_addrune(b, 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00));
			return 0;
		}
		p->at = mark;
	}
	strbuf_addrune(b, hi >= 0xD800 && hi < 0xE000 ? 0xFFFD : hi);
	return 0;
}

static int parse_escape(struct parser *p, struct strbuf *b)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = peek(p);
	if (c == 'u') {
		p->at++;
		return parse_unicode(p, b);
	}
	const char *hit = c ? strchr(from, c) : NULL;
	if (!hit)
		return fail_char(p, "in string escape code");
	strbuf_addc(b, to[hit - from]);
	p->at++;
	return 0;
}

static int parse_string(struct parser *p, struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(p->s.len * 3 + 16);
	size_t start = ++p->at;
	while ((unsigned char)peek(p) >= 0x20 && (unsigned char)peek(p) < 0x80 && peek(p) != '"' &&
	       peek(p) != '\\')
		p->at++;
	if (peek(p) == '"') { /* most strings */
		*ret = str_n(arena_text(p->a, p->s.ptr + start, p->at - start), p->at - start);
		p->at++;
		return 0;
	}
	strbuf_addstr(&b, str_sub(p->s, start, p->at - start));
	while (p->at < p->s.len && peek(p) != '"') {
		unsigned char c = (unsigned char)peek(p);
		uint32_t rune;
		if (c < 0x20)
			return fail_char(p, "in string literal");
		if (c == '\\') {
			p->at++;
			if (parse_escape(p, &b) < 0)
				return -E_INVALID;
			continue;
		}
		size_t n = utf8_decode(str_skip(p->s, p->at), &rune);
		if (n)
			strbuf_add(&b, p->s.ptr + p->at, n);
		else
			strbuf_adds(&b, "\xef\xbf\xbd");
		p->at += n ? n : 1;
	}
	if (p->at >= p->s.len)
		return fail_char(p, "in string literal");
	p->at++;
	*ret = str_n(arena_text(p->a, b.buf, b.len), b.len);
	return 0;
}

static int parse_digits(struct parser *p, const char *where)
{
	if (!char_is_digit(peek(p)))
		return fail_char(p, where);
	while (char_is_digit(peek(p)))
		p->at++;
	return 0;
}

/* An integer of 64 bits that a double would round. */
static bool is_exact(struct str text, double f, struct value *ret)
{
	int64_t i;
	uint64_t u;
	if (fabs(f) < 0x1p53)
		return false;
	if (str_parse_i64(text, &i)) {
		*ret = value_int64(i);
		return true;
	}
	if (!str_parse_u64(text, &u))
		return false;
	*ret = (struct value){.type = VALUE_UINT64, .u = u};
	return true;
}

static int parse_number(struct parser *p, struct value *ret)
{
	size_t start = p->at;
	p->at += peek(p) == '-';
	if (peek(p) == '0')
		p->at++;
	else if (parse_digits(p, "in numeric literal") < 0)
		return -E_INVALID;
	if (peek(p) == '.') {
		p->at++;
		if (parse_digits(p, "after decimal point in numeric literal") < 0)
			return -E_INVALID;
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		p->at++;
		p->at += peek(p) == '+' || peek(p) == '-';
		if (parse_digits(p, "in exponent of numeric literal") < 0)
			return -E_INVALID;
	}
	struct str text = str_sub(p->s, start, p->at - start);
	double f;
	if (str_parse_double(text, &f) && isfinite(f)) {
		if (!p->exact || !is_exact(text, f, ret))
			*ret = value_float(f);
		return 0;
	}
	*ret = VALUE_NONE;
	if (!p->late.len)
		strbuf_addf(&p->late,
			    "json: cannot unmarshal number %.*s into Go value of type float64",
			    STR_ARG(text));
	return 0;
}

static int parse_word(struct parser *p, const char *word, struct value v, struct value *ret)
{
	for (size_t i = 0; word[i]; i++) {
		if (peek(p) != word[i]) {
			char *where =
				arena_fmt(p->a, "in literal %s (expecting '%c')", word, word[i]);
			return fail_char(p, where);
		}
		p->at++;
	}
	*ret = v;
	return 0;
}

static int enter(struct parser *p)
{
	if (++p->depth <= JSON_GO_DEPTH_MAX)
		return 0;
	strbuf_adds(p->msg, "exceeded max depth");
	return -E_INVALID;
}

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by JSON_GO_DEPTH_MAX */
static int parse_member(struct parser *p, struct vmap *m)
{
	struct str key;
	struct value v = {0};
	if (peek(p) != '"')
		return fail_char(p, "looking for beginning of object key string");
	if (parse_string(p, &key) < 0)
		return -E_INVALID;
	skip_space(p);
	if (peek(p) != ':')
		return fail_char(p, "after object key");
	p->at++;
	if (parse_value(p, &v) < 0)
		return -E_INVALID;
	vmap_append(m, key, v);
	skip_space(p);
	return 0;
}

static int parse_object(struct parser *p, struct value *ret)
{
	struct vmap *m = vmap_new(p->a);
	*ret = value_map(m);
	p->at++;
	skip_space(p);
	if (enter(p) < 0)
		return -E_INVALID;
	if (peek(p) == '}') {
		p->at++;
		p->depth--;
		return 0;
	}
	for (;;) {
		if (parse_member(p, m) < 0)
			return -E_INVALID;
		char c = peek(p);
		if (c != ',' && c != '}')
			return fail_char(p, "after object key:value pair");
		p->at++;
		if (c == '}')
			break;
		skip_space(p);
	}
	vmap_settle(m);
	p->depth--;
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

static int parse_items(struct parser *p, struct items *l)
{
	for (;;) {
		struct value v;
		if (parse_value(p, &v) < 0)
			return -E_INVALID;
		ARRAY_GROW(l->v, l->cap, l->n + 1);
		l->v[l->n++] = v;
		skip_space(p);
		char c = peek(p);
		if (c != ',' && c != ']')
			return fail_char(p, "after array element");
		p->at++;
		if (c == ']')
			return 0;
	}
}

static int parse_array(struct parser *p, struct value *ret)
{
	CLEANUP(items_release) struct items l = {0};
	p->at++;
	skip_space(p);
	if (enter(p) < 0)
		return -E_INVALID;
	if (peek(p) == ']')
		p->at++;
	else if (parse_items(p, &l) < 0)
		return -E_INVALID;
	p->depth--;
	*ret = value_list(p->a, VALUE_LIST, l.n);
	if (l.n)
		memcpy(ret->items, l.v, l.n * sizeof(*l.v));
	return 0;
}

/* Recursion is bounded by JSON_GO_DEPTH_MAX. */
static int parse_value(struct parser *p, struct value *ret)
{
	struct str s;
	skip_space(p);
	switch (peek(p)) {
	case '{':
		return parse_object(p, ret);
	case '[':
		return parse_array(p, ret);
	case '"':
		if (parse_string(p, &s) < 0)
			return -E_INVALID;
		*ret = value_str(s);
		return 0;
	case 't':
		return parse_word(p, "true", value_bool(true), ret);
	case 'f':
		return parse_word(p, "false", value_bool(false), ret);
	case 'n':
		return parse_word(p, "null", VALUE_NONE, ret);
	default:
		if (peek(p) == '-' || char_is_digit(peek(p)))
			return parse_number(p, ret);
		return fail_char(p, "looking for beginning of value");
	}
}
/* NOLINTEND(misc-no-recursion) */

static int decode(struct parser *p, bool whole, struct value *ret)
{
	*ret = VALUE_NONE;
	if (p->s.len > JSON_GO_BYTES_MAX) {
		strbuf_addf(p->msg, "JSON is larger than %zu bytes", JSON_GO_BYTES_MAX);
		return -E_LIMIT;
	}
	struct value v;
	if (parse_value(p, &v) < 0)
		return -E_INVALID;
	if (whole) {
		skip_space(p);
		if (p->at < p->s.len)
			return fail_char(p, "after top-level value");
	}
	*ret = p->late.len && v.type == VALUE_NIL ? value_float(0) : v;
	if (!p->late.len)
		return 0;
	strbuf_addstr(p->msg, strbuf_str(&p->late));
	return -E_INVALID;
}

static int decode_all(struct arena *a, struct str text, bool exact, struct value *ret,
		      struct strbuf *msg)
{
	struct parser p = {.a = a, .s = text, .exact = exact, .msg = msg};
	strbuf_init(&p.late, STRBUF_SMALL);
	int rc = decode(&p, true, ret);
	strbuf_release(&p.late);
	return rc;
}

int json_go_decode(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	return decode_all(a, text, false, ret, msg);
}

int json_go_decode_exact(struct arena *a, struct str text, struct value *ret, struct strbuf *msg)
{
	return decode_all(a, text, true, ret, msg);
}

int json_go_decode_prefix(struct arena *a, struct str text, struct value *ret, size_t *ret_used,
			  struct strbuf *msg)
{
	struct parser p = {.a = a, .s = text, .msg = msg};
	if (!str_trim(text).len) {
		strbuf_adds(msg, "EOF");
		return -E_INVALID;
	}
	strbuf_init(&p.late, STRBUF_SMALL);
	int rc = decode(&p, false, ret);
	strbuf_release(&p.late);
	if (rc == 0)
		*ret_used = p.at;
	return rc;
}
