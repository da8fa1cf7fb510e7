/* schema_path: paths into what a schema declares, and what a rule says beside its expressions; in the words of
 * apiextensions-apiserver 1.36. */
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_fault.h"
#include "alm/obj/schema/schema_node.h"

/* --- paths: .a['b'].c --- */

/* The next of "." "[" "]", a text in single quotes, or what stands up to one of the three. */
static bool token(struct str *rest, struct str *ret)
{
	size_t n = 1;
	if (!rest->len)
		return false;
	if (*rest->ptr == '\'')
		while (n < rest->len && (rest->ptr[n] != '\'' || rest->ptr[n - 1] == '\\'))
			n++;
	else if (!strchr(".[]", *rest->ptr))
		while (n < rest->len && !strchr(".[]", rest->ptr[n]))
			n++;
	if (*rest->ptr == '\'' && n < rest->len)
		n++;
	*ret = (struct str){rest->ptr, n};
	*rest = str_skip(*rest, n);
	return true;
}

/* Without the quotes, and what they hide. */
static const char *unquoted(struct str quoted, struct arena *a)
{
	char *out = arena_strndup(a, quoted.ptr + 1, quoted.len - 2), *to = out;
	for (const char *p = out; *p; p++) {
		if (*p == '\\' && (p[1] == '\'' || p[1] == '\\'))
			p++;
		*to++ = *p;
	}
	*to = '\0';
	return out;
}

static const struct obj *below(const struct obj *at, const char *name, struct strbuf *path)
{
	const struct obj *all = obj_get(at, "properties");
	if (obj_len(all)) {
		strbuf_addf(path, "%s%s", path->len ? "." : "", name);
		return obj_get(all, name);
	}
	const struct obj *additional = obj_get(at, "additionalProperties");
	strbuf_addf(path, "[%s]", name);
	return obj_type(additional) == OBJ_MAP ? additional : NULL;
}

static const char path_end[] = "unexpected end of JSON path";

/* ".name" or "['name']" off *rest: what is wrong with it, or NULL. */
static const char *take_step(struct str *rest, struct str t, struct arena *a, const char **ret)
{
	bool bracket = str_is(t, "[");
	if (!token(rest, &t))
		return path_end;
	if (bracket && (t.len < 2 || *t.ptr != '\'' || t.ptr[t.len - 1] != '\''))
		return arena_fmt(a, "expected single quoted string but got %.*s", STR_ARG(t));
	*ret = bracket ? unquoted(t, a) : arena_strndup(a, t.ptr, t.len);
	return NULL;
}

static const char *take_end(struct str *rest, struct arena *a)
{
	struct str t;
	if (!token(rest, &t))
		return path_end;
	return str_is(t, "]") ? NULL : arena_fmt(a, "expected ] but got %.*s", STR_ARG(t));
}

const struct obj *schema_at_path(const struct obj *openapi, const char *text, bool in_brackets,
				 struct strbuf *path, struct arena *a, const char **ret_why)
{
	const struct obj *at = openapi;
	const char *name = NULL;
	struct str rest = str_of(text), t;
	*ret_why = NULL;
	while (!*ret_why && token(&rest, &t)) {
		bool bracket = str_is(t, "[");
		if (bracket && !in_brackets)
			*ret_why = "array notation is not allowed";
		else if (!bracket && !str_is(t, "."))
			*ret_why = arena_fmt(a, "expected [ or . but got: %.*s", STR_ARG(t));
		else
			*ret_why = take_step(&rest, t, a, &name);
		if (*ret_why)
			break;
		at = below(at, name, path);
		if (!at)
			*ret_why = "does not refer to a valid field";
		else if (bracket)
			*ret_why = take_end(&rest, a);
	}
	return *ret_why ? NULL : at;
}

/* --- rules --- */

static bool has_break(struct str s)
{
	return str_find_char(s, '\n') >= 0 || str_find_char(s, '\r') >= 0;
}

static void check_texts(struct schema_checked *c, const struct obj *rule)
{
	struct str text = str_trim(obj_as_str(obj_get(rule, "rule")));
	const struct obj *said = obj_get(rule, "message"),
			 *made = obj_get(rule, "messageExpression");
	struct str message = str_trim(obj_as_str(said));
	if (!text.len)
		schema_require(c, "rule", "rule is not specified");
	else if (obj_as_str(said).len && !message.len)
		schema_invalid(c, "message", said, "must be non-empty if specified");
	else if (has_break(message))
		schema_invalid(c, "message", said, "must not contain line breaks");
	else if (has_break(text) && !message.len)
		schema_require(c, "message",
			       "message must be specified if rule contains line breaks");
	if (obj_as_str(made).len && !str_trim(obj_as_str(made)).len)
		schema_require(c, "messageExpression",
			       "messageExpression must be non-empty if specified");
}

/* o NULL: paths into it lead nowhere, and nothing is said of them. */
static void check_rule(struct schema_checked *c, const struct obj *o, const struct obj *rule)
{
	static const char *const reasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
					      "FieldValueInvalid", "FieldValueRequired", NULL};
	const struct obj *path = obj_get(rule, "fieldPath"), *reason = obj_get(rule, "reason");
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
	const char *why = NULL;
	check_texts(c, rule);
	if (obj_is_set(reason) && !cstr_in(obj_as_string(reason), reasons))
		schema_unsupported(c, "reason", schema_text(rule, "reason"),
				   "\"FieldValueDuplicate\", \"FieldValueForbidden\", "
				   "\"FieldValueInvalid\", \"FieldValueRequired\"");
	if (!obj_as_str(path).len)
		return;
	if (!str_trim(obj_as_str(path)).len)
		schema_invalid(c, "fieldPath", path, "must be non-empty if specified");
	if (has_break(obj_as_str(path)))
		schema_invalid(c, "fieldPath", path, "must not contain line breaks");
	if (o && !schema_at_path(o, obj_as_string(path), true, &b, a, &why))
		schema_invalid(c, "fieldPath", path, "must be a valid path");
}

void schema_check_rule_fields(struct schema_checked *c, const struct obj *o)
{
	const struct obj *rules = obj_get(o, "x-kubernetes-validations");
	if (obj_len(rules) && schema_unread(o))
		o = NULL;
	for (size_t i = 0; i < obj_len(rules) && !field_errors_full(c->errors); i++) {
		size_t at = c->path.len;
		strbuf_addf(&c->path, ".x-kubernetes-validations[%zu]", i);
		check_rule(c, o, obj_at(rules, i));
		strbuf_truncate(&c->path, at);
	}
}
