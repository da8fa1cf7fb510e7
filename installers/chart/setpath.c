#include "installers/chart/setpath.h"

#include <string.h>

#include "installers/format/json_go.h"
#include "installers/value/msg.h"
#include "installers/value/unicode.h"

#define SET_EOF 1 /* the text is over: the end of the walk, no failure */

struct walk {
	struct arena *a;
	struct str s;
	size_t at;
	enum setpath_mode mode;
	const struct setpath_files *files;
	struct strbuf *msg;
};

static int set_key(struct walk *w, struct vmap *data, int dots);
static int set_item(struct walk *w, struct value *list, int64_t i, int dots, int depth);

static int fail_key(struct walk *w, const char *before, struct str key, const char *after)
{
	strbuf_adds(w->msg, before);
	value_quote(w->msg, key);
	strbuf_adds(w->msg, after);
	return -E_INVALID;
}

/* Go's failed type assertion, which the parser turns into an error. */
static int fail_type(struct walk *w, struct value v, const char *want)
{
	strbuf_addf(w->msg, "unable to parse key: interface conversion: interface {} is %s, not %s",
		    v.type == VALUE_NIL ? "nil" : value_type_name(v, TMPL_PROFILE_4_1), want);
	return -E_INVALID;
}

/* Text up to one of stop, which is consumed; SET_EOF if the text ends first. */
static int read_until(struct walk *w, const char *stop, struct str *ret, char *ret_last)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(w->s.len + 1);
	int rc = SET_EOF;
	while (w->at < w->s.len) {
		char c = w->s.ptr[w->at++];
		if (c && strchr(stop, c)) {
			*ret_last = c;
			rc = 0;
			break;
		}
		if (c != '\\' || w->mode == SETPATH_LITERAL) {
			strbuf_addc(&b, c);
			continue;
		}
		uint32_t rune;
		size_t n = utf8_decode(str_skip(w->s, w->at), &rune);
		n = n ? n : w->at < w->s.len;
		strbuf_addstr(&b, str_sub(w->s, w->at, n));
		w->at += n;
	}
	*ret = str_n(arena_text(w->a, b.buf, b.len), b.len);
	return rc;
}

static void put(struct vmap *data, struct str key, struct value v)
{
	if (key.len)
		vmap_set(data, key, v);
}

/* ---- values ---- */

static bool equal_fold(struct str s, const char *word)
{
	if (s.len != strlen(word))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (char_lower(s.ptr[i]) != word[i])
			return false;
	return true;
}

static struct value typed(struct str s)
{
	int64_t i;
	struct str digits = str_has_prefix(s, STR("+")) ? str_skip(s, 1) : s;
	if (equal_fold(s, "true") || equal_fold(s, "false"))
		return value_bool(s.len == 4);
	if (equal_fold(s, "null"))
		return VALUE_NONE;
	if (str_is(s, "0"))
		return value_int64(0);
	if (s.len && s.ptr[0] != '0' && digits.len &&
	    (digits.ptr == s.ptr || digits.ptr[0] != '-') && str_parse_i64(digits, &i))
		return value_int64(i);
	return value_str(s);
}

static int convert(struct walk *w, struct str text, struct value *ret)
{
	struct str file;
	if (w->mode == SETPATH_TYPED) {
		*ret = typed(text);
		return 0;
	}
	if (w->mode != SETPATH_FILE) {
		*ret = value_str(text);
		return 0;
	}
	if (!w->files || !w->files->read)
		return msg_fail(w->msg, "files cannot be read here");
	if (w->files->read(w->files->ctx, w->a, text, &file, w->msg) < 0)
		return -E_INVALID;
	*ret = value_str(file);
	return 0;
}

static int append(struct walk *w, struct value *list, struct str text)
{
	struct value v, longer = value_list(w->a, VALUE_LIST, list->len + 1);
	if (list->len >= SETPATH_INDEX_MAX)
		return msg_fail(w->msg, "list is too long");
	if (convert(w, text, &v) < 0)
		return -E_INVALID;
	if (list->len)
		memcpy(longer.items, list->items, list->len * sizeof(v));
	longer.items[list->len] = v;
	*list = longer;
	return 0;
}

