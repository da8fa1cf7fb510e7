/* api_words: see api_words.h. */
#include "alm/obj/schema/api_words.h"

#include <string.h>

/* NOLINTBEGIN(misc-no-recursion): as deep as the object */
void api_place_path(const struct api_place *p, bool entries, struct strbuf *b)
{
	if (!p)
		return;
	api_place_path(p->up, entries, b);
	if (!p->key)
		strbuf_addf(b, "[%zu]", p->index);
	else if (entries || !p->is_entry)
		strbuf_addf(b, "%s%s", b->len ? "." : "", p->key);
}

static void add_name(struct strbuf *b, const char *name)
{
	strbuf_addf(b, "%s%s", b->len ? "." : "", name);
}

/* The fields of Go on the way, embedded structs among them: spec.containers.livenessProbe.
 * ProbeHandler.httpGet */
static void add_fields(const struct api_place *p, struct strbuf *b)
{
	const struct api_type *in;
	if (!p)
		return;
	add_fields(p->up, b);
	if (!p->key || p->is_entry)
		return;
	for (size_t i = 0; (in = api_embedded(p->outer, p->holder, i)); i++)
		add_name(b, api_short_name(in));
	add_name(b, p->key);
}
/* NOLINTEND(misc-no-recursion) */

static const char *shape_name(const struct api_field *f)
{
	switch ((enum api_shape)f->shape) {
	case API_STRUCT:
		return api_go_name(api_struct_of(f));
	case API_BOOL:
		return "bool";
	case API_INT32:
	case API_INT_OR_STRING:
		return "int32";
	case API_INT64:
		return "int64";
	case API_DOUBLE:
		return "float64";
	case API_BYTES:
		return "[]uint8";
	case API_QUANTITY:
		return "resource.Quantity";
	case API_JSON:
		return "v1.JSON";
	case API_SCHEMA_OR_ARRAY:
		return "v1.JSONSchemaProps";
	case API_STRING:
	case API_TIME:
	case API_MICRO_TIME:
	case API_FIELDS:
	case API_RAW:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		break;
	}
	return "string";
}

/* What is left of the name that Go has for the field, below the lists and maps that were met:
 * "v1.IPFamily" of "[]v1.IPFamily". */
static const char *named(const struct api_field *f, unsigned marks)
{
	const char *name = api_go_type(f);
	if (!(marks & API_MAP) && cstr_has_prefix(name, "map["))
		name = strchr(name, ']') + 1;
	else if (!(marks & API_MAP) && f->marks & API_MAP)
		return ""; /* of the map alone */
	if (!(marks & API_LIST) && cstr_has_prefix(name, "[]"))
		name += 2;
	else if (!(marks & API_LIST) && f->marks & API_LIST)
		return "";
	return name;
}

/* What Go calls a list or map of structs, where that has a name. */
static const char *plural_name(const struct api_field *f)
{
	const char *of = shape_name(f);
	if (strcmp(api_text(f->name), "definitions") == 0)
		return "v1.JSONSchemaDefinitions";
	static const char *const rows[][2] = {
		{"v1.DeviceAttribute", "map[v1.QualifiedName]v1.DeviceAttribute"},
		{"v1.DeviceCapacity", "map[v1.QualifiedName]v1.DeviceCapacity"},
		{"v1.NodeAllocatableResourceMapping",
		 "map[v1.ResourceName]v1.NodeAllocatableResourceMapping"},
		{"v1.ValidationRule", "v1.ValidationRules"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i][0], of) == 0)
			return rows[i][1];
	return NULL;
}

