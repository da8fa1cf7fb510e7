/* lex_number: how far a number of a template goes; parse_number.h says what it is. */
#include <string.h>

#include "installers/tmpl/lex.h"
#include "installers/value/unicode.h"

static bool take_char(struct str *s, const char *valid)
{
	if (!s->len || !s->ptr[0] || !strchr(valid, s->ptr[0]))
		return false;
	*s = str_skip(*s, 1);
	return true;
}

static void take_run(struct str *s, const char *valid)
{
	while (take_char(s, valid))
		;
}

bool lex_scan_number(struct str s, size_t *ret_len)
{
	const char *start = s.ptr;
	uint32_t r = 0;
	const char *digits = "0123456789_";
	bool decimal = true, hex = false;
	take_char(&s, "+-");
	if (take_char(&s, "0")) {
		hex = take_char(&s, "xX");
		if (hex)
			digits = "0123456789abcdefABCDEF_";
		else if (take_char(&s, "oO"))
			digits = "01234567_";
		else if (take_char(&s, "bB"))
			digits = "01_";
		decimal = strlen(digits) == 11;
	}
	take_run(&s, digits);
	if (take_char(&s, "."))
		take_run(&s, digits);
	if ((decimal && take_char(&s, "eE")) || (hex && take_char(&s, "pP"))) {
		take_char(&s, "+-");
		take_run(&s, "0123456789_");
	}
	take_char(&s, "i");
	size_t more = rune_next(s, &r);
	bool glued = more && rune_is_alnum(r); /* the message names it, too */
	*ret_len = (size_t)(s.ptr - start) + (glued ? more : 0);
	return !glued;
}
