/* toml_decode.c: keys, tables and lists of TOML; texts and numbers are toml_scalar.c's. */
#include <string.h>

#include "installers/tmpl/fn/toml_read.h"

/* What is known of a key besides its value. Implicit ones were made on the way to another and may
 * be told of once; a list in brackets may then be replaced. */
enum toml_key_flags { KEY_IMPLICIT = 1, KEY_LIST = 2 };

#define KEY_PARTS_MAX 64
struct key {
	struct str parts[KEY_PARTS_MAX];
	size_t n;
};

static int parse_value(struct toml_reader *r, bool in_list, struct value *ret);

static int fail_header(struct toml_reader *r, bool at_start)
{
	if (at_start && toml_peek(r) == '.')
		return toml_fail(r, "unexpected table separator (table names cannot be empty)");
	if (at_start && (toml_peek(r) == ']' || toml_at_end(r)))
		return toml_fail(r, "unexpected end of table name (table names cannot be empty)");
	return toml_fail_char(r, "expected '.' or ']' to end table name, but got ", " instead");
}

static int fail_key(struct toml_reader *r, bool at_start, bool is_first)
{
	static const char blank_key[] = "unexpected '=': key name appears blank";
	if (r->in_header)
		return fail_header(r, at_start);
	if (at_start && is_first && toml_at_end(r) && !r->bad) /* on the line that is not there */
		return toml_fail_in(r, r->line, blank_key);
	if (at_start && (toml_peek(r) == '=' || toml_at_end(r)))
		return toml_fail(r, is_first ? blank_key : "unexpected '='");
	if (at_start && toml_peek(r) == '.')
		return toml_fail(r, is_first ? "unexpected '.': keys cannot start with a '.'"
					     : "unexpected '.'");
	if (toml_at_end(r))
		return toml_fail(r, "unexpected EOF; expected key separator '='");
	return toml_fail(
		r, arena_fmt(r->a, "expected '.' or '=', but got %s instead", toml_quoted_char(r)));
}

static int parse_key_part(struct toml_reader *r, bool is_first, struct str *ret)
{
	if (toml_peek(r) == '"' || toml_peek(r) == '\'')
		return toml_read_string(r, true, ret);
	size_t start = r->at;
	while (char_is_alnum(toml_peek(r)) || toml_peek(r) == '_' || toml_peek(r) == '-')
		r->at++;
	if (r->at == start)
		return fail_key(r, true, is_first);
	*ret = str_sub(r->s, start, r->at - start);
	return 0;
}

static int parse_key(struct toml_reader *r, struct key *ret)
{
	ret->n = 0;
	for (;;) {
		toml_skip_blanks(r);
		if (ret->n == KEY_PARTS_MAX)
			return toml_fail(r, "key has too many parts");
		r->key_line = ret->n ? r->key_line : r->line;
		if (parse_key_part(r, !ret->n, &ret->parts[ret->n]) < 0)
			return -E_INVALID;
		ret->n++;
		toml_skip_blanks(r);
		if (!toml_take(r, "."))
			return 0;
	}
}

/* ---- tables ---- */

static unsigned flags_of(const struct toml_reader *r, struct str path)
{
	return (unsigned)map_number(r->keys, path.ptr);
}

static void flag(struct toml_reader *r, struct str path, unsigned set, unsigned clear)
{
	map_set_number(r->keys, path.ptr, (flags_of(r, path) | set) & ~clear);
}

/* Of the key whose value is read. The library takes an empty one for the table that it is in. */
static void flag_list(struct toml_reader *r, bool is_list)
{
	struct str path =
		r->key.len || !r->table ? toml_path(r, r->table, r->key, false) : r->table->path;
	flag(r, path, is_list ? KEY_LIST : 0, is_list ? 0 : KEY_LIST);
}

static int fail_key_is(struct toml_reader *r, struct str path, const char *what)
{
	return toml_fail_in(r, r->key_line, arena_fmt(r->a, "Key '%.*s' %s", STR_ARG(path), what));
}

static struct vmap *map_of(const struct toml_reader *r, const struct toml_table *t)
{
	return t ? t->map : r->root;
}

static int set_value(struct toml_reader *r, const struct toml_table *t, struct str name,
		     struct value v)
{
	struct vmap *m = map_of(r, t);
	if (!m) /* of a table: the root has one */
		return fail_key_is(r, t ? t->path : name, "has already been defined.");
	struct str path = toml_path(r, t, name, false);
	unsigned known = flags_of(r, path);
	if (vmap_get(m, name)) {
		if (!(known & KEY_IMPLICIT))
			return fail_key_is(r, path, "has already been defined.");
		flag(r, path, 0, KEY_IMPLICIT);
		if (!(known & KEY_LIST)) /* made on the way; said now, it stays as it is */
			return 0;
	}
	vmap_set(m, name, v);
	return 0;
}

