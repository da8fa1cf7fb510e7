/*
 * json: the strict reader (reliability.md 5). Messages are those of Go's encoding/json.
 */
#include "alm/obj/json.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/json_scan.h"
#include "alm/obj/number.h"

#define PATH_BYTES_MAX 4096

/* One open list or map; the key of its current member lies in parser.keys. */
struct frame {
	size_t key_at;
	size_t index;
	bool is_list;
};

struct parser {
	struct str text;
	size_t at;
	struct error *err;
	struct json_duplicates *dup; /* NULL: a duplicate is an error */
	struct strbuf keys;          /* NUL-ended keys of the open maps, outermost first */
	struct strbuf scratch;       /* a string with escapes */
	size_t nodes, nodes_max;     /* values so far; nodes_max 0: no limit */
	size_t depth;
	struct frame frames[OBJ_DEPTH_MAX];
};

static void *fault(struct parser *p, const char *what)
{
	size_t line = 1;
	for (size_t i = 0; i < p->at && i < p->text.len; i++)
		line += p->text.ptr[i] == '\n';
	error_set(p->err, E_BADREQUEST, "%s (line %zu, offset %zu)", what, line, p->at);
	return NULL;
}

/* "invalid character 'x' WHERE", Go's quoting; at the end of the text its other message. */
static void *fault_char(struct parser *p, const char *where)
{
	char what[128];
	uint32_t rune = 0;
	if (p->at >= p->text.len)
		return fault(p, "unexpected end of JSON input");
	unsigned char c = (unsigned char)p->text.ptr[p->at];
	size_t n = utf8_decode(str_skip(p->text, p->at), &rune);
	if (c == '\'' || c == '\\')
		snprintf(what, sizeof(what), "invalid character '\\%c' %s", c, where);
	else if (c == '\n' || c == '\r' || c == '\t')
		snprintf(what, sizeof(what), "invalid character '\\%c' %s",
			 c == '\n' ? 'n' : (c == '\r' ? 'r' : 't'), where);
	else if (c < 0x20 || c == 0x7f)
		snprintf(what, sizeof(what), "invalid character '\\x%02x' %s", c, where);
	else
		snprintf(what, sizeof(what), "invalid character '%.*s' %s", (int)n,
			 p->text.ptr + p->at, where);
	return fault(p, what);
}

static char peek(const struct parser *p)
{
	return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

static void skip_space(struct parser *p)
{
	for (; p->at < p->text.len; p->at++) {
		char c = p->text.ptr[p->at];
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			break;
	}
}

static const char *frame_key(const struct parser *p, size_t depth)
{
	return p->keys.buf + p->frames[depth].key_at;
}

/* Of the map that is read now, the last one on the stack of keys. */
static struct str open_key(const struct parser *p)
{
	size_t at = p->frames[p->depth - 1].key_at;
	return str_n(p->keys.buf + at, p->keys.len - at - 1);
}

static int duplicate(struct parser *p)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_BYTES_MAX);
	for (size_t i = 0; i < p->depth; i++) {
		if (p->frames[i].is_list)
			strbuf_addf(&path, "[%zu]", p->frames[i].index);
		else
			strbuf_addf(&path, "%s%s", i ? "." : "", frame_key(p, i));
	}
	if (!p->dup) {
		fault(p, "duplicate field");
		return error_wrap(p->err, "%s", path.buf);
	}
	if (p->dup->n < JSON_DUPLICATES_MAX)
		p->dup->paths[p->dup->n++] = strbuf_detach(&path);
	return 0;
}

static bool hex4(const struct parser *p, size_t at, uint32_t *ret)
{
	uint32_t v = 0;
	if (at + 4 > p->text.len)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		char c = p->text.ptr[i];
		if (!char_is_hex(c))
			return false;
		v = v * 16 + (uint32_t)(char_is_digit(c) ? c - '0' : char_lower(c) - 'a' + 10);
	}
	*ret = v;
	return true;
}

