#include "alm/obj/yaml_value.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/number.h"
#include "alm/obj/yaml_scalar.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

bool yaml_tag_is(const char *tag, const char *name)
{
	return tag && cstr_has_prefix(tag, TAG_PREFIX) &&
	       strcmp(tag + strlen(TAG_PREFIX), name) == 0;
}

static const char *short_type(enum yaml_scalar_type type)
{
	static const char *const names[] = {
		[YAML_STRING] = "!!str", [YAML_NULL] = "!!null", [YAML_BOOL] = "!!bool",
		[YAML_INT] = "!!int",    [YAML_UINT] = "!!int",  [YAML_FLOAT] = "!!float",
		[YAML_INF] = "!!float",  [YAML_NAN] = "!!float", [YAML_TIMESTAMP] = "!!timestamp",
	};
	return names[type];
}

/* !!int 3 and the like: the plain meaning must have the type. */
static int check_tag(const struct yaml_written *w, const struct yaml_scalar *v, struct error *err)
{
	const char *tag = w->tag;
	const char *name = short_type(v->type);
	bool number = v->type == YAML_INT || v->type == YAML_UINT;
	if (yaml_tag_is(tag, name + 2) || (yaml_tag_is(tag, "float") && number))
		return 0;
	return error_set(err, E_BADREQUEST, "yaml: line %zu: cannot decode %s `%.64s` as a !!%.32s",
			 w->line, name, w->text.ptr, tag + strlen(TAG_PREFIX));
}

/* What a scalar event means; a string unless it is plain or tagged otherwise. */
static int resolve(const struct yaml_written *w, struct yaml_scalar *ret, struct error *err)
{
	const char *tag = w->tag;
	struct str text = w->text;
	ret->type = YAML_STRING;
	if (tag && (yaml_tag_is(tag, "int") || yaml_tag_is(tag, "float") ||
		    yaml_tag_is(tag, "bool") || yaml_tag_is(tag, "null"))) {
		*ret = yaml_scalar_resolve(text);
		if (check_tag(w, ret, err) < 0)
			return -err->code;
	} else if (!tag && w->is_plain) {
		*ret = yaml_scalar_resolve(text);
	}
	if (ret->type == YAML_INF || ret->type == YAML_NAN)
		return error_set(err, E_BADREQUEST, "yaml: line %zu: json: unsupported value: %s",
				 w->line,
				 ret->type == YAML_NAN ? "NaN"
				 : text.ptr[0] == '-'  ? "-Inf"
						       : "+Inf");
	return 0;
}

static void refuse(const struct yaml_written *w, const char *what, struct error *err)
{
	error_set(err, E_BADREQUEST, "yaml: line %zu: %s", w->line, what);
}

static struct obj *binary(const struct yaml_written *w, struct error *err)
{
	struct str text = w->text;
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT(text.len + 1);
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(text.len + 1);
	for (size_t i = 0; i < text.len; i++)
		if (!char_is_space(text.ptr[i]))
			strbuf_addc(&packed, text.ptr[i]);
	if (!base64_decode(strbuf_str(&packed), &bytes) || !utf8_valid(strbuf_str(&bytes))) {
		refuse(w, "!!binary value contains invalid base64 data", err);
		return NULL;
	}
	return obj_stringn(strbuf_str(&bytes));
}

struct obj *yaml_value(const struct yaml_written *w, struct error *err)
{
	struct yaml_scalar v;
	struct str text = w->text;
	if (yaml_tag_is(w->tag, "binary"))
		return binary(w, err);
	if (resolve(w, &v, err) < 0)
		return NULL;
	switch (v.type) {
	case YAML_NULL:
		return obj_null();
	case YAML_BOOL:
		return obj_bool(v.boolean);
	case YAML_INT:
		return obj_int(v.i);
	case YAML_UINT:
		return obj_double((double)v.u); /* as in JSON read by Go into an interface */
	case YAML_FLOAT:
		return obj_double(v.d);
	case YAML_STRING:
	case YAML_INF:
	case YAML_NAN:
	case YAML_TIMESTAMP:
	default:
		return obj_stringn(text);
	}
}

char *yaml_key_text(const struct yaml_written *w, struct error *err)
{
	struct yaml_scalar v;
	char buf[NUMBER_TEXT_MAX];
	struct str text = w->text;
	if (resolve(w, &v, err) < 0)
		return NULL;
	switch (v.type) {
	case YAML_NULL:
		refuse(w, "unsupported map key of type null", err);
		return NULL;
	case YAML_BOOL:
		return xstrdup(v.boolean ? "true" : "false");
	case YAML_INT:
		snprintf(buf, sizeof(buf), "%lld", (long long)v.i);
		return xstrdup(buf);
	case YAML_UINT:
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v.u);
		return xstrdup(buf);
	case YAML_FLOAT:
		number_format_g(v.d, true, buf);
		return xstrdup(buf);
	case YAML_STRING:
	case YAML_INF:
	case YAML_NAN:
	case YAML_TIMESTAMP:
	default:
		if (str_find_char(text, '\0') >= 0) {
			refuse(w, "a map key holds a NUL", err);
			return NULL;
		}
		return str_dup(text);
	}
}
