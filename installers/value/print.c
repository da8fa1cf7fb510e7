/* print: the printer of Go's fmt: lists, maps, structs, and Print and Println themselves. One struct
 * printer per call holds the flags of the verb at hand. */
#include "installers/value/print.h"

#include <string.h>

#include "installers/value/date.h"
#include "installers/value/printer.h"
#include "installers/value/version.h"

#define SECONDS_TO_1970 INT64_C(62135596800) /* since the year 1 */

/* NOLINTBEGIN(misc-no-recursion): printer_any() bounds the depth by VALUE_DEPTH_MAX; bad_verb() asks it
 * for %v, which is never bad */
/* %!VERB(TYPE=VALUE) */
static void bad_verb(struct fmt_printer *p, struct value v, uint32_t verb)
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
		printer_any(p, v, 'v', 0);
	}
	strbuf_addc(p->b, ')');
	p->erroring = false;
}
/* ---- compounds ---- */
static void print_elements(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
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
		printer_any(p, item, verb, depth + 1);
	}
	strbuf_addc(p->b, p->sharp_v ? '}' : ']');
}

static void print_map(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
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
		printer_any(p, value_str(v.map->entries[i].key), verb, depth + 1);
		strbuf_addc(p->b, ':');
		struct value item = v.map->entries[i].value;
		item.iface = value_is_anymap(v);
		printer_any(p, item, verb, depth + 1);
	}
	strbuf_addc(p->b, p->sharp_v ? '}' : ']');
}

static void print_struct(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
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
		printer_any(p, v.st->fields[i], verb, depth + 1);
	}
	strbuf_addc(p->b, '}');
}

/* Types with a String method: true if it was used. */
static bool print_stringer(struct fmt_printer *p, struct value v, uint32_t verb)
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
	return printer_text(p, strbuf_str(&b), verb);
}

static bool print_address(struct fmt_printer *p, uint32_t verb)
{
	if (verb != 'v' && verb != 'p')
		return false;
	bool sharp = p->sharp;
	p->sharp = !sharp;
	printer_integer(p, 0xc000000000, 16, false, 'v');
	p->sharp = sharp;
	return true;
}

static void print_pointer(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
{
	if (!v.st) {
		if (verb == 'v')
			printer_pad(p, STR("<nil>"));
		else
			bad_verb(p, v, verb);
		return;
	}
	if (depth == 0) {
		strbuf_addc(p->b, '&');
		print_struct(p, v, verb, depth);
		return;
	}
	if (!print_address(p, verb))
		bad_verb(p, v, verb);
}

/* A verb that does not ask for its text sees what Go's version is made of. */
static void print_version(struct fmt_printer *p, const struct version *ver, uint32_t verb,
			  int depth)
{
	static const struct vfield fields[] = {{.name = "major"},    {.name = "minor"},
					       {.name = "patch"},    {.name = "pre"},
					       {.name = "metadata"}, {.name = "original"}};
	static const struct vstruct_type type = {.name = "semver.Version",
						 .pointer = "*semver.Version",
						 .fields = fields,
						 .n_fields = ARRAY_LEN(fields)};
	struct value of[] = {{.type = VALUE_UINT64, .u = ver->major},
			     {.type = VALUE_UINT64, .u = ver->minor},
			     {.type = VALUE_UINT64, .u = ver->patch},
			     value_str(ver->pre),
			     value_str(ver->build),
			     value_str(ver->text)};
	struct vstruct st = {.type = &type, .fields = of};
	print_pointer(p, (struct value){.type = VALUE_PTR, .st = &st}, verb, depth);
}

/* So of a time; where its zone lies in memory is nobody's to know. */
static void print_time(struct fmt_printer *p, const struct vtime *t, uint32_t verb, int depth)
{
	static const struct vfield fields[] = {{.name = "wall"}, {.name = "ext"}, {.name = "loc"}};
	static const struct vstruct_type type = {.name = "time.Time",
						 .fields = fields,
						 .n_fields = ARRAY_LEN(fields)},
					 zone = {.name = "time.Location",
						 .pointer = "*time.Location"};
	if (p->sharp_v) { /* most are of the local zone; others are not told apart */
		struct civil c;
		date_civil(t, &c);
		strbuf_addf(p->b, "time.Date(%lld, time.%s, %d, %d, %d, %d, %d, time.Local)",
			    (long long)c.year, date_months[c.month - 1], c.day, c.hour, c.minute,
			    c.second, t->nsec);
		return;
	}
	struct vstruct place = {.type = &zone};
	struct value of[] = {{.type = VALUE_UINT64, .u = (uint64_t)t->nsec},
			     value_int64(t->sec + SECONDS_TO_1970),
			     {.type = VALUE_PTR, .st = &place}};
	struct vstruct st = {.type = &type, .fields = of};
	print_struct(p, (struct value){.type = VALUE_STRUCT, .st = &st}, verb, depth);
}

static void print_bytes(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
{
	if (verb != 'v' && verb != 'd' && printer_text(p, value_text(v), verb))
		return;
	print_elements(p, v, verb, depth);
}

void printer_any(struct fmt_printer *p, struct value v, uint32_t verb, int depth)
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
			printer_pad(p, STR("<nil>"));
		else
			bad_verb(p, v, verb);
		return;
	}
	if (depth == 0 && verb == 'T') {
		printer_pad(p, printer_truncated(p, str_of(value_type_name(v, p->profile))));
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
	else if (v.type == VALUE_SEMVER)
		print_version(p, &v.ver->v, verb, depth);
	else if (v.type == VALUE_TIME)
		print_time(p, v.t, verb, depth);
	else if (!printer_scalar(p, v, verb))
		bad_verb(p, v, verb);
}
/* NOLINTEND(misc-no-recursion) */

/* ---- entry points ---- */
void value_print(struct strbuf *b, struct value v)
{
	struct fmt_printer p = {.b = b, .profile = TMPL_PROFILE_4_1};
	v.iface = 0;
	printer_any(&p, v, 'v', 0);
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
	struct fmt_printer p = {.b = b, .profile = profile};
	if (v.type == VALUE_NIL)
		strbuf_adds(b, "<no value>");
	else
		printer_any(&p, v, 'v', 0);
}

void print_sprint(struct strbuf *b, const struct value *args, size_t n, enum tmpl_profile profile)
{
	struct fmt_printer p = {.b = b, .profile = profile};
	bool prev_text = false;
	for (size_t i = 0; i < n; i++) {
		bool text = args[i].type == VALUE_STRING;
		if (i > 0 && !text && !prev_text)
			strbuf_addc(b, ' ');
		printer_any(&p, args[i], 'v', 0);
		prev_text = text;
	}
}

void print_sprintln(struct strbuf *b, const struct value *args, size_t n, enum tmpl_profile profile)
{
	struct fmt_printer p = {.b = b, .profile = profile};
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_addc(b, ' ');
		printer_any(&p, args[i], 'v', 0);
	}
	strbuf_addc(b, '\n');
}