/* At the u of \uXXXX, or of a pair of surrogates. */
static bool unicode_escape(struct parser *p, struct strbuf *out)
{
	uint32_t rune, low = 0;
	if (!hex4(p, p->at + 1, &rune)) {
		while (p->at + 1 < p->text.len && char_is_hex(p->text.ptr[p->at + 1]))
			p->at++;
		p->at++;
		return fault_char(p, "in \\u hexadecimal character escape");
	}
	p->at += 5;
	if (rune >= 0xD800 && rune < 0xE000) {
		struct str rest = str_skip(p->text, p->at);
		bool pair = rune < 0xDC00 && str_has_prefix(rest, STR("\\u")) &&
			    hex4(p, p->at + 2, &low) && low >= 0xDC00 && low <= 0xDFFF;
		if (!pair && !p->dup)
			return fault(p, "lone surrogate in string literal");
		p->at += pair ? 6 : 0;
		rune = pair ? 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
	}
	strbuf_addrune(out, rune);
	return true;
}

static bool escape(struct parser *p, struct strbuf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	p->at++;
	char c = peek(p);
	if (c == 'u')
		return unicode_escape(p, out);
	const char *hit = c ? strchr(from, c) : NULL;
	if (!hit)
		return fault_char(p, "in string escape code");
	strbuf_addc(out, to[hit - from]);
	p->at++;
	return true;
}

/* The text between quotes, borrowed from the input or, with escapes, from scratch. */
static bool parse_text(struct parser *p, struct str *ret)
{
	strbuf_clear(&p->scratch);
	bool escaped = false;
	p->at++;
	for (;;) {
		struct str run = str_skip(p->text, p->at);
		run.len = scan_run(run);
		p->at += run.len;
		char c = peek(p);
		if (c == '"' && !escaped) {
			*ret = run;
			break;
		}
		strbuf_addstr(&p->scratch, run);
		if (c == '"') {
			*ret = strbuf_str(&p->scratch);
			break;
		}
		if (c != '\\' || p->at >= p->text.len)
			return fault_char(p, "in string literal");
		escaped = true;
		if (!escape(p, &p->scratch))
			return false;
	}
	p->at++;
	return true;
}

static struct obj *parse_string(struct parser *p)
{
	struct str s = STR_NONE;
	return parse_text(p, &s) ? obj_stringn(s) : NULL;
}

static struct obj *parse_number(struct parser *p)
{
	const char *where;
	double v;
	size_t from = p->at;
	size_t n = number_scan(str_skip(p->text, p->at), &where);
	p->at += n;
	if (where)
		return fault_char(p, where);
	struct str text = str_sub(p->text, from, n);
	if (!str_parse_double(text, &v))
		return fault(p, "number out of range");
	return obj_number(text);
}

static struct obj *parse_word(struct parser *p, const char *word, struct obj *value)
{
	for (size_t i = 0; word[i]; i++, p->at++) {
		if (peek(p) == word[i])
			continue;
		char where[64];
		snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, word[i]);
		obj_unref(value);
		return fault_char(p, where);
	}
	return value;
}

/* Opens a list or map; false when it nests too deep. */
static bool enter(struct parser *p, bool is_list)
{
	if (p->depth == OBJ_DEPTH_MAX)
		return fault(p, "exceeded max depth");
	p->frames[p->depth++] = (struct frame){.key_at = p->keys.len, .is_list = is_list};
	p->at++;
	skip_space(p);
	return true;
}

static void leave(struct parser *p)
{
	p->depth--;
	strbuf_truncate(&p->keys, p->frames[p->depth].key_at);
	p->at++;
}

/* NOLINTBEGIN(misc-no-recursion): enter() bounds the depth by OBJ_DEPTH_MAX */
static struct obj *parse_value(struct parser *p);

static struct obj *parse_list(struct parser *p)
{
	CLEANUP(obj_unrefp) struct obj *list = obj_list();
	if (!enter(p, true))
		return NULL;
	while (peek(p) != ']' || p->frames[p->depth - 1].index) {
		struct obj *value = parse_value(p);
		if (!value)
			return NULL;
		obj_append(list, value);
		p->frames[p->depth - 1].index++;
		skip_space(p);
		if (peek(p) == ']')
			break;
		if (peek(p) != ',')
			return fault_char(p, "after array element");
		p->at++;
		skip_space(p);
	}
	leave(p);
	return STEAL(list);
}

