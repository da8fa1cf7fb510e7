/* print: Go's fmt for values: Print, Println, Printf with all verbs; quoting; number texts. */
#ifndef INSTALLERS_VALUE_PRINT_H
#define INSTALLERS_VALUE_PRINT_H

#include "installers/value/value.h"

/* Widths and precisions above are Go's own errors, %!(BADWIDTH). */
#define PRINT_WIDTH_MAX 1000000

void print_sprint(struct strbuf *b, const struct value *args, size_t n, enum tmpl_profile profile);
void print_sprintln(struct strbuf *b, const struct value *args, size_t n,
		    enum tmpl_profile profile);
void print_sprintf(struct strbuf *b, struct str format, const struct value *args, size_t n,
		   enum tmpl_profile profile);
/* What {{x}} writes: as %v, but a struct that can be addressed uses the String of its pointer. */
void print_direct(struct strbuf *b, struct value v, enum tmpl_profile profile);

/* strconv: quoting with quote ' or ", ascii: only ASCII stays. */
void quote_str(struct strbuf *b, struct str s, bool ascii);
void quote_rune(struct strbuf *b, uint32_t r, bool ascii);
bool quote_can_backquote(struct str s);
/* strconv.Unquote of a Go string literal in " or `; false: invalid syntax. */
bool quote_unquote(struct strbuf *b, struct str literal);
/* One (escaped) character of text up to the quote: bytes used or 0. *ret_byte: \x or octal. */
size_t quote_unquote_char(struct str s, char quote, uint32_t *ret, bool *ret_byte);

/* strconv.FormatFloat(f, fmt, prec, 64), prec -1 the shortest; fmt of e E f g G b x X. */
void number_float(struct strbuf *b, double f, char fmt, int prec);
/* Shortest decimal digits: writes up to 17 digits, returns their count; *ret_exp so that the value
 * is 0.DIGITS * 10^exp. f is finite and positive. */
int number_shortest(double f, char digits[24], int *ret_exp);

#endif
