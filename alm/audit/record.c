/* record: canonical bytes and hashes. It must not know of the database. */
#include "alm/audit/record.h"

#include <stdlib.h>
#include <string.h>

#define FEW         16 /* members that are sorted in place */
#define REPLACEMENT "\xef\xbf\xbd"

void record_clean(struct str s, struct strbuf *b)
{
	while (s.len) {
		uint32_t rune = 0;
		size_t n = utf8_decode(s, &rune);
		if (n && rune)
			strbuf_add(b, s.ptr, n);
		else
			strbuf_adds(b, REPLACEMENT);
		s = str_skip(s, n ? n : 1);
	}
}

#define BYTES(c) (UINT64_C(0x0101010101010101) * (c))
#define HIGH     BYTES(0x80)

/* Whether a byte of the word is below 0x20, '"' or '\\'; a byte from 0x80 on may be taken for one
 * (the well-known "has a zero byte"), which is looked at alone then. */
static bool has_special(uint64_t word)
{
	uint64_t quotes = word ^ BYTES('"'), slashes = word ^ BYTES('\\');
	uint64_t zero = ((quotes - BYTES(1)) & ~quotes) | ((slashes - BYTES(1)) & ~slashes);
	return ((zero | ((word - BYTES(0x20)) & ~word)) & HIGH) != 0;
}

/* Bytes at the front that are written as they are; may be fewer than there are. */
static size_t plain_length(const char *p, size_t len)
{
	size_t n = 0;
	uint64_t word;
	for (; len - n >= sizeof(word); n += sizeof(word)) {
		memcpy(&word, p + n, sizeof(word));
		if (has_special(word))
			return n;
	}
	if (n && n < len) { /* the rest is the end of the last word */
		memcpy(&word, p + len - sizeof(word), sizeof(word));
		n = has_special(word) ? n : len;
	}
	return n;
}

/* RFC 8785 3.2.2.2, between the quotes; the bytes are written as they are otherwise. */
static void escaped(struct str s, struct strbuf *b)
{
	size_t from = 0;
	for (size_t i = plain_length(s.ptr, s.len); i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		strbuf_add(b, s.ptr + from, i - from);
		from = i + 1;
		const char *at = c ? strchr("\bb\tt\nn\ff\rr\"\"\\\\", c) : NULL;
		if (at)
			strbuf_addf(b, "\\%c", at[1]);
		else
			strbuf_addf(b, "\\u%04x", c);
	}
	strbuf_add(b, s.ptr + from, s.len - from);
}

static void quote(struct str s, struct strbuf *b)
{
	strbuf_addc(b, '"');
	escaped(s, b);
	strbuf_addc(b, '"');
}