static void add_type(const struct api_field *f, unsigned marks, struct strbuf *b)
{
	const char *name = named(f, marks);
	if (marks & API_ONE_BYTE)
		strbuf_adds(b, "uint8");
	else if (*name)
		strbuf_adds(b, name);
	else if (marks & (API_MAP | API_LIST) && plural_name(f))
		strbuf_adds(b, plural_name(f));
	else if (marks && f->shape == API_TIME)
		strbuf_adds(b, "map[string]v1.Time"); /* the one field of them */
	else if (marks & API_MAP && f->shape == API_QUANTITY)
		strbuf_adds(b, "v1.ResourceList");
	else
		strbuf_addf(b, "%s%s%s", marks & API_MAP ? "map[string]" : "",
			    marks & API_LIST ? "[]" : "", shape_name(f));
}

static const char *found_name(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_LIST:
		return "array";
	case OBJ_MAP:
		return "object";
	case OBJ_STRING:
		return "string";
	case OBJ_INT:
	case OBJ_DOUBLE:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "number";
}

/* The reflect.Kind of what JSON becomes in Go. */
static const char *go_kind(const struct obj *v)
{
	switch (obj_type(v)) {
	case OBJ_BOOL:
		return "bool";
	case OBJ_LIST:
		return "slice";
	case OBJ_MAP:
		return "map";
	case OBJ_STRING:
		return "string";
	case OBJ_DOUBLE:
		return "float64";
	case OBJ_INT:
	case OBJ_NULL:
	case OBJ_ABSENT:
		break;
	}
	return "int64";
}

static bool has_own_reader(const struct api_field *f)
{
	return f->shape == API_TIME || f->shape == API_MICRO_TIME ||
	       f->shape == API_INT_OR_STRING || f->shape == API_SCHEMA_OR_ARRAY ||
	       f->shape == API_SCHEMA_OR_STRINGS;
}

static int not_restored(const struct api_place *p, unsigned marks, const struct obj *v,
			struct error *err)
{
	const struct api_field *f = p->field;
	CLEANUP(strbuf_release) struct strbuf type = STRBUF_INIT(API_PATH_BYTES_MAX);
	enum obj_type t = obj_type(v);
	if (marks & API_MAP)
		return error_set(err, E_BADREQUEST, "cannot restore map from %s", go_kind(v));
	if (marks & API_LIST || (f->shape == API_BYTES && !marks))
		return error_set(err, E_BADREQUEST, "cannot restore slice from %s", go_kind(v));
	if (f->shape == API_STRUCT)
		return error_set(err, E_BADREQUEST, "cannot restore struct from: %s", go_kind(v));
	add_type(f, marks, &type);
	/* Go converts numbers into each other, and an integer into a text: that is, it could. */
	if ((t == OBJ_INT && f->shape == API_STRING) ||
	    (t == OBJ_DOUBLE && f->shape != API_BOOL && f->shape != API_STRING))
		return error_set(err, E_BADREQUEST, "cannot convert %s to %s", go_kind(v),
				 type.buf);
	return error_set(err, E_BADREQUEST, "unrecognized type: %s",
			 marks & API_ONE_BYTE ? type.buf : shape_name(f));
}

int api_wrong_type(enum api_dialect dialect, const struct api_place *p, unsigned marks,
		   const struct obj *v, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf fields = STRBUF_INIT(API_PATH_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf type = STRBUF_INIT(API_PATH_BYTES_MAX);
	const struct api_field *f = p->field;
	bool own = !marks && has_own_reader(f), into_value = dialect == API_UNSTRUCTURED;
	bool is_integer = marks & API_ONE_BYTE ||
			  (!marks && (f->shape == API_INT32 || f->shape == API_INT64 ||
				      f->shape == API_INT_OR_STRING));
	struct str number = is_integer ? obj_number_text(v) : STR_NONE;
	if (into_value && !own)
		return not_restored(p, marks, v, err);
	add_fields(p, &fields);
	add_type(f, marks, &type);
	return error_set(
		err, E_BADREQUEST, "json: cannot unmarshal %s%s%.*s into Go %s%s%s%s of type %s",
		found_name(v), number.len ? " " : "", STR_ARG(number),
		into_value ? "value" : "struct field ", into_value ? "" : api_short_name(p->outer),
		into_value ? "" : ".", into_value ? "" : fields.buf, type.buf);
}