static const struct toml_table *table_of(struct toml_reader *r, const struct toml_table *up,
					 struct str name)
{
	struct toml_table *t = ARENA_NEW(r->a, struct toml_table);
	const struct value *v = vmap_get(map_of(r, up), name);
	*t = (struct toml_table){.up = up, .path = toml_path(r, up, name, false)};
	if (v && v->type == VALUE_MAPS && v->len)
		t->map = v->items[v->len - 1].map;
	else if (v && v->type == VALUE_MAP)
		t->map = v->map;
	return t;
}

/* A further table of a list. Room doubles: it is full where the count is a power of two. */
static int append_table(struct toml_reader *r, const struct toml_table *up, struct str name)
{
	struct vmap *m = map_of(r, up);
	struct value *v = vmap_get(m, name);
	if (v && v->type != VALUE_MAPS)
		return fail_key_is(r, toml_path(r, up, name, false),
				   "was already created and cannot be used as an array.");
	size_t n = v ? v->len : 0;
	struct value list = v ? *v : value_list(r->a, VALUE_MAPS, 1);
	if (n > 0 && (n & (n - 1)) == 0) {
		list = value_list(r->a, VALUE_MAPS, 2 * n);
		memcpy(list.items, v->items, n * sizeof(*list.items));
	}
	list.items[n] = value_map(vmap_new(r->a));
	list.len = (uint32_t)(n + 1);
	vmap_set(m, name, list);
	return 0;
}

/* Makes the table of a key and goes into it. */
static int enter(struct toml_reader *r, const struct toml_table *up, struct str name, bool in_list)
{
	if (up && !up->map)
		return fail_key_is(r, up->path, "was already created as a hash.");
	r->table = up;
	int rc = in_list ? append_table(r, up, name)
			 : set_value(r, up, name, value_map(vmap_new(r->a)));
	if (rc < 0)
		return rc;
	r->table = table_of(r, up, name);
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): parse_value() bounds the depth by TOML_DEPTH_MAX */
/* An element of a list is a value of its own, too: nothing is added to it later. */
static int set_aside(struct toml_reader *r, struct vmap *m, const struct key *k, struct value v)
{
	for (size_t i = 0; i + 1 < k->n; i++) {
		struct value *inner = vmap_get(m, k->parts[i]);
		if (inner && inner->type != VALUE_MAP) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(VALUE_TEXT_MAX);
			value_quote(&b, r->table ? r->table->path : STR(""));
			return toml_fail_in(r, r->key_line,
					    arena_fmt(r->a, "%s is not a table", b.buf));
		}
		struct vmap *child = inner ? inner->map : vmap_new(r->a);
		if (!inner)
			vmap_set(m, k->parts[i], value_map(child));
		m = child;
	}
	vmap_set(m, k->parts[k->n - 1], v);
	return 0;
}

/* aside: of an inline table; NULL at the top. */
static int parse_pair(struct toml_reader *r, struct vmap *aside)
{
	struct key k = {.n = 0};
	struct value v = VALUE_NONE;
	const struct toml_table *outer = r->table;
	if (parse_key(r, &k) < 0)
		return -E_INVALID;
	if (!toml_take(r, "="))
		return fail_key(r, false, false);
	r->key = k.parts[k.n - 1];
	for (size_t i = 0; i + 1 < k.n; i++) {
		flag(r, toml_path(r, r->table, k.parts[i], false), KEY_IMPLICIT, 0);
		if (enter(r, r->table, k.parts[i], false) < 0)
			return -E_INVALID;
	}
	toml_skip_blanks(r);
	if (parse_value(r, false, &v) < 0 || set_value(r, r->table, r->key, v) < 0)
		return -E_INVALID;
	flag_list(r, value_is_list(v));
	if (aside && set_aside(r, aside, &k, v) < 0)
		return -E_INVALID;
	r->table = outer;
	if (!aside) /* messages about what follows in an inline table still name it */
		r->key = STR("");
	return 0;
}

static int parse_inline_pairs(struct toml_reader *r, struct vmap *m)
{
	toml_skip_lines(r);
	while (!toml_take(r, "}")) {
		if (toml_peek(r) == ',')
			return toml_fail(r, "unexpected comma");
		if (parse_pair(r, m) < 0)
			return -E_INVALID;
		toml_skip_lines(r);
		if (!toml_take(r, ",") && toml_peek(r) != '}')
			return toml_fail(r, arena_fmt(r->a,
						      "expected a comma or an inline table "
						      "terminator '}', but got %s instead",
						      toml_plain_char(r)));
		toml_skip_lines(r);
	}
	return 0;
}

static int parse_inline_table(struct toml_reader *r, bool in_list, struct value *ret)
{
	const struct toml_table *outer = r->table;
	struct str key = r->key;
	struct vmap *m = vmap_new(r->a);
	r->at++;
	flag(r, toml_path(r, outer, key, false), KEY_IMPLICIT, 0);
	r->key = outer && !outer->map ? key : STR("");
	if (enter(r, outer, key, in_list) < 0 || parse_inline_pairs(r, m) < 0)
		return -E_INVALID;
	r->table = outer;
	r->key = key;
	*ret = value_map(m);
	return 0;
}

