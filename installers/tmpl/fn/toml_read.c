/* toml_read: the characters of a TOML text and what is said of the one at hand. */
#include "installers/tmpl/fn/toml_read.h"

#include <string.h>

#include "installers/value/print.h"
#include "installers/value/unicode.h"

struct str toml_path(struct toml_reader *r, const struct toml_table *up, struct str name, bool raw)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	if (up) {
		strbuf_addstr(&b, up->path);
		strbuf_addc(&b, '.');
	}
	if (raw)
		strbuf_addstr(&b, name);
	else
		toml_write_key(&b, name);
	return str_n(arena_text(r->a, b.buf, b.len), b.len);
}

/* ---- errors ---- */

int toml_fail_in(struct toml_reader *r, int line, const char *text)
{
	struct str last = r->key.len ? toml_path(r, r->table, r->key, true)
			  : r->table ? r->table->path
				     : STR("");
	strbuf_addf(r->msg, "toml: line %d", line);
	if (last.len) {
		strbuf_adds(r->msg, " (last key ");
		value_quote(r->msg, last);
		strbuf_addc(r->msg, ')');
	}
	strbuf_addf(r->msg, ": %s", text);
	return -E_INVALID;
}

int toml_fail(struct toml_reader *r, const char *text)
{
	bool fresh = toml_at_end(r) && r->at > 0 && r->s.ptr[r->at - 1] == '\n' && !r->bad;
	return toml_fail_in(r, r->line - fresh, toml_at_end(r) && r->bad ? r->bad : text);
}

int toml_fail_before(struct toml_reader *r, const char *text)
{
	if (toml_at_end(r) && r->bad)
		return toml_fail(r, text);
	return toml_fail_in(r, r->line - 1, text);
}

const char *toml_quoted_char(struct toml_reader *r)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	uint32_t rune = 0;
	rune_next(str_skip(r->s, r->at), &rune);
	quote_rune(&b, rune, false);
	return arena_strdup(r->a, b.buf);
}

int toml_fail_char(struct toml_reader *r, const char *before, const char *after)
{
	const char *got = toml_quoted_char(r);
	r->line += toml_peek(r) == '\n';
	return toml_fail(r, arena_fmt(r->a, "%s%s%s", before, got, after));
}

const char *toml_plain_char(struct toml_reader *r)
{
	uint32_t rune;
	size_t width = rune_next(str_skip(r->s, r->at), &rune);
	return width ? arena_fmt(r->a, "'%.*s'", STR_ARG(str_sub(r->s, r->at, width)))
		     : "end of file";
}

/* ---- characters ---- */

char toml_peek(const struct toml_reader *r)
{
	return r->at < r->s.len ? r->s.ptr[r->at] : 0;
}

bool toml_at_end(const struct toml_reader *r)
{
	return r->at >= r->s.len;
}

bool toml_take(struct toml_reader *r, const char *text)
{
	if (!str_has_prefix(str_skip(r->s, r->at), str_of(text)))
		return false;
	r->at += strlen(text);
	return true;
}

void toml_skip_blanks(struct toml_reader *r)
{
	while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
		r->at++;
}

void toml_skip_comment(struct toml_reader *r)
{
	if (toml_peek(r) == '#')
		while (!toml_at_end(r) && toml_peek(r) != '\n')
			r->at++;
}

void toml_skip_lines(struct toml_reader *r)
{
	for (;;) {
		toml_skip_blanks(r);
		toml_skip_comment(r);
		if (!toml_take(r, "\r\n") && !toml_take(r, "\n"))
			return;
		r->line++;
	}
}

void toml_find_bad(struct toml_reader *r)
{
	for (size_t i = 0; i < r->s.len; i++) {
		unsigned char c = (unsigned char)r->s.ptr[i];
		uint32_t rune;
		size_t width = c < 0x80 ? 1 : utf8_decode(str_skip(r->s, i), &rune);
		bool lone = c == '\r' && (i + 1 == r->s.len || r->s.ptr[i + 1] != '\n');
		bool control = (c < 0x20 && !memchr("\t\r\n", c, 3)) || c == 0x7f || lone;
		if (width && !control) {
			i += width - 1;
			continue;
		}
		r->bad = width ? arena_fmt(r->a,
					   "TOML files cannot contain control characters: '0x%02x'",
					   c)
			       : arena_fmt(r->a, "invalid UTF-8 byte: 0x%02x", c);
		r->s.len = i;
		return;
	}
}

/* ---- keys ---- */

const char *toml_quoted(struct toml_reader *r, struct str s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	value_quote(&b, s);
	return arena_strdup(r->a, b.buf);
}
