#include "alm/engine/secrets.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define HIDDEN         "(hidden)"
#define TEXT_BYTES_MAX ((size_t)64 << 20)

#define FINDER_BITS      14
#define FINDER_HEADS     (1 << FINDER_BITS)
#define FINDER_STEPS_MAX ((size_t)16 << 20)
/* More, and a plan's "hidden" is [true]: its messages are hidden as a whole. Each is five texts to search for. */
#define LOOKED_UP_MAX 2000

void secrets_init(struct secrets *s, struct arena *a)
{
	*s = (struct secrets){.a = a};
}

/* --- filling --- */

static void add(struct secrets *s, struct str text)
{
	if (text.len < SECRET_BYTES_MIN || text.len > SECRET_BYTES_MAX)
		return;
	for (size_t i = s->n; i > 0 && s->n - i < 8; i--) /* lists repeat themselves */
		if (str_eq(s->items[i - 1], text))
			return;
	if (s->n == SECRETS_MAX) {
		s->over = true;
		return;
	}
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 16;
		struct str *items = ARENA_ARRAY(s->a, struct str, cap);
		if (s->n)
			memcpy(items, s->items, s->n * sizeof(*items));
		s->items = items;
		s->cap = cap;
	}
	s->items[s->n++] = text;
}

/* Inside a longer text the same bytes have three forms; characters at the edges, which also depend
 * on the neighbours, are left out. */
static void add_base64(struct secrets *s, struct str text)
{
	static const size_t skipped[] = {0, 2, 3};
	for (size_t shift = 0; shift < ARRAY_LEN(skipped); shift++) {
		CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(2 * SECRET_BYTES_MAX);
		CLEANUP(strbuf_release) struct strbuf b64 = STRBUF_INIT(4 * SECRET_BYTES_MAX);
		strbuf_pad(&plain, 0, shift);
		strbuf_addstr(&plain, text);
		base64_encode(strbuf_str(&plain), &b64);
		size_t end = plain.len * 8 / 6;
		struct str own = str_sub(strbuf_str(&b64), skipped[shift], end - skipped[shift]);
		add(s, str_n(arena_memdup(s->a, own.ptr, own.len), own.len));
	}
}

/* As JSON and the %q of a server's messages have it, if that is another text. */
static struct str quoted(struct str text, struct arena *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(8 * SECRET_BYTES_MAX);
	json_quote(text, &b);
	if (b.len == text.len + 2)
		return text;
	return str_n(arena_memdup(a, b.buf + 1, b.len - 2), b.len - 2);
}

/* A key in PEM is looked for line by line. */
static void add_text(struct secrets *s, struct str text)
{
	struct str rest = text, line;
	while (str_next_line(&rest, &line)) {
		line = str_trim(line);
		if (line.len < SECRET_BYTES_MIN || line.len > SECRET_BYTES_MAX)
			continue;
		add(s, line);
		add(s, quoted(line, s->a));
		add_base64(s, line);
	}
}

/* NOLINTBEGIN(misc-no-recursion): at most OBJ_DEPTH_MAX deep */
/* Texts and numbers of o; of a map without policy only those that it names. */
static void add_leaves(struct secrets *s, const struct obj *o, bool policy)
{
	if (obj_type(o) == OBJ_STRING && !policy)
		add_text(s, obj_as_str(o));
	else if (obj_is_number(o) && !policy)
		add_text(s, obj_number_text(o));
	for (size_t i = 0; obj_type(o) == OBJ_LIST && i < obj_len(o); i++)
		add_leaves(s, obj_at(o, i), policy);
	if (obj_type(o) != OBJ_MAP)
		return;
	const char *name = obj_as_string(obj_get(o, "name")); /* of an env entry */
	OBJ_EACH (it, o) {
		bool named = audit_is_secret_name(it.key) ||
			     (name && cstr_eq(it.key, "value") && audit_is_secret_name(name));
		add_leaves(s, it.value, policy && !named);
	}
}
/* NOLINTEND(misc-no-recursion) */

void secrets_add_values(struct secrets *s, const struct obj *values)
{
	add_leaves(s, values, true);
}

static void add_decoded(struct secrets *s, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(TEXT_BYTES_MAX);
	if (text.len > 2 * SECRET_BYTES_MAX || !base64_decode(text, &plain))
		return;
	add_text(s, str_n(arena_memdup(s->a, plain.buf, plain.len), plain.len));
}

