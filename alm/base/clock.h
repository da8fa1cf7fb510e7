/*
 * clock: instants and spans as text. Instants are int64_t nanoseconds since 1970 UTC, spans are
 * int64_t nanoseconds. Nothing here reads a clock: time comes in through loop.h.
 */
#ifndef ALM_BASE_CLOCK_H
#define ALM_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/str.h"

#define NS_PER_US   INT64_C(1000)
#define NS_PER_MS   INT64_C(1000000)
#define NS_PER_S    INT64_C(1000000000)
#define NS_PER_MIN  (60 * NS_PER_S)
#define NS_PER_HOUR (60 * NS_PER_MIN)
#define NS_PER_DAY  (24 * NS_PER_HOUR)

/* n units as nanoseconds, for a number that others wrote: what has no room is the end of the range.
 */
int64_t clock_ns(int64_t n, int64_t unit_ns);

#define CLOCK_TEXT_MAX 48

enum clock_precision { CLOCK_SECONDS, CLOCK_MILLIS, CLOCK_MICROS };

/* RFC 3339 in UTC with a fixed number of digits, as metav1.Time (seconds) and MicroTime print it.
 */
void clock_format(int64_t ns, enum clock_precision precision, char out[CLOCK_TEXT_MAX]);
/* RFC 3339 with any offset and 0 to 9 digits; years 1678 to 2261. */
bool clock_parse(struct str text, int64_t *ret_ns);
/* The same of the years 0 to 9999, in seconds since 1970 and nanoseconds from 0 on. */
bool clock_parse_seconds(struct str text, int64_t *ret_s, int64_t *ret_frac);
void clock_format_seconds(int64_t s, int64_t frac, enum clock_precision precision,
			  char out[CLOCK_TEXT_MAX]);

/* Go's duration text, "1h30m", "250ms", also "7d"; a bare "0". */
int duration_parse(struct str text, int64_t *ret_ns, struct error *err);
/* Shortest Go form: "1h30m0s", "250ms", "0s". */
void duration_format(int64_t ns, char out[CLOCK_TEXT_MAX]);
/* The age kubectl prints, s = seconds since (specs: "2m35s", "7d", "6y326d"). */
void duration_human(int64_t ns, char out[CLOCK_TEXT_MAX]);

/* Proleptic Gregorian calendar; days since 1970-01-01. month 1..12, day 1..31. */
int64_t days_from_civil(int64_t year, int month, int day);
void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);

#endif
