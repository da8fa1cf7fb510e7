#include "installers/format/yaml_put.h"

#include <stdio.h>
#include <string.h>

#include "installers/format/yaml_style.h"

#define WIDTH 80

/* ---- characters ---- */

static bool space_at(struct str s, size_t i)
{
	return i < s.len && s.ptr[i] == ' ';
}

static void put(struct emitter *e, char c)
{
	strbuf_addc(e->b, c);
	e->column++;
}

/* Writes what stands at *i of printable ASCII from low on, but for the characters x and y. */
static bool put_ascii(struct emitter *e, struct str s, size_t *i, char low, char x, char y)
{
	size_t end = *i;
	while (end < s.len && s.ptr[end] >= low && s.ptr[end] < 0x7f && s.ptr[end] != x &&
	       s.ptr[end] != y)
		end++;
	size_t n = end - *i;
	strbuf_add(e->b, s.ptr + *i, n);
	e->column += (int)n;
	*i = end;
	return n > 0;
}

static void put_rune(struct emitter *e, struct str s, size_t *i)
{
	uint32_t r;
	size_t n = yaml_rune_at(s, *i, &r);
	strbuf_add(e->b, s.ptr + *i, n);
	e->column++;
	*i += n;
}

static void put_break(struct emitter *e)
{
	strbuf_addc(e->b, '\n');
	e->column = 0;
}

/* A line break of the text itself. */
static void write_break(struct emitter *e, struct str s, size_t *i)
{
	if (s.ptr[*i] == '\n') {
		put_break(e);
		++*i;
	} else {
		put_rune(e, s, i);
		e->column = 0;
	}
	e->indention = true;
}

void yaml_put_indent(struct emitter *e, int indent)
{
	if (indent < 0)
		indent = 0;
	if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
		put_break(e);
	if (e->column < indent) {
		strbuf_pad(e->b, ' ', (size_t)(indent - e->column));
		e->column = indent;
	}
	e->whitespace = true;
	e->indention = true;
}

void yaml_put_indicator(struct emitter *e, const char *text, bool need_space, bool is_indention)
{
	if (need_space && !e->whitespace)
		put(e, ' ');
	for (; *text; text++)
		put(e, *text);
	e->whitespace = false;
	e->indention = e->indention && is_indention;
}

/* ---- scalars ---- */

static void write_plain(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	if (!e->whitespace)
		put(e, ' ');
	for (size_t i = 0; i < s.len;) {
		if (s.ptr[i] != ' ') {
			if (!put_ascii(e, s, &i, '!', ' ', ' '))
				put_rune(e, s, &i);
			e->indention = false;
			spaces = false;
			continue;
		}
		if (breaks_allowed && !spaces && e->column > WIDTH && !space_at(s, i + 1)) {
			yaml_put_indent(e, indent);
			i++;
		} else {
			put_rune(e, s, &i);
		}
		spaces = true;
	}
	e->whitespace = false;
	e->indention = false;
}

static void write_single(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false, breaks = false;
	yaml_put_indicator(e, "'", true, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		yaml_rune_at(s, i, &r);
		if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1 && !space_at(s, i + 1)) {
				yaml_put_indent(e, indent);
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
			continue;
		}
		if (yaml_rune_is_break(r)) {
			if (!breaks && r == '\n')
				put_break(e);
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			yaml_put_indent(e, indent);
		if (r == '\'')
			put(e, '\'');
		if (!put_ascii(e, s, &i, '!', '\'', '\''))
			put_rune(e, s, &i);
		e->indention = false;
		spaces = breaks = false;
	}
	yaml_put_indicator(e, "'", false, false);
}

static void write_escape(struct emitter *e, uint32_t r)
{
	static const char from[] = "\a\b\t\n\v\f\r\x1b\"\\", to[] = "abtnvfre\"\\";
	char text[12];
	const char *hit = r && r < 0x80 ? strchr(from, (int)r) : NULL;
	put(e, '\\');
	if (hit || !r)
		snprintf(text, sizeof(text), "%c", hit ? to[hit - from] : '0');
	else if (r == 0x85 || r == 0xa0)
		snprintf(text, sizeof(text), "%c", r == 0x85 ? 'N' : '_');
	else if (r == 0x2028 || r == 0x2029)
		snprintf(text, sizeof(text), "%c", r == 0x2028 ? 'L' : 'P');
	else if (r <= 0xff)
		snprintf(text, sizeof(text), "x%02X", r);
	else if (r <= 0xffff)
		snprintf(text, sizeof(text), "u%04X", r);
	else
		snprintf(text, sizeof(text), "U%08X", r);
	for (const char *p = text; *p; p++)
		put(e, *p);
}

static void write_double(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	/* a quirk of the Go ports: a leading byte order mark makes every character an escape */
	bool escape_all = str_has_prefix(s, STR("\xef\xbb\xbf"));
	yaml_put_indicator(e, "\"", true, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		size_t n = yaml_rune_at(s, i, &r);
		if (escape_all || !yaml_rune_is_printable(r) || yaml_rune_is_break(r) || r == '"' ||
		    r == '\\') {
			write_escape(e, r);
			i += n;
			spaces = false;
		} else if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1) {
				yaml_put_indent(e, indent);
				if (space_at(s, i + 1))
					put(e, '\\');
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
		} else {
			if (!put_ascii(e, s, &i, '!', '"', '\\'))
				put_rune(e, s, &i);
			spaces = false;
		}
	}
	yaml_put_indicator(e, "\"", false, false);
	e->whitespace = false;
	e->indention = false;
}

/* The last character, and where it begins. */
static uint32_t last_rune(struct str s, size_t *ret_from)
{
	size_t i = s.len - 1;
	uint32_t r;
	while (i && ((unsigned char)s.ptr[i] & 0xc0) == 0x80)
		i--;
	yaml_rune_at(s, i, &r);
	*ret_from = i;
	return r;
}

static void write_block_hints(struct emitter *e, struct str s)
{
	uint32_t first;
	size_t at;
	yaml_rune_at(s, 0, &first);
	if (first == ' ' || yaml_rune_is_break(first))
		yaml_put_indicator(e, "2", false, false);
	if (!yaml_rune_is_break(last_rune(s, &at)))
		yaml_put_indicator(e, "-", false, false);
	else if (!at || yaml_rune_is_break(last_rune(str_sub(s, 0, at), &at)))
		yaml_put_indicator(e, "+", false, false);
}

static void write_literal(struct emitter *e, struct str s, int indent)
{
	bool breaks = true;
	yaml_put_indicator(e, "|", true, false);
	write_block_hints(e, s);
	put_break(e);
	e->indention = true;
	e->whitespace = true;
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		yaml_rune_at(s, i, &r);
		if (yaml_rune_is_break(r)) {
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			yaml_put_indent(e, indent);
		if (!put_ascii(e, s, &i, ' ', '\n', '\n'))
			put_rune(e, s, &i);
		e->indention = false;
		breaks = false;
	}
}

/* indent is that of the map or list around it. */
void yaml_put_scalar(struct emitter *e, struct str s, bool is_text, bool is_key, int indent)
{
	int inner = indent < 0 ? YAML_INDENT : indent + YAML_INDENT;
	bool breaks_allowed = !is_key && !e->pretty;
	switch (yaml_style(s, is_text, is_key, e->pretty)) {
	case YAML_STYLE_PLAIN:
		write_plain(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_SINGLE:
		write_single(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_DOUBLE:
		write_double(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_LITERAL:
		write_literal(e, s, inner);
		return;
	}
}
