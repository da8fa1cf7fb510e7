/*
 * str: slices of text.
 *
 * A struct str borrows len bytes and is never NUL-terminated by promise. Character classes are
 * ASCII; there is no locale. Numbers are read here and nowhere else.
 */
#ifndef ALM_BASE_STR_H
#define ALM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_NONE     ((struct str){NULL, 0})
/* For "%.*s". */
#define STR_ARG(s) ((int)(s).len), ((s).ptr ? (s).ptr : "")

/* The small ones are here: a lexer calls them for each character. */
/* NULL gives STR_NONE. */
static inline struct str str_of(const char *s)
{
	return s ? (struct str){s, strlen(s)} : STR_NONE;
}

static inline struct str str_n(const char *p, size_t n)
{
	return (struct str){p, n};
}

/* This and str_sub() are clamped to the text. */
static inline struct str str_skip(struct str s, size_t n)
{
	if (n > s.len)
		n = s.len;
	return n ? (struct str){s.ptr + n, s.len - n} : s;
}

static inline struct str str_sub(struct str s, size_t from, size_t len)
{
	s = str_skip(s, from);
	if (s.len > len)
		s.len = len;
	return s;
}

/* The beginning, at most max bytes: no character is cut in two. */
struct str str_clip(struct str s, size_t max);

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

static inline bool str_is(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

static inline bool str_has_prefix(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_eq(str_n(s.ptr, prefix.len), prefix);
}

bool str_is_nocase(struct str a, const char *b); /* ASCII */

char *str_dup(struct str s); /* owned, NUL-terminated */

bool cstr_eq(const char *a, const char *b);  /* NULL equals NULL only */
int str_cmp(struct str a, struct str b);     /* bytewise, total order */
int cstr_cmpp(const void *a, const void *b); /* qsort of const char * */

bool str_has_suffix(struct str s, struct str suffix);
bool cstr_has_prefix(const char *s, const char *prefix);
bool cstr_has_suffix(const char *s, const char *suffix);
/* Is s in the NULL-ended list? Not if either is NULL. */
bool cstr_in(const char *s, const char *const *list);

struct str str_trim(struct str s); /* blank, \t, \n, \r, \v, \f */
struct str str_trim_left(struct str s);
struct str str_trim_right(struct str s);

/* Index of the first occurrence, or -1. */
ptrdiff_t str_find(struct str s, struct str needle);
ptrdiff_t str_find_char(struct str s, char c);
ptrdiff_t str_rfind_char(struct str s, char c);
bool str_contains(struct str s, struct str needle);

/* Splits at the first (last) c: false, *ret_before = s and *ret_after empty if there is none. */
bool str_cut(struct str s, char c, struct str *ret_before, struct str *ret_after);
bool str_rcut(struct str s, char c, struct str *ret_before, struct str *ret_after);
/* Takes the next field off the front: while (str_next(&rest, ',', &field)). "a," has two fields,
 * the second empty; "" has one, empty; STR_NONE has none. */
bool str_next(struct str *rest, char sep, struct str *ret_field);
/* The next line without its \n (a \r before it is cut off, too). */
bool str_next_line(struct str *rest, struct str *ret_line);

/* Whole text, optional sign (i64 only), decimal digits; false on anything else or overflow. */
bool str_parse_i64(struct str s, int64_t *ret);
bool str_parse_u64(struct str s, uint64_t *ret);
/* The grammar of JSON numbers and of C decimal floats without hex, inf, nan. */
bool str_parse_double(struct str s, double *ret);

static inline bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool char_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool char_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool char_is_alpha(char c)
{
	return char_is_lower(c) || char_is_upper(c);
}

static inline bool char_is_alnum(char c)
{
	return char_is_alpha(c) || char_is_digit(c);
}

static inline bool char_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool char_is_hex(char c);
char char_lower(char c);
char char_upper(char c);

/* UTF-8. Decodes one code point at s: bytes used, or 0 if the bytes are no valid sequence (overlong
 * forms, surrogates and values above U+10FFFF are not). */
size_t utf8_decode(struct str s, uint32_t *ret_rune);
size_t utf8_encode(uint32_t rune, char out[4]);
bool utf8_valid(struct str s);
size_t utf8_count(struct str s); /* code points; an invalid byte counts one */

#endif
