/* gonum: numbers as Go's strconv reads them. */
#ifndef INSTALLERS_VALUE_GONUM_H
#define INSTALLERS_VALUE_GONUM_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/str.h"

enum gonum_result { GONUM_OK, GONUM_SYNTAX, GONUM_RANGE };

/* ParseUint, ParseInt; base 0 takes prefixes and '_'. On GONUM_RANGE *ret is the nearest bound. */
enum gonum_result gonum_uint(struct str s, int base, uint64_t *ret);
enum gonum_result gonum_int(struct str s, int base, int64_t *ret);
/* ParseFloat: decimal, hexadecimal, inf, nan, '_'. */
enum gonum_result gonum_float(struct str s, double *ret);
/* A double as int64, as Go on amd64 converts: out of range and NaN are the least int64. */
int64_t gonum_trunc(double f);

#endif
