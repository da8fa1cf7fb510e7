/* TOML writing: plain keys first, then tables, each sorted. */
#include <math.h>
#include <string.h>

#include "installers/format/json_go.h"
#include "installers/tmpl/fn/toml_go.h"
#include "installers/value/date.h"
#include "installers/value/msg.h"

struct writer {
	struct arena *a;
	struct strbuf *b, *msg;
	bool written; /* an empty line separates tables only when something stands before */
	int depth;
};

/* The path of a table, innermost last. */
struct path {
	const struct path *up;
	struct str key;
	int len;
};

static int write_table(struct writer *w, const struct path *at, const struct vmap *m);
static int write_element(struct writer *w, struct value v);

static void newline(struct writer *w)
{
	if (w->written)
		strbuf_addc(w->b, '\n');
}

static void write_string(struct strbuf *b, struct str s)
{
	static const char escaped[] = "\"\\\b\t\n\f\r", names[] = "\"\\btnfr";
	strbuf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		const char *found = c ? strchr(escaped, c) : NULL;
		if (found)
			strbuf_addf(b, "\\%c", names[found - escaped]);
		else if (c < 0x20 || c == 0x7f)
			strbuf_addf(b, "\\u%04x", c);
		else
			strbuf_addc(b, (char)c);
	}
	strbuf_addc(b, '"');
}

void toml_write_key(struct strbuf *b, struct str key)
{
	bool bare = key.len > 0;
	for (size_t i = 0; i < key.len; i++)
		bare = bare &&
		       (char_is_alnum(key.ptr[i]) || key.ptr[i] == '_' || key.ptr[i] == '-');
	if (bare)
		strbuf_addstr(b, key);
	else
		write_string(b, key);
}

/* NOLINTBEGIN(misc-no-recursion): write_collection() and write_table() bound the depth by
 * TOML_DEPTH_MAX */
static void write_path(struct strbuf *b, const struct path *at)
{
	if (at->up) {
		write_path(b, at->up);
		strbuf_addc(b, '.');
	}
	toml_write_key(b, at->key);
}
/* NOLINTEND(misc-no-recursion) */

static void indent(struct writer *w, const struct path *at)
{
	strbuf_pad(w->b, ' ', (size_t)(at->len - 1) * 2);
}

/* By its Go names and in their order, whatever JSON makes of it. */
static struct value plain_struct(struct writer *w, const struct vstruct *st)
{
	if (!st)
		return VALUE_NONE;
	struct vmap *m = vmap_new_sized(w->a, st->type->n_fields);
	for (size_t i = 0; i < st->type->n_fields; i++)
		if (!char_is_lower(st->type->fields[i].name[0]))
			vmap_append(m, str_of(st->type->fields[i].name), st->fields[i]);
	return value_map(m);
}

static struct value plain(struct writer *w, struct value v)
{
	if (v.type == VALUE_STRUCT || v.type == VALUE_PTR)
		return plain_struct(w, v.st);
	return v.type == VALUE_SEMVER ? json_go_plain(w->a, v) : v;
}

static bool is_nil(struct value v)
{
	return v.type == VALUE_NIL || (value_is_map(v) && !v.map) || (value_is_list(v) && !v.items);
}

/* *ret: every element is a table, and there is one. A nil element is an error. */
static int check_tables(struct writer *w, struct value v, bool *ret)
{
	*ret = value_is_list(v) && v.len > 0;
	for (size_t i = 0; value_is_list(v) && i < v.len; i++) {
		if (is_nil(v.items[i]))
			return msg_fail(w->msg, "toml: cannot encode array with nil element");
		*ret = *ret && value_is_map(plain(w, v.items[i]));
	}
	return 0;
}

static int is_table(struct writer *w, struct value v, bool *ret)
{
	int rc = check_tables(w, v, ret);
	*ret |= value_is_map(v) && v.map;
	return rc;
}

static int write_float(struct writer *w, double f)
{
	if (isnan(f)) {
		strbuf_adds(w->b, signbit(f) ? "-nan" : "nan");
		return 0;
	}
	if (isinf(f)) {
		strbuf_adds(w->b, f > 0 ? "inf" : "-inf");
		return 0;
	}
	size_t start = w->b->len;
	value_float_text(w->b, f, 'g', 64);
	struct str text = str_skip(strbuf_str(w->b), start);
	if (str_find_char(text, 'e') < 0 && str_find_char(text, '.') < 0)
		strbuf_adds(w->b, ".0");
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): write_collection() and write_table() bound the depth by
 * TOML_DEPTH_MAX */
static int write_inline_list(struct writer *w, struct value v)
{
	strbuf_addc(w->b, '[');
	for (size_t i = 0; i < v.len; i++) {
		if (i)
			strbuf_adds(w->b, ", ");
		if (is_nil(v.items[i]))
			return msg_fail(w->msg, "toml: cannot encode array with nil element");
		int rc = write_element(w, v.items[i]);
		if (rc < 0)
			return rc;
	}
	strbuf_addc(w->b, ']');
	return 0;
}

/* Members that are tables, or those that are none; more: a comma follows the last one, too. */
static int write_members(struct writer *w, const struct vmap *m, bool want_tables, size_t n,
			 bool more)
{
	for (size_t i = 0, k = 0; i < vmap_count(m); i++) {
		bool tables;
		struct value v = plain(w, m->entries[i].value);
		if (is_table(w, v, &tables) < 0)
			return -E_INVALID;
		if (tables != want_tables)
			continue;
		k++;
		if (is_nil(v))
			continue;
		toml_write_key(w->b, m->entries[i].key);
		strbuf_adds(w->b, " = ");
		int rc = write_element(w, v);
		if (rc < 0)
			return rc;
		if (more || k < n)
			strbuf_adds(w->b, ", ");
	}
	return 0;
}

