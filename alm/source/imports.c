#include "alm/source/imports.h"

#include "alm/base/strbuf.h"

/* ---- the scanner ---- */

struct scan {
	struct arena *a;
	struct str rest;
	int line;
	bool broken; /* a string or comment without its end */
};

static char peek(const struct scan *s, size_t at)
{
	return at < s->rest.len ? s->rest.ptr[at] : '\0';
}

static void take(struct scan *s, size_t n)
{
	struct str piece = str_sub(s->rest, 0, n);
	for (size_t i = 0; i < piece.len; i++)
		s->line += piece.ptr[i] == '\n';
	s->rest = str_skip(s->rest, n);
}

static bool skip_to(struct scan *s, struct str end)
{
	ptrdiff_t at = str_find(s->rest, end);
	s->broken = at < 0;
	take(s, at < 0 ? s->rest.len : (size_t)at + end.len);
	return !s->broken;
}

static void skip_line(struct scan *s)
{
	ptrdiff_t lf = str_find_char(s->rest, '\n');
	take(s, lf < 0 ? s->rest.len : (size_t)lf + 1);
}

/* Blanks and comments. */
static void skip_space(struct scan *s)
{
	while (s->rest.len && !s->broken) {
		if (char_is_space(peek(s, 0))) {
			take(s, 1);
		} else if (peek(s, 0) == '#' || (peek(s, 0) == '/' && peek(s, 1) == '/')) {
			skip_line(s);
		} else if (peek(s, 0) == '/' && peek(s, 1) == '*') {
			take(s, 2);
			skip_to(s, STR("*/"));
		} else {
			return;
		}
	}
}

