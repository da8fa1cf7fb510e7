/* Files of OLM into lines: of each document only what fbc.c asks for. */
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/index/fbc.h"

struct reading {
	const char *where;
	struct strbuf *lines;
	size_t n;
};

static void copy(struct obj *to, const struct obj *from, const char *key)
{
	if (obj_get(from, key))
		obj_set(to, key, obj_ref(obj_get(from, key)));
}

/* {type: olm.package, value: {packageName, version}} */
static void copy_version(struct obj *to, const struct obj *bundle)
{
	const struct obj *properties = obj_get(bundle, "properties");
	for (size_t i = 0; i < obj_len(properties); i++) {
		const struct obj *p = obj_at(properties, i);
		if (cstr_eq(obj_str(p, "type"), "olm.package"))
			copy(to, obj_get(p, "value"), "version");
	}
}

static bool take(struct reading *r, const struct obj *doc)
{
	static const char *const keys[] = {"schema", "package", "name", "image", "entries"};
	const char *schema = obj_str(doc, "schema");
	if (!schema || !cstr_has_prefix(schema, "olm."))
		return false;
	CLEANUP(obj_unrefp) struct obj *line = obj_map();
	struct obj *o = obj_map();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		copy(o, doc, keys[i]);
	copy_version(o, doc);
	obj_set(line, "olm", o);
	obj_set_str(line, "where", r->where);
	json_print(line, r->lines);
	strbuf_addc(r->lines, '\n');
	r->n++;
	return true;
}

static int yaml_document(void *arg, const char *name, struct obj *value, int line,
			 struct error *err)
{
	(void)name;
	(void)line;
	(void)err;
	take(arg, value);
	obj_unref(value);
	return 0;
}

/* The end of the JSON value that begins the text: where its first bracket is closed. */
static size_t json_end(struct str s)
{
	size_t depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
		} else if (c == '"') {
			quoted = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return s.len;
}

static int json_documents(struct reading *r, struct str text, struct error *err)
{
	for (text = str_trim(text); text.len; text = str_trim(text)) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		size_t end = text.ptr[0] == '{' ? json_end(text) : text.len;
		if (json_parse(str_sub(text, 0, end), &o, err) < 0)
			return -err->code;
		take(r, o);
		text = str_skip(text, end);
	}
	return 0;
}

bool fbc_is_likely(struct str text)
{
	return str_contains(text, STR("olm.package")) || str_contains(text, STR("olm.channel")) ||
	       str_contains(text, STR("olm.bundle")) || str_contains(text, STR("olm.deprecations"));
}

int fbc_lines(struct str text, const char *where, struct strbuf *lines, size_t *ret_n,
	      struct error *err)
{
	struct reading r = {.where = where, .lines = lines};
	const struct yaml_items items = {
		.bytes_max = FBC_FILE_BYTES_MAX, .item = yaml_document, .arg = &r};
	bool is_json = str_has_prefix(str_trim(text), STR("{"));
	int rc = is_json ? json_documents(&r, text, err) : yaml_each(text, &items, NULL, err);
	*ret_n = r.n;
	return rc < 0 ? error_wrap(err, "%s", where) : 0;
}
