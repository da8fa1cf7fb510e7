/* text: the texts of store.h, shared by reference count. It knows nothing of the store. */
#include "alm/apiserver/store/store.h"

#include <string.h>

struct text *text_new(struct str s)
{
	struct text *t = xmalloc(sizeof(*t) + s.len + 1);
	t->refs = 1;
	t->len = (unsigned)s.len;
	t->stamp = 0;
	t->labels[0] = t->labels[1] = 0;
	if (s.len)
		memcpy(t->bytes, s.ptr, s.len);
	t->bytes[s.len] = '\0';
	return t;
}

struct text *text_ref(struct text *t)
{
	if (t)
		t->refs++;
	return t;
}

void text_unref(struct text *t)
{
	if (t && --t->refs == 0)
		xfree(t);
}

struct str text_str(const struct text *t)
{
	return str_n(t->bytes, t->len);
}

bool text_uid(struct str object, char out[STORE_UID_TEXT])
{
	/* Canonical: nothing before metadata can hold this text, nor anything before its uid. */
	ptrdiff_t at = str_find(object, STR("\"metadata\":{"));
	if (at < 0)
		return false;
	struct str rest = str_skip(object, (size_t)at);
	at = str_find(rest, STR("\"uid\":\""));
	if (at < 0 || rest.len < (size_t)at + 7 + STORE_UID_TEXT)
		return false;
	memcpy(out, rest.ptr + at + 7, STORE_UID_TEXT - 1);
	out[STORE_UID_TEXT - 1] = '\0';
	return true;
}

struct str text_api_version(struct str object)
{
	static const char begin[] = "{\"apiVersion\":\"";
	struct str version, rest;
	if (!str_has_prefix(object, STR(begin)) ||
	    !str_cut(str_skip(object, sizeof(begin) - 1), '"', &version, &rest))
		return STR_NONE;
	return version;
}

/* Behind the quote that ends the string; end where none does. */
static const char *skip_string(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\' && end - p > 1)
			p++; /* what it escapes */
	}
	return end;
}

/* The comma or brace behind a value of a map, or end. */
static const char *skip_value(const char *p, const char *end)
{
	size_t depth = 0;
	while (p < end && (depth || (*p != ',' && *p != '}'))) {
		char c = *p++;
		if (c == '"')
			p = skip_string(p, end);
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
	}
	return p;
}

struct str text_labels(struct str object)
{
	static const char begin[] = "\"metadata\":{";
	ptrdiff_t at = str_find(object, str_of(begin));
	if (at < 0)
		return STR("");
	const char *p = object.ptr + at + strlen(begin), *end = object.ptr + object.len;
	while (p < end && *p == '"') {
		const char *key = p + 1, *colon = skip_string(key, end);
		if (colon == end || *colon != ':')
			break;
		p = skip_value(colon + 1, end);
		if (str_is(str_n(key, (size_t)(colon - key) - 1), "labels"))
			return str_n(colon + 1, (size_t)(p - colon) - 1);
		if (p < end && *p == ',')
			p++;
	}
	return STR("");
}
