/*
 * yaml_print: the writer of yaml.h. Follows the emitter of Go's YAML v2 library (a port of libyaml
 * with its own choice of styles), so that output equals that of `kubectl -o yaml`.
 */
#include <math.h>
#include <stdlib.h>

#include "alm/base/visible.h"
#include "alm/obj/number.h"
#include "alm/obj/yaml.h"
#include "alm/obj/yaml_scalar.h"

#define WIDTH_BEST       80
#define SIMPLE_KEY_BYTES 128

enum style { PLAIN, SINGLE_QUOTED, DOUBLE_QUOTED, LITERAL };

static uint32_t rune_at(struct str s, size_t at, size_t *ret_n)
{
	uint32_t rune = 0xFFFD;
	*ret_n = utf8_decode(str_skip(s, at), &rune);
	if (!*ret_n)
		*ret_n = 1;
	return rune;
}

/* Written as it is, outside double quotes; a line feed is looked at apart. Go's library escapes
 * less: what reorders or hides text on a terminal is escaped here too. */
static bool is_printable(uint32_t c)
{
	return c <= 0xFFFD && visible_rune(c);
}

static bool is_blank_at(struct str s, size_t at)
{
	return at < s.len && s.ptr[at] == ' ';
}

struct traits {
	bool has_lf, special, blank_before_lf;
	bool multiline; /* any kind of break: no simple key */
};

static struct traits look(struct str s)
{
	struct traits t = {0};
	for (size_t i = 0, n; i < s.len; i += n) {
		uint32_t c = rune_at(s, i, &n);
		if (c == '\n') {
			t.has_lf = true;
			t.blank_before_lf |= i > 0 && s.ptr[i - 1] == ' ';
		} else if (!is_printable(c)) {
			t.special = true;
		}
		t.multiline |= c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
	}
	return t;
}

/* Must not stand plain, though it would be read as a string. */
static bool needs_quotes(struct str s)
{
	char c = s.ptr[0];
	if (str_find_char(STR("#,[]{}&*!|>'\"%@`"), c) >= 0 || c == ' ' ||
	    str_has_prefix(s, STR("---")) || str_has_prefix(s, STR("...")) ||
	    s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == ':')
		return true;
	if ((c == '-' || c == '?' || c == ':') && (s.len == 1 || s.ptr[1] == ' '))
		return true;
	return str_contains(s, STR(": ")) || str_contains(s, STR(" #"));
}

static enum style choose(struct str s)
{
	struct traits t = look(s);
	if (s.len && t.has_lf)
		return t.special || t.blank_before_lf || s.ptr[s.len - 1] == ' ' ? DOUBLE_QUOTED
										 : LITERAL;
	if (t.special || !yaml_scalar_is_string(s))
		return DOUBLE_QUOTED;
	return needs_quotes(s) ? SINGLE_QUOTED : PLAIN;
}

static void new_line(struct strbuf *b, size_t indent)
{
	strbuf_addc(b, '\n');
	strbuf_pad(b, ' ', indent);
}

static size_t column(const struct strbuf *b)
{
	struct str s = strbuf_str(b);
	ptrdiff_t lf = str_rfind_char(s, '\n');
	return utf8_count(str_skip(s, (size_t)(lf + 1)));
}

/* Text of a plain or single-quoted scalar; breaks at single blanks. */
static void put_text(struct strbuf *b, struct str s, size_t indent, bool breaks, bool quoted)
{
	size_t at = column(b);
	bool blanks = false;
	for (size_t i = 0, n; i < s.len; i += n) {
		uint32_t c = rune_at(s, i, &n);
		bool edge = quoted && (i == 0 || i + 1 == s.len);
		if (c == ' ' && breaks && !blanks && at > WIDTH_BEST && !edge &&
		    !is_blank_at(s, i + 1)) {
			new_line(b, indent);
			at = indent;
		} else {
			bool doubled = c == '\'' && quoted;
			if (doubled)
				strbuf_addc(b, '\'');
			strbuf_addrune(b, c);
			at += 1 + (size_t)doubled;
		}
		blanks = c == ' ';
	}
}

