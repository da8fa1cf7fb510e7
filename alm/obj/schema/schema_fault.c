#include "alm/obj/schema/schema_fault.h"

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_node.h"

void schema_fault_add(struct schema_checked *c, enum field_error_type type, const char *key,
		      const char *text)
{
	size_t at = c->path.len;
	strbuf_addf(&c->path, ".%s", key);
	field_errors_add(c->errors, type, c->path.buf, "%s", text);
	strbuf_truncate(&c->path, at);
}

void schema_forbid(struct schema_checked *c, const char *key, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "Forbidden: %s", why);
	schema_fault_add(c, FIELD_FORBIDDEN, key, b.buf);
}

void schema_require(struct schema_checked *c, const char *key, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "Required value: %s", why);
	schema_fault_add(c, FIELD_REQUIRED, key, b.buf);
}

void schema_invalid(struct schema_checked *c, const char *key, const struct obj *value,
		    const char *why)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "Invalid value: ");
	if (value)
		go_bad_value(value, &b);
	else
		strbuf_adds(&b, "\"\"");
	strbuf_addf(&b, ": %s", why);
	schema_fault_add(c, FIELD_INVALID, key, b.buf);
}

void schema_unsupported(struct schema_checked *c, const char *key, const char *value,
			const char *supported)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_adds(&b, "Unsupported value: ");
	go_quote(str_of(value), &b);
	strbuf_addf(&b, ": supported values: %s", supported);
	schema_fault_add(c, FIELD_NOT_SUPPORTED, key, b.buf);
}

bool schema_flag(const struct obj *o, const char *key)
{
	return obj_is_true(obj_get(o, key));
}

const char *schema_text(const struct obj *o, const char *key)
{
	const char *s = obj_as_string(obj_get(o, key));
	return s ? s : "";
}
