/* fn_misc: defaults, types, base64 and base32, URLs, paths, versions. */

#include "alm/base/hash.h"
#include "installers/tmpl/cast.h"
#include "installers/tmpl/fn/fn.h"
#include "installers/tmpl/fn/semver.h"
#include "installers/tmpl/fn/url.h"

/* ---- defaults and logic ---- */
FN(fn_default)
{
	(void)run;
	*ret = n < 2 || value_is_empty(args[1]) ? args[0] : args[1];
	return 0;
}

FN(fn_empty)
{
	(void)run;
	(void)n;
	*ret = value_bool(value_is_empty(args[0]));
	return 0;
}

FN(fn_coalesce)
{
	(void)run;
	for (size_t i = 0; i < n; i++) {
		if (!value_is_empty(args[i])) {
			*ret = args[i];
			break;
		}
	}
	return 0;
}

FN(fn_all)
{
	(void)run;
	bool yes = true;
	for (size_t i = 0; i < n; i++)
		yes = yes && !value_is_empty(args[i]);
	*ret = value_bool(yes);
	return 0;
}

FN(fn_any)
{
	(void)run;
	bool yes = false;
	for (size_t i = 0; i < n; i++)
		yes = yes || !value_is_empty(args[i]);
	*ret = value_bool(yes);
	return 0;
}

FN(fn_ternary)
{
	(void)run;
	(void)n;
	*ret = args[2].b ? args[0] : args[1];
	return 0;
}

/* ---- types ---- */
static const char *type_name(struct tmpl_run *run, struct value v)
{
	return value_type_name(v, tmpl_run_profile(run));
}

FN(fn_type_of)
{
	(void)n;
	*ret = value_cstr(type_name(run, args[0]));
	return 0;
}

FN(fn_type_is)
{
	(void)n;
	*ret = value_bool(value_is_string(args[0], type_name(run, args[1])));
	return 0;
}

FN(fn_type_is_like)
{
	(void)n;
	const char *type = type_name(run, args[1]);
	*ret = value_bool(value_is_string(args[0], type) ||
			  (type[0] == '*' && value_is_string(args[0], type + 1)));
	return 0;
}

FN(fn_kind_of)
{
	(void)run;
	(void)n;
	*ret = value_cstr(value_kind(args[0]));
	return 0;
}

FN(fn_kind_is)
{
	(void)run;
	(void)n;
	*ret = value_bool(value_is_string(args[0], value_kind(args[1])));
	return 0;
}

FN(fn_deep_equal)
{
	(void)run;
	(void)n;
	*ret = value_bool(value_deep_equal(args[0], args[1]));
	return 0;
}

/* ---- base64, base32 ---- */
FN(fn_b64enc)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	base64_encode(value_text(args[0]), &b);
	return tmpl_return(run, &b, ret);
}

FN(fn_b32enc)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	for (size_t i = 0; i < s.len; i += 5) {
		uint64_t group = 0;
		size_t have = s.len - i < 5 ? s.len - i : 5;
		for (size_t k = 0; k < 5; k++)
			group = group << 8 | (k < have ? (unsigned char)s.ptr[i + k] : 0u);
		size_t chars = (have * 8 + 4) / 5;
		for (size_t k = 0; k < 8; k++)
			strbuf_addc(&b, k < chars ? set[group >> (35 - 5 * k) & 31] : '=');
	}
	return tmpl_return(run, &b, ret);
}

struct decoder {
	unsigned bits, group; /* bits a character, characters a group */
	const char *name;
};

static int digit_of(const struct decoder *d, char c)
{
	if (d->bits == 6) {
		if (char_is_upper(c))
			return c - 'A';
		if (char_is_lower(c))
			return c - 'a' + 26;
		if (char_is_digit(c))
			return c - '0' + 52;
		return c == '+' ? 62 : c == '/' ? 63 : -1;
	}
	if (char_is_upper(c))
		return c - 'A';
	return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

/* Padding at i after k characters of a group: all of it must be there, and nothing after it.
 * Returns the offset of the first wrong byte, or -1. */
static ptrdiff_t check_padding(const struct decoder *d, struct str s, size_t i, unsigned k)
{
	bool fits = d->bits == 6 ? k >= 2 : k == 2 || k == 4 || k == 5 || k == 7;
	if (!fits)
		return (ptrdiff_t)i;
	unsigned want = d->group - k;
	if (d->bits == 5 && s.len - i < want)
		return (ptrdiff_t)s.len;
	for (; want > 0; i++) {
		if (i >= s.len)
			return (ptrdiff_t)s.len;
		if (d->bits == 6 && is_newline(s.ptr[i]))
			continue;
		if (s.ptr[i] != '=')
			return (ptrdiff_t)i - (d->bits == 6);
		want--;
	}
	if (d->bits == 5)
		return -1; /* Go's base32 looks no further */
	while (i < s.len && is_newline(s.ptr[i]))
		i++;
	return i < s.len ? (ptrdiff_t)i : -1;
}

/* Offset of the first bad byte, or -1. */
static ptrdiff_t decode(const struct decoder *d, struct str s, struct strbuf *out)
{
	uint64_t acc = 0;
	unsigned k = 0, bits = 0;
	size_t group_start = 0;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (is_newline(c))
			continue;
		if (k == 0)
			group_start = i;
		if (c == '=') {
			ptrdiff_t bad = check_padding(d, s, i, k);
			return bad;
		}
		int v = digit_of(d, c);
		if (v < 0)
			return (ptrdiff_t)i;
		acc = acc << d->bits | (unsigned)v;
		bits += d->bits;
		if (bits >= 8) {
			bits -= 8;
			strbuf_addc(out, (char)(acc >> bits & 255));
		}
		k = (k + 1) % d->group;
	}
	return k == 0 ? -1 : (ptrdiff_t)group_start;
}

