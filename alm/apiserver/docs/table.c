/* table: rows are written straight into the answer, so a list of thousands of objects needs no
 * second tree. Ages are made here, from the instant the caller gives (kube-api.md 5.2). */
#include "alm/apiserver/docs/table.h"

#include "alm/apiserver/docs/columns.h"
#include "alm/apiserver/docs/columns_internal.h"
#include "alm/base/clock.h"
#include "alm/obj/json.h"

/* Values that the paths of a definition may look at for one row: those of the largest object. */
#define ROW_WORK_MAX OBJ_BODY_NODES_MAX

static const struct kind_column name_column = {.name = "Name",
					       .type = "string",
					       .format = "name",
					       .description =
						       "Name must be unique within a namespace."};

static const struct kind_column age_column = {
	.name = "Age",
	.type = "date",
	.json_path = ".metadata.creationTimestamp",
	.description = "Custom resource definition column (in JSONPath format): "
		       ".metadata.creationTimestamp"};

static struct columns columns_for(const struct kind *k)
{
	if (k->columns)
		return (struct columns){k->columns, k->n_columns};
	return (struct columns){&age_column, 1};
}

static void add_member(struct strbuf *b, const char *key, const char *value)
{
	json_quote(str_of(key), b);
	strbuf_addc(b, ':');
	json_quote(str_of(value ? value : ""), b);
}

static void add_description(struct strbuf *b, const struct kind_column *c)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (c->description && *c->description)
		strbuf_adds(&text, c->description);
	else
		strbuf_addf(&text, "Custom resource definition column (in JSONPath format): %s",
			    c->json_path ? c->json_path : "");
	add_member(b, "description", text.buf);
}

static void add_definition(struct strbuf *b, const struct kind_column *c)
{
	strbuf_addc(b, '{');
	add_member(b, "name", c->name);
	strbuf_addc(b, ',');
	add_member(b, "type", c->type);
	strbuf_addc(b, ',');
	add_member(b, "format", c->format);
	strbuf_addc(b, ',');
	add_description(b, c);
	strbuf_addf(b, ",\"priority\":%d}", c->priority);
}

static void add_definitions(struct strbuf *b, const struct kind *k)
{
	struct columns c = columns_for(k);
	strbuf_addc(b, '[');
	if (k->flags & KIND_CUSTOM)
		add_definition(b, &name_column);
	for (size_t i = 0; i < c.n; i++) {
		if (i || k->flags & KIND_CUSTOM)
			strbuf_addc(b, ',');
		add_definition(b, &c.items[i]);
	}
	strbuf_addc(b, ']');
}

static void add_list_meta(struct strbuf *b, const struct list_meta *m)
{
	const char *sep = "";
	strbuf_addc(b, '{');
	if (m->resource_version && *m->resource_version) {
		add_member(b, "resourceVersion", m->resource_version);
		sep = ",";
	}
	if (m->continue_token && *m->continue_token) {
		strbuf_adds(b, sep);
		add_member(b, "continue", m->continue_token);
		sep = ",";
	}
	if (m->remaining >= 0)
		strbuf_addf(b, "%s\"remainingItemCount\":%lld", sep, (long long)m->remaining);
	strbuf_addc(b, '}');
}

void table_begin(struct strbuf *b, const struct kind *k, const struct accept *a,
		 const struct list_meta *m, bool columns)
{
	strbuf_addf(b, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
		    a->as_version);
	add_list_meta(b, m);
	strbuf_adds(b, ",\"columnDefinitions\":");
	if (columns)
		add_definitions(b, k);
	else
		strbuf_adds(b, "null");
	strbuf_adds(b, ",\"rows\":[");
}

void table_end(struct strbuf *b)
{
	strbuf_adds(b, "]}");
}

static void add_text_cell(struct strbuf *b, const struct obj *v)
{
	if (obj_type(v) == OBJ_STRING) {
		json_print(v, b);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CELL_BYTES_MAX);
	json_print(v, &text); /* of an object as much as fits */
	json_quote(strbuf_str(&text), b);
}

