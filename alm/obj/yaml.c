#include "alm/obj/yaml.h"

#include "alm/obj/json.h"
#include "alm/obj/yaml_read.h"

/* kubectl takes a text that starts with { for JSON. */
static bool read_as_json(struct str text, size_t nodes_max, struct yaml_documents *d)
{
	struct json_duplicates dup = {0};
	struct error ignored = ERROR_INIT;
	struct str s = str_trim_left(text);
	struct obj *o;
	if (!text.ptr || !s.len || s.ptr[0] != '{' ||
	    json_parse_dup(s, nodes_max, &dup, &o, &ignored) < 0)
		return false;
	bool clean = dup.n == 0;
	json_duplicates_release(&dup);
	if (!clean) { /* read it as YAML: those duplicates have lines */
		obj_unref(o);
		return false;
	}
	d->items = xcalloc(1, sizeof(*d->items));
	d->n = 1;
	d->items[0].value = o;
	d->items[0].line = 1;
	for (const char *p = text.ptr; p < s.ptr; p++)
		d->items[0].line += *p == '\n';
	return true;
}

static struct str skip_mark(struct str text)
{
	return str_has_prefix(text, STR("\xEF\xBB\xBF")) ? str_skip(text, 3) : text;
}

int yaml_parse_max(struct str text, size_t nodes_max, struct yaml_documents *ret, struct error *err)
{
	struct yaml_documents d = {0};
	if (text.len > YAML_BYTES_MAX)
		return error_set(err, E_LIMIT, "yaml is larger than %zu bytes", YAML_BYTES_MAX);
	text = skip_mark(text);
	if (!read_as_json(text, nodes_max, &d))
		return yaml_read(text, NULL, nodes_max, ret, err);
	*ret = d;
	return 0;
}

int yaml_parse(struct str text, struct yaml_documents *ret, struct error *err)
{
	return yaml_parse_max(text, YAML_NODES_MAX, ret, err);
}

int yaml_each(struct str text, const struct yaml_items *items, struct obj **ret_rest,
	      struct error *err)
{
	CLEANUP(yaml_documents_release) struct yaml_documents d = {0};
	if (text.len > items->bytes_max)
		return error_set(err, E_LIMIT, "yaml is larger than %zu bytes", items->bytes_max);
	if (yaml_read(skip_mark(text), items, SIZE_MAX, &d, err) < 0)
		return -err->code;
	if (!items->top)
		return 0;
	if (d.n != 1)
		return error_set(err, E_BADREQUEST, "yaml: found %zu documents, wanted 1", d.n);
	*ret_rest = STEAL(d.items[0].value);
	return 0;
}

int yaml_parse_one_max(struct str text, size_t nodes_max, struct obj **ret, struct error *err)
{
	CLEANUP(yaml_documents_release) struct yaml_documents d = {0};
	if (yaml_parse_max(text, nodes_max, &d, err) < 0)
		return -err->code;
	if (d.n != 1)
		return error_set(err, E_BADREQUEST, "yaml: found %zu documents, wanted 1", d.n);
	if (d.items[0].n_duplicates)
		return error_set(err, E_BADREQUEST, "yaml: %s", d.items[0].duplicates[0]);
	*ret = STEAL(d.items[0].value);
	return 0;
}

int yaml_parse_one(struct str text, struct obj **ret, struct error *err)
{
	return yaml_parse_one_max(text, YAML_NODES_MAX, ret, err);
}

int yaml_parse_carried(const struct carried_text *t, struct obj **ret, struct error *err)
{
	CLEANUP(xfreep) char *text = carried_read(t);
	return yaml_parse_one(str_of(text), ret, err);
}