static bool read_hex4(struct str s, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		char c = char_lower(s.ptr[i]);
		if (!char_is_hex(c))
			return false;
		v = v * 16 + (uint32_t)(char_is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

/* After the backslash; bytes taken, 0: no escape of Jsonnet. */
static size_t add_escape(struct str s, struct strbuf *b)
{
	static const char from[] = "\"'\\/bfnrt", to[] = "\"'\\/\b\f\n\r\t";
	char utf8[4];
	uint32_t rune;
	const char *at = s.len ? memchr(from, s.ptr[0], sizeof(from) - 1) : NULL;
	if (at) {
		strbuf_addc(b, to[at - from]);
		return 1;
	}
	if (!s.len || s.ptr[0] != 'u' || !read_hex4(str_skip(s, 1), &rune))
		return 0;
	strbuf_add(b, utf8, utf8_encode(rune, utf8));
	return 5;
}

/* A string with the delimiter q; verbatim: twice q stands for one, and nothing else is special. */
static bool read_string(struct scan *s, char q, bool verbatim, struct strbuf *b)
{
	take(s, 1);
	while (s->rest.len) {
		char c = peek(s, 0);
		size_t n = 1;
		if (c == q && !(verbatim && peek(s, 1) == q)) {
			take(s, 1);
			return true;
		}
		if (c == q) {
			strbuf_addc(b, q);
			n = 2;
		} else if (c == '\\' && !verbatim) {
			size_t used = add_escape(str_skip(s->rest, 1), b);
			n = 1 + used;
			s->broken = !used;
		} else {
			strbuf_addc(b, c);
		}
		if (s->broken)
			return false;
		take(s, n);
	}
	s->broken = true;
	return false;
}

static size_t indent_of(struct str line)
{
	size_t n = 0;
	while (n < line.len && (line.ptr[n] == ' ' || line.ptr[n] == '\t'))
		n++;
	return n;
}

/* ||| or |||-, a line end, lines with the indent of the first one, and ||| with less of it. */
static void skip_block(struct scan *s)
{
	take(s, 3);
	skip_line(s);
	while (peek(s, 0) == '\n' || (peek(s, 0) == '\r' && peek(s, 1) == '\n'))
		skip_line(s);
	struct str indent = str_sub(s->rest, 0, indent_of(s->rest));
	s->broken = !indent.len;
	while (!s->broken && (str_has_prefix(s->rest, indent) || peek(s, 0) == '\n' ||
			      (peek(s, 0) == '\r' && peek(s, 1) == '\n')))
		skip_line(s);
	take(s, indent_of(s->rest));
	s->broken = s->broken || !str_has_prefix(s->rest, STR("|||"));
	take(s, 3);
}

static bool is_word(char c)
{
	return char_is_alnum(c) || c == '_';
}

static struct str read_word(struct scan *s)
{
	size_t n = 0;
	while (n < s->rest.len && is_word(s->rest.ptr[n]))
		n++;
	struct str word = str_sub(s->rest, 0, n);
	take(s, n);
	return word;
}

/* The literal that follows, if one does: true, and its text is in b. */
static bool read_literal(struct scan *s, struct strbuf *b)
{
	bool verbatim = peek(s, 0) == '@' && (peek(s, 1) == '"' || peek(s, 1) == '\'');
	if (verbatim)
		take(s, 1);
	char q = peek(s, 0);
	return (q == '"' || q == '\'') && read_string(s, q, verbatim, b);
}

static int add_import(struct scan *s, enum import_kind kind, struct import_refs *ret,
		      struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(IMPORT_PATH_MAX);
	skip_space(s);
	int line = s->line;
	if (!read_literal(s, &b))
		return 0;
	if (b.over || memchr(b.buf, '\0', b.len))
		return error_set(err, E_INVALID,
				 "line %d: import: a path of at most %d bytes without NUL is "
				 "wanted",
				 line, IMPORT_PATH_MAX);
	if (ret->n == IMPORTS_MAX)
		return error_set(err, E_LIMIT, "line %d: more than %d imports", line, IMPORTS_MAX);
	ARENA_GROW(s->a, ret->items, ret->cap, ret->n, 16);
	ret->items[ret->n++] = (struct import_ref){
		.path = arena_strndup(s->a, b.buf, b.len), .kind = kind, .line = line};
	return 0;
}

static int scan_word(struct scan *s, struct import_refs *ret, struct error *err)
{
	struct str word = read_word(s);
	if (str_is(word, "import"))
		return add_import(s, IMPORT_CODE, ret, err);
	if (str_is(word, "importstr"))
		return add_import(s, IMPORT_STR, ret, err);
	if (str_is(word, "importbin"))
		return add_import(s, IMPORT_BIN, ret, err);
	return 0;
}

int imports_scan(struct arena *a, struct str text, struct import_refs *ret, struct error *err)
{
	struct scan s = {.a = a, .rest = text, .line = 1};
	*ret = (struct import_refs){0};
	for (skip_space(&s); s.rest.len && !s.broken; skip_space(&s)) {
		CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(IMPORT_PATH_MAX);
		if (str_has_prefix(s.rest, STR("|||")))
			skip_block(&s);
		else if (is_word(peek(&s, 0))) {
			if (scan_word(&s, ret, err) < 0)
				return -err->code;
		} else if (peek(&s, 0) == '"' || peek(&s, 0) == '\'' || peek(&s, 0) == '@') {
			if (!read_literal(&s, &ignored) && !s.broken)
				take(&s, 1);
		} else {
			take(&s, 1);
		}
	}
	return 0;
}

/* ---- paths ---- */

const char *import_runtime(const char *path)
{
	static const char *const prefixes[] = {"alm-runtime/", "locutus-runtime/"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (cstr_has_prefix(path, prefixes[i]))
			return path + strlen(prefixes[i]);
	return cstr_eq(path, "generic-operator/config") ? "config" : "";
}

/* Drops the last name of a relative path; one that ends in ".." gets another. */
static void go_up(struct strbuf *b)
{
	struct str head, base, s = strbuf_str(b);
	bool nested = str_rcut(s, '/', &head, &base);
	if (!nested)
		base = s;
	if (str_is(base, "..") || !s.len)
		strbuf_adds(b, s.len ? "/.." : "..");
	else
		strbuf_truncate(b, nested ? head.len : 0);
}

char *import_normal(struct arena *a, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str rest = str_of(path), name;
	bool absolute = *path == '/';
	while (str_next(&rest, '/', &name)) {
		if (!name.len || str_is(name, "."))
			continue;
		if (!str_is(name, "..")) {
			strbuf_adds(&b, b.len ? "/" : "");
			strbuf_addstr(&b, name);
		} else if (!absolute || b.len) {
			go_up(&b);
		}
	}
	return arena_fmt(a, "%s%s", absolute ? "/" : "", b.buf);
}

static bool is_below(const char *root, const char *path)
{
	size_t n = strlen(root);
	if (!n)
		return *path != '/' && !cstr_eq(path, "..") && !cstr_has_prefix(path, "../");
	return cstr_has_prefix(path, root) && (root[n - 1] == '/' || path[n] == '/');
}

const char *import_root(const struct import_roots *r, struct arena *a, const char *path)
{
	const char *tree = import_normal(a, r->tree);
	if (is_below(tree, path))
		return tree;
	for (size_t i = 0; i < r->n_jpath; i++) {
		const char *root = import_normal(a, r->jpath[i]);
		if (is_below(root, path))
			return root;
	}
	return NULL;
}

char *import_place(const struct import_roots *r, struct arena *a, const char *base,
		   const char *path, size_t i)
{
	if (i > r->n_jpath || (*path == '/' && i))
		return NULL;
	if (*path == '/')
		return import_normal(a, path);
	if (!i)
		return import_normal(a, arena_fmt(a, "%s%s", base, path));
	return import_normal(a, arena_fmt(a, "%s/%s", r->jpath[r->n_jpath - i], path));
}

char *import_base(struct arena *a, const char *file)
{
	struct str head, base;
	if (!str_rcut(str_of(file), '/', &head, &base))
		return arena_strdup(a, "");
	return arena_strndup(a, file, head.len + 1);
}
