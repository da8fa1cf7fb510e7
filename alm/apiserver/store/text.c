/* text: the texts of store.h, shared by reference count. It knows nothing of the store. */
#include "alm/apiserver/store/store.h"

#include <string.h>

struct text *text_new(struct str s)
{
	struct text *t = xmalloc(sizeof(*t) + s.len + 1);
	t->refs = 1;
	t->len = (unsigned)s.len;
	t->stamp = 0;
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