void secrets_add_object(struct secrets *s, const struct obj *o)
{
	if (!cstr_eq(meta_kind(o), "Secret"))
		return;
	OBJ_EACH (it, obj_get(o, "data")) {
		add(s, obj_as_str(it.value));
		add_decoded(s, obj_as_str(it.value));
	}
	OBJ_EACH (it, obj_get(o, "stringData"))
		add_text(s, obj_as_str(it.value));
}

static void add_found(struct secrets *s, const struct obj *o)
{
	secrets_add_object(s, o);
	OBJ_EACH (it, o)
		if (!cstr_eq(it.key, "apiVersion") && !cstr_eq(it.key, "kind") &&
		    !cstr_eq(it.key, "metadata") && !cstr_eq(it.key, "items"))
			add_leaves(s, it.value, false);
}

void secrets_add_answers(struct secrets *s, const struct obj *answers)
{
	for (size_t i = 0; i < obj_len(answers); i++) {
		const struct obj *value = obj_get(obj_at(answers, i), "value");
		const struct obj *items = obj_get(value, "items");
		if (obj_has(obj_at(answers, i), "zone"))
			continue;
		add_found(s, value);
		for (size_t k = 0; k < obj_len(items); k++)
			add_found(s, obj_at(items, k));
	}
}

static void add_hidden(struct secrets *s, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++)
		s->over = s->over || obj_type(obj_at(list, i)) == OBJ_BOOL; /* MANY */
	add_leaves(s, list, false);
}

void secrets_add_plan(struct secrets *s, const struct obj *doc)
{
	static const char *const lists[] = {"objects", "hooks"};
	secrets_add_values(s, obj_get(doc, "config"));
	add_hidden(s, obj_get(doc, "hidden"));
	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		const struct obj *list = obj_get(doc, lists[l]);
		for (size_t i = 0; i < obj_len(list); i++)
			secrets_add_object(s, obj_get(obj_at(list, i), "object"));
	}
}

void secrets_take(struct secrets *s, const struct secrets *from)
{
	for (size_t i = 0; i < from->n; i++)
		add(s, from->items[i]);
	s->over = s->over || from->over;
}

void secrets_copy(struct secrets *s, const struct secrets *from)
{
	for (size_t i = 0; i < from->n; i++)
		add(s, str_n(arena_memdup(s->a, from->items[i].ptr, from->items[i].len),
			     from->items[i].len));
	s->over = s->over || from->over;
}

/* --- what of many texts a long one has --- */

/* By their first bytes, so the long text is walked once, however many there are. */
struct finder {
	const struct secrets *s;
	uint32_t *heads; /* 1 + the first item of a hash; 0: none */
	uint32_t *next;  /* of each item, alike */
	bool *found;
};

static size_t hash_of(const char *p)
{
	uint64_t k = 0;
	memcpy(&k, p, SECRET_BYTES_MIN);
	return (size_t)((k * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - FINDER_BITS));
}

static void finder_init(struct finder *f, const struct secrets *s)
{
	*f = (struct finder){.s = s};
	f->heads = ARENA_ARRAY(s->a, uint32_t, FINDER_HEADS);
	f->next = ARENA_ARRAY(s->a, uint32_t, s->n);
	f->found = ARENA_ARRAY(s->a, bool, s->n);
	for (size_t i = 0; i < s->n; i++) {
		size_t h = hash_of(s->items[i].ptr);
		f->next[i] = f->heads[h];
		f->heads[h] = (uint32_t)i + 1;
	}
}

/* False: that would take too long, as many begin alike. */
static bool finder_walk(struct finder *f, struct str text)
{
	size_t steps = 0;
	for (size_t at = 0; at + SECRET_BYTES_MIN <= text.len; at++) {
		uint32_t k = f->heads[hash_of(text.ptr + at)];
		for (; k && ++steps <= FINDER_STEPS_MAX; k = f->next[k - 1]) {
			struct str item = f->s->items[k - 1];
			if (!f->found[k - 1] && item.len <= text.len - at &&
			    memcmp(item.ptr, text.ptr + at, item.len) == 0)
				f->found[k - 1] = true;
		}
		if (steps > FINDER_STEPS_MAX)
			return false;
	}
	return true;
}

/* In the text it is as JSON quotes it; a message may have either. */
static void find_unquoted(struct finder *f)
{
	for (size_t i = 1; i < f->s->n; i++)
		if (f->found[i] && str_eq(f->s->items[i], quoted(f->s->items[i - 1], f->s->a)))
			f->found[i - 1] = true;
}

