/* yaml_emit: values as maps, lists and scalars; yaml_put.h has the characters. */
#include "installers/format/yaml_emit.h"

#include <math.h>

#include "installers/format/json_go.h"
#include "installers/format/yaml_put.h"
#include "installers/format/yaml_style.h"
#include "installers/value/msg.h"

#define KEY_BYTES_MAX  128 /* longer keys become "? key" */
#define EMIT_DEPTH_MAX 1000

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
			return msg_fail(e->msg, "yaml: control characters are not allowed");
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
		yaml_put_indicator(e, "!!binary", true, false);
		s = value_text(v);
		yaml_put_scalar(e, s, false, is_key, indent);
		return 0;
	}
	yaml_put_scalar(e, s, true, is_key, indent);
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
	yaml_put_scalar(e, strbuf_str(&t), false, false, indent);
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
	yaml_put_scalar(e, strbuf_str(&t), false, false, indent);
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
	yaml_put_indent(e, indent);
	if (!simple)
		yaml_put_indicator(e, "?", true, true);
	if (write_text(e, m->key, simple, indent) < 0)
		return -E_INVALID;
	if (simple) {
		yaml_put_indicator(e, ":", false, false);
	} else {
		yaml_put_indent(e, indent);
		yaml_put_indicator(e, ":", true, true);
	}
	return write_value(e, m->value, indent, true);
}

static int write_map(struct emitter *e, const struct vmap *m, int indent)
{
	size_t n = m ? vmap_count(m) : 0;
	if (!n) {
		yaml_put_indicator(e, "{}", true, false);
		return 0;
	}
	CLEANUP(xfreep) const struct vmap_entry **keys =
		xcalloc(n, sizeof(const struct vmap_entry *));
	for (size_t i = 0; i < n; i++)
		keys[i] = &m->entries[i];
	yaml_sort_keys(keys, n, e->pretty);
	int inner = indent < 0 ? 0 : indent + YAML_INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = write_member(e, keys[i], inner);
	e->depth--;
	return rc;
}

/* Fields of a struct keep their order (toYamlPretty only). */
static int write_struct(struct emitter *e, const struct vstruct *st, int indent)
{
	int inner = indent < 0 ? 0 : indent + YAML_INDENT;
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
		yaml_put_indicator(e, "[]", true, false);
		return 0;
	}
	bool indentless = in_map && !e->indention && !e->pretty;
	int inner = indent < 0 ? 0 : indentless ? indent : indent + YAML_INDENT;
	int rc = enter(e);
	for (size_t i = 0; rc == 0 && i < v.len; i++) {
		yaml_put_indent(e, inner);
		yaml_put_indicator(e, "-", true, true);
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
