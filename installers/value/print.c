/* print: the printer of Go's fmt. One struct printer per call holds the flags of the verb at hand.
 */
#include "installers/value/print.h"

#include <string.h>

#include "installers/value/unicode.h"

/* A number with all the digits that a width or precision may ask for, and what is around them. */
#define NUMBER_MAX ((size_t)16 << 20)

struct printer {
	struct strbuf *b;
	enum tmpl_profile profile;
	bool has_width, has_prec, minus, plus, sharp, space, zero, plus_v, sharp_v;
	bool erroring;
	int width, prec;
};

static void print_any(struct printer *p, struct value v, uint32_t verb, int depth);

static void clear_flags(struct printer *p)
{
	p->has_width = p->has_prec = p->minus = p->plus = p->sharp = p->space = p->zero = false;
	p->plus_v = p->sharp_v = false;
	p->width = p->prec = 0;
}

/* ---- padding ---- */
static void write_padding(struct printer *p, int n)
{
	if (n > 0)
		strbuf_pad(p->b, p->zero && !p->minus ? '0' : ' ', (size_t)n);
}

static void pad(struct printer *p, struct str s)
{
	if (!p->has_width || p->width == 0) {
		strbuf_addstr(p->b, s);
		return;
	}
	int n = p->width - (int)utf8_count(s);
	if (!p->minus)
		write_padding(p, n);
	strbuf_addstr(p->b, s);
	if (p->minus)
		write_padding(p, n);
}

static void pad_spaces(struct printer *p, struct str s)
{
	bool zero = p->zero;
	p->zero = false;
	pad(p, s);
	p->zero = zero;
}

/* NOLINTBEGIN(misc-no-recursion): print_any() bounds the depth by VALUE_DEPTH_MAX; bad_verb() asks
 * it for %v, which is never bad */
/* ---- scalars ---- */
static void bad_verb(struct printer *p, struct value v, uint32_t verb)
{
	p->erroring = true;
	strbuf_adds(p->b, "%!");
	strbuf_addrune(p->b, verb);
	strbuf_addc(p->b, '(');
	if (v.type == VALUE_NIL) {
		strbuf_adds(p->b, "<nil>");
	} else {
		strbuf_adds(p->b, value_type_name(v, p->profile));
		strbuf_addc(p->b, '=');
		print_any(p, v, 'v', 0);
	}
	strbuf_addc(p->b, ')');
	p->erroring = false;
}
/* NOLINTEND(misc-no-recursion) */

static size_t digits_of(uint64_t u, unsigned base, bool upper, char *end)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *q = end;
	do {
		*--q = digits[u % base];
		u /= base;
	} while (u);
	return (size_t)(end - q);
}

static void fmt_integer(struct printer *p, uint64_t u, unsigned base, bool is_signed, uint32_t verb)
{
	bool negative = is_signed && (int64_t)u < 0;
	if (negative)
		u = -u;
	int prec = 0;
	if (p->has_prec) {
		prec = p->prec;
		if (prec == 0 && u == 0) {
			bool zero = p->zero;
			p->zero = false;
			write_padding(p, p->width);
			p->zero = zero;
			return;
		}
	} else if (p->zero && !p->minus && p->has_width) {
		prec = p->width - (negative || p->plus || p->space);
	}
	char tmp[72];
	size_t n = digits_of(u, base, verb == 'X', tmp + sizeof(tmp));
	const char *digits = tmp + sizeof(tmp) - n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NUMBER_MAX);
	if (negative || p->plus || p->space)
		strbuf_addc(&b, negative ? '-' : p->plus ? '+' : ' ');
	if (verb == 'O')
		strbuf_adds(&b, "0o");
	if (p->sharp && base == 2)
		strbuf_adds(&b, "0b");
	if (p->sharp && base == 16)
		strbuf_adds(&b, verb == 'X' ? "0X" : "0x");
	bool padded = prec > 0 && (size_t)prec > n;
	if (p->sharp && base == 8 && digits[0] != '0' && !padded)
		strbuf_addc(&b, '0');
	if (padded)
		strbuf_pad(&b, '0', (size_t)prec - n);
	strbuf_add(&b, digits, n);
	pad_spaces(p, strbuf_str(&b));
}