/* {a,b}; the brace was consumed. */
static int read_list(struct walk *w, struct value *ret)
{
	*ret = value_list(w->a, VALUE_LIST, 0);
	for (;;) {
		struct str text;
		char last = 0;
		if (read_until(w, ",}", &text, &last) == SET_EOF)
			return msg_fail(w->msg, "list must terminate with '}'");
		if (append(w, ret, text) < 0)
			return -E_INVALID;
		if (last == ',')
			continue;
		if (w->at < w->s.len && w->s.ptr[w->at] == ',')
			w->at++;
		return 0;
	}
}

/* Skips blanks and one comma; true if nothing else stood there. */
static bool skip_empty(struct walk *w)
{
	while (w->at < w->s.len) {
		uint32_t rune;
		size_t n = rune_next(str_skip(w->s, w->at), &rune);
		if (rune == ',') {
			w->at++;
			return true;
		}
		if (!rune_is_space(rune))
			return false;
		w->at += n;
	}
	return true;
}

static int read_json(struct walk *w, struct value *ret)
{
	size_t used;
	*ret = VALUE_NONE;
	if (skip_empty(w))
		return 0;
	if (json_go_decode_prefix(w->a, str_skip(w->s, w->at), ret, &used, w->msg) < 0)
		return -E_INVALID;
	w->at += used;
	skip_empty(w);
	return 0;
}

/* What follows "=". SET_EOF with *ret = "" if nothing does. */
static int read_value(struct walk *w, struct value *ret)
{
	struct str text;
	char last;
	*ret = value_str(STR(""));
	if (w->mode == SETPATH_JSON)
		return read_json(w, ret);
	if (w->mode == SETPATH_LITERAL) {
		read_until(w, "", &text, &last);
		return convert(w, text, ret);
	}
	if (w->at >= w->s.len)
		return SET_EOF;
	if (w->s.ptr[w->at] == '{') {
		w->at++;
		return read_list(w, ret);
	}
	read_until(w, ",", &text, &last);
	return convert(w, text, ret);
}

/* ---- paths ---- */

/* strconv.Atoi of the text up to "]". */
static int read_index(struct walk *w, int64_t *ret)
{
	struct str text, digits;
	char last;
	if (read_until(w, "]", &text, &last) == SET_EOF)
		return SET_EOF;
	digits = str_has_prefix(text, STR("+")) ? str_skip(text, 1) : text;
	if (digits.len && (digits.ptr == text.ptr || digits.ptr[0] != '-') &&
	    str_parse_i64(digits, ret))
		return 0;
	return fail_key(w, "error parsing index: strconv.Atoi: parsing ", text, ": invalid syntax");
}

static int put_index(struct walk *w, struct value *list, int64_t i, struct value v)
{
	if (i < 0 || i > SETPATH_INDEX_MAX) {
		if (i < 0)
			strbuf_addf(w->msg, "negative %lld index not allowed", (long long)i);
		else
			strbuf_addf(w->msg,
				    "index of %lld is greater than maximum supported index of %d",
				    (long long)i, SETPATH_INDEX_MAX);
		return -E_INVALID;
	}
	if ((int64_t)list->len <= i) {
		struct value longer = value_list(w->a, VALUE_LIST, (size_t)i + 1);
		if (list->len)
			memcpy(longer.items, list->items, list->len * sizeof(v));
		*list = longer;
	}
	list->items[i] = v;
	return 0;
}

/* NOLINTBEGIN(misc-no-recursion): set_item() and set_map() bound the depth by SETPATH_DOTS_MAX */
static int set_nested_list(struct walk *w, struct value *list, int64_t i, int dots, int depth)
{
	int64_t next;
	struct value inner = value_list(w->a, VALUE_LIST, 0);
	int rc = read_index(w, &next);
	if (rc)
		return rc;
	if ((int64_t)list->len > i && list->items[i].type != VALUE_NIL) {
		inner = list->items[i];
		if (inner.type != VALUE_LIST)
			return fail_type(w, inner, "[]interface {}");
	}
	rc = set_item(w, &inner, next, dots, depth + 1);
	return rc ? rc : put_index(w, list, i, inner);
}

static int set_nested_map(struct walk *w, struct value *list, int64_t i, int dots)
{
	struct value inner = value_map(vmap_new(w->a));
	if ((int64_t)list->len > i) {
		if (list->items[i].type == VALUE_MAP)
			inner = list->items[i];
		else
			list->items[i] = inner;
	}
	int rc = set_key(w, inner.map, dots);
	return rc ? rc : put_index(w, list, i, inner);
}