static void quote_clean(struct str s, struct strbuf *b)
{
	if (!s.len || (utf8_valid(s) && !memchr(s.ptr, 0, s.len))) {
		quote(s, b);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT(RECORD_BYTES_MAX * 8);
	record_clean(s, &clean);
	quote(strbuf_str(&clean), b);
}

/* Keys are ASCII in this profile; other bytes are percent-encoded, which keeps keys distinct. */
static void quote_key(const char *key, struct strbuf *b)
{
	struct str s = str_of(key);
	bool ascii = true;
	for (size_t i = 0; i < s.len; i++)
		ascii = ascii && (unsigned char)s.ptr[i] < 0x80;
	if (ascii) {
		quote(s, b);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < s.len; i++) {
		if ((unsigned char)s.ptr[i] < 0x80)
			strbuf_addc(&clean, s.ptr[i]);
		else
			strbuf_addf(&clean, "%%%02X", (unsigned char)s.ptr[i]);
	}
	quote(strbuf_str(&clean), b);
}

static bool is_empty(const struct obj *o)
{
	switch (obj_type(o)) {
	case OBJ_ABSENT:
	case OBJ_NULL:
		return true;
	case OBJ_STRING:
		return obj_as_str(o).len == 0;
	case OBJ_LIST:
		return obj_len(o) == 0;
	case OBJ_MAP:
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
		break;
	}
	return false;
}

static int key_cmp(const void *a, const void *b)
{
	const struct obj_iter *x = a, *y = b;
	return strcmp(x->key, y->key);
}

static void sort_members(struct obj_iter *items, size_t n)
{
	if (n > FEW) {
		qsort(items, n, sizeof(*items), key_cmp);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct obj_iter it = items[i];
		size_t k = i;
		for (; k && strcmp(items[k - 1].key, it.key) > 0; k--)
			items[k] = items[k - 1];
		items[k] = it;
	}
}

static void value(const struct obj *o, unsigned depth, struct strbuf *b);

/* What the log adds to a body. */
#define OWN_MAX 4
struct own {
	struct obj_iter items[OWN_MAX];
	struct obj *numbers[OWN_MAX]; /* owned */
	size_t n;
};

/* "blobs" is nobody else's. */
static bool is_own(const struct own *own, const char *key)
{
	for (size_t i = 0; own && i < own->n; i++)
		if (!strcmp(own->items[i].key, key))
			return true;
	return own && !strcmp(key, "blobs");
}

static void own_set(struct own *own, const char *key, int64_t v)
{
	own->numbers[own->n] = obj_int(v);
	own->items[own->n] = (struct obj_iter){.key = key, .value = own->numbers[own->n]};
	own->n++;
}

/* NOLINTBEGIN(misc-no-recursion): at most OBJ_DEPTH_MAX deep */
/* Members sorted, own (NULL: none) in place of those of the same keys; those that print as nothing ("",
 * [], {}) are left out. */
static void members(const struct obj *map, const struct own *own, unsigned depth, struct strbuf *b)
{
	size_t n = 0, n_own = own ? own->n : 0;
	struct obj_iter few[FEW], *many = NULL;
	if (obj_len(map) + n_own > FEW)
		many = xcalloc(obj_len(map) + n_own, sizeof(*many));
	struct obj_iter *items = many ? many : few;
	OBJ_EACH (it, map)
		if (!is_empty(it.value) && !is_own(own, it.key))
			items[n++] = it;
	for (size_t i = 0; own && i < n_own; i++)
		items[n++] = own->items[i];
	sort_members(items, n);
	bool first = true;
	for (size_t i = 0; i < n; i++) {
		size_t start = b->len;
		if (!first)
			strbuf_addc(b, ',');
		quote_key(items[i].key, b);
		strbuf_addc(b, ':');
		size_t from = b->len;
		value(items[i].value, depth, b);
		struct str text = str_n(b->buf + from, b->len - from);
		if (str_is(text, "{}") || str_is(text, "[]"))
			strbuf_truncate(b, start);
		else
			first = false;
	}
	xfree(many);
}

static void number(const struct obj *o, struct strbuf *b)
{
	int64_t v;
	struct str text = obj_number_text(o);
	if (obj_as_i64(o, &v) && v <= RECORD_INT_MAX && v >= -RECORD_INT_MAX)
		strbuf_addi(b, v);
	else
		quote(text, b);
}

static void elements(const struct obj *list, unsigned depth, struct strbuf *b)
{
	bool first = true;
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *e = obj_at(list, i);
		if (obj_type(e) == OBJ_NULL || obj_type(e) == OBJ_ABSENT)
			continue;
		if (!first)
			strbuf_addc(b, ',');
		first = false;
		value(e, depth, b);
	}
}

static void value(const struct obj *o, unsigned depth, struct strbuf *b)
{
	if (depth > OBJ_DEPTH_MAX) {
		strbuf_adds(b, "\"too deep\"");
		return;
	}
	switch (obj_type(o)) {
	case OBJ_ABSENT:
	case OBJ_NULL:
		strbuf_adds(b, "\"\"");
		return;
	case OBJ_BOOL:
		strbuf_adds(b, obj_is_true(o) ? "true" : "false");
		return;
	case OBJ_INT:
	case OBJ_DOUBLE:
		number(o, b);
		return;
	case OBJ_STRING:
		quote_clean(obj_as_str(o), b);
		return;
	case OBJ_LIST:
		strbuf_addc(b, '[');
		elements(o, depth + 1, b);
		strbuf_addc(b, ']');
		return;
	case OBJ_MAP:
		strbuf_addc(b, '{');
		members(o, NULL, depth + 1, b);
		strbuf_addc(b, '}');
		return;
	}
}
/* NOLINTEND(misc-no-recursion) */

void record_value(const struct obj *o, struct strbuf *b)
{
	value(o, 0, b);
}

int record_body(const struct obj *body, const struct record_facts *f, struct strbuf *b,
		struct error *err)
{
	struct own own = {.n = 0};
	if (body && obj_type(body) != OBJ_MAP)
		return error_set(err, E_INVALID, "audit body is a %s, want an object",
				 obj_type_name(obj_type(body)));
	if (f && f->blobs)
		own_set(&own, "blobs", f->blobs);
	if (f && f->clock_us)
		own_set(&own, "clock", f->clock_us);
	if (f && f->has_epoch)
		own_set(&own, "epoch", f->epoch);
	if (f && f->root)
		own_set(&own, "root", f->root);
	strbuf_addc(b, '{');
	members(body, &own, 0, b);
	strbuf_addc(b, '}');
	for (size_t i = 0; i < own.n; i++)
		obj_unref(own.numbers[i]);
	return 0;
}