static void fmt_unicode(struct printer *p, uint64_t u)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NUMBER_MAX);
	char tmp[72];
	size_t n = digits_of(u, 16, true, tmp + sizeof(tmp));
	size_t prec = p->has_prec && p->prec > 4 ? (size_t)p->prec : 4;
	strbuf_adds(&b, "U+");
	if (prec > n)
		strbuf_pad(&b, '0', prec - n);
	strbuf_add(&b, tmp + sizeof(tmp) - n, n);
	if (p->sharp && u <= 0x10FFFF && rune_is_print((uint32_t)u)) {
		strbuf_adds(&b, " '");
		strbuf_addrune(&b, (uint32_t)u);
		strbuf_addc(&b, '\'');
	}
	pad_spaces(p, strbuf_str(&b));
}

/* NOLINTBEGIN(misc-no-recursion): print_any() bounds the depth by VALUE_DEPTH_MAX; bad_verb() asks
 * it for %v, which is never bad */
static void print_integer(struct printer *p, struct value v, uint32_t verb)
{
	bool is_signed = v.type != VALUE_UINT8 && v.type != VALUE_UINT64;
	uint64_t u = v.u;
	uint32_t r = u > 0x10FFFF || (u >= 0xD800 && u <= 0xDFFF) ? RUNE_ERROR : (uint32_t)u;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(64);
	switch (verb) {
	case 'v':
	case 'd':
		if (verb == 'v' && p->sharp_v && !is_signed) {
			bool sharp = p->sharp;
			p->sharp = true;
			fmt_integer(p, u, 16, false, 'v');
			p->sharp = sharp;
			return;
		}
		fmt_integer(p, u, 10, is_signed, verb);
		return;
	case 'b':
		fmt_integer(p, u, 2, is_signed, verb);
		return;
	case 'o':
	case 'O':
		fmt_integer(p, u, 8, is_signed, verb);
		return;
	case 'x':
	case 'X':
		fmt_integer(p, u, 16, is_signed, verb);
		return;
	case 'c':
		strbuf_addrune(&b, r);
		pad(p, strbuf_str(&b));
		return;
	case 'q':
		quote_rune(&b, r, p->plus);
		pad(p, strbuf_str(&b));
		return;
	case 'U':
		fmt_unicode(p, u);
		return;
	default:
		bad_verb(p, v, verb);
	}
}
/* NOLINTEND(misc-no-recursion) */

/* The # flag: a decimal point always, and %g keeps its trailing zeros. */
static void sharpen(struct strbuf *num, uint32_t verb, int prec)
{
	int digits = verb == 'v' || verb == 'g' || verb == 'G' || verb == 'x' ? prec : 0;
	if (digits == -1)
		digits = 6;
	bool point = false, nonzero = false;
	size_t tail = num->len;
	for (size_t i = 1; i < num->len; i++) {
		char c = num->buf[i];
		bool exp = (c == 'e' || c == 'E') && verb != 'x' && verb != 'X';
		if (c == '.') {
			point = true;
		} else if (c == 'p' || c == 'P' || exp) {
			tail = i;
			break;
		} else {
			nonzero = nonzero || c != '0';
			digits -= nonzero;
		}
	}
	CLEANUP(strbuf_release) struct strbuf extra = STRBUF_INIT(NUMBER_MAX);
	if (!point) {
		if (tail == 2 && num->buf[1] == '0')
			digits--;
		strbuf_addc(&extra, '.');
	}
	if (digits > 0)
		strbuf_pad(&extra, '0', (size_t)digits);
	strbuf_insert(num, tail, strbuf_str(&extra));
}

static void fmt_float(struct printer *p, double f, char verb, int prec)
{
	if (p->has_prec)
		prec = p->prec;
	CLEANUP(strbuf_release) struct strbuf num = STRBUF_INIT(NUMBER_MAX);
	strbuf_addc(&num, '+');
	number_float(&num, f, verb, prec);
	if (num.buf[1] == '-' || num.buf[1] == '+')
		strbuf_remove(&num, 0, 1);
	if (p->space && num.buf[0] == '+' && !p->plus)
		num.buf[0] = ' ';
	if (num.buf[1] == 'I' || num.buf[1] == 'N') {
		struct str s = strbuf_str(&num);
		if (num.buf[1] == 'N' && !p->space && !p->plus)
			s = str_skip(s, 1);
		pad_spaces(p, s);
		return;
	}
	if (p->sharp && verb != 'b')
		sharpen(&num, (unsigned char)verb, prec);
	struct str s = strbuf_str(&num);
	if (p->plus || s.ptr[0] != '+') {
		if (p->zero && !p->minus && p->has_width && p->width > (int)s.len) {
			strbuf_addc(p->b, s.ptr[0]);
			write_padding(p, p->width - (int)s.len);
			strbuf_addstr(p->b, str_skip(s, 1));
			return;
		}
		pad(p, s);
		return;
	}
	pad(p, str_skip(s, 1));
}