static int decoded(struct tmpl_run *run, const struct decoder *d, struct str s, struct value *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	if (d->bits == 5) { /* base32 looks for line ends first */
		CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(b.limit);
		for (size_t i = 0; i < s.len; i++) {
			if (!is_newline(s.ptr[i]))
				strbuf_addc(&plain, s.ptr[i]);
		}
		s = value_text(value_take(tmpl_arena(run), &plain));
	}
	ptrdiff_t bad = decode(d, s, &b);
	if (bad >= 0) {
		strbuf_clear(&b);
		strbuf_addf(&b, "illegal %s data at input byte %td", d->name, bad);
	}
	return tmpl_return(run, &b, ret);
}

FN(fn_b64dec)
{
	static const struct decoder d = {6, 4, "base64"};
	(void)n;
	return decoded(run, &d, value_text(args[0]), ret);
}

int misc_b64dec(struct tmpl_run *run, const struct value *text, struct value *ret)
{
	static const struct decoder d = {6, 4, "base64"};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	ptrdiff_t bad = decode(&d, value_text(*text), &b);
	if (bad >= 0)
		return tmpl_fail(run, "illegal base64 data at input byte %td", bad);
	return tmpl_return(run, &b, ret);
}

FN(fn_b32dec)
{
	static const struct decoder d = {5, 8, "base32"};
	(void)n;
	return decoded(run, &d, value_text(args[0]), ret);
}

/* ---- URLs ---- */
FN(fn_url_parse)
{
	(void)n;
	struct arena *a = tmpl_arena(run);
	struct url u;
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf user =
		STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	strbuf_adds(&msg, "unable to parse url: ");
	if (!url_parse(a, value_text(args[0]), &u, &msg))
		return tmpl_fail_str(run, strbuf_str(&msg));
	url_print_user(&u, &user);
	struct vmap *m = vmap_new_sized(a, 8);
	vmap_setc(m, "scheme", value_str(u.scheme));
	vmap_setc(m, "host", value_str(u.host));
	vmap_setc(m, "hostname", value_str(url_hostname(&u)));
	vmap_setc(m, "path", value_str(u.path));
	vmap_setc(m, "query", value_str(u.query));
	vmap_setc(m, "opaque", value_str(u.opaque));
	vmap_setc(m, "fragment", value_str(u.fragment));
	vmap_setc(m, "userinfo", value_take(a, &user));
	*ret = value_map(m);
	return 0;
}

static int url_part(struct tmpl_run *run, const struct vmap *m, const char *key, struct str *ret)
{
	const struct value *v = vmap_getc(m, key);
	*ret = STR("");
	if (!v)
		return 0;
	if (v->type == VALUE_NIL)
		return tmpl_fail(
			run, "runtime error: invalid memory address or nil pointer dereference");
	if (v->type != VALUE_STRING)
		return tmpl_fail(run,
				 "unable to parse %s key, must be of type string, but %s found",
				 key, value_kind(*v));
	*ret = value_text(*v);
	return 0;
}

FN(fn_url_join)
{
	(void)n;
	struct url u = {0}, user;
	struct str info = STR("");
	const struct {
		const char *key;
		struct str *part;
	} parts[] = {{"scheme", &u.scheme}, {"host", &u.host},     {"path", &u.path},
		     {"query", &u.query},   {"opaque", &u.opaque}, {"fragment", &u.fragment},
		     {"userinfo", &info}};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		int r = url_part(run, args[0].map, parts[i].key, parts[i].part);
		if (r < 0)
			return r;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	if (info.len) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(b.limit);
		CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
		strbuf_adds(&text, "proto://");
		strbuf_addstr(&text, info);
		strbuf_adds(&text, "@host");
		strbuf_adds(&msg, "unable to parse userinfo in dict: ");
		struct str copy = value_text(value_take(tmpl_arena(run), &text));
		if (!url_parse(tmpl_arena(run), copy, &user, &msg))
			return tmpl_fail_str(run, strbuf_str(&msg));
		u.user = user.user;
		u.password = user.password;
		u.has_user = user.has_user;
		u.has_password = user.has_password;
	}
	url_print(&u, &b);
	return tmpl_return(run, &b, ret);
}

