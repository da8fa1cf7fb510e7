#include "alm/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "alm/base/clock.h"
#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

#define LINE_BYTES_MAX 16384

static enum log_level threshold = LOG_INFO;
static enum log_format style = LOG_FORMAT_KV;
static int64_t (*clock_now)(void);

static const char *const names[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

void log_setup(enum log_level level, enum log_format format, int64_t (*now_ns)(void))
{
	threshold = level;
	style = format;
	clock_now = now_ns;
}

bool log_level_parse(const char *name, enum log_level *ret)
{
	if (cstr_eq(name, "none")) {
		*ret = LOG_NONE;
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

static void add_quoted(struct strbuf *b, const char *s)
{
	strbuf_addc(b, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			strbuf_addf(b, "\\%c", c);
		else if (c == '\n')
			strbuf_adds(b, "\\n");
		else if (c < 0x20 || c == 0x7F)
			strbuf_addf(b, "\\u%04x", c);
		else
			strbuf_addc(b, (char)c);
	}
	strbuf_addc(b, '"');
}

static bool is_bare(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s == '"' || *s == '=' || *s == 0x7F)
			return false;
	return true;
}

static void add_field(struct strbuf *b, const char *key, const char *value)
{
	if (!value)
		return;
	if (style == LOG_FORMAT_JSON) {
		strbuf_addf(b, "%s\"%s\":", b->len > 1 ? "," : "", key);
		add_quoted(b, value);
		return;
	}
	strbuf_addf(b, "%s%s=", b->len ? " " : "", key);
	if (is_bare(value))
		strbuf_adds(b, value);
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
	fprintf(stderr, "%s%s\n", b.buf, style == LOG_FORMAT_JSON ? "}" : "");
}