static bool print_double(struct printer *p, double f, uint32_t verb)
{
	switch (verb) {
	case 'v':
		fmt_float(p, f, 'g', -1);
		return true;
	case 'b':
	case 'g':
	case 'G':
	case 'x':
	case 'X':
		fmt_float(p, f, (char)verb, -1);
		return true;
	case 'f':
	case 'e':
	case 'E':
		fmt_float(p, f, (char)verb, 6);
		return true;
	case 'F':
		fmt_float(p, f, 'f', 6);
		return true;
	default:
		return false;
	}
}

/* NOLINTBEGIN(misc-no-recursion): print_any() bounds the depth by VALUE_DEPTH_MAX; bad_verb() asks
 * it for %v, which is never bad */
static void print_complex(struct printer *p, struct value v, uint32_t verb)
{
	if (verb > 0x7F || verb == 0 || !strchr("vbgGxXfFeE", (int)verb)) {
		bad_verb(p, v, verb);
		return;
	}
	bool plus = p->plus;
	strbuf_addc(p->b, '(');
	print_double(p, v.z[0], verb);
	p->plus = true;
	print_double(p, v.z[1], verb);
	strbuf_adds(p->b, "i)");
	p->plus = plus;
}
/* NOLINTEND(misc-no-recursion) */

/* ---- text ---- */
static struct str truncated(const struct printer *p, struct str s)
{
	if (!p->has_prec)
		return s;
	struct str rest = s;
	uint32_t r;
	for (int n = 0; rest.len > 0; n++) {
		if (n >= p->prec)
			return str_n(s.ptr, s.len - rest.len);
		rest = str_skip(rest, rune_next(rest, &r));
	}
	return s;
}

static void fmt_hex(struct printer *p, struct str s, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	const char *prefix = upper ? "0X" : "0x";
	size_t len = p->has_prec && (size_t)p->prec < s.len ? (size_t)p->prec : s.len;
	if (len == 0) {
		if (p->has_width)
			write_padding(p, p->width);
		return;
	}
	size_t width = 2 * len;
	if (p->space)
		width = (p->sharp ? 2 * width : width) + len - 1;
	else if (p->sharp)
		width += 2;
	int extra = p->has_width && (size_t)p->width > width ? p->width - (int)width : 0;
	if (!p->minus)
		write_padding(p, extra);
	if (p->sharp)
		strbuf_adds(p->b, prefix);
	for (size_t i = 0; i < len; i++) {
		if (p->space && i > 0) {
			strbuf_addc(p->b, ' ');
			if (p->sharp)
				strbuf_adds(p->b, prefix);
		}
		unsigned char c = (unsigned char)s.ptr[i];
		strbuf_addc(p->b, digits[c >> 4]);
		strbuf_addc(p->b, digits[c & 15]);
	}
	if (p->minus)
		write_padding(p, extra);
}

static void fmt_quoted(struct printer *p, struct str s)
{
	s = truncated(p, s);
	CLEANUP(strbuf_release) struct strbuf q = STRBUF_INIT(p->b->limit);
	if (p->sharp && quote_can_backquote(s)) {
		strbuf_addc(&q, '`');
		strbuf_addstr(&q, s);
		strbuf_addc(&q, '`');
	} else {
		quote_str(&q, s, p->plus);
	}
	if (q.over)
		p->b->over = true;
	pad(p, strbuf_str(&q));
}

/* False: not a verb of text. */
static bool print_text(struct printer *p, struct str s, uint32_t verb)
{
	switch (verb) {
	case 'v':
		if (p->sharp_v) {
			fmt_quoted(p, s);
			return true;
		}
		pad(p, truncated(p, s));
		return true;
	case 's':
		pad(p, truncated(p, s));
		return true;
	case 'x':
	case 'X':
		fmt_hex(p, s, verb == 'X');
		return true;
	case 'q':
		fmt_quoted(p, s);
		return true;
	default:
		return false;
	}
}

/* NOLINTBEGIN(misc-no-recursion): print_any() bounds the depth by VALUE_DEPTH_MAX; bad_verb() asks
 * it for %v, which is never bad */