/* ---- paths ---- */
/* path.Clean: shortest equivalent, "." for nothing. */
static void clean_path(struct strbuf *b, struct str s)
{
	bool rooted = str_has_prefix(s, STR("/"));
	struct str part;
	if (rooted)
		strbuf_addc(b, '/');
	size_t floor = b->len; /* what .. may not remove */
	while (str_next(&s, '/', &part)) {
		if (part.len == 0 || str_is(part, "."))
			continue;
		if (!str_is(part, "..")) {
			if (b->len > (rooted ? 1u : 0u))
				strbuf_addc(b, '/');
			strbuf_addstr(b, part);
		} else if (b->len > floor) {
			ptrdiff_t slash = str_rfind_char(strbuf_str(b), '/');
			size_t cut = slash < 0 ? 0 : (size_t)slash;
			strbuf_truncate(b, cut < floor ? floor : cut);
		} else if (!rooted) {
			if (b->len)
				strbuf_addc(b, '/');
			strbuf_adds(b, "..");
			floor = b->len;
		}
	}
	if (b->len == 0)
		strbuf_addc(b, '.');
}

FN(fn_clean)
{
	(void)n;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	clean_path(&b, value_text(args[0]));
	return tmpl_return(run, &b, ret);
}

FN(fn_dir)
{
	(void)n;
	struct str s = value_text(args[0]);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(tmpl_run_limits(run)->string_bytes);
	ptrdiff_t slash = str_rfind_char(s, '/');
	clean_path(&b, str_sub(s, 0, (size_t)(slash + 1)));
	return tmpl_return(run, &b, ret);
}

FN(fn_base)
{
	(void)run;
	(void)n;
	struct str s = value_text(args[0]);
	bool any = s.len > 0;
	while (s.len && s.ptr[s.len - 1] == '/')
		s.len--;
	ptrdiff_t slash = str_rfind_char(s, '/');
	s = str_skip(s, (size_t)(slash + 1));
	if (s.len == 0)
		s = any ? STR("/") : STR(".");
	*ret = value_str(s);
	return 0;
}

FN(fn_ext)
{
	(void)run;
	(void)n;
	struct str s = value_text(args[0]);
	*ret = value_str(STR(""));
	for (size_t i = s.len; i > 0 && s.ptr[i - 1] != '/'; i--) {
		if (s.ptr[i - 1] == '.') {
			*ret = value_str(str_skip(s, i - 1));
			break;
		}
	}
	return 0;
}

FN(fn_is_abs)
{
	(void)run;
	(void)n;
	*ret = value_bool(str_has_prefix(value_text(args[0]), STR("/")));
	return 0;
}

/* clang-format off */
const struct tmpl_func tmpl_fn_misc[] = {
	{"default", "vv*:v", fn_default, 0},
	{"empty", "v:b", fn_empty, 0},
	{"coalesce", "v*:v", fn_coalesce, 0},
	{"all", "v*:b", fn_all, 0},
	{"any", "v*:b", fn_any, 0},
	{"ternary", "vvb:v", fn_ternary, 0},
	{"typeOf", "v:s", fn_type_of, 0},
	{"typeIs", "sv:b", fn_type_is, 0},
	{"typeIsLike", "sv:b", fn_type_is_like, 0},
	{"kindOf", "v:s", fn_kind_of, 0},
	{"kindIs", "sv:b", fn_kind_is, 0},
	{"deepEqual", "vv:b", fn_deep_equal, 0},
	{"b64enc", "s:s", fn_b64enc, 0},
	{"b64dec", "s:s", fn_b64dec, 0},
	{"b32enc", "s:s", fn_b32enc, 0},
	{"b32dec", "s:s", fn_b32dec, 0},
	{"urlParse", "s:m", fn_url_parse, 0},
	{"urlJoin", "m:s", fn_url_join, 0},
	{"base", "s:s", fn_base, 0},
	{"dir", "s:s", fn_dir, 0},
	{"clean", "s:s", fn_clean, 0},
	{"ext", "s:s", fn_ext, 0},
	{"isAbs", "s:b", fn_is_abs, 0},
	{"osBase", "s:s", fn_base, 0},
	{"osDir", "s:s", fn_dir, 0},
	{"osClean", "s:s", fn_clean, 0},
	{"osExt", "s:s", fn_ext, 0},
	{"osIsAbs", "s:b", fn_is_abs, 0},
	{"semver", "s:V", semver_fn_semver, 0},
	{"semverCompare", "ss:b", semver_fn_compare, 0},
	{0},
};
/* clang-format on */
