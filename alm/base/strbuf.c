#include "alm/base/strbuf.h"

#include <stdio.h>
#include <string.h>

#define VADDF_BYTES 256 /* most texts: formatted once */

char strbuf_empty[1];

void strbuf_init(struct strbuf *b, size_t limit)
{
	*b = (struct strbuf)STRBUF_INIT(limit);
}

void strbuf_release(struct strbuf *b)
{
	if (b->cap)
		xfree(b->buf);
	strbuf_init(b, b->limit);
}

void strbuf_clear(struct strbuf *b)
{
	b->over = false;
	strbuf_truncate(b, 0);
}

char *strbuf_detach(struct strbuf *b)
{
	char *s = b->cap ? b->buf : xstrdup("");
	strbuf_init(b, b->limit);
	return s;
}

char *strbuf_reserve(struct strbuf *b, size_t n)
{
	if (b->over || n > b->limit || b->len > b->limit - n) {
		b->over = true;
		return NULL;
	}
	size_t want = b->len + n + 1;
	if (want > b->cap) {
		char *old = b->cap ? b->buf : NULL;
		b->cap = mem_grown(b->cap, want);
		b->buf = xreallocarray(old, b->cap, 1);
		b->buf[b->len] = '\0';
	}
	return b->buf + b->len;
}

void strbuf_commit(struct strbuf *b, size_t n)
{
	b->len += n;
	b->buf[b->len] = '\0';
}

void strbuf_add(struct strbuf *b, const void *p, size_t n)
{
	if (!n)
		return;
	bool fits = n < b->cap - b->len && b->len <= b->limit && n <= b->limit - b->len && !b->over;
	char *to = fits ? b->buf + b->len : strbuf_reserve(b, n);
	if (!to)
		return;
	memcpy(to, p, n);
	b->len += n;
	b->buf[b->len] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_addstr(struct strbuf *b, struct str s)
{
	strbuf_add(b, s.ptr, s.len);
}

void strbuf_addc(struct strbuf *b, char c)
{
	if (b->len + 1 < b->cap && b->len < b->limit && !b->over) {
		b->buf[b->len++] = c;
		b->buf[b->len] = '\0';
		return;
	}
	strbuf_add(b, &c, 1);
}

void strbuf_addi(struct strbuf *b, int64_t n)
{
	char digits[20]; /* of INT64_MIN, with its sign */
	size_t at = sizeof(digits);
	uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (n < 0)
		digits[--at] = '-';
	strbuf_add(b, digits + at, sizeof(digits) - at);
}

void strbuf_pad(struct strbuf *b, char c, size_t n)
{
	char *to = n ? strbuf_reserve(b, n) : NULL;
	if (!to)
		return;
	memset(to, c, n);
	strbuf_commit(b, n);
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args)
{
	char some[VADDF_BYTES];
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(some, sizeof(some), fmt, again);
	va_end(again);
	if (n < (int)sizeof(some)) {
		strbuf_add(b, some, n < 0 ? 0 : (size_t)n);
		return;
	}
	char *to = strbuf_reserve(b, (size_t)n);
	if (!to)
		return;
	n = vsnprintf(to, (size_t)n + 1, fmt, args);
	strbuf_commit(b, n < 0 ? 0 : (size_t)n);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	strbuf_vaddf(b, fmt, args);
	va_end(args);
}

void strbuf_addrune(struct strbuf *b, unsigned rune)
{
	char c[4];
	strbuf_add(b, c, utf8_encode(rune, c));
}

void strbuf_truncate(struct strbuf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->buf[len] = '\0';
}

void strbuf_remove(struct strbuf *b, size_t from, size_t n)
{
	if (from >= b->len)
		return;
	if (n > b->len - from)
		n = b->len - from;
	memmove(b->buf + from, b->buf + from + n, b->len - from - n);
	strbuf_truncate(b, b->len - n);
}

void strbuf_insert(struct strbuf *b, size_t at, struct str s)
{
	if (!s.len || !strbuf_reserve(b, s.len))
		return;
	memmove(b->buf + at + s.len, b->buf + at, b->len - at);
	memcpy(b->buf + at, s.ptr, s.len);
	strbuf_commit(b, s.len);
}

struct str strbuf_str(const struct strbuf *b)
{
	return (struct str){b->buf, b->len};
}

int strbuf_check(const struct strbuf *b, const char *what, struct error *err)
{
	if (b->over)
		return error_set(err, E_LIMIT, "%s is larger than %zu bytes", what, b->limit);
	return 0;
}
