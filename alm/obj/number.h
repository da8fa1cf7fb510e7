/* number: the text of JSON numbers. Pure; knows nothing of objects. */
#ifndef ALM_OBJ_NUMBER_H
#define ALM_OBJ_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "alm/base/str.h"

#define NUMBER_TEXT_MAX 40

/* Bytes of the JSON number (RFC 8259, 6) at the front of s; 0 if there is none. On a fault inside
 * it *ret_fault says where Go's scanner stands: "in numeric literal", else it is NULL. */
size_t number_scan(struct str s, const char **ret_fault);
/* Without fraction and exponent. */
bool number_is_integer(struct str text);
/* Shortest text that reads back equal, in the form of ECMAScript and Go's encoding/json: no
 * exponent for 1e-6 <= |v| < 1e21, "1e+21", "1e-7". v is finite. */
void number_format(double v, char out[NUMBER_TEXT_MAX]);
/* Go's shortest %g, as YAML v2 prints: "1.5", "1e-05", "1.2345675e+06". With single, the digits
 * that suffice for a 32-bit float. v is finite. */
void number_format_g(double v, bool single, char out[NUMBER_TEXT_MAX]);

#endif
