/*
 * strbuf: a growing, always NUL-terminated string with a written limit.
 *
 * Passing the limit is sticky: what does not fit is dropped whole, over stays true, and the builder
 * checks once at the end with strbuf_check(). buf is borrowed until the next change.
 *
 *	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BODY_BYTES_MAX);
 *	strbuf_addf(&b, "%s/%s", ns, name);
 *	if (strbuf_check(&b, "path", err) < 0) ...
 */
#ifndef ALM_BASE_STRBUF_H
#define ALM_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/str.h"

struct strbuf {
	char *buf; /* never NULL, never written to by others */
	size_t len, cap, limit;
	bool over;
};

extern char strbuf_empty[1];

#define STRBUF_INIT(limit_bytes) {.buf = strbuf_empty, .limit = (limit_bytes)}
/* For text that is bounded by its nature (one message, one path). */
#define STRBUF_SMALL ((size_t)1 << 20)

void strbuf_init(struct strbuf *b, size_t limit);
void strbuf_release(struct strbuf *b); /* usable as CLEANUP; b can be used again afterwards */
void strbuf_clear(struct strbuf *b);   /* keeps the memory */
char *strbuf_detach(struct strbuf *b); /* owned by the caller; b is empty afterwards */

void strbuf_add(struct strbuf *b, const void *p, size_t n);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_addstr(struct strbuf *b, struct str s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addi(struct strbuf *b, int64_t n); /* decimal; "%lld" without its cost */
void strbuf_pad(struct strbuf *b, char c, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args) PRINTF(2, 0);
void strbuf_addrune(struct strbuf *b, unsigned rune);
/* Room for n more bytes at buf + len, to be taken with strbuf_commit(); NULL if over the limit. */
char *strbuf_reserve(struct strbuf *b, size_t n);
void strbuf_commit(struct strbuf *b, size_t n);
void strbuf_truncate(struct strbuf *b, size_t len);
void strbuf_remove(struct strbuf *b, size_t from, size_t n);
void strbuf_insert(struct strbuf *b, size_t at, struct str s);

struct str strbuf_str(const struct strbuf *b);
/* E_LIMIT "WHAT is larger than N bytes" once something was dropped. */
int strbuf_check(const struct strbuf *b, const char *what, struct error *err);

#endif