/* "key" and the colon; the key goes on the stack of keys. */
static bool parse_key(struct parser *p, const struct obj *map, bool *ret_is_new)
{
	struct str key = STR_NONE;
	if (peek(p) != '"')
		return fault_char(p, "looking for beginning of object key string");
	if (!parse_text(p, &key))
		return false;
	if (str_find_char(key, '\0') >= 0)
		return fault(p, "object key holds a NUL");
	strbuf_truncate(&p->keys, p->frames[p->depth - 1].key_at);
	strbuf_addstr(&p->keys, key);
	strbuf_addc(&p->keys, '\0');
	*ret_is_new = !obj_getn(map, open_key(p));
	if (!*ret_is_new && duplicate(p) < 0)
		return false;
	skip_space(p);
	if (peek(p) != ':')
		return fault_char(p, "after object key");
	p->at++;
	return true;
}

static struct obj *parse_map(struct parser *p)
{
	CLEANUP(obj_unrefp) struct obj *map = obj_map();
	if (!enter(p, false))
		return NULL;
	while (peek(p) != '}' || obj_len(map)) {
		bool is_new = false;
		if (!parse_key(p, map, &is_new))
			return NULL;
		struct obj *value = parse_value(p);
		if (!value)
			return NULL;
		(is_new ? obj_set_newn : obj_setn)(map, open_key(p), value);
		skip_space(p);
		if (peek(p) == '}')
			break;
		if (peek(p) != ',')
			return fault_char(p, "after object key:value pair");
		p->at++;
		skip_space(p);
	}
	leave(p);
	return STEAL(map);
}

static struct obj *parse_value(struct parser *p)
{
	skip_space(p);
	char c = peek(p);
	if (++p->nodes > p->nodes_max && p->nodes_max) {
		error_set(p->err, E_TOOLARGE, "more than %zu values", p->nodes_max);
		return NULL;
	}
	switch (c) {
	case '{':
		return parse_map(p);
	case '[':
		return parse_list(p);
	case '"':
		return parse_string(p);
	case 't':
		return parse_word(p, "true", obj_bool(true));
	case 'f':
		return parse_word(p, "false", obj_bool(false));
	case 'n':
		return parse_word(p, "null", obj_null());
	default:
		if (c == '-' || char_is_digit(c))
			return parse_number(p);
		return fault_char(p, "looking for beginning of value");
	}
}
/* NOLINTEND(misc-no-recursion) */

static struct obj *parse_document(struct parser *p)
{
	uint32_t rune;
	while ((p->at += scan_ascii(str_skip(p->text, p->at))) < p->text.len) {
		size_t n = utf8_decode(str_skip(p->text, p->at), &rune);
		if (!n)
			return fault(p, "invalid UTF-8");
		p->at += n;
	}
	p->at = 0;
	CLEANUP(obj_unrefp) struct obj *value = parse_value(p);
	if (!value)
		return NULL;
	skip_space(p);
	if (p->at < p->text.len)
		return fault_char(p, "after top-level value");
	return STEAL(value);
}

static uint64_t n_parses;

uint64_t json_parses(void)
{
	return n_parses;
}

int json_parse_dup(struct str text, size_t nodes_max, struct json_duplicates *dup, struct obj **ret,
		   struct error *err)
{
	struct parser p = {.text = text, .err = err, .dup = dup, .nodes_max = nodes_max};
	n_parses++;
	strbuf_init(&p.keys, text.len + OBJ_DEPTH_MAX + 1);
	strbuf_init(&p.scratch, text.len + 1);
	struct obj *value = parse_document(&p);
	strbuf_release(&p.keys);
	strbuf_release(&p.scratch);
	if (!value) {
		if (dup)
			json_duplicates_release(dup);
		return -err->code;
	}
	*ret = value;
	return 0;
}

int json_parse(struct str text, struct obj **ret, struct error *err)
{
	return json_parse_dup(text, 0, NULL, ret, err);
}

void json_duplicates_release(struct json_duplicates *d)
{
	for (size_t i = 0; i < d->n; i++)
		xfree(d->paths[i]);
	d->n = 0;
}
