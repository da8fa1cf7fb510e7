#include "installers/tmpl/fn/text_case.h"

#include <string.h>

#include "installers/value/unicode.h"

static bool separates(uint32_t r)
{
	if (r < 0x80)
		return !rune_is_alnum(r);
	return !rune_is_letter(r) && !rune_is_digit(r) && rune_is_space(r);
}

void text_title(struct strbuf *b, struct str s)
{
	uint32_t prev = ' ', r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n)) {
		strbuf_addrune(b, separates(prev) ? rune_to_title(r) : r);
		prev = r;
	}
}

void text_untitle(struct strbuf *b, struct str s)
{
	bool next = true;
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n)) {
		if (rune_is_space(r)) {
			next = true;
		} else if (next) {
			r = rune_to_lower(r);
			next = false;
		}
		strbuf_addrune(b, r);
	}
}

void text_swapcase(struct strbuf *b, struct str s)
{
	bool blank = true;
	uint32_t r;
	for (size_t n; (n = rune_next(s, &r)) > 0; s = str_skip(s, n)) {
		bool upper = rune_is_upper(r),
		     title = !upper && rune_to_title(r) == r && rune_to_lower(r) != r;
		if (upper || title) {
			r = rune_to_lower(r);
			blank = false;
		} else if (rune_is_lower(r)) {
			r = blank ? rune_to_title(r) : rune_to_upper(r);
			blank = false;
		} else {
			blank = rune_is_space(r);
		}
		strbuf_addrune(b, r);
	}
}

/* ---- words ---- */
enum word_type {
	WORD_NONE,
	WORD_NUMBER,
	WORD_UPPER,
	WORD_ALPHABET,
	WORD_CONNECTOR,
	WORD_PUNCT,
	WORD_OTHER
};

struct word {
	enum word_type type;
	struct str text;
};

static bool is_connector(uint32_t r)
{
	return r == '-' || r == '_' || rune_is_space(r);
}

static bool is_alphabet(uint32_t r)
{
	if (!rune_is_letter(r))
		return false;
	return !(r >= 0x4E00 && r <= 0x9FCC) && !(r >= 0x3400 && r <= 0x4D85) &&
	       !(r >= 0x20000 && r <= 0x2B81D);
}

static bool is_punct(uint32_t r)
{
	if (r < 0x80)
		return r && strchr("!\"#%&'()*,-./:;?@[\\]_{}", (int)r) != NULL;
	return (r >= 0x2010 && r <= 0x2027) || (r >= 0x2030 && r <= 0x205E && r != 0x2044) ||
	       (r >= 0x3001 && r <= 0x3003) || (r >= 0x3008 && r <= 0x3011) || r == 0xA1 ||
	       r == 0xA7 || r == 0xAB || r == 0xB6 || r == 0xB7 || r == 0xBB || r == 0xBF;
}

static enum word_type type_of(uint32_t r)
{
	if (is_connector(r))
		return WORD_CONNECTOR;
	if (is_punct(r))
		return WORD_PUNCT;
	if (rune_is_upper(r))
		return WORD_UPPER;
	if (is_alphabet(r))
		return WORD_ALPHABET;
	return rune_is_digit(r) ? WORD_NUMBER : WORD_OTHER;
}

/* Bytes at the front of s of runes of the type. */
static size_t run_of(struct str s, enum word_type type)
{
	size_t used = 0;
	uint32_t r;
	for (size_t n; (n = rune_next(str_skip(s, used), &r)) > 0 && type_of(r) == type;)
		used += n;
	return used;
}

/* Capitals: a run of them, the last one left to the small letters that follow; or a capital with
 * its small letters. */
static size_t upper_word(struct str s)
{
	uint32_t r;
	size_t first = rune_next(s, &r);
	size_t uppers = run_of(s, WORD_UPPER);
	size_t small = run_of(str_skip(s, uppers), WORD_ALPHABET);
	if (uppers == first)
		return first + small;
	if (small == 0)
		return uppers;
	size_t last = rune_last(str_sub(s, 0, uppers), &r);
	return uppers - last;
}

