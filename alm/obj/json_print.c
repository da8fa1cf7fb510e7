/* json_print: the writers of json.h: compact, canonical (RFC 8785), pretty (kubectl -o json). */
#include <assert.h>
#include <stdlib.h>

#include "alm/base/hash.h"
#include "alm/base/visible.h"
#include "alm/obj/json.h"
#include "alm/obj/json_scan.h"
#include "alm/obj/number.h"

#define FEW            16                /* members of a map that are sorted on the stack */
#define TEXT_BYTES_MAX ((size_t)1 << 30) /* for json_text and json_digest; inputs are bounded */

struct style {
	bool sorted;
	bool canonical; /* numbers and escapes of RFC 8785 */
	bool pretty;
	unsigned indent;
};

static void print_control(unsigned char c, struct strbuf *b)
{
	switch (c) {
	case '\b':
		strbuf_adds(b, "\\b");
		break;
	case '\f':
		strbuf_adds(b, "\\f");
		break;
	case '\n':
		strbuf_adds(b, "\\n");
		break;
	case '\r':
		strbuf_adds(b, "\\r");
		break;
	case '\t':
		strbuf_adds(b, "\\t");
		break;
	default:
		strbuf_addf(b, "\\u%04x", c);
	}
}

/* Go escapes U+2028 and 2029 for the sake of JavaScript; RFC 8785 does not. Pretty text is for
 * terminals: nothing in it is hidden or reorders the rest. */
static size_t print_rune(struct str s, const struct style *style, struct strbuf *b)
{
	uint32_t rune = 0;
	size_t n = utf8_decode(s, &rune);
	if (!n) {
		strbuf_adds(b, "\\ufffd");
		return 1;
	}
	bool hidden = style->pretty ? !visible_rune(rune) : rune == 0x2028 || rune == 0x2029;
	if (!style->canonical && hidden)
		visible_json_escape(b, rune);
	else
		strbuf_add(b, s.ptr, n);
	return n;
}

static void quote(struct str s, const struct style *style, struct strbuf *b)
{
	strbuf_addc(b, '"');
	for (size_t i = 0; i < s.len;) {
		size_t n = scan_ascii_run(str_skip(s, i));
		strbuf_add(b, s.ptr + i, n);
		i += n;
		if (i == s.len)
			break;
		unsigned char c = (unsigned char)s.ptr[i];
		if (c >= 0x7F) {
			i += print_rune(str_skip(s, i), style, b);
			continue;
		}
		if (c < 0x20)
			print_control(c, b);
		else
			strbuf_addf(b, "\\%c", c);
		i++;
	}
	strbuf_addc(b, '"');
}

static void print_number(const struct obj *o, bool canonical, struct strbuf *b)
{
	char text[NUMBER_TEXT_MAX];
	double v = 0;
	if (!canonical || number_is_integer(obj_number_text(o))) {
		strbuf_addstr(b, obj_number_text(o));
		return;
	}
	obj_as_double(o, &v);
	number_format(v + 0.0, text); /* -0.0 + 0.0 is 0: RFC 8785, 3.2.2.3 */
	strbuf_adds(b, text);
}

static void new_line(const struct style *s, unsigned depth, struct strbuf *b)
{
	if (!s->pretty)
		return;
	strbuf_addc(b, '\n');
	strbuf_pad(b, ' ', (size_t)s->indent * depth);
}

