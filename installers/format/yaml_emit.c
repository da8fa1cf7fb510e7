/*
 * The emitter of libyaml as its Go ports have it, reduced to block style. "whitespace", "indention"
 * and column have the meaning they have there; the order of their changes decides about line
 * breaks.
 */
#include "installers/format/yaml_emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "installers/format/json_go.h"
#include "installers/format/yaml_style.h"
#include "installers/value/msg.h"

#define INDENT         2
#define WIDTH          80
#define KEY_BYTES_MAX  128 /* longer keys become "? key" */
#define EMIT_DEPTH_MAX 1000

struct emitter {
	struct arena *a;
	struct strbuf *b, *msg;
	bool pretty;
	bool whitespace, indention;
	int column, depth;
};

/* ---- characters ---- */

static bool space_at(struct str s, size_t i)
{
	return i < s.len && s.ptr[i] == ' ';
}

static void put(struct emitter *e, char c)
{
	strbuf_addc(e->b, c);
	e->column++;
}

/* Writes what stands at *i of printable ASCII from low on, but for the characters x and y. */
static bool put_ascii(struct emitter *e, struct str s, size_t *i, char low, char x, char y)
{
	size_t end = *i;
	while (end < s.len && s.ptr[end] >= low && s.ptr[end] < 0x7f && s.ptr[end] != x &&
	       s.ptr[end] != y)
		end++;
	size_t n = end - *i;
	strbuf_add(e->b, s.ptr + *i, n);
	e->column += (int)n;
	*i = end;
	return n > 0;
}

static void put_rune(struct emitter *e, struct str s, size_t *i)
{
	uint32_t r;
	size_t n = yaml_rune_at(s, *i, &r);
	strbuf_add(e->b, s.ptr + *i, n);
	e->column++;
	*i += n;
}

static void put_break(struct emitter *e)
{
	strbuf_addc(e->b, '\n');
	e->column = 0;
}

/* A line break of the text itself. */
static void write_break(struct emitter *e, struct str s, size_t *i)
{
	if (s.ptr[*i] == '\n') {
		put_break(e);
		++*i;
	} else {
		put_rune(e, s, i);
		e->column = 0;
	}
	e->indention = true;
}

static void write_indent(struct emitter *e, int indent)
{
	if (indent < 0)
		indent = 0;
	if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
		put_break(e);
	if (e->column < indent) {
		strbuf_pad(e->b, ' ', (size_t)(indent - e->column));
		e->column = indent;
	}
	e->whitespace = true;
	e->indention = true;
}

static void write_indicator(struct emitter *e, const char *text, bool need_space, bool is_indention)
{
	if (need_space && !e->whitespace)
		put(e, ' ');
	for (; *text; text++)
		put(e, *text);
	e->whitespace = false;
	e->indention = e->indention && is_indention;
}

/* ---- scalars ---- */

static void write_plain(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	if (!e->whitespace)
		put(e, ' ');
	for (size_t i = 0; i < s.len;) {
		if (s.ptr[i] != ' ') {
			if (!put_ascii(e, s, &i, '!', ' ', ' '))
				put_rune(e, s, &i);
			e->indention = false;
			spaces = false;
			continue;
		}
		if (breaks_allowed && !spaces && e->column > WIDTH && !space_at(s, i + 1)) {
			write_indent(e, indent);
			i++;
		} else {
			put_rune(e, s, &i);
		}
		spaces = true;
	}
	e->whitespace = false;
	e->indention = false;
}

static void write_single(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false, breaks = false;
	write_indicator(e, "'", true, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		yaml_rune_at(s, i, &r);
		if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1 && !space_at(s, i + 1)) {
				write_indent(e, indent);
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
			continue;
		}
		if (yaml_rune_is_break(r)) {
			if (!breaks && r == '\n')
				put_break(e);
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			write_indent(e, indent);
		if (r == '\'')
			put(e, '\'');
		if (!put_ascii(e, s, &i, '!', '\'', '\''))
			put_rune(e, s, &i);
		e->indention = false;
		spaces = breaks = false;
	}
	write_indicator(e, "'", false, false);
}

