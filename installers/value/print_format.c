/* print_format: Printf: the format read verb by verb. */
#include "installers/value/printer.h"
#include "installers/value/unicode.h"

struct format {
	struct fmt_printer p;
	struct str f;
	size_t i; /* into f */
	const struct value *args;
	size_t n, arg;
	bool reordered, good_arg, after_index;
};

static void clear_flags(struct fmt_printer *p)
{
	p->has_width = p->has_prec = p->minus = p->plus = p->sharp = p->space = p->zero = false;
	p->plus_v = p->sharp_v = false;
	p->width = p->prec = 0;
}

static char at(const struct format *f)
{
	return f->i < f->f.len ? f->f.ptr[f->i] : '\0';
}

/* A decimal number at i. As Go has it, one digit more may follow the limit; a longer one is none,
 * and takes the rest of the format with it. */
static bool parse_number(struct format *f, int *ret)
{
	bool any = false;
	for (*ret = 0; char_is_digit(at(f)); f->i++) {
		if (*ret > PRINT_WIDTH_MAX) {
			*ret = 0;
			f->i = f->f.len;
			return false;
		}
		*ret = *ret * 10 + (at(f) - '0');
		any = true;
	}
	return any;
}

/* [n]: an explicit argument number. */
static void parse_index(struct format *f)
{
	f->after_index = false;
	if (at(f) != '[')
		return;
	f->reordered = true;
	size_t start = f->i;
	ptrdiff_t close = str_find_char(str_skip(f->f, start), ']');
	if (close < 0 || f->f.len - start < 3) {
		f->good_arg = false;
		f->i = start + 1;
		return;
	}
	size_t end = start + (size_t)close;
	int n = 0;
	f->i = start + 1;
	bool number = parse_number(f, &n) && f->i == end;
	f->i = end + 1;
	f->after_index = number;
	if (number && n >= 1 && (size_t)n <= f->n)
		f->arg = (size_t)n - 1;
	else
		f->good_arg = false;
}

/* The argument of a *. */
static bool star_argument(struct format *f, int *ret)
{
	*ret = 0;
	if (f->arg >= f->n)
		return false;
	struct value v = f->args[f->arg++];
	if (!value_is_int(v) || (v.type == VALUE_UINT64 && v.u > INT64_MAX))
		return false;
	if (v.i > PRINT_WIDTH_MAX || v.i < -PRINT_WIDTH_MAX)
		return false;
	*ret = (int)v.i;
	return true;
}

static void parse_width(struct format *f)
{
	struct fmt_printer *p = &f->p;
	if (at(f) != '*') {
		p->has_width = parse_number(f, &p->width);
		if (f->after_index && p->has_width)
			f->good_arg = false;
		return;
	}
	f->i++;
	p->has_width = star_argument(f, &p->width);
	if (!p->has_width)
		strbuf_adds(p->b, "%!(BADWIDTH)");
	if (p->width < 0) {
		p->width = -p->width;
		p->minus = true;
		p->zero = false;
	}
	f->after_index = false;
}

static void parse_precision(struct format *f)
{
	struct fmt_printer *p = &f->p;
	if (f->i + 1 >= f->f.len || at(f) != '.') /* at the end it is the verb */
		return;
	f->i++;
	if (f->after_index)
		f->good_arg = false;
	parse_index(f);
	if (at(f) != '*') {
		if (!parse_number(f, &p->prec))
			p->prec = 0;
		p->has_prec = true;
		return;
	}
	f->i++;
	p->has_prec = star_argument(f, &p->prec);
	if (p->prec < 0) {
		p->prec = 0;
		p->has_prec = false;
	}
	if (!p->has_prec)
		strbuf_adds(p->b, "%!(BADPREC)");
	f->after_index = false;
}

static void parse_flags(struct format *f)
{
	struct fmt_printer *p = &f->p;
	clear_flags(p);
	for (; f->i < f->f.len; f->i++) {
		switch (f->f.ptr[f->i]) {
		case '#':
			p->sharp = true;
			break;
		case '0':
			p->zero = true;
			break;
		case '+':
			p->plus = true;
			break;
		case '-':
			p->minus = true;
			break;
		case ' ':
			p->space = true;
			break;
		default:
			return;
		}
	}
}

static void print_verb(struct format *f, uint32_t verb)
{
	struct fmt_printer *p = &f->p;
	if (verb == '%') {
		strbuf_addc(p->b, '%');
		return;
	}
	if (!f->good_arg || f->arg >= f->n) {
		strbuf_adds(p->b, "%!");
		strbuf_addrune(p->b, verb);
		strbuf_adds(p->b, f->good_arg ? "(MISSING)" : "(BADINDEX)");
		return;
	}
	if (verb == 'v') {
		p->sharp_v = p->sharp;
		p->plus_v = p->plus;
		p->sharp = p->plus = false;
	}
	printer_any(p, f->args[f->arg++], verb, 0);
}

static void print_extra(struct format *f)
{
	struct fmt_printer *p = &f->p;
	clear_flags(p);
	strbuf_adds(p->b, "%!(EXTRA ");
	for (size_t i = f->arg; i < f->n; i++) {
		if (i > f->arg)
			strbuf_adds(p->b, ", ");
		if (f->args[i].type != VALUE_NIL) {
			strbuf_adds(p->b, value_type_name(f->args[i], p->profile));
			strbuf_addc(p->b, '=');
		}
		printer_any(p, f->args[i], 'v', 0);
	}
	strbuf_addc(p->b, ')');
}

void print_sprintf(struct strbuf *b, struct str format, const struct value *args, size_t n,
		   enum tmpl_profile profile)
{
	struct format f = {.p = {.b = b, .profile = profile}, .f = format, .args = args, .n = n};
	while (f.i < format.len && !b->over) {
		struct str rest = str_skip(format, f.i);
		ptrdiff_t percent = str_find_char(rest, '%');
		size_t text = percent < 0 ? rest.len : (size_t)percent;
		strbuf_add(b, rest.ptr, text);
		f.i += text;
		if (f.i >= format.len)
			break;
		f.i++;
		f.good_arg = true;
		f.after_index = false;
		parse_flags(&f);
		parse_index(&f);
		parse_width(&f);
		parse_precision(&f);
		if (!f.after_index)
			parse_index(&f);
		if (f.i >= format.len) {
			strbuf_adds(b, "%!(NOVERB)");
			break;
		}
		uint32_t verb;
		f.i += rune_next(str_skip(format, f.i), &verb);
		print_verb(&f, verb);
	}
	if (!f.reordered && f.arg < n)
		print_extra(&f);
}
