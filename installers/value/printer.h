/* printer: what one call of print.h works with: the flags of the verb at hand, for the three files of the
 * printer alone. */
#ifndef INSTALLERS_VALUE_PRINTER_H
#define INSTALLERS_VALUE_PRINTER_H

#include "installers/value/print.h"

struct fmt_printer {
	struct strbuf *b;
	enum tmpl_profile profile;
	bool has_width, has_prec, minus, plus, sharp, space, zero, plus_v, sharp_v;
	bool erroring;
	int width, prec;
};

/* s between the spaces or zeros of the width. */
void printer_pad(struct fmt_printer *p, struct str s);
void printer_integer(struct fmt_printer *p, uint64_t u, unsigned base, bool is_signed,
		     uint32_t verb);
/* As much of s as the precision leaves. */
struct str printer_truncated(const struct fmt_printer *p, struct str s);
/* False: not a verb of text. */
bool printer_text(struct fmt_printer *p, struct str s, uint32_t verb);
/* Neither a list nor a map, a struct or a pointer. False: not a verb of v. */
bool printer_scalar(struct fmt_printer *p, struct value v, uint32_t verb);
/* Any value; depth 0 at the argument itself, VALUE_DEPTH_MAX at most. */
void printer_any(struct fmt_printer *p, struct value v, uint32_t verb, int depth);

#endif
