/* converter_fake: see converter_fake.h. */
#include "tests/lib/converter_fake.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/hook_fake.h"
#include "tests/lib/test.h"

static struct obj *how;

static struct obj *parsed(const char *json)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return o;
}

void converter_fake_how(const char *json)
{
	obj_unref(how);
	how = parsed(json);
}

void converter_fake_as_recorded(struct apifake *f, struct str line)
{
	CLEANUP(xfreep) char *text = xstrndup(line.ptr, line.len);
	CLEANUP(obj_unrefp) struct obj *row = parsed(text);
	const struct obj *said = obj_get(row, "how");
	CLEANUP(xfreep) char *json = said ? json_text(said) : xstrdup("{}");
	(void)f;
	hook_fake_reset();
	converter_fake_how(json);
}

/* "a/b/c" is a path whose last member is put, or with null taken. */
static void put(struct obj *o, const char *path, const struct obj *value)
{
	CLEANUP(strbuf_release) struct strbuf dotted = STRBUF_INIT(1 << 10);
	for (const char *p = path; *p; p++)
		strbuf_addc(&dotted, *p == '/' ? '.' : *p);
	if (obj_type(value) == OBJ_NULL)
		obj_del_path(o, dotted.buf);
	else
		obj_set_path(o, dotted.buf, obj_copy(value));
}

static struct obj *converted(const struct obj *from, const char *api_version)
{
	struct obj *o = obj_copy(from);
	bool is_new = strstr(api_version, "/v2") != NULL;
	const char *old_name = is_new ? "size" : "count", *name = is_new ? "count" : "size";
	struct obj *spec = obj_get_mut(o, "spec");
	obj_set_str(o, "apiVersion", api_version);
	if (obj_type(spec) == OBJ_MAP && obj_has(spec, old_name)) {
		obj_set(spec, name, obj_ref(obj_get(spec, old_name)));
		obj_del(spec, old_name);
	}
	if (is_new)
		obj_set_path(o, "metadata.labels.form", obj_string("v2"));
	else
		obj_del_path(o, "metadata.labels.form");
	OBJ_EACH (it, obj_get(how, "set"))
		put(o, it.key, it.value);
	return o;
}

char *converter_fake_answer(const struct obj *review, int *ret_status)
{
	const char *raw = obj_str(how, "raw");
	*ret_status = (int)obj_i64(how, "status", 200);
	if (raw)
		return xstrdup(raw);
	CLEANUP(obj_unrefp) struct obj *out = obj_map();
	struct obj *response = obj_map(), *list = obj_list();
	const struct obj *objects = obj_path(review, "request.objects");
	for (size_t i = 0; i < obj_len(objects); i++)
		obj_append(list, converted(obj_at(objects, i),
					   obj_str(review, "request.desiredAPIVersion")));
	obj_set_str(out, "kind", obj_str(review, "kind"));
	obj_set_str(out, "apiVersion", obj_str(review, "apiVersion"));
	obj_set_str(response, "uid", "UID");
	obj_set(response, "convertedObjects", list);
	if (obj_has(how, "items"))
		obj_set(response, "convertedObjects", obj_copy(obj_get(how, "items")));
	obj_set(response, "result", parsed("{\"status\":\"Success\"}"));
	OBJ_EACH (it, obj_get(how, "response"))
		obj_set(response, it.key, obj_copy(it.value));
	obj_set(out, "response", response);
	return json_text(out);
}
