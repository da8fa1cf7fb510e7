/* unicode: classes and simple case mapping of code points, Unicode 15.0 (what Go 1.26 knows). */
#ifndef INSTALLERS_VALUE_UNICODE_H
#define INSTALLERS_VALUE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/str.h"

#define RUNE_ERROR 0xFFFDu

bool rune_is_letter(uint32_t r);
bool rune_is_digit(uint32_t r); /* category Nd */
bool rune_is_upper(uint32_t r);
bool rune_is_lower(uint32_t r);
bool rune_is_space(uint32_t r); /* White_Space */
bool rune_is_print(uint32_t r); /* strconv.IsPrint: letters, marks, numbers, symbols, blank */
uint32_t rune_to_upper(uint32_t r);
uint32_t rune_to_lower(uint32_t r);
uint32_t rune_to_title(uint32_t r);

/* Go's range over a string: an invalid byte is RUNE_ERROR of width 1; 0 at the end. */
size_t rune_next(struct str s, uint32_t *ret);
/* The same for the last rune of s. */
size_t rune_last(struct str s, uint32_t *ret);
bool rune_is_alnum(uint32_t r); /* of identifiers: '_', letter or digit */

#endif