static void add_integer_cell(struct strbuf *b, const struct obj *v)
{
	double d;
	if (obj_type(v) == OBJ_INT)
		json_print(v, b);
	else if (obj_as_double(v, &d) && d > -9.2e18 && d < 9.2e18)
		strbuf_addf(b, "%lld", (long long)d);
	else
		strbuf_adds(b, "null");
}

static void add_date_cell(struct strbuf *b, const struct obj *v, int64_t now_ns)
{
	CLEANUP(obj_unrefp) struct obj *age = NULL;
	const char *s = obj_as_string(v);
	age = columns_age(s ? s : "", now_ns);
	json_print(age, b);
}

/* A custom resource's cell: a value of another type than the column's gives null. */
static void add_value(struct strbuf *b, const char *type, const struct obj *v, int64_t now_ns)
{
	if (v && obj_type(v) != OBJ_NULL && cstr_eq(type, "string"))
		add_text_cell(b, v);
	else if (v && obj_type(v) != OBJ_NULL && cstr_eq(type, "date"))
		add_date_cell(b, v, now_ns);
	else if (cstr_eq(type, "integer"))
		add_integer_cell(b, v);
	else if ((cstr_eq(type, "number") && obj_is_number(v)) ||
		 (cstr_eq(type, "boolean") && obj_type(v) == OBJ_BOOL))
		json_print(v, b);
	else
		strbuf_adds(b, "null");
}

static void add_path_cell(struct strbuf *b, const struct kind_column *c, const struct obj *o,
			  size_t *work, int64_t now_ns)
{
	struct error err = ERROR_INIT;
	CLEANUP(jsonpath_freep) struct jsonpath *own = NULL;
	const struct jsonpath *path = c->path;
	if (!path) {
		if (!c->json_path || jsonpath_parse(str_of(c->json_path), &own, &err) < 0) {
			strbuf_adds(b, "null");
			return;
		}
		path = own;
	}
	add_value(b, c->type, jsonpath_first_within(path, o, work), now_ns);
}

static void add_cell(struct strbuf *b, const struct kind_column *c, const struct obj *o,
		     size_t *work, int64_t now_ns)
{
	if (!c->cell) {
		add_path_cell(b, c, o, work, now_ns);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *v = c->cell(o, now_ns);
	json_print(v, b);
}

static void add_cells(struct strbuf *b, const struct kind *k, const struct obj *o, int64_t now_ns)
{
	struct columns c = columns_for(k);
	const char *name = obj_str(o, "metadata.name");
	size_t work = ROW_WORK_MAX;
	if (k->flags & KIND_CUSTOM)
		json_quote(str_of(name ? name : ""), b);
	for (size_t i = 0; i < c.n; i++) {
		if (i || k->flags & KIND_CUSTOM)
			strbuf_addc(b, ',');
		add_cell(b, &c.items[i], o, &work, now_ns);
	}
}

void table_metadata(struct strbuf *b, const struct accept *a, const struct obj *o)
{
	const struct obj *meta = obj_get(o, "metadata");
	strbuf_addf(b,
		    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\","
		    "\"metadata\":",
		    a->as_version ? a->as_version : "v1");
	if (meta)
		json_print(meta, b);
	else
		strbuf_adds(b, "{}");
	strbuf_addc(b, '}');
}

void table_row(struct strbuf *b, const struct kind *k, const struct accept *a, const struct obj *o,
	       int64_t now_ns, bool first)
{
	strbuf_adds(b, first ? "{\"cells\":[" : ",{\"cells\":[");
	add_cells(b, k, o, now_ns);
	strbuf_adds(b, "],\"object\":");
	switch (a->include) {
	case INCLUDE_METADATA:
		table_metadata(b, a, o);
		break;
	case INCLUDE_OBJECT:
		json_print(o, b);
		break;
	case INCLUDE_NONE:
		strbuf_adds(b, "null");
		break;
	}
	strbuf_addc(b, '}');
}