/* ---- compounds ---- */
static void print_elements(struct printer *p, struct value v, uint32_t verb, int depth)
{
	if (p->sharp_v) {
		strbuf_adds(p->b, value_type_name(v, p->profile));
		if (!v.items) {
			strbuf_adds(p->b, "(nil)");
			return;
		}
	}
	strbuf_addc(p->b, p->sharp_v ? '{' : '[');
	for (size_t i = 0; i < v.len && !p->b->over; i++) {
		if (i > 0)
			strbuf_adds(p->b, p->sharp_v ? ", " : " ");
		struct value item =
			v.type == VALUE_BYTES
				? (struct value){.type = VALUE_UINT8, .u = (unsigned char)v.s[i]}
				: v.items[i];
		item.iface = v.type == VALUE_LIST;
		print_any(p, item, verb, depth + 1);
	}
	strbuf_addc(p->b, p->sharp_v ? '}' : ']');
}

static void print_map(struct printer *p, struct value v, uint32_t verb, int depth)
{
	if (p->sharp_v) {
		strbuf_adds(p->b, value_type_name(v, p->profile));
		if (!v.map) {
			strbuf_adds(p->b, "(nil)");
			return;
		}
	}
	strbuf_adds(p->b, p->sharp_v ? "{" : "map[");
	for (size_t i = 0; i < vmap_count(v.map) && !p->b->over; i++) {
		if (i > 0)
			strbuf_adds(p->b, p->sharp_v ? ", " : " ");
		print_any(p, value_str(v.map->entries[i].key), verb, depth + 1);
		strbuf_addc(p->b, ':');
		struct value item = v.map->entries[i].value;
		item.iface = value_is_anymap(v);
		print_any(p, item, verb, depth + 1);
	}
	strbuf_addc(p->b, p->sharp_v ? '}' : ']');
}

static void print_struct(struct printer *p, struct value v, uint32_t verb, int depth)
{
	const struct vstruct_type *t = v.st->type;
	if (p->sharp_v)
		strbuf_adds(p->b, v.type == VALUE_PTR ? t->name : value_type_name(v, p->profile));
	strbuf_addc(p->b, '{');
	for (size_t i = 0; i < t->n_fields; i++) {
		if (i > 0)
			strbuf_adds(p->b, p->sharp_v ? ", " : " ");
		if (p->plus_v || p->sharp_v) {
			strbuf_adds(p->b, t->fields[i].name);
			strbuf_addc(p->b, ':');
		}
		print_any(p, v.st->fields[i], verb, depth + 1);
	}
	strbuf_addc(p->b, '}');
}

/* Types with a String method: true if it was used. */
static bool print_stringer(struct printer *p, struct value v, uint32_t verb)
{
	if (p->erroring || p->sharp_v || verb > 0x7F || verb == 0 || !strchr("vsxXq", (int)verb))
		return false;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR) {
		const struct vstruct_type *t = v.st ? v.st->type : NULL;
		if (!t || !t->string || (v.type == VALUE_STRUCT && !t->string_by_value))
			return false;
		strbuf_addstr(&b, t->string(v.st));
	} else if (!value_stringer(&b, v)) {
		return false;
	}
	return print_text(p, strbuf_str(&b), verb);
}

static bool print_address(struct printer *p, uint32_t verb)
{
	if (verb != 'v' && verb != 'p')
		return false;
	bool sharp = p->sharp;
	p->sharp = !sharp;
	fmt_integer(p, 0xc000000000, 16, false, 'v');
	p->sharp = sharp;
	return true;
}

static void print_pointer(struct printer *p, struct value v, uint32_t verb, int depth)
{
	if (!v.st) {
		if (verb == 'v')
			pad(p, STR("<nil>"));
		else
			bad_verb(p, v, verb);
		return;
	}
	if (depth == 0) {
		strbuf_addc(p->b, '&');
		print_struct(p, v, verb, depth + 1);
		return;
	}
	if (!print_address(p, verb))
		bad_verb(p, v, verb);
}

static void print_bytes(struct printer *p, struct value v, uint32_t verb, int depth)
{
	if (verb != 'v' && verb != 'd' && print_text(p, value_text(v), verb))
		return;
	print_elements(p, v, verb, depth);
}

static void print_scalar(struct printer *p, struct value v, uint32_t verb)
{
	bool done = true;
	if (value_is_int(v))
		print_integer(p, v, verb);
	else if (v.type == VALUE_FLOAT)
		done = print_double(p, v.f, verb);
	else if (v.type == VALUE_COMPLEX)
		print_complex(p, v, verb);
	else if (v.type == VALUE_BOOL && (verb == 't' || verb == 'v'))
		pad(p, v.b ? STR("true") : STR("false"));
	else if (v.type == VALUE_STRING)
		done = print_text(p, value_text(v), verb);
	else
		done = false;
	if (!done)
		bad_verb(p, v, verb);
}