static int fail_rest(struct walk *w, struct str rest)
{
	strbuf_adds(w->msg, "unexpected data at end of array index: [");
	for (size_t i = 0; i < rest.len;) {
		uint32_t rune;
		size_t n = rune_next(str_skip(rest, i), &rune);
		CLEANUP(strbuf_release) struct strbuf q = STRBUF_INIT(STRBUF_SMALL);
		value_quote(&q, str_sub(rest, i, n));
		struct str text = rune == '\''  ? STR("\\'")
				  : rune == '"' ? STR("\"")
						: str_sub(strbuf_str(&q), 1, q.len - 2);
		strbuf_addf(w->msg, "%s'%.*s'", i ? " " : "", STR_ARG(text));
		i += n;
	}
	strbuf_addc(w->msg, ']');
	return -E_INVALID;
}

/* What follows "]". Nested lists are bounded like dots. */
static int set_item(struct walk *w, struct value *list, int64_t i, int dots, int depth)
{
	struct str rest;
	struct value v;
	char last = 0;
	if (i < 0)
		return put_index(w, list, i, VALUE_NONE);
	if (depth > SETPATH_DOTS_MAX)
		return msg_fail(w->msg, "list is nested too deep");
	int rc = read_until(w, "[.=", &rest, &last);
	if (rest.len)
		return fail_rest(w, rest);
	if (rc)
		return rc;
	if (last == '[')
		return set_nested_list(w, list, i, dots, depth);
	if (last == '.')
		return set_nested_map(w, list, i, dots);
	rc = read_value(w, &v);
	return rc < 0 ? rc : put_index(w, list, i, v);
}

static int set_list(struct walk *w, struct vmap *data, struct str key, int dots)
{
	int64_t i;
	struct value list = value_list(w->a, VALUE_LIST, 0);
	int rc = read_index(w, &i);
	if (rc)
		return rc;
	const struct value *old = vmap_get(data, key);
	if (old) {
		list = *old;
		if (list.type != VALUE_LIST)
			return fail_type(w, list, "[]interface {}");
	}
	rc = set_item(w, &list, i, dots, 0);
	put(data, key, list);
	return rc;
}

static int set_map(struct walk *w, struct vmap *data, struct str key, int dots)
{
	struct value inner = value_map(vmap_new(w->a));
	if (++dots > SETPATH_DOTS_MAX) {
		strbuf_addf(
			w->msg,
			"value name nested level is greater than maximum supported nested level "
			"of %d",
			SETPATH_DOTS_MAX);
		return -E_INVALID;
	}
	const struct value *old = vmap_get(data, key);
	if (old) {
		inner = *old;
		if (inner.type != VALUE_MAP)
			return fail_type(w, inner, "map[string]interface {}");
	}
	int rc = set_key(w, inner.map, dots);
	if (rc == 0 && !inner.map->n)
		return fail_key(w, "key map ", key, " has no value");
	if (inner.map->n)
		put(data, key, inner);
	return rc;
}

/* One assignment below data; depth is bounded by SETPATH_DOTS_MAX. */
static int set_key(struct walk *w, struct vmap *data, int dots)
{
	struct str key;
	struct value v;
	char last = 0;
	int rc = read_until(w, w->mode == SETPATH_LITERAL ? "=[." : "=[,.", &key, &last);
	if (rc == SET_EOF)
		return key.len ? fail_key(w, "key ", key, " has no value") : SET_EOF;
	if (last == '[')
		return set_list(w, data, key, dots);
	if (last == '.')
		return set_map(w, data, key, dots);
	if (last == ',') {
		put(data, key, value_str(STR("")));
		return fail_key(w, "key ", key, " has no value (cannot end with ,)");
	}
	rc = read_value(w, &v);
	if (rc >= 0)
		put(data, key, v);
	return rc;
}
/* NOLINTEND(misc-no-recursion) */

int setpath_apply(struct arena *a, enum setpath_mode mode, struct str text, struct vmap *data,
		  const struct setpath_files *files, struct strbuf *msg)
{
	struct walk w = {.a = a, .s = text, .mode = mode, .files = files, .msg = msg};
	for (;;) {
		int rc = set_key(&w, data, 0);
		if (rc)
			return rc == SET_EOF ? 0 : rc;
	}
}
