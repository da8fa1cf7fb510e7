/* json_go_write: values as Go's encoding/json writes them (json_go.h). */
#include "installers/format/json_go.h"

#include <math.h>
#include <string.h>

#include "alm/base/hash.h"

struct writer {
	struct strbuf *b, *msg;
	unsigned flags;
	int depth;
};

static int write_value(struct writer *w, struct value v);

static void write_string(struct writer *w, struct str s)
{
	static const char hex[] = "0123456789abcdef";
	strbuf_addc(w->b, '"');
	for (size_t i = 0; i < s.len;) {
		unsigned char c = (unsigned char)s.ptr[i];
		uint32_t rune = c;
		size_t n = c < 0x80 ? 1 : utf8_decode(str_skip(s, i), &rune);
		const char *named = memchr("\"\\\b\f\n\r\t", c, 7);
		if (!n) {
			strbuf_adds(w->b, "\\ufffd");
			n = 1;
		} else if (named && c) {
			strbuf_addc(w->b, '\\');
			strbuf_addc(w->b,
				    "\"\\bfnrt"[strchr("\"\\\b\f\n\r\t", c) - "\"\\\b\f\n\r\t"]);
		} else if (c < 0x20 || (!(w->flags & JSON_GO_RAW) && memchr("<>&", c, 3))) {
			strbuf_adds(w->b, "\\u00");
			strbuf_addc(w->b, hex[c >> 4]);
			strbuf_addc(w->b, hex[c & 15]);
		} else if (rune == 0x2028 || rune == 0x2029) {
			strbuf_addf(w->b, "\\u%04x", rune);
		} else {
			strbuf_add(w->b, s.ptr + i, n);
		}
		i += n;
	}
	strbuf_addc(w->b, '"');
}

static void newline(struct writer *w)
{
	if (!(w->flags & JSON_GO_PRETTY))
		return;
	strbuf_addc(w->b, '\n');
	strbuf_pad(w->b, ' ', (size_t)w->depth * 2);
}

static void write_key(struct writer *w, struct str key, bool first)
{
	if (!first)
		strbuf_addc(w->b, ',');
	newline(w);
	write_string(w, key);
	strbuf_adds(w->b, w->flags & JSON_GO_PRETTY ? ": " : ":");
}

static int open_level(struct writer *w, char c)
{
	if (++w->depth > VALUE_DEPTH_MAX) {
		strbuf_addf(w->msg, "json: depth over %d", VALUE_DEPTH_MAX);
		return -E_LIMIT;
	}
	strbuf_addc(w->b, c);
	return 0;
}

static void close_level(struct writer *w, bool empty, char c)
{
	w->depth--;
	if (!empty)
		newline(w);
	strbuf_addc(w->b, c);
}

/* NOLINTBEGIN(misc-no-recursion): open_level() bounds the depth by VALUE_DEPTH_MAX */
static int write_map(struct writer *w, const struct vmap *m)
{
	if (!m) {
		strbuf_adds(w->b, "null");
		return 0;
	}
	int rc = open_level(w, '{');
	for (size_t i = 0; rc == 0 && i < m->n; i++) {
		write_key(w, m->entries[i].key, i == 0);
		rc = write_value(w, m->entries[i].value);
	}
	close_level(w, m->n == 0, '}');
	return rc;
}

static int write_list(struct writer *w, struct value v)
{
	if (!v.items) {
		strbuf_adds(w->b, "null");
		return 0;
	}
	int rc = open_level(w, '[');
	for (size_t i = 0; rc == 0 && i < v.len; i++) {
		if (i)
			strbuf_addc(w->b, ',');
		newline(w);
		rc = write_value(w, v.items[i]);
	}
	close_level(w, v.len == 0, ']');
	return rc;
}

static bool is_empty(struct value v)
{
	return !value_truth(v) && v.type != VALUE_STRUCT;
}

static int write_struct(struct writer *w, const struct vstruct *st)
{
	if (!st) {
		strbuf_adds(w->b, "null");
		return 0;
	}
	int rc = open_level(w, '{');
	bool first = true;
	for (size_t i = 0; rc == 0 && i < st->type->n_fields; i++) {
		const struct vfield *f = &st->type->fields[i];
		if ((f->omitempty && is_empty(st->fields[i])) || char_is_lower(f->name[0]))
			continue;
		write_key(w, str_of(f->json ? f->json : f->name), first);
		first = false;
		rc = write_value(w, st->fields[i]);
	}
	close_level(w, first, '}');
	return rc;
}