static void print_any(struct printer *p, struct value v, uint32_t verb, int depth)
{
	if (depth > VALUE_DEPTH_MAX || p->b->over) {
		p->b->over = true;
		return;
	}
	if (v.type == VALUE_NIL) {
		if (depth > 0 && v.iface && p->sharp_v)
			strbuf_adds(p->b, "interface {}(nil)");
		else if (depth > 0 && v.iface)
			strbuf_adds(p->b, "<nil>");
		else if (verb == 'v' || verb == 'T')
			pad(p, STR("<nil>"));
		else
			bad_verb(p, v, verb);
		return;
	}
	if (depth == 0 && verb == 'T') {
		pad(p, truncated(p, str_of(value_type_name(v, p->profile))));
		return;
	}
	if (depth == 0 && verb == 'p' &&
	    (value_is_map(v) || value_is_list(v) || v.type == VALUE_BYTES || v.type == VALUE_PTR ||
	     v.type == VALUE_SEMVER)) {
		print_address(p, verb);
		return;
	}
	if (print_stringer(p, v, verb))
		return;
	if (value_is_map(v))
		print_map(p, v, verb, depth);
	else if (value_is_list(v))
		print_elements(p, v, verb, depth);
	else if (v.type == VALUE_BYTES)
		print_bytes(p, v, verb, depth);
	else if (v.type == VALUE_STRUCT)
		print_struct(p, v, verb, depth);
	else if (v.type == VALUE_PTR)
		print_pointer(p, v, verb, depth);
	else
		print_scalar(p, v, verb);
}
/* NOLINTEND(misc-no-recursion) */

/* ---- entry points ---- */
void value_print(struct strbuf *b, struct value v)
{
	struct printer p = {.b = b, .profile = TMPL_PROFILE_4_1};
	v.iface = 0;
	print_any(&p, v, 'v', 0);
}

struct str value_string(struct arena *a, struct value v)
{
	if (v.type == VALUE_STRING || v.type == VALUE_BYTES)
		return value_text(v);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
	value_print(&b, v);
	return value_text(value_take(a, &b));
}

void print_direct(struct strbuf *b, struct value v, enum tmpl_profile profile)
{
	if (v.type == VALUE_STRING) {
		strbuf_addstr(b, value_text(v));
		return;
	}
	if (v.type == VALUE_STRUCT && v.st->type->string &&
	    (v.pad || v.st->type->string_by_value)) {
		strbuf_addstr(b, v.st->type->string(v.st));
		return;
	}
	if (v.type == VALUE_PTR && v.st && !v.st->type->string)
		v.type = VALUE_STRUCT; /* a pointer is followed before printing */
	struct printer p = {.b = b, .profile = profile};
	if (v.type == VALUE_NIL)
		strbuf_adds(b, "<no value>");
	else
		print_any(&p, v, 'v', 0);
}

void print_sprint(struct strbuf *b, const struct value *args, size_t n, enum tmpl_profile profile)
{
	struct printer p = {.b = b, .profile = profile};
	bool prev_text = false;
	for (size_t i = 0; i < n; i++) {
		bool text = args[i].type == VALUE_STRING;
		if (i > 0 && !text && !prev_text)
			strbuf_addc(b, ' ');
		print_any(&p, args[i], 'v', 0);
		prev_text = text;
	}
}

void print_sprintln(struct strbuf *b, const struct value *args, size_t n, enum tmpl_profile profile)
{
	struct printer p = {.b = b, .profile = profile};
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_addc(b, ' ');
		print_any(&p, args[i], 'v', 0);
	}
	strbuf_addc(b, '\n');
}

/* ---- printf ---- */
struct format {
	struct printer p;
	struct str f;
	size_t i; /* into f */
	const struct value *args;
	size_t n, arg;
	bool reordered, good_arg, after_index;
};

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
	struct printer *p = &f->p;
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
	struct printer *p = &f->p;
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
	struct printer *p = &f->p;
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
	struct printer *p = &f->p;
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
	print_any(p, f->args[f->arg++], verb, 0);
}

static void print_extra(struct format *f)
{
	struct printer *p = &f->p;
	clear_flags(p);
	strbuf_adds(p->b, "%!(EXTRA ");
	for (size_t i = f->arg; i < f->n; i++) {
		if (i > f->arg)
			strbuf_adds(p->b, ", ");
		if (f->args[i].type != VALUE_NIL) {
			strbuf_adds(p->b, value_type_name(f->args[i], p->profile));
			strbuf_addc(p->b, '=');
		}
		print_any(p, f->args[i], 'v', 0);
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
