#include "installers/chart/warnings.h"

#include <stdarg.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "installers/value/print.h"
#include "installers/value/unicode.h"

/* slog's text handler quotes the rest. */
static bool is_word(struct str s)
{
	size_t used;
	if (!s.len)
		return false;
	for (; s.len; s = str_skip(s, used)) {
		uint32_t r;
		used = utf8_decode(s, &r);
		if (!used || r == ' ' || r == '=' || r == '"' || !rune_is_print(r))
			return false;
	}
	return true;
}

static void add_pair(struct strbuf *b, const char *key, struct str value)
{
	strbuf_addf(b, "%s=", key);
	if (is_word(value))
		strbuf_addstr(b, value);
	else
		quote_str(b, value, false);
}

static void set_log(struct warnings *w, const char *level, const char *message)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(WARNING_BYTES_MAX);
	strbuf_addf(&b, "level=%s ", level);
	add_pair(&b, "msg", str_of(message));
	w->items[w->n - 1].log = arena_text(w->a, b.buf, b.len);
}

void warnings_add(struct warnings *w, const char *fmt, ...)
{
	if (!w)
		return;
	ARENA_GROW(w->a, w->items, w->cap, w->n, 8);
	va_list args;
	va_start(args, fmt);
	w->items[w->n++].text = arena_vfmt(w->a, fmt, args);
	va_end(args);
	set_log(w, "WARN", w->items[w->n - 1].text);
}

void warnings_log(struct warnings *w, const char *level, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (w)
		set_log(w, level, arena_vfmt(w->a, fmt, args));
	va_end(args);
}

void warnings_attr(struct warnings *w, const char *key, struct str value)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(WARNING_BYTES_MAX);
	if (!w)
		return;
	strbuf_addf(&b, "%s ", w->items[w->n - 1].log);
	add_pair(&b, key, value);
	w->items[w->n - 1].log = arena_text(w->a, b.buf, b.len);
}