static int write_float(struct writer *w, double f)
{
	if (isfinite(f)) {
		value_float_json(w->b, f);
		return 0;
	}
	strbuf_addf(w->msg, "json: unsupported value: %s",
		    isnan(f) ? "NaN"
		    : f > 0  ? "+Inf"
			     : "-Inf");
	return -E_INVALID;
}

static void write_bytes(struct writer *w, struct str s)
{
	if (!s.ptr) {
		strbuf_adds(w->b, "null");
		return;
	}
	strbuf_addc(w->b, '"');
	base64_encode(s, w->b);
	strbuf_addc(w->b, '"');
}

static int write_value(struct writer *w, struct value v)
{
	switch ((enum value_type)v.type) {
	case VALUE_NIL:
		strbuf_adds(w->b, "null");
		return 0;
	case VALUE_BOOL:
		strbuf_adds(w->b, v.b ? "true" : "false");
		return 0;
	case VALUE_INT:
	case VALUE_INT64:
	case VALUE_MONTH:
	case VALUE_WEEKDAY:
	case VALUE_DURATION:
	case VALUE_UINT8:
		strbuf_addf(w->b, "%lld", (long long)v.i);
		return 0;
	case VALUE_UINT64:
		strbuf_addf(w->b, "%llu", (unsigned long long)v.u);
		return 0;
	case VALUE_FLOAT:
		return write_float(w, v.f);
	case VALUE_STRING:
		write_string(w, value_text(v));
		return 0;
	case VALUE_BYTES:
		if (v.s)
			write_bytes(w, value_text(v));
		else
			strbuf_adds(w->b, "null");
		return 0;
	case VALUE_LIST:
	case VALUE_STRINGS:
	case VALUE_INTS:
	case VALUE_LISTS:
	case VALUE_MAPS:
	case VALUE_VERSIONS:
	case VALUE_STRUCTS:
		return write_list(w, v);
	case VALUE_MAP:
	case VALUE_VALUES:
	case VALUE_STRMAP:
	case VALUE_FILES:
		return write_map(w, v.map);
	case VALUE_STRUCT:
	case VALUE_PTR:
		return write_struct(w, v.st);
	case VALUE_TIME:
		strbuf_addc(w->b, '"');
		value_time_rfc3339(w->b, v);
		strbuf_addc(w->b, '"');
		return 0;
	case VALUE_SEMVER:
		strbuf_addc(w->b, '"');
		value_semver_text(w->b, v);
		strbuf_addc(w->b, '"');
		return 0;
	case VALUE_COMPLEX:
	case VALUE_TYPES:
		break;
	}
	strbuf_adds(w->msg, "json: unsupported type: complex128");
	return -E_INVALID;
}
/* NOLINTEND(misc-no-recursion) */

int json_go_encode(struct value v, unsigned flags, struct strbuf *b, struct strbuf *msg)
{
	struct writer w = {.b = b, .msg = msg, .flags = flags};
	return write_value(&w, v);
}

static struct value plain_struct(struct arena *a, const struct vstruct *st)
{
	if (!st)
		return VALUE_NONE;
	struct vmap *m = vmap_new_sized(a, st->type->n_fields);
	for (size_t i = 0; i < st->type->n_fields; i++) {
		const struct vfield *f = &st->type->fields[i];
		if ((f->omitempty && is_empty(st->fields[i])) || char_is_lower(f->name[0]))
			continue;
		vmap_setc(m, f->json ? f->json : f->name, st->fields[i]);
	}
	return value_map(m);
}

struct value json_go_plain(struct arena *a, struct value v)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(JSON_GO_BYTES_MAX * 2);
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR)
		return plain_struct(a, v.st);
	if (v.type == VALUE_BYTES && !v.s)
		return VALUE_NONE;
	if (v.type == VALUE_BYTES)
		base64_encode(value_text(v), &b);
	else if (v.type == VALUE_TIME)
		value_time_rfc3339(&b, v);
	else if (v.type == VALUE_SEMVER)
		value_semver_text(&b, v);
	else
		return v;
	return value_take(a, &b);
}
