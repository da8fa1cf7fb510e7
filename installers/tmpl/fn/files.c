#include "installers/tmpl/fn/files.h"

#include <string.h>

#include "alm/base/hash.h"
#include "installers/format/yaml_emit.h"
#include "installers/value/unicode.h"

#define GLOB_DEPTH_MAX 64
#define GLOB_STEPS_MAX 1000000

/* ---- glob ---- */
struct glob {
	int steps, depth;
};

static bool match(struct glob *g, struct str p, struct str s);

/* Length of {...} with nested braces and escapes, or 0. */
static size_t brace_length(struct str p)
{
	int depth = 0;
	for (size_t i = 0; i < p.len; i++) {
		if (p.ptr[i] == '\\')
			i++;
		else if (p.ptr[i] == '{')
			depth++;
		else if (p.ptr[i] == '}' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): match() bounds the depth by GLOB_DEPTH_MAX */
/* One alternative after the other, each followed by the rest of the pattern. */
static bool match_braces(struct glob *g, struct str p, struct str s)
{
	size_t len = brace_length(p), from = 1;
	int depth = 0;
	struct str rest = str_skip(p, len);
	for (size_t i = 1; i < len; i++) {
		char c = p.ptr[i];
		if (c == '\\') {
			i++;
			continue;
		}
		if ((c == ',' && depth == 0) || i == len - 1) {
			CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
			strbuf_add(&b, p.ptr + from, i - from);
			strbuf_addstr(&b, rest);
			if (match(g, strbuf_str(&b), s))
				return true;
			from = i + 1;
		}
		depth += c == '{';
		depth -= c == '}';
	}
	return false;
}

/* [ab], [a-z], [!a]: bytes of pattern used, 0 if it does not match r. */
static size_t match_class(struct str p, uint32_t r)
{
	size_t i = 1;
	bool negate = i < p.len && p.ptr[i] == '!', in = false;
	i += negate;
	uint32_t last = 0;
	bool have = false;
	while (i < p.len && p.ptr[i] != ']') {
		if (p.ptr[i] == '-' && have && i + 1 < p.len && p.ptr[i + 1] != ']') {
			uint32_t hi;
			i++;
			i += rune_next(str_skip(p, i), &hi);
			in = in || (r >= last && r <= hi);
			have = false;
			continue;
		}
		if (p.ptr[i] == '\\' && i + 1 < p.len)
			i++;
		i += rune_next(str_skip(p, i), &last);
		have = true;
		in = in || r == last;
	}
	return in != negate ? i + 1 : 0;
}

static bool match_star(struct glob *g, struct str p, struct str s)
{
	bool crosses = p.len > 1 && p.ptr[1] == '*';
	struct str rest = str_skip(p, crosses ? 2 : 1);
	for (size_t i = 0;; i++) {
		if (match(g, rest, str_skip(s, i)))
			return true;
		if (i >= s.len || (!crosses && s.ptr[i] == '/'))
			return false;
	}
}

/* One of ?, [ab], \\c or c against the rune at s: bytes of the pattern and of s that it uses. */
static bool match_one(struct str p, struct str s, size_t *ret_p, size_t *ret_s)
{
	uint32_t r;
	size_t n = rune_next(s, &r);
	*ret_p = 1;
	*ret_s = n;
	if (p.ptr[0] == '?')
		return r != '/';
	if (p.ptr[0] == '[') {
		*ret_p = match_class(p, r);
		return *ret_p > 0;
	}
	bool quoted = p.ptr[0] == '\\' && p.len > 1;
	*ret_p = quoted ? 2 : 1;
	*ret_s = 1;
	return p.ptr[quoted] == s.ptr[0];
}

static bool match_here(struct glob *g, struct str p, struct str s)
{
	while (p.len) {
		if (++g->steps > GLOB_STEPS_MAX)
			return false;
		if (p.ptr[0] == '*')
			return match_star(g, p, s);
		if (p.ptr[0] == '{')
			return match_braces(g, p, s);
		size_t used, n;
		if (!s.len || !match_one(p, s, &used, &n))
			return false;
		p = str_skip(p, used);
		s = str_skip(s, n);
	}
	return s.len == 0;
}

static bool match(struct glob *g, struct str p, struct str s)
{
	if (g->depth >= GLOB_DEPTH_MAX || g->steps > GLOB_STEPS_MAX)
		return false;
	g->depth++;
	bool yes = match_here(g, p, s);
	g->depth--;
	return yes;
}
/* NOLINTEND(misc-no-recursion) */

/* Braces and brackets in pairs. */
static bool is_pattern(struct str p)
{
	int braces = 0;
	for (size_t i = 0; i < p.len; i++) {
		char c = p.ptr[i];
		if (c == '\\') {
			if (++i >= p.len)
				return false;
		} else if (c == '[') {
			size_t start = i;
			while (i < p.len && p.ptr[i] != ']')
				i++;
			if (i >= p.len || i == start + 1)
				return false;
		} else if (c == '{') {
			braces++;
		} else if (c == '}' && --braces < 0) {
			return false;
		}
	}
	return braces == 0;
}

bool files_glob_match(struct str pattern, struct str path)
{
	struct glob g = {0};
	return !is_pattern(pattern) || match(&g, pattern, path);
}

/* ---- methods ---- */
static struct str bytes_of(const struct value *args)
{
	const struct value *v = vmap_get(args[0].map, value_text(args[1]));
	return v ? value_text(*v) : STR("");
}

static int files_get(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_str(bytes_of(args));
	return 0;
}

static int files_get_bytes(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)run;
	(void)n;
	*ret = value_bytes(bytes_of(args));
	return 0;
}

static int files_lines(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	const struct value *v = vmap_get(args[0].map, value_text(args[1]));
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, 0);
	if (!v)
		return 0;
	struct str s = value_text(*v);
	if (s.len == 0)
		return tmpl_fail(run, "runtime error: index out of range [-1]");
	if (s.ptr[s.len - 1] == '\n')
		s.len--;
	size_t count = 1;
	for (size_t i = 0; i < s.len; i++)
		count += s.ptr[i] == '\n';
	int r = tmpl_want_list(run, count);
	if (r < 0)
		return r;
	*ret = value_list(tmpl_arena(run), VALUE_STRINGS, count);
	struct str line;
	for (size_t i = 0; i < count && str_next(&s, '\n', &line); i++)
		ret->items[i] = value_str(line);
	return 0;
}