static int member_cmp(const void *a, const void *b)
{
	const struct obj_iter *x = a, *y = b;
	return str_cmp(str_n(x->key, x->len), str_n(y->key, y->len));
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void print(const struct obj *o, const struct style *s, unsigned depth, struct strbuf *b);

static void print_list(const struct obj *o, const struct style *s, unsigned depth, struct strbuf *b)
{
	strbuf_addc(b, '[');
	for (size_t i = 0; i < obj_len(o) && !b->over; i++) {
		if (i)
			strbuf_addc(b, ',');
		new_line(s, depth + 1, b);
		print(obj_at(o, i), s, depth + 1, b);
	}
	if (obj_len(o))
		new_line(s, depth, b);
	strbuf_addc(b, ']');
}

static void print_member(const struct obj_iter *it, bool first, const struct style *s,
			 unsigned depth, struct strbuf *b)
{
	if (!first)
		strbuf_addc(b, ',');
	new_line(s, depth, b);
	quote(str_n(it->key, it->len), s, b);
	strbuf_adds(b, s->pretty ? ": " : ":");
	print(it->value, s, depth, b);
}

static void print_sorted(const struct obj *o, const struct style *s, unsigned depth,
			 struct strbuf *b)
{
	struct obj_iter few[FEW];
	size_t n = obj_len(o), i = 0;
	CLEANUP(xfreep) struct obj_iter *many = n > FEW ? xcalloc(n, sizeof(*many)) : NULL;
	struct obj_iter *members = many ? many : few;
	OBJ_EACH (it, o)
		members[i++] = it;
	qsort(members, n, sizeof(*members), member_cmp);
	for (i = 0; i < n && !b->over; i++)
		print_member(&members[i], i == 0, s, depth, b);
}

static void print_map(const struct obj *o, const struct style *s, unsigned depth, struct strbuf *b)
{
	bool first = true;
	strbuf_addc(b, '{');
	if (s->sorted && obj_len(o) > 1) {
		print_sorted(o, s, depth + 1, b);
	} else {
		OBJ_EACH (it, o) {
			if (b->over)
				break;
			print_member(&it, first, s, depth + 1, b);
			first = false;
		}
	}
	if (obj_len(o))
		new_line(s, depth, b);
	strbuf_addc(b, '}');
}

static void print(const struct obj *o, const struct style *s, unsigned depth, struct strbuf *b)
{
	if (b->over)
		return; /* nobody will read it */
	switch (obj_type(o)) {
	case OBJ_BOOL:
		strbuf_adds(b, obj_is_true(o) ? "true" : "false");
		break;
	case OBJ_INT:
	case OBJ_DOUBLE:
		print_number(o, s->canonical, b);
		break;
	case OBJ_STRING:
		quote(obj_as_str(o), s, b);
		break;
	case OBJ_LIST:
		print_list(o, s, depth, b);
		break;
	case OBJ_MAP:
		print_map(o, s, depth, b);
		break;
	case OBJ_ABSENT:
	case OBJ_NULL:
	default:
		strbuf_adds(b, "null");
	}
}
/* NOLINTEND(misc-no-recursion) */

void json_print(const struct obj *o, struct strbuf *b)
{
	const struct style s = {0};
	print(o, &s, 0, b);
}

void json_print_canonical(const struct obj *o, struct strbuf *b)
{
	const struct style s = {.sorted = true, .canonical = true};
	print(o, &s, 0, b);
}

void json_print_go(const struct obj *o, struct strbuf *b)
{
	const struct style s = {.sorted = true};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_BYTES_MAX);
	print(o, &s, 0, &text);
	for (size_t i = 0; i < text.len && !b->over; i++) {
		char c = text.buf[i]; /* these three stand in strings alone */
		if (c == '<' || c == '>' || c == '&')
			visible_json_escape(b, (unsigned char)c);
		else
			strbuf_addc(b, c);
	}
}

void json_print_pretty(const struct obj *o, unsigned indent, struct strbuf *b)
{
	const struct style s = {.sorted = true, .pretty = true, .indent = indent};
	print(o, &s, 0, b);
}

char *json_text(const struct obj *o)
{
	struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	json_print(o, &b);
	assert(!b.over);
	return strbuf_detach(&b);
}

void json_quote(struct str s, struct strbuf *b)
{
	const struct style style = {0};
	quote(s, &style, b);
}

void json_digest(const struct obj *o, char out[65])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	json_print_canonical(o, &b);
	assert(!b.over);
	sha256_hex(strbuf_str(&b), out);
}
