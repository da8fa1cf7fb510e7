#include "alm/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/mem.h"
#include "alm/base/visible.h"

#define LINE_BYTES_MAX 16384

static enum log_level threshold = LOG_INFO;
static enum log_format style = LOG_FORMAT_KV;
static int64_t (*clock_now)(void);
static void (*divert)(void *arg, const char *line);
static void *divert_arg;

static const char *const names[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

void log_setup(enum log_level level, enum log_format format, int64_t (*now_ns)(void))
{
	threshold = level;
	style = format;
	clock_now = now_ns;
}

void log_divert(void (*fn)(void *arg, const char *line), void *arg)
{
	divert = fn;
	divert_arg = arg;
}

bool log_level_parse(const char *name, enum log_level *ret)
{
	if (cstr_eq(name, "none") || cstr_eq(name, "all")) {
		*ret = *name == 'n' ? LOG_NONE : LOG_DEBUG;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (cstr_eq(name, names[i])) {
			*ret = (enum log_level)i;
			return true;
		}
	}
	return false;
}

bool log_on(enum log_level level)
{
	return level <= threshold;
}

/* One escape for both forms, so that a line can be taken for what it is: that of JSON. */
static void add_quoted(struct strbuf *b, struct str s)
{
	strbuf_addc(b, '"');
	for (size_t n; s.len; s = str_skip(s, n)) {
		uint32_t rune = 0xFFFD;
		n = utf8_decode(s, &rune);
		if (rune == '"' || rune == '\\')
			strbuf_addf(b, "\\%c", (char)rune);
		else if (rune == '\n')
			strbuf_adds(b, "\\n");
		else if (!n || !visible_rune(rune))
			visible_json_escape(b, rune);
		else
			strbuf_add(b, s.ptr, n);
		n = n ? n : 1;
	}
	strbuf_addc(b, '"');
}

static bool is_bare(struct str s)
{
	uint32_t rune;
	if (!s.len)
		return false;
	for (size_t n; s.len; s = str_skip(s, n)) {
		n = utf8_decode(s, &rune);
		if (!n || !visible_rune(rune) || rune == ' ' || rune == '"' || rune == '=')
			return false;
	}
	return true;
}

static void add_field(struct strbuf *b, const char *key, const char *text)
{
	struct str value = str_of(text);
	if (!text)
		return;
	if (style == LOG_FORMAT_JSON) {
		strbuf_addf(b, "%s\"%s\":", b->len > 1 ? "," : "", key);
		add_quoted(b, value);
		return;
	}
	strbuf_addf(b, "%s%s=", b->len ? " " : "", key);
	if (is_bare(value))
		strbuf_addstr(b, value);
	else
		add_quoted(b, value);
}

void log_line(enum log_level level, const char *msg, ...)
{
	if (level < 0 || !log_on(level))
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(LINE_BYTES_MAX);
	if (style == LOG_FORMAT_JSON)
		strbuf_addc(&b, '{');
	if (clock_now) {
		char when[CLOCK_TEXT_MAX];
		clock_format(clock_now(), CLOCK_MILLIS, when);
		add_field(&b, "time", when);
	}
	add_field(&b, "level", names[level]);
	add_field(&b, "msg", msg);
	va_list args;
	va_start(args, msg);
	for (const char *key; (key = va_arg(args, const char *));)
		add_field(&b, key, va_arg(args, const char *));
	va_end(args);
	if (style == LOG_FORMAT_JSON)
		strbuf_addc(&b, '}');
	if (divert)
		divert(divert_arg, b.buf);
	else
		fprintf(stderr, "%s\n", b.buf);
}