static int files_glob(struct tmpl_run *run, const struct value *args, size_t n, struct value *ret)
{
	(void)n;
	struct vmap *m = vmap_new(tmpl_arena(run));
	for (size_t i = 0; i < vmap_count(args[0].map); i++) {
		const struct vmap_entry *e = &args[0].map->entries[i];
		if (files_glob_match(value_text(args[1]), e->key))
			vmap_set(m, e->key, e->value);
	}
	*ret = value_map_as(m, VALUE_FILES);
	return 0;
}

/* toYaml of base name -> text, or its base64. */
static int as_map(struct tmpl_run *run, struct value files, bool base64, struct value *ret)
{
	struct arena *a = tmpl_arena(run);
	struct vmap *m = vmap_new(a);
	for (size_t i = 0; i < vmap_count(files.map); i++) {
		const struct vmap_entry *e = &files.map->entries[i];
		ptrdiff_t slash = str_rfind_char(e->key, '/');
		struct value text = value_str(value_text(e->value));
		if (base64) {
			CLEANUP(strbuf_release) struct strbuf b =
				STRBUF_INIT(2 * (size_t)text.len + 8);
			base64_encode(value_text(text), &b);
			text = value_take(a, &b);
		}
		vmap_set(m, str_skip(e->key, (size_t)(slash + 1)), text);
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	if (yaml_emit(a, value_map(m), YAML_EMIT_HELM, &b, &msg) < 0)
		strbuf_clear(&b);
	if (b.len && b.buf[b.len - 1] == '\n')
		strbuf_truncate(&b, b.len - 1);
	return tmpl_return(run, &b, ret);
}

static int files_as_config(struct tmpl_run *run, const struct value *args, size_t n,
			   struct value *ret)
{
	(void)n;
	return as_map(run, args[0], false, ret);
}

static int files_as_secrets(struct tmpl_run *run, const struct value *args, size_t n,
			    struct value *ret)
{
	(void)n;
	return as_map(run, args[0], true, ret);
}

/* clang-format off */
const struct tmpl_func files_methods[] = {
	{"Get", "s:s", files_get, 0},
	{"GetBytes", "s:S", files_get_bytes, 0},
	{"Lines", "s:S", files_lines, 0},
	{"Glob", "s:m", files_glob, 0},
	{"AsConfig", ":s", files_as_config, 0},
	{"AsSecrets", ":s", files_as_secrets, 0},
	{0},
};
/* clang-format on */