static struct word next_word(struct str *s)
{
	struct word w = {WORD_NONE, STR("")};
	uint32_t r;
	if (rune_next(*s, &r) == 0)
		return w;
	w.type = type_of(r);
	size_t n = w.type == WORD_UPPER ? upper_word(*s) : run_of(*s, w.type);
	w.text = str_sub(*s, 0, n);
	*s = str_skip(*s, n);
	return w;
}

static void add_word(struct strbuf *b, struct word w, char connector)
{
	if (w.type != WORD_UPPER && w.type != WORD_CONNECTOR) {
		strbuf_addstr(b, w.text);
		return;
	}
	uint32_t r;
	for (size_t n; (n = rune_next(w.text, &r)) > 0; w.text = str_skip(w.text, n)) {
		if (is_connector(r))
			strbuf_addc(b, connector);
		else
			strbuf_addrune(b, rune_is_upper(r) ? rune_to_lower(r) : r);
	}
}

struct snake {
	struct strbuf *b;
	struct str rest;
	struct word w;
	char connector;
};

/* A connector, unless the next word brings its own or none is wanted. */
static void add_connector(struct snake *k)
{
	if (k->w.type != WORD_NONE && k->w.type != WORD_PUNCT && k->w.type != WORD_CONNECTOR)
		strbuf_addc(k->b, k->connector);
}

/* Small letters and numbers after a number belong to it: 20x, 2m3s. */
static void take_tail(struct snake *k)
{
	while (k->w.type == WORD_ALPHABET || k->w.type == WORD_NUMBER) {
		add_word(k->b, k->w, k->connector);
		k->w = next_word(&k->rest);
	}
	add_connector(k);
}

/* A word was written and k->w follows it. */
static void after_word(struct snake *k)
{
	if (k->w.type != WORD_NUMBER) {
		add_connector(k);
		return;
	}
	if (k->rest.len == 0)
		return;
	struct word number = k->w;
	k->w = next_word(&k->rest);
	if (k->w.type != WORD_ALPHABET) { /* the number stays with the word before */
		add_word(k->b, number, k->connector);
		add_connector(k);
		return;
	}
	strbuf_addc(k->b, k->connector);
	add_word(k->b, number, k->connector);
	take_tail(k);
}

void text_snakecase(struct strbuf *b, struct str s, char connector)
{
	struct snake k = {.b = b, .rest = s, .connector = connector};
	k.w = next_word(&k.rest);
	while (k.rest.len > 0) {
		struct word last = k.w;
		if (last.type != WORD_CONNECTOR)
			add_word(b, last, connector);
		k.w = next_word(&k.rest);
		if (last.type == WORD_NUMBER)
			take_tail(&k);
		else if (last.type == WORD_CONNECTOR)
			add_word(b, last, connector);
		else if (last.type != WORD_PUNCT)
			after_word(&k);
	}
	add_word(b, k.w, connector);
}

void text_camelcase(struct strbuf *b, struct str s)
{
	uint32_t cur = 0, prev;
	bool first_upper = false, found = false;
	size_t n = 0;
	while (s.len > 0 && !found) {
		n = rune_next(s, &cur);
		s = str_skip(s, n);
		found = !is_connector(cur);
		if (!found)
			strbuf_addrune(b, cur);
	}
	if (found) {
		first_upper = rune_is_upper(cur);
		cur = rune_to_upper(cur);
	}
	while (s.len > 0) {
		prev = cur;
		n = rune_next(s, &cur);
		s = str_skip(s, n);
		if (is_connector(cur) && is_connector(prev)) {
			strbuf_addrune(b, prev);
			continue;
		}
		if (is_connector(prev)) {
			first_upper = rune_is_upper(cur);
			cur = rune_to_upper(cur);
			continue;
		}
		if (first_upper && rune_is_upper(cur))
			cur = rune_to_lower(cur);
		else
			first_upper = false;
		strbuf_addrune(b, prev);
	}
	if (n > 0) /* a text of connectors only gets its last one twice, as in Helm */
		strbuf_addrune(b, cur);
}
