#include "alm/obj/json_foreign.h"

#include <json-c/json.h>
#include <limits.h>

#include "alm/obj/number.h"

/* NOLINTBEGIN(misc-no-recursion): the reader took no more than JSON_FOREIGN_DEPTH_MAX levels */
static struct obj *convert(struct json_object *o, bool *ok);

static struct obj *convert_list(struct json_object *o, bool *ok)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < json_object_array_length(o); i++)
		obj_append(list, convert(json_object_array_get_idx(o, i), ok));
	return list;
}

static struct obj *convert_map(struct json_object *o, bool *ok)
{
	struct obj *map = obj_map();
	for (struct lh_entry *e = json_object_get_object(o)->head; e; e = e->next)
		obj_set_new(map, lh_entry_k(e), convert(lh_entry_v(e), ok));
	return map;
}

/* json-c keeps the text of a fraction, and reads some that are no JSON (01.5) or no double (1e999).
 */
static struct obj *convert_number(struct json_object *o, bool *ok)
{
	const char *fault;
	double v;
	struct str text = str_of(json_object_to_json_string(o));
	if (number_scan(text, &fault) == text.len && !fault && str_parse_double(text, &v))
		return obj_number(text);
	*ok = false;
	return obj_null();
}

static struct obj *convert(struct json_object *o, bool *ok)
{
	switch (json_object_get_type(o)) {
	case json_type_boolean:
		return obj_bool(json_object_get_boolean(o));
	case json_type_int:
	case json_type_double:
		return convert_number(o, ok);
	case json_type_string:
		return obj_stringn((struct str){json_object_get_string(o),
						(size_t)json_object_get_string_len(o)});
	case json_type_array:
		return convert_list(o, ok);
	case json_type_object:
		return convert_map(o, ok);
	case json_type_null:
		break;
	}
	return obj_null();
}
/* NOLINTEND(misc-no-recursion) */

/* Not less than its values: each is the first one, or a bracket or comma stands before it. */
static size_t values_at_most(struct str text)
{
	size_t n = 1;
	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '[' || text.ptr[i] == '{' || text.ptr[i] == ',';
	return n;
}

static int read_all(struct json_tokener *t, struct str text, struct obj **ret, struct error *err)
{
	struct json_object *o = json_tokener_parse_ex(t, text.ptr, (int)text.len);
	enum json_tokener_error code = json_tokener_get_error(t);
	if (code == json_tokener_continue) { /* a number ends with the byte behind it */
		o = json_tokener_parse_ex(t, "", 1);
		code = json_tokener_get_error(t);
	}
	if (code != json_tokener_success)
		return error_set(err, E_BADREQUEST, "%s (offset %zu)",
				 code == json_tokener_continue ? "unexpected end of JSON input"
							       : json_tokener_error_desc(code),
				 json_tokener_get_parse_end(t));
	bool ok = true;
	struct obj *all = convert(o, &ok);
	json_object_put(o);
	if (ok)
		*ret = all;
	else
		obj_unref(all);
	return ok ? 0
		  : error_set(err, E_BADREQUEST, "a number that JSON or a double does not have");
}

int json_foreign_parse(struct str text, struct obj **ret, struct error *err)
{
	if (text.len >= INT_MAX || values_at_most(text) > JSON_FOREIGN_VALUES_MAX)
		return error_set(err, E_TOOLARGE, "JSON of more than %d values",
				 JSON_FOREIGN_VALUES_MAX);
	struct json_tokener *t = json_tokener_new_ex(JSON_FOREIGN_DEPTH_MAX);
	if (!t)
		return error_set(err, E_LIMIT, "no memory for a JSON reader");
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	int r = read_all(t, text, ret, err);
	json_tokener_free(t);
	return r;
}