static void put_escape(struct strbuf *b, uint32_t c)
{
	static const struct {
		uint32_t rune;
		char letter;
	} named[] = {{0, '0'},     {7, 'a'},    {8, 'b'},    {9, 't'},      {10, 'n'},
		     {11, 'v'},    {12, 'f'},   {13, 'r'},   {27, 'e'},     {'"', '"'},
		     {'\\', '\\'}, {0x85, 'N'}, {0xA0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (named[i].rune == c) {
			strbuf_addf(b, "\\%c", named[i].letter);
			return;
		}
	}
	if (c <= 0xFF)
		strbuf_addf(b, "\\x%02X", c);
	else if (c <= 0xFFFF)
		strbuf_addf(b, "\\u%04X", c);
	else
		strbuf_addf(b, "\\U%08X", c);
}

static void put_double_quoted(struct strbuf *b, struct str s, size_t indent, bool breaks)
{
	bool blanks = false;
	strbuf_addc(b, '"');
	size_t at = column(b);
	for (size_t i = 0, n; i < s.len; i += n) {
		uint32_t c = rune_at(s, i, &n);
		size_t before = b->len;
		if (c == ' ' && breaks && !blanks && at > WIDTH_BEST && i > 0 && i + 1 < s.len) {
			new_line(b, indent);
			if (is_blank_at(s, i + 1))
				strbuf_addc(b, '\\');
			at = indent + is_blank_at(s, i + 1);
		} else if (is_printable(c) && c != '"' && c != '\\') {
			strbuf_addrune(b, c);
			at++;
		} else {
			put_escape(b, c);
			at += b->len - before;
		}
		blanks = c == ' ';
	}
	strbuf_addc(b, '"');
}

/* |, |- or |+ by the line feeds at the end, with an indicator if the text starts with a blank. */
static void put_literal(struct strbuf *b, struct str s, size_t indent)
{
	struct str line, rest = s;
	bool ended = str_has_suffix(s, STR("\n"));
	strbuf_addc(b, '|');
	if (s.ptr[0] == ' ' || s.ptr[0] == '\n')
		strbuf_addc(b, '2');
	if (!ended)
		strbuf_addc(b, '-');
	else if (s.len == 1 || s.ptr[s.len - 2] == '\n')
		strbuf_addc(b, '+');
	while (rest.len) {
		str_cut(rest, '\n', &line, &rest);
		strbuf_addc(b, '\n');
		if (line.len) {
			strbuf_pad(b, ' ', indent);
			strbuf_addstr(b, line);
		}
	}
}

static void put_string(struct strbuf *b, struct str s, size_t indent, bool is_key)
{
	/* kubectl leaves a key "<<" plain, and what it wrote then merges */
	bool merges = is_key && str_is(s, "<<");
	switch (merges ? DOUBLE_QUOTED : choose(s)) {
	case PLAIN:
		put_text(b, s, indent, !is_key, false);
		break;
	case SINGLE_QUOTED:
		strbuf_addc(b, '\'');
		put_text(b, s, indent, !is_key, true);
		strbuf_addc(b, '\'');
		break;
	case LITERAL:
		put_literal(b, s, indent);
		break;
	case DOUBLE_QUOTED:
	default:
		put_double_quoted(b, s, indent, !is_key);
	}
}

static void put_number(struct strbuf *b, const struct obj *o)
{
	char text[NUMBER_TEXT_MAX];
	struct str s = obj_number_text(o);
	double v = 0;
	obj_as_double(o, &v);
	if (v == 0) /* also -0 */
		strbuf_addc(b, '0');
	else if (obj_type(o) == OBJ_INT)
		strbuf_addstr(b, s);
	else {
		/* whole numbers below 2^64 are read back as integers, and written so */
		bool whole = v > -0x1p63 && v < 0x1p64 && v == trunc(v);
		number_format(v, text);
		if (!whole || !number_is_integer(str_of(text)))
			number_format_g(v, false, text);
		strbuf_adds(b, text);
	}
}

/* Beyond ASCII by block: punctuation, signs and pictures are none. */
static bool is_letter(uint32_t c)
{
	if (c < 0x80)
		return char_is_alpha((char)c);
	return c >= 0xAA && (c < 0x2000 || c > 0x2BFF) && (c < 0x1F000 || c > 0x1FAFF);
}

static bool is_digit_at(struct str s, size_t at)
{
	return at < s.len && char_is_digit(s.ptr[at]);
}

/* The run of digits at *at, wrapping like Go's int64. */
static uint64_t digit_run(struct str s, size_t *at, uint64_t v)
{
	for (; is_digit_at(s, *at); (*at)++)
		v = v * 10 + (uint64_t)(s.ptr[*at] - '0');
	return v;
}

static int cmp_from_difference(struct str a, struct str b, size_t i)
{
	size_t n, ai = i, bi = i;
	uint32_t ar = rune_at(a, i, &n), br = rune_at(b, i, &n);
	uint64_t lead = 0;
	if (is_letter(ar) && is_letter(br))
		return ar < br ? -1 : 1;
	if (is_letter(ar) || is_letter(br))
		return is_letter(br) ? -1 : 1;
	if (ar == '0' || br == '0')
		for (size_t j = i; j > 0 && is_digit_at(a, j - 1) && !lead; j--)
			lead = a.ptr[j - 1] != '0';
	int64_t an = (int64_t)digit_run(a, &ai, lead), bn = (int64_t)digit_run(b, &bi, lead);
	if (an != bn)
		return an < bn ? -1 : 1;
	if (ai != bi)
		return ai < bi ? -1 : 1;
	return ar < br ? -1 : 1;
}

/* The library's "natural" order; not total, hence sorted bytewise before. */
static int key_cmp(const void *x, const void *y)
{
	struct str a = str_of(*(const char *const *)x), b = str_of(*(const char *const *)y);
	size_t i = 0;
	while (i < a.len && i < b.len && a.ptr[i] == b.ptr[i])
		i++;
	if (i == a.len || i == b.len)
		return a.len < b.len ? -1 : a.len > b.len;
	while (i > 0 && ((unsigned char)a.ptr[i] & 0xC0) == 0x80)
		i--; /* to the start of the rune */
	return cmp_from_difference(a, b, i);
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void put_node(struct strbuf *b, const struct obj *o, size_t indent, bool in_list);

static void put_key(struct strbuf *b, const char *key, size_t indent)
{
	struct str s = str_of(key);
	bool simple = s.len <= SIMPLE_KEY_BYTES && !look(s).multiline;
	if (!simple)
		strbuf_adds(b, "? ");
	put_string(b, s, indent + 2, simple);
	if (!simple)
		new_line(b, indent);
	strbuf_addc(b, ':');
}

/* The first key stands where the cursor is. */
static void put_map(struct strbuf *b, const struct obj *o, size_t indent)
{
	size_t n = obj_len(o), i = 0;
	CLEANUP(xfreep) const char **keys = xcalloc(n, sizeof(*keys));
	OBJ_EACH (it, o)
		keys[i++] = it.key;
	qsort(keys, n, sizeof(*keys), cstr_cmpp);
	qsort(keys, n, sizeof(*keys), key_cmp);
	for (i = 0; i < n; i++) {
		const struct obj *v = obj_get(o, keys[i]);
		if (i)
			new_line(b, indent);
		put_key(b, keys[i], indent);
		if (obj_len(v) && obj_type(v) == OBJ_MAP) {
			new_line(b, indent + 2);
			put_map(b, v, indent + 2);
		} else if (obj_len(v) && obj_type(v) == OBJ_LIST) {
			new_line(b, indent);
			put_node(b, v, indent, false);
		} else {
			strbuf_addc(b, ' ');
			put_node(b, v, indent, false);
		}
	}
}

static void put_list(struct strbuf *b, const struct obj *o, size_t indent)
{
	for (size_t i = 0; i < obj_len(o); i++) {
		if (i)
			new_line(b, indent);
		strbuf_adds(b, "- ");
		put_node(b, obj_at(o, i), indent, true);
	}
}

/* A node in a map or list at the column indent. */
static void put_node(struct strbuf *b, const struct obj *o, size_t indent, bool in_list)
{
	size_t inner = in_list ? indent + 2 : indent;
	switch (obj_type(o)) {
	case OBJ_BOOL:
		strbuf_adds(b, obj_is_true(o) ? "true" : "false");
		break;
	case OBJ_INT:
	case OBJ_DOUBLE:
		put_number(b, o);
		break;
	case OBJ_STRING:
		if (obj_as_str(o).len)
			put_string(b, obj_as_str(o), indent + 2, false);
		else
			strbuf_adds(b, "\"\"");
		break;
	case OBJ_LIST:
		if (obj_len(o))
			put_list(b, o, inner);
		else
			strbuf_adds(b, "[]");
		break;
	case OBJ_MAP:
		if (obj_len(o))
			put_map(b, o, inner);
		else
			strbuf_adds(b, "{}");
		break;
	case OBJ_ABSENT:
	case OBJ_NULL:
	default:
		strbuf_adds(b, "null");
	}
}
/* NOLINTEND(misc-no-recursion) */

void yaml_print(const struct obj *o, struct strbuf *b)
{
	put_node(b, o, 0, false);
	strbuf_addc(b, '\n');
}