/* Behind the string that begins before p; NULL: it does not end. The quote that ends it has an even
 * number of backslashes before it. */
static const char *string_end(const char *p, const char *end)
{
	for (;;) {
		const char *quote = memchr(p, '"', (size_t)(end - p));
		size_t n = 0;
		if (!quote)
			return NULL;
		while (quote - n > p && quote[-1 - (ptrdiff_t)n] == '\\')
			n++;
		p = quote + 1;
		if (n % 2 == 0)
			return p;
	}
}

/* Strings are passed over by memchr(): verify looks at every byte of a log. */
bool record_body_is_closed(struct str body)
{
	const char *p = body.ptr, *end = body.ptr + body.len;
	size_t depth = 0;
	if (body.len < 2 || *p != '{')
		return false;
	while (p && p < end) {
		char c = *p++;
		if (c == '"') {
			p = string_end(p, end);
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (--depth == 0)
				return p == end;
		}
	}
	return false;
}

/* The key is reserved for the log: record_body() drops a caller's own. */
int64_t record_body_blobs(struct str body)
{
	struct str rest = body, key = STR("\"blobs\":");
	for (;;) {
		ptrdiff_t at = str_find(rest, key);
		if (at < 0)
			return 0;
		rest = str_skip(rest, (size_t)at + key.len);
		size_t n = 0;
		while (n < rest.len && char_is_digit(rest.ptr[n]))
			n++;
		int64_t v;
		if (n && str_parse_i64(str_sub(rest, 0, n), &v))
			return v;
	}
}

static void text_field(struct str lead, struct str s, struct strbuf *b)
{
	strbuf_addstr(b, lead);
	escaped(s, b);
}

static void int_field(struct str lead, int64_t n, struct strbuf *b)
{
	strbuf_addstr(b, lead);
	strbuf_addi(b, n);
}

/* A lead ends the field before it: verifying a log is printing it once more. */
void record_print(const struct record *r, struct strbuf *b)
{
	if (r->actor.ptr)
		text_field(STR("{\"actor\":\""), r->actor, b);
	strbuf_addstr(b, r->actor.ptr ? STR("\",\"body\":") : STR("{\"body\":"));
	strbuf_addstr(b, r->body);
	if (r->has_cause)
		int_field(STR(",\"cause\":"), r->cause, b);
	if (r->op.ptr) {
		text_field(STR(",\"op\":\""), r->op, b);
		strbuf_addc(b, '"');
	}
	text_field(STR(",\"reason\":\""), r->reason, b);
	int_field(STR("\",\"seq\":"), r->seq, b);
	text_field(STR(",\"subject\":{\"cluster\":\""), r->cluster, b);
	text_field(STR("\",\"kind\":\""), r->kind, b);
	text_field(STR("\",\"name\":\""), r->name, b);
	text_field(STR("\",\"namespace\":\""), r->ns, b);
	text_field(STR("\",\"uid\":\""), r->uid, b);
	int_field(STR("\"},\"time\":"), r->time_us, b);
	if (r->has_tseq)
		int_field(STR(",\"transitionSeq\":"), r->tseq, b);
	text_field(STR(",\"type\":\""), r->type, b);
	strbuf_addstr(b, STR("\"}"));
}

void record_leaf(const struct record *r, struct strbuf *scratch, unsigned char out[SHA256_BYTES])
{
	strbuf_clear(scratch);
	strbuf_addc(scratch, 0);
	record_print(r, scratch);
	sha256(strbuf_str(scratch), out);
}

void chain_start(const char *origin, unsigned char out[SHA256_BYTES])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "alm-audit v1\n%s\n", origin);
	sha256(strbuf_str(&b), out);
}

void chain_next(const unsigned char before[SHA256_BYTES], const unsigned char leaf[SHA256_BYTES],
		unsigned char out[SHA256_BYTES])
{
	char buf[1 + 2 * SHA256_BYTES];
	buf[0] = 2;
	memcpy(buf + 1, before, SHA256_BYTES);
	memcpy(buf + 1 + SHA256_BYTES, leaf, SHA256_BYTES);
	sha256(str_n(buf, sizeof(buf)), out);
}