struct items {
	struct value *v;
	size_t n, cap;
};

static void items_release(struct items *l)
{
	xfree(l->v);
}

static int parse_list(struct toml_reader *r, struct value *ret)
{
	CLEANUP(items_release) struct items l = {0};
	r->at++;
	flag_list(r, true);
	toml_skip_lines(r);
	while (!toml_take(r, "]")) {
		if (toml_peek(r) == ',')
			return toml_fail(r, "unexpected comma");
		ARRAY_GROW(l.v, l.cap, l.n + 1);
		if (parse_value(r, true, &l.v[l.n++]) < 0)
			return -E_INVALID;
		toml_skip_lines(r);
		if (!toml_take(r, ",") && toml_peek(r) != ']')
			return toml_fail(r, arena_fmt(r->a,
						      "expected a comma (',') or array terminator "
						      "(']'), but got %s",
						      toml_plain_char(r)));
		toml_skip_lines(r);
	}
	*ret = value_list(r->a, VALUE_LIST, l.n);
	if (l.n)
		memcpy(ret->items, l.v, l.n * sizeof(*l.v));
	return 0;
}

static int parse_value(struct toml_reader *r, bool in_list, struct value *ret)
{
	struct str s;
	if (++r->depth > TOML_DEPTH_MAX)
		return toml_fail(r, "nested too deep");
	int rc = 0;
	if (toml_peek(r) == '"' || toml_peek(r) == '\'') {
		rc = toml_read_string(r, false, &s);
		if (rc == 0)
			*ret = value_str(s);
	} else if (toml_peek(r) == '[') {
		rc = parse_list(r, ret);
	} else if (toml_peek(r) == '{') {
		rc = parse_inline_table(r, in_list, ret);
	} else {
		rc = toml_read_scalar(r, ret);
	}
	r->depth--;
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

static int parse_header(struct toml_reader *r)
{
	struct key k = {.n = 0};
	const struct toml_table *t = NULL;
	bool list = toml_take(r, "[[");
	r->at += !list;
	r->in_header = true;
	if (parse_key(r, &k) < 0)
		return -E_INVALID;
	if (!toml_take(r, "]"))
		return fail_key(r, false, false);
	if (list && !toml_take(r, "]"))
		return toml_fail_char(r, "expected end of table array name delimiter ']', but got ",
				      " instead");
	r->in_header = false;
	for (size_t i = 0; i + 1 < k.n; i++) {
		struct vmap *m = map_of(r, t);
		if (!vmap_get(m, k.parts[i])) {
			flag(r, toml_path(r, t, k.parts[i], false), KEY_IMPLICIT, 0);
			vmap_set(m, k.parts[i], value_map(vmap_new(r->a)));
		}
		t = table_of(r, t, k.parts[i]);
		if (!t->map)
			return fail_key_is(r, t->path, "was already created as a hash.");
	}
	if (enter(r, t, k.parts[k.n - 1], list) < 0)
		return -E_INVALID;
	flag(r, r->table->path, 0, KEY_LIST);
	return 0;
}

static int fail_item_end(struct toml_reader *r)
{
	return toml_fail(r, arena_fmt(r->a,
				      "expected a top-level item to end with a newline, comment, "
				      "or EOF, but got %s instead",
				      toml_quoted_char(r)));
}

static int parse_document(struct toml_reader *r)
{
	for (;;) {
		toml_skip_lines(r);
		if (toml_at_end(r))
			return r->bad ? toml_fail(r, "") : 0;
		int rc = toml_peek(r) == '[' ? parse_header(r) : parse_pair(r, NULL);
		if (rc < 0)
			return rc;
		toml_skip_blanks(r);
		toml_skip_comment(r);
		if (!toml_at_end(r) && toml_peek(r) != '\n' && toml_peek(r) != '\r')
			return fail_item_end(r);
	}
}

int toml_go_decode(struct arena *a, struct str text, struct vmap **ret, struct strbuf *msg)
{
	CLEANUP(map_freep) struct map *keys = map_new(NULL);
	struct toml_reader r = {.a = a, .line = 1, .key_line = 1, .keys = keys, .msg = msg};
	if (text.len > TOML_BYTES_MAX)
		return toml_fail(&r, "text is too large");
	if (str_has_prefix(text, STR("\xff\xfe")) || str_has_prefix(text, STR("\xfe\xff")))
		text = str_skip(text, 2);
	else if (str_has_prefix(text, STR("\xef\xbb\xbf")))
		text = str_skip(text, 3);
	if (memchr(text.ptr, 0, text.len < 6 ? text.len : 6))
		return toml_fail(&r, "files cannot contain NULL bytes; probably using UTF-16; TOML "
				     "files must be UTF-8");
	r.s = text;
	r.root = vmap_new(a);
	toml_find_bad(&r);
	if (parse_document(&r) < 0)
		return -E_INVALID;
	*ret = r.root;
	return 0;
}
