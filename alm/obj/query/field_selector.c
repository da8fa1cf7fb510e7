/* field_selector: the second half of selector.h. apimachinery's pkg/fields; '\' escapes = , and \.
 */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/query/selector.h"

struct term {
	char *field, *value;
	bool equals;
};

struct field_selector {
	struct term *terms; /* as many as there are: a watch holds them as long as it lasts */
	size_t n, cap;
};

/* Up to the next comma that no backslash escapes. */
static struct str next_term(struct str *rest)
{
	size_t n = 0;
	while (n < rest->len && rest->ptr[n] != ',')
		n += rest->ptr[n] == '\\' && n + 1 < rest->len ? 2 : 1;
	struct str term = str_sub(*rest, 0, n);
	*rest = str_skip(*rest, n + 1);
	return term;
}

static char *unescaped(struct str s, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(s.len + 1);
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\\') {
			i++;
			if (i == s.len || !memchr("\\,=", s.ptr[i], 3)) {
				error_set(err, E_BADREQUEST,
					  "invalid field selector: invalid escape sequence: %.*s",
					  STR_ARG(s));
				return NULL;
			}
		} else if (s.ptr[i] == '=' || s.ptr[i] == ',') {
			error_set(err, E_BADREQUEST,
				  "invalid field selector: unescaped character in value: %c",
				  s.ptr[i]);
			return NULL;
		}
		strbuf_addc(&b, s.ptr[i]);
	}
	return strbuf_detach(&b);
}

/* "field=value": the first operator splits. */
static bool split(struct str s, struct str *field, struct str *value, bool *equals)
{
	for (size_t i = 0; i < s.len; i++) {
		struct str rest = str_skip(s, i);
		size_t n = str_has_prefix(rest, STR("!=")) || str_has_prefix(rest, STR("==")) ? 2
			   : rest.ptr[0] == '='                                               ? 1
											      : 0;
		if (!n)
			continue;
		*field = str_sub(s, 0, i);
		*value = str_skip(rest, n);
		*equals = rest.ptr[0] == '=';
		return true;
	}
	return false;
}

int field_selector_parse(struct str text, bool (*supported)(void *arg, struct str field), void *arg,
			 struct field_selector **ret, struct error *err)
{
	CLEANUP(field_selector_freep) struct field_selector *s = xcalloc(1, sizeof(*s));
	struct str rest = text;
	while (rest.len) {
		struct str term = next_term(&rest), field, value;
		bool equals;
		if (!term.len)
			continue;
		if (s->n == SELECTOR_TERMS_MAX)
			return error_set(err, E_BADREQUEST, "more than %d requirements",
					 SELECTOR_TERMS_MAX);
		if (!split(term, &field, &value, &equals))
			return error_set(err, E_BADREQUEST,
					 "invalid selector: '%.*s'; can't understand '%.*s'",
					 STR_ARG(text), STR_ARG(term));
		if (supported && !supported(arg, field))
			return error_set(err, E_BADREQUEST, "field label not supported: %.*s",
					 STR_ARG(field));
		char *plain = unescaped(value, err);
		if (!plain)
			return -err->code;
		ARRAY_GROW(s->terms, s->cap, s->n + 1);
		s->terms[s->n++] = (struct term){str_dup(field), plain, equals};
	}
	*ret = STEAL(s);
	return 0;
}

void field_selector_free(struct field_selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		xfree(s->terms[i].field);
		xfree(s->terms[i].value);
	}
	xfree(s->terms);
	xfree(s);
}

bool field_selector_matches(const struct field_selector *s,
			    const char *(*value)(void *arg, const char *field), void *arg)
{
	for (size_t i = 0; i < s->n; i++) {
		const char *v = value(arg, s->terms[i].field);
		if ((strcmp(v ? v : "", s->terms[i].value) == 0) != s->terms[i].equals)
			return false;
	}
	return true;
}

const char *field_selector_exact(const struct field_selector *s, const char *field)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->terms[i].equals && cstr_eq(s->terms[i].field, field))
			return s->terms[i].value;
	return NULL;
}
