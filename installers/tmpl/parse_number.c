#include "installers/tmpl/parse_number.h"

#include "installers/value/gonum.h"
#include "installers/value/print.h"

static bool bad(struct strbuf *why, const char *what, struct str text)
{
	strbuf_adds(why, what);
	value_quote(why, text);
	return false;
}

static bool parse_char(struct str text, struct number *n, struct strbuf *why)
{
	uint32_t r;
	bool byte;
	size_t used = quote_unquote_char(str_skip(text, 1), '\'', &r, &byte);
	if (used == 0) {
		strbuf_adds(why, "invalid syntax");
		return false;
	}
	if (used + 2 != text.len || text.ptr[used + 1] != '\'') {
		strbuf_adds(why, "malformed character constant: ");
		strbuf_addstr(why, text);
		return false;
	}
	n->i = r;
	n->u = r;
	n->f = r;
	n->is_int = n->is_uint = n->is_float = true;
	return true;
}

static void take_float(struct number *n, double f)
{
	n->is_float = true;
	n->f = f;
	if (!n->is_int && f >= -0x1p63 && f < 0x1p63 && (double)(int64_t)f == f) {
		n->is_int = true;
		n->i = (int64_t)f;
	}
	if (!n->is_uint && f >= 0 && f < 0x1p64 && (double)(uint64_t)f == f) {
		n->is_uint = true;
		n->u = (uint64_t)f;
	}
}

static void take_complex(struct number *n, double re, double im)
{
	n->is_complex = true;
	n->z[0] = re;
	n->z[1] = im;
	if (im == 0)
		take_float(n, re);
}

static bool parse_complex(struct str text, struct number *n, struct strbuf *why)
{
	size_t split = text.len - 1;
	while (split > 1 &&
	       ((text.ptr[split] != '+' && text.ptr[split] != '-') ||
		char_lower(text.ptr[split - 1]) == 'e' || char_lower(text.ptr[split - 1]) == 'p'))
		split--;
	double re, im;
	if (gonum_float(str_sub(text, 0, split), &re) != GONUM_OK ||
	    gonum_float(str_sub(text, split, text.len - split - 1), &im) != GONUM_OK)
		return bad(why, "illegal number syntax: ", text);
	take_complex(n, re, im);
	return true;
}

static bool has_any(struct str s, const char *set)
{
	for (; *set; set++) {
		if (str_find_char(s, *set) >= 0)
			return true;
	}
	return false;
}

static bool parse_real(struct str text, struct number *n, struct strbuf *why)
{
	n->is_uint = gonum_uint(text, 0, &n->u) == GONUM_OK;
	n->is_int = gonum_int(text, 0, &n->i) == GONUM_OK;
	if (n->is_int && n->i == 0)
		n->is_uint = true;
	double f;
	if (n->is_int || n->is_uint) {
		n->is_float = true;
		n->f = n->is_int ? (double)n->i : (double)n->u;
	} else if (gonum_float(text, &f) == GONUM_OK) {
		if (!has_any(text, ".eEpP"))
			return bad(why, "integer overflow: ", text);
		take_float(n, f);
	} else {
		return bad(why, "illegal number syntax: ", text);
	}
	return true;
}

bool parse_number(struct str text, enum token_type type, struct number *ret, struct strbuf *why)
{
	struct number n = {.text = text};
	bool ok;
	double f;
	if (type == TOK_CHAR_CONSTANT) {
		ok = parse_char(text, &n, why);
	} else if (type == TOK_COMPLEX) {
		ok = parse_complex(text, &n, why);
	} else if (text.ptr[text.len - 1] == 'i' &&
		   gonum_float(str_sub(text, 0, text.len - 1), &f) == GONUM_OK) {
		take_complex(&n, 0, f);
		ok = true;
	} else {
		ok = parse_real(text, &n, why);
	}
	if (ok)
		*ret = n;
	return ok;
}