struct obj *secrets_looked_up(const struct obj *answers, const struct obj *rendered)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEXT_BYTES_MAX);
	struct obj *list = obj_list();
	struct secrets s;
	struct finder f;
	secrets_init(&s, a);
	secrets_add_answers(&s, answers);
	if (!s.n)
		return list;
	CLEANUP(xfreep) char *text = json_text(rendered);
	finder_init(&f, &s);
	bool knows = !s.over && finder_walk(&f, str_of(text));
	find_unquoted(&f);
	for (size_t i = 0; knows && i < s.n; i++)
		if (f.found[i] && utf8_valid(s.items[i]))
			obj_append(list, obj_stringn(s.items[i]));
	if (knows && obj_len(list) <= LOOKED_UP_MAX)
		return list;
	obj_unref(list);
	list = obj_list();
	obj_append(list, obj_bool(true)); /* MANY */
	return list;
}

/* --- hiding --- */

/* What is hidden of a text, byte by byte. */
struct mask {
	struct str text;
	bool *hidden;
	bool any;
};

static void hide_bytes(struct mask *m, size_t from, size_t n)
{
	memset(m->hidden + from, true, n);
	m->any = m->any || n;
}

static void hide_one(struct mask *m, struct str secret)
{
	ptrdiff_t at;
	for (size_t from = 0; (at = str_find(str_skip(m->text, from), secret)) >= 0;) {
		hide_bytes(m, from + (size_t)at, secret.len);
		from += (size_t)at + 1;
	}
	/* a message that was cut may end within it */
	size_t n = secret.len - 1 < m->text.len ? secret.len - 1 : m->text.len;
	for (; n >= SECRET_BYTES_MIN; n--) {
		if (memcmp(m->text.ptr + m->text.len - n, secret.ptr, n) == 0) {
			hide_bytes(m, m->text.len - n, n);
			break;
		}
	}
}

/* scheme://user:password@host */
static void hide_user_info(struct mask *m)
{
	ptrdiff_t at;
	for (size_t from = 0; (at = str_find(str_skip(m->text, from), STR("://"))) >= 0;) {
		from += (size_t)at + strlen("://");
		struct str rest = str_skip(m->text, from);
		size_t end = 0;
		while (end < rest.len && !strchr("/?# \t\n\"'", rest.ptr[end]))
			end++;
		ptrdiff_t user = str_rfind_char(str_sub(rest, 0, end), '@');
		if (user > 0)
			hide_bytes(m, from, (size_t)user);
	}
}

const char *secrets_hide(const struct secrets *s, const char *text)
{
	if (!text || !*text)
		return text;
	if (s->over)
		return HIDDEN ": more secret values than a message is searched for";
	CLEANUP(xfreep) bool *hidden = xcalloc(strlen(text), sizeof(*hidden));
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_BYTES_MAX);
	struct mask m = {.text = str_of(text), .hidden = hidden};
	for (size_t i = 0; i < s->n; i++)
		hide_one(&m, s->items[i]);
	hide_user_info(&m);
	if (!m.any)
		return text;
	for (size_t i = 0; i < m.text.len; i++) {
		if (!hidden[i])
			strbuf_addc(&b, text[i]);
		else if (i == 0 || !hidden[i - 1])
			strbuf_adds(&b, HIDDEN);
	}
	return arena_strndup(s->a, b.buf, b.len);
}

void secrets_hide_error(const struct secrets *s, struct error *err)
{
	const char *text = secrets_hide(s, err->msg);
	if (text != err->msg)
		error_set(err, err->code, "%s", text);
}

/* NOLINTBEGIN(misc-no-recursion): at most OBJ_DEPTH_MAX deep */
struct obj *secrets_hide_texts(const struct secrets *s, const struct obj *o, bool all)
{
	struct obj *out;
	switch (obj_type(o)) {
	case OBJ_LIST:
		out = obj_list();
		for (size_t i = 0; i < obj_len(o); i++)
			obj_append(out, secrets_hide_texts(s, obj_at(o, i), all));
		return out;
	case OBJ_MAP:
		out = obj_map();
		OBJ_EACH (it, o)
			obj_set(out, it.key,
				secrets_hide_texts(s, it.value,
						   all || cstr_eq(it.key, "message") ||
							   cstr_eq(it.key, "detail") ||
							   cstr_eq(it.key, "why")));
		return out;
	case OBJ_STRING:
		return all ? obj_string(secrets_hide(s, obj_as_string(o))) : obj_ref(o);
	case OBJ_ABSENT:
	case OBJ_NULL:
	case OBJ_BOOL:
	case OBJ_INT:
	case OBJ_DOUBLE:
	default:
		return obj_ref(o);
	}
}
/* NOLINTEND(misc-no-recursion) */
