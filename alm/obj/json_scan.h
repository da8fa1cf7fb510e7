/*
 * json_scan: how much of a text the reader and the writer of JSON may take as it is, eight bytes at a time. Private to
 * json.c and json_print.c.
 */
#ifndef ALM_OBJ_JSON_SCAN_H
#define ALM_OBJ_JSON_SCAN_H

#include "alm/base/str.h"

#define SCAN_ONES  UINT64_C(0x0101010101010101)
#define SCAN_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t scan_word(const char *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return w;
}

/* Not 0 if a byte of the word is below n, which is at most 128. */
static inline uint64_t scan_below(uint64_t w, unsigned char n)
{
	return (w - SCAN_ONES * n) & ~w & SCAN_HIGHS;
}

/* Not 0 if the word has a control character, a quote or a backslash: these end a run of a string. */
static inline uint64_t scan_ends(uint64_t w)
{
	return scan_below(w, 0x20) | scan_below(w ^ SCAN_ONES * '"', 1) |
	       scan_below(w ^ SCAN_ONES * '\\', 1);
}

/* The length of the run at the beginning that stands in JSON as it is. */
static inline size_t scan_run(struct str s)
{
	size_t n = 0;
	while (s.len - n >= sizeof(uint64_t) && !scan_ends(scan_word(s.ptr + n)))
		n += sizeof(uint64_t);
	while (n < s.len && (unsigned char)s.ptr[n] >= 0x20 && s.ptr[n] != '"' && s.ptr[n] != '\\')
		n++;
	return n;
}

/* The same, and of ASCII without DEL. */
static inline size_t scan_ascii_run(struct str s)
{
	size_t n = 0;
	while (s.len - n >= sizeof(uint64_t)) {
		uint64_t w = scan_word(s.ptr + n);
		if (scan_ends(w) | (w & SCAN_HIGHS) | scan_below(w ^ SCAN_ONES * 0x7F, 1))
			break;
		n += sizeof(uint64_t);
	}
	while (n < s.len && (unsigned char)s.ptr[n] >= 0x20 && (unsigned char)s.ptr[n] < 0x7F &&
	       s.ptr[n] != '"' && s.ptr[n] != '\\')
		n++;
	return n;
}

/* The length of the beginning that is ASCII. */
static inline size_t scan_ascii(struct str s)
{
	size_t n = 0;
	while (s.len - n >= sizeof(uint64_t) && !(scan_word(s.ptr + n) & SCAN_HIGHS))
		n += sizeof(uint64_t);
	while (n < s.len && (unsigned char)s.ptr[n] < 0x80)
		n++;
	return n;
}

#endif
