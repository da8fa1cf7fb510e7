/*
 * pack: many texts that look alike, kept small: the objects of one kind take a fifth of their JSON,
 * and often a tenth.
 *
 * Each is deflated by itself against a dictionary of the first texts that came. The dictionary only
 * grows, and a packed text knows how much of it there was, so it can be read whatever came later.
 * What does not get smaller, or is long, is kept as it is.
 */
#ifndef ALM_BASE_PACK_H
#define ALM_BASE_PACK_H

#include <stdint.h>

#include "alm/base/strbuf.h"

#define PACK_DICTIONARY_BYTES ((size_t)8 << 10)
#define PACK_FIRST_BYTES      ((size_t)16 << 10) /* of it, if it is but one text */
#define PACK_TEXT_MAX         ((size_t)64 << 10) /* longer ones take a turn of the loop too long */

struct pack;

/* Bytes that mean a text to the pack they came from. */
struct packed {
	const char *bytes;
	uint32_t len, text_len; /* of both the same: as it is */
	uint32_t dictionary;    /* bytes of it that were there */
};

struct pack *pack_new(void);
void pack_free(struct pack *p);
DEFINE_FREEP(pack)

/* Below 4 GiB. Borrowed from text or, until the next call, from p. known: what of the text the reader has
 * anyway, below a KiB, or "": it costs next to nothing. */
struct packed pack_text(struct pack *p, struct str text, struct str known);
/* The text: borrowed from t, or from room. known: the same. */
struct str pack_read(const struct pack *p, const struct packed *t, struct str known,
		     struct strbuf *room);

#endif