static int write_inline_table(struct writer *w, const struct vmap *m)
{
	size_t n_tables = 0, n = vmap_count(m);
	for (size_t i = 0; i < n; i++) {
		bool tables;
		if (is_table(w, plain(w, m->entries[i].value), &tables) < 0)
			return -E_INVALID;
		n_tables += tables;
	}
	strbuf_addc(w->b, '{');
	int rc = write_members(w, m, false, n - n_tables, n_tables > 0);
	if (rc == 0)
		rc = write_members(w, m, true, n_tables, false);
	strbuf_addc(w->b, '}');
	return rc;
}

static int write_collection(struct writer *w, struct value v)
{
	if (++w->depth > TOML_DEPTH_MAX)
		return msg_fail(w->msg, "toml: nested too deep");
	int rc = value_is_map(v) ? write_inline_table(w, v.map) : write_inline_list(w, v);
	w->depth--;
	return rc;
}

static void write_time(struct strbuf *b, const struct vtime *t)
{
	static const struct {
		const char *zone, *layout;
	} rows[] = {{TOML_LOCAL_DATETIME, "2006-01-02T15:04:05.999999999"},
		    {TOML_LOCAL_DATE, "2006-01-02"},
		    {TOML_LOCAL_TIME, "15:04:05.999999999"}};
	const char *layout = "2006-01-02T15:04:05.999999999Z07:00", *zone = "";
	int offset;
	zone_lookup(t->zone ? t->zone : &date_utc, t->sec, &offset, &zone);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(zone, rows[i].zone) == 0)
			layout = rows[i].layout;
	date_format(b, t, str_of(layout));
}

static int write_element(struct writer *w, struct value v)
{
	v = plain(w, v);
	w->written = true;
	if (value_is_map(v) || value_is_list(v))
		return write_collection(w, v);
	if (v.type == VALUE_STRING)
		write_string(w->b, value_text(v));
	else if (v.type == VALUE_BOOL)
		strbuf_adds(w->b, v.b ? "true" : "false");
	else if (v.type == VALUE_FLOAT)
		return write_float(w, v.f);
	else if (v.type == VALUE_UINT64)
		strbuf_addf(w->b, "%llu", (unsigned long long)v.u);
	else if (v.type == VALUE_TIME)
		write_time(w->b, v.t);
	else if (v.type == VALUE_BYTES)
		return write_collection(w, json_go_plain(w->a, v));
	else if (v.type == VALUE_COMPLEX)
		return msg_fail(w->msg, "toml: unsupported type: complex128");
	else
		strbuf_addf(w->b, "%lld", (long long)v.i);
	return 0;
}

static int write_pair(struct writer *w, const struct path *at, struct value v)
{
	indent(w, at);
	toml_write_key(w->b, at->key);
	strbuf_adds(w->b, " = ");
	int rc = write_element(w, v);
	newline(w);
	return rc;
}

static int write_header(struct writer *w, const struct path *at, const char *open,
			const char *close)
{
	indent(w, at);
	strbuf_adds(w->b, open);
	write_path(w->b, at);
	strbuf_adds(w->b, close);
	w->written = true;
	newline(w);
	return 0;
}

static int write_tables(struct writer *w, const struct path *at, struct value v)
{
	for (size_t i = 0; i < v.len; i++) {
		newline(w);
		write_header(w, at, "[[", "]]");
		int rc = write_table(w, at, plain(w, v.items[i]).map);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_entry(struct writer *w, const struct path *at, struct value v, bool tables)
{
	if (tables && value_is_list(v))
		return write_tables(w, at, v);
	if (!value_is_map(v))
		return write_pair(w, at, v);
	if (at->len == 1)
		newline(w);
	write_header(w, at, "[", "]");
	return write_table(w, at, v.map);
}

static int write_pass(struct writer *w, const struct path *at, const struct vmap *m,
		      bool want_tables)
{
	for (size_t i = 0; i < vmap_count(m); i++) {
		struct value v = plain(w, m->entries[i].value);
		bool tables;
		if (is_nil(v))
			continue;
		if (check_tables(w, v, &tables) < 0)
			return -E_INVALID;
		if ((tables || value_is_map(v)) != want_tables)
			continue;
		struct path p = {at, m->entries[i].key, at ? at->len + 1 : 1};
		int rc = write_entry(w, &p, v, tables);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_table(struct writer *w, const struct path *at, const struct vmap *m)
{
	if (++w->depth > TOML_DEPTH_MAX)
		return msg_fail(w->msg, "toml: nested too deep");
	int rc = write_pass(w, at, m, false);
	if (rc == 0)
		rc = write_pass(w, at, m, true);
	w->depth--;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

int toml_go_encode(struct arena *a, struct value v, struct strbuf *b, struct strbuf *msg)
{
	struct writer w = {.a = a, .b = b, .msg = msg};
	bool tables;
	v = plain(&w, v);
	if (value_is_map(v))
		return write_table(&w, NULL, v.map);
	if (check_tables(&w, v, &tables) < 0)
		return -E_INVALID;
	if (tables)
		return msg_fail(w.msg, "toml: top-level values must be Go maps or structs");
	return write_element(&w, v);
}