static void write_escape(struct emitter *e, uint32_t r)
{
	static const char from[] = "\a\b\t\n\v\f\r\x1b\"\\", to[] = "abtnvfre\"\\";
	char text[12];
	const char *hit = r && r < 0x80 ? strchr(from, (int)r) : NULL;
	put(e, '\\');
	if (hit || !r)
		snprintf(text, sizeof(text), "%c", hit ? to[hit - from] : '0');
	else if (r == 0x85 || r == 0xa0)
		snprintf(text, sizeof(text), "%c", r == 0x85 ? 'N' : '_');
	else if (r == 0x2028 || r == 0x2029)
		snprintf(text, sizeof(text), "%c", r == 0x2028 ? 'L' : 'P');
	else if (r <= 0xff)
		snprintf(text, sizeof(text), "x%02X", r);
	else if (r <= 0xffff)
		snprintf(text, sizeof(text), "u%04X", r);
	else
		snprintf(text, sizeof(text), "U%08X", r);
	for (const char *p = text; *p; p++)
		put(e, *p);
}

static void write_double(struct emitter *e, struct str s, bool breaks_allowed, int indent)
{
	bool spaces = false;
	/* a quirk of the Go ports: a leading byte order mark makes every character an escape */
	bool escape_all = str_has_prefix(s, STR("\xef\xbb\xbf"));
	write_indicator(e, "\"", true, false);
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		size_t n = yaml_rune_at(s, i, &r);
		if (escape_all || !yaml_rune_is_printable(r) || yaml_rune_is_break(r) || r == '"' ||
		    r == '\\') {
			write_escape(e, r);
			i += n;
			spaces = false;
		} else if (r == ' ') {
			if (breaks_allowed && !spaces && e->column > WIDTH && i > 0 &&
			    i < s.len - 1) {
				write_indent(e, indent);
				if (space_at(s, i + 1))
					put(e, '\\');
				i++;
			} else {
				put_rune(e, s, &i);
			}
			spaces = true;
		} else {
			if (!put_ascii(e, s, &i, '!', '"', '\\'))
				put_rune(e, s, &i);
			spaces = false;
		}
	}
	write_indicator(e, "\"", false, false);
	e->whitespace = false;
	e->indention = false;
}

/* The last character, and where it begins. */
static uint32_t last_rune(struct str s, size_t *ret_from)
{
	size_t i = s.len - 1;
	uint32_t r;
	while (i && ((unsigned char)s.ptr[i] & 0xc0) == 0x80)
		i--;
	yaml_rune_at(s, i, &r);
	*ret_from = i;
	return r;
}

static void write_block_hints(struct emitter *e, struct str s)
{
	uint32_t first;
	size_t at;
	yaml_rune_at(s, 0, &first);
	if (first == ' ' || yaml_rune_is_break(first))
		write_indicator(e, "2", false, false);
	if (!yaml_rune_is_break(last_rune(s, &at)))
		write_indicator(e, "-", false, false);
	else if (!at || yaml_rune_is_break(last_rune(str_sub(s, 0, at), &at)))
		write_indicator(e, "+", false, false);
}

static void write_literal(struct emitter *e, struct str s, int indent)
{
	bool breaks = true;
	write_indicator(e, "|", true, false);
	write_block_hints(e, s);
	put_break(e);
	e->indention = true;
	e->whitespace = true;
	for (size_t i = 0; i < s.len;) {
		uint32_t r;
		yaml_rune_at(s, i, &r);
		if (yaml_rune_is_break(r)) {
			write_break(e, s, &i);
			breaks = true;
			continue;
		}
		if (breaks)
			write_indent(e, indent);
		if (!put_ascii(e, s, &i, ' ', '\n', '\n'))
			put_rune(e, s, &i);
		e->indention = false;
		breaks = false;
	}
}

