/* field_error: see field_error.h. */
#include "alm/obj/field_error.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "alm/obj/json.h"

void field_errors_init(struct field_errors *e, struct arena *a)
{
	e->arena = a;
	e->n = 0;
	e->bytes = 0;
	e->omitted = 0;
	e->hidden = 0;
	e->whole = 0;
}

bool field_errors_full(const struct field_errors *e)
{
	return e->n == FIELD_ERRORS_MAX || e->bytes >= FIELD_ERRORS_BYTES_MAX;
}

void field_errors_add(struct field_errors *e, enum field_error_type type, const char *path,
		      const char *fmt, ...)
{
	va_list args;
	if (field_errors_full(e)) {
		e->omitted++;
		return;
	}
	va_start(args, fmt);
	struct field_error *added = &e->items[e->n++];
	*added = (struct field_error){
		.type = type,
		.path = arena_strdup(e->arena, path),
		.message = arena_vfmt(e->arena, fmt, args),
	};
	va_end(args);
	e->bytes += strlen(added->path) + strlen(added->message);
}

/* As Go quotes it, so that a message has one line. */
static void quote(struct strbuf *b, const char *text)
{
	json_quote(str_of(text ? text : ""), b);
}

void field_errors_add_text(struct field_errors *e, enum field_error_type type, const char *path,
			   const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	quote(&b, text);
	field_errors_add(e, type, path, "%s: %s",
			 type == FIELD_NOT_FOUND ? "Not found" : "Duplicate value", b.buf);
}

void field_errors_one_of(struct field_errors *e, const char *path, const char *value,
			 const char *const *all)
{
	if (value && cstr_in(value, all))
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FIELD_ERRORS_BYTES_MAX);
	quote(&b, value);
	strbuf_adds(&b, ": supported values: ");
	for (size_t i = 0; all[i]; i++)
		strbuf_addf(&b, "%s\"%s\"", i ? ", " : "", all[i]);
	field_errors_add(e, FIELD_NOT_SUPPORTED, path, "Unsupported value: %s", b.buf);
}

static void reverse(struct field_error *items, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct field_error last = items[n - 1 - i];
		items[n - 1 - i] = items[i];
		items[i] = last;
	}
}

void field_errors_swap(struct field_errors *e, size_t a, size_t b, size_t end)
{
	assert(a <= b && b <= end && end <= e->n);
	reverse(e->items + a, b - a);
	reverse(e->items + b, end - b);
	reverse(e->items + a, end - a);
}

const char *field_error_reason(enum field_error_type type)
{
	static const char *const reasons[] = {
		[FIELD_INVALID] = "FieldValueInvalid",
		[FIELD_REQUIRED] = "FieldValueRequired",
		[FIELD_NOT_SUPPORTED] = "FieldValueNotSupported",
		[FIELD_DUPLICATE] = "FieldValueDuplicate",
		[FIELD_FORBIDDEN] = "FieldValueForbidden",
		[FIELD_TOO_LONG] = "FieldValueTooLong",
		[FIELD_TOO_MANY] = "FieldValueTooMany",
		[FIELD_TYPE_INVALID] = "FieldValueTypeInvalid",
		[FIELD_NOT_FOUND] = "FieldValueNotFound",
		[FIELD_INTERNAL] = "InternalError",
	};
	return reasons[type];
}

static bool is_told(const struct field_errors *e, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(e->items[k].path, e->items[i].path) == 0 &&
		    strcmp(e->items[k].message, e->items[i].message) == 0)
			return true;
	return false;
}

void field_errors_text(const struct field_errors *e, struct strbuf *b)
{
	size_t n = 0;
	for (size_t i = 0; i < e->n; i++)
		n += !is_told(e, i);
	if (n > 1)
		strbuf_addc(b, '[');
	for (size_t i = 0; i < e->n; i++)
		if (!is_told(e, i))
			strbuf_addf(b, "%s%s: %s", i ? ", " : "", e->items[i].path,
				    e->items[i].message);
	if (n > 1)
		strbuf_addc(b, ']');
}
