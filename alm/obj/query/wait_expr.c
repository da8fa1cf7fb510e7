#include "alm/obj/query/wait_expr.h"

#include <string.h>

#include "alm/obj/json.h"

/* condition=Ready, condition=Ready=False, as kubectl: case of the status does not count. */
static int parse_condition(struct arena *a, struct str text, struct wait_expr *ret,
			   struct error *err)
{
	struct str type, status;
	if (!str_cut(text, '=', &type, &status))
		status = STR("True");
	if (!type.len || str_find_char(text, '\'') >= 0)
		return error_set(err, E_USAGE, "condition=%.*s is not condition=TYPE[=STATUS]",
				 STR_ARG(text));
	char *value = arena_strndup(a, status.ptr, status.len);
	for (char *p = value; *p; p++)
		*p = p == value ? char_upper(*p) : char_lower(*p);
	const char *q =
		arena_fmt(a, "status.conditions[?type='%.*s'].status = '%s'", STR_ARG(type), value);
	return jsonql_parse(str_of(q), &ret->query, err);
}

/* jsonpath={.status.phase}=Done or jsonpath='{.status.ip}' */
static int parse_jsonpath(struct arena *a, struct str text, struct wait_expr *ret,
			  struct error *err)
{
	struct str path = text, value = STR_NONE;
	if (text.len && text.ptr[0] == '{') {
		ptrdiff_t end = str_find_char(text, '}');
		if (end < 0)
			return error_set(err, E_USAGE, "jsonpath: } is missing");
		path = str_sub(text, 1, (size_t)end - 1);
		value = str_skip(text, (size_t)end + 1);
		if (value.len && value.ptr[0] != '=')
			return error_set(err, E_USAGE, "jsonpath: want {PATH}=VALUE");
		value = value.len ? str_skip(value, 1) : STR_NONE;
	} else
		(void)str_cut(text, '=', &path, &value);
	if (value.ptr && value.len)
		ret->value = arena_strndup(a, value.ptr, value.len);
	int r = jsonpath_parse(path, &ret->path, err);
	return r < 0 ? error_set(err, E_USAGE, "%s", err->msg) : 0;
}

int wait_expr_parse(struct arena *a, const char *text, struct wait_expr *ret, struct error *err)
{
	struct wait_expr e = {.text = text};
	struct str s = str_of(text);
	int r = 0;
	if (!strcmp(text, "delete"))
		e.type = WAIT_DELETE;
	else if (!strcmp(text, "create"))
		e.type = WAIT_CREATE;
	else if (str_has_prefix(s, STR("cel=")))
		r = error_set(err, E_UNSUPPORTED, "cel= is not supported; write it as JSONQL");
	else if (str_has_prefix(s, STR("condition=")))
		r = parse_condition(a, str_skip(s, 10), &e, err);
	else if (str_has_prefix(s, STR("jsonpath="))) {
		e.type = WAIT_JSONPATH;
		r = parse_jsonpath(a, str_skip(s, 9), &e, err);
	} else {
		if (str_has_prefix(s, STR("jsonql=")))
			s = str_skip(s, 7);
		e.text = s.ptr;
		r = jsonql_parse(s, &e.query, err);
	}
	if (r < 0)
		return r;
	*ret = e;
	return 0;
}

void wait_expr_release(struct wait_expr *e)
{
	jsonql_free(e->query);
	jsonpath_free(e->path);
	*e = (struct wait_expr){0};
}

static void value_text(const struct obj *v, struct strbuf *b)
{
	struct str s = obj_as_str(v);
	if (s.ptr)
		strbuf_addstr(b, s);
	else
		json_print(v, b);
}

static bool path_holds(const struct wait_expr *e, const struct obj *o)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	const struct obj *v = jsonpath_first(e->path, o);
	if (!v || !e->value)
		return v != NULL;
	value_text(v, &b);
	return str_is(strbuf_str(&b), e->value);
}

bool wait_expr_holds(const struct wait_expr *e, const struct obj *o, int64_t now_ns,
		     struct strbuf *notes)
{
	switch (e->type) {
	case WAIT_DELETE:
		return o == NULL;
	case WAIT_CREATE:
		return o != NULL;
	case WAIT_JSONPATH:
		return o && path_holds(e, o);
	case WAIT_JSONQL:
		break;
	}
	return o && jsonql_eval(e->query, o, now_ns, notes);
}

bool wait_expr_wants_delete(const struct wait_expr *e)
{
	return e->type == WAIT_DELETE;
}

bool wait_expr_uses_clock(const struct wait_expr *e)
{
	return e->query && jsonql_uses_age(e->query);
}

void wait_expr_values(const struct wait_expr *e, const struct obj *o, struct strbuf *b)
{
	if (!o)
		return;
	if (e->query)
		jsonql_values(e->query, o, b);
	else if (e->path && jsonpath_first(e->path, o))
		value_text(jsonpath_first(e->path, o), b);
}