/* indent is that of the map or list around it. */
static void write_scalar(struct emitter *e, struct str s, bool is_text, bool is_key, int indent)
{
	int inner = indent < 0 ? INDENT : indent + INDENT;
	bool breaks_allowed = !is_key && !e->pretty;
	switch (yaml_style(s, is_text, is_key, e->pretty)) {
	case YAML_STYLE_PLAIN:
		write_plain(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_SINGLE:
		write_single(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_DOUBLE:
		write_double(e, s, breaks_allowed, inner);
		return;
	case YAML_STYLE_LITERAL:
		write_literal(e, s, inner);
		return;
	}
}

/* ---- texts on their way through JSON ---- */

/* A U+0085 in the JSON text is a line break for the YAML reader, which folds it. */
static void fold_breaks(struct str s, struct strbuf *b)
{
	for (size_t i = 0; i < s.len;) {
		size_t breaks = 0, end = i;
		for (; end < s.len; end++) {
			if (str_has_prefix(str_skip(s, end), STR("\xc2\x85"))) {
				breaks++;
				end++;
			} else if (s.ptr[end] != ' ') {
				break;
			}
		}
		if (!breaks) {
			end = end > i ? end : i + 1;
			strbuf_addstr(b, str_sub(s, i, end - i));
		} else if (breaks == 1) {
			strbuf_addc(b, ' ');
		} else {
			strbuf_pad(b, '\n', breaks - 1);
		}
		i = end;
	}
}

static int through_json(struct emitter *e, struct str *s)
{
	bool valid = true, folds = false;
	for (size_t i = 0; i < s->len;) {
		uint32_t r = (unsigned char)s->ptr[i];
		size_t n = r < 0x80 ? 1 : utf8_decode(str_skip(*s, i), &r);
		valid = valid && n;
		folds |= n && r == 0x85;
		if (n && ((r >= 0x7f && r < 0xa0 && r != 0x85) || r == 0xfffe || r == 0xffff))
			return msg_fail(
				e->msg,
				"error converting JSON to YAML: yaml: control characters are "
				"not allowed");
		i += n ? n : 1;
	}
	if (valid && !folds)
		return 0;
	CLEANUP(strbuf_release) struct strbuf fixed = STRBUF_INIT(s->len * 3 + 16);
	for (size_t i = 0; i < s->len;) {
		uint32_t r;
		size_t n = utf8_decode(str_skip(*s, i), &r);
		if (n)
			strbuf_add(&fixed, s->ptr + i, n);
		else
			strbuf_adds(&fixed, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
	CLEANUP(strbuf_release) struct strbuf folded = STRBUF_INIT(fixed.len + 16);
	if (folds)
		fold_breaks(strbuf_str(&fixed), &folded);
	struct strbuf *b = folds ? &folded : &fixed;
	*s = str_n(arena_text(e->a, b->buf, b->len), b->len);
	return 0;
}

/* yaml.v3 writes text that is not UTF-8 as "!!binary", returned as its plain form. */
static int write_text(struct emitter *e, struct str s, bool is_key, int indent)
{
	if (!e->pretty) {
		if (through_json(e, &s) < 0)
			return -E_INVALID;
	} else if (!utf8_valid(s)) {
		struct value v = json_go_plain(e->a, value_bytes(s));
		write_indicator(e, "!!binary", true, false);
		s = value_text(v);
		write_scalar(e, s, false, is_key, indent);
		return 0;
	}
	write_scalar(e, s, true, is_key, indent);
	return 0;
}

/* One that int64 or uint64 holds. */
static bool is_integer(double f)
{
	return f == floor(f) && f > -9223372036854775808.0 && f < 18446744073709551616.0;
}

static int write_float(struct emitter *e, double f, int indent)
{
	CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
	if (!isfinite(f) && !e->pretty)
		return msg_fail(e->msg, "json: unsupported value");
	if (isnan(f))
		strbuf_adds(&t, ".nan");
	else if (isinf(f))
		strbuf_adds(&t, f > 0 ? ".inf" : "-.inf");
	else if (f == 0 && !e->pretty)
		strbuf_adds(&t, "0");
	else
		value_float_text(&t, f, !e->pretty && is_integer(f) ? 'f' : 'g', 64);
	write_scalar(e, strbuf_str(&t), false, false, indent);
	return 0;
}

static int write_simple(struct emitter *e, struct value v, int indent)
{
	CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
	if (v.type == VALUE_FLOAT)
		return write_float(e, v.f, indent);
	if (v.type == VALUE_NIL)
		strbuf_adds(&t, "null");
	else if (v.type == VALUE_BOOL)
		strbuf_adds(&t, v.b ? "true" : "false");
	else if (v.type == VALUE_UINT64)
		strbuf_addf(&t, "%llu", (unsigned long long)v.u);
	else if (v.type == VALUE_TIME)
		value_time_rfc3339(&t, v);
	else if (v.type == VALUE_COMPLEX)
		return msg_fail(e->msg, "json: unsupported type: complex128");
	else
		strbuf_addf(&t, "%lld", (long long)v.i);
	write_scalar(e, strbuf_str(&t), false, false, indent);
	return 0;
}

/* ---- maps and lists ---- */

static int write_value(struct emitter *e, struct value v, int indent, bool in_map);

static int enter(struct emitter *e)
{
	if (++e->depth <= EMIT_DEPTH_MAX)
		return 0;
	strbuf_addf(e->msg, "yaml: depth over %d", EMIT_DEPTH_MAX);
	return -E_LIMIT;
}

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by EMIT_DEPTH_MAX */
static int write_member(struct emitter *e, const struct vmap_entry *m, int indent)
{
	bool simple = m->key.len <= KEY_BYTES_MAX && !yaml_is_multiline(m->key);
	write_indent(e, indent);
	if (!simple)
		write_indicator(e, "?", true, true);
	if (write_text(e, m->key, simple, indent) < 0)
		return -E_INVALID;
	if (simple) {
		write_indicator(e, ":", false, false);
	} else {
		write_indent(e, indent);
		write_indicator(e, ":", true, true);
	}
	return write_value(e, m->value, indent, true);
}

static int write_map(struct emitter *e, const struct vmap *m, int indent)
{
	size_t n = vmap_count(m);
	if (!n) {
		write_indicator(e, "{}", true, false);
		return 0;
	}
	CLEANUP(xfreep) const struct vmap_entry **keys =
		xcalloc(n, sizeof(const struct vmap_entry *));
	for (size_t i = 0; i < n; i++)
		keys[i] = &m->entries[i];
	yaml_sort_keys(keys, n, e->pretty);
	int inner = indent < 0 ? 0 : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = write_member(e, keys[i], inner);
	e->depth--;
	return rc;
}

/* Fields of a struct keep their order (toYamlPretty only). */
static int write_struct(struct emitter *e, const struct vstruct *st, int indent)
{
	int inner = indent < 0 ? 0 : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < st->type->n_fields; i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(STRBUF_SMALL);
		const char *name = st->type->fields[i].name;
		if (char_is_lower(*name))
			continue;
		for (; *name; name++)
			strbuf_addc(&key, char_lower(*name));
		struct vmap_entry m = {.key = strbuf_str(&key), .value = st->fields[i]};
		rc = write_member(e, &m, inner);
	}
	e->depth--;
	return rc;
}

static int write_list(struct emitter *e, struct value v, int indent, bool in_map)
{
	if (!v.len) {
		write_indicator(e, "[]", true, false);
		return 0;
	}
	bool indentless = in_map && !e->indention && !e->pretty;
	int inner = indent < 0 ? 0 : indentless ? indent : indent + INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < v.len; i++) {
		write_indent(e, inner);
		write_indicator(e, "-", true, true);
		if (v.type == VALUE_BYTES)
			rc = write_simple(e, value_int((unsigned char)v.s[i]), inner);
		else /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): v.len > 0 */
			rc = write_value(e, v.items[i], inner, false);
	}
	e->depth--;
	return rc;
}

static int write_value(struct emitter *e, struct value v, int indent, bool in_map)
{
	if (!e->pretty)
		v = json_go_plain(e->a, v);
	if (v.type == VALUE_STRING)
		return write_text(e, value_text(v), false, indent);
	if (v.type == VALUE_SEMVER) {
		CLEANUP(strbuf_release) struct strbuf t = STRBUF_INIT(STRBUF_SMALL);
		value_semver_text(&t, v);
		return write_text(e, strbuf_str(&t), false, indent);
	}
	if (v.type == VALUE_PTR && !v.st)
		v = VALUE_NONE;
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR)
		return write_struct(e, v.st, indent);
	if (value_is_map(v))
		return v.map || e->pretty ? write_map(e, v.map, indent)
					  : write_simple(e, VALUE_NONE, indent);
	if (v.type == VALUE_BYTES || (value_is_list(v) && (v.items || e->pretty)))
		return write_list(e, v, indent, in_map);
	return write_simple(e, value_is_list(v) ? VALUE_NONE : v, indent);
}
/* NOLINTEND(misc-no-recursion) */

int yaml_emit(struct arena *a, struct value v, enum yaml_emit_style style, struct strbuf *b,
	      struct strbuf *msg)
{
	struct emitter e = {.a = a,
			    .b = b,
			    .msg = msg,
			    .pretty = style == YAML_EMIT_PRETTY,
			    .whitespace = true,
			    .indention = true};
	size_t start = b->len;
	int rc = write_value(&e, v, -1, false);
	if (rc == 0 && (b->len == start || b->buf[b->len - 1] != '\n'))
		strbuf_addc(b, '\n');
	return rc;
}
