/* protobuf_encode: the wire format, written as gogo/protobuf writes Kubernetes' types: fields by number, those that are no
 * pointer always. See protobuf.h. */
#include "alm/apiserver/wire/protobuf.h"
#include "alm/apiserver/wire/protobuf_write.h"

#include <stdlib.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_types.h"

#define NUMBERS     256 /* of fields: api_field.number has 8 bits */
#define KIND_BYTES  256
#define FRAME_BYTES 4 /* the length before each event of a watch, big-endian */

static void add_time(struct strbuf *b, const struct obj *v)
{
	int64_t seconds, nanos;
	if (!v || !clock_parse_seconds(obj_as_str(v), &seconds, &nanos))
		return;
	pb_add_number(b, 1, (uint64_t)seconds);
	pb_add_number(b, 2, (uint64_t)nanos);
}

static void add_int_or_string(struct strbuf *b, const struct obj *v)
{
	int64_t n = 0;
	bool is_text = obj_type(v) == OBJ_STRING;
	(void)obj_as_i64(v, &n);
	pb_add_number(b, 1, is_text);
	pb_add_number(b, 2, is_text ? 0 : (uint64_t)n);
	pb_add_bytes(b, 3, is_text ? obj_as_str(v) : STR(""));
}

static void add_json(struct strbuf *b, const struct obj *v)
{
	if (!v)
		return;
	CLEANUP(xfreep) char *text = json_text(v);
	pb_add_bytes(b, 1, str_of(text));
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the object, OBJ_DEPTH_MAX */
static void add_fields(struct strbuf *b, const struct api_type *t, const struct obj *o);

static void add_schema(struct strbuf *b, unsigned number, const struct obj *o)
{
	size_t at = b->len;
	add_fields(b, api_type_named("apiextensions.v1.JSONSchemaProps"), o);
	pb_wrap(b, at, number);
}

/* {schema=1, and 2: more of them, or texts}; of OrBool {allows=1, schema=2}. */
static void add_schema_or(struct strbuf *b, enum api_shape shape, const struct obj *v)
{
	bool or_bool = shape == API_SCHEMA_OR_BOOL;
	if (or_bool)
		pb_add_number(b, 1, obj_type(v) == OBJ_MAP || obj_is_true(v));
	if (obj_type(v) == OBJ_MAP)
		add_schema(b, or_bool ? 2 : 1, v);
	for (size_t i = 0; i < obj_len(v) && obj_type(v) == OBJ_LIST; i++)
		if (shape == API_SCHEMA_OR_ARRAY)
			add_schema(b, 2, obj_at(v, i));
		else
			pb_add_bytes(b, 2, obj_as_str(obj_at(v, i)));
}

/* What is a message of its own; v NULL: its zero. */
static void add_message(struct strbuf *b, const struct api_field *f, unsigned number,
			const struct obj *v)
{
	enum api_shape shape = (enum api_shape)f->shape;
	size_t at = b->len;
	if (shape == API_STRUCT)
		add_fields(b, api_struct_of(f), v);
	else if (shape == API_QUANTITY)
		pb_add_bytes(b, 1, v ? obj_as_str(v) : STR("0"));
	else if (shape == API_INT_OR_STRING)
		add_int_or_string(b, v);
	else if (shape == API_TIME || shape == API_MICRO_TIME)
		add_time(b, v);
	else if (shape >= API_SCHEMA_OR_ARRAY)
		add_schema_or(b, shape, v);
	else
		add_json(b, v);
	pb_wrap(b, at, number);
}

static void add_double(struct strbuf *b, unsigned number, const struct obj *v)
{
	double n = 0;
	char bytes[sizeof(n)];
	(void)obj_as_double(v, &n);
	memcpy(bytes, &n, sizeof(n)); /* little endian, as this machine */
	pb_add_tag(b, number, PB_64);
	strbuf_add(b, bytes, sizeof(bytes));
}

/* One value, whatever list or map it is in; v NULL: the zero of what is no pointer. */
static void add_value(struct strbuf *b, const struct api_field *f, unsigned number,
		      const struct obj *v)
{
	int64_t n = 0;
	switch ((enum api_shape)f->shape) {
	case API_BOOL:
		pb_add_number(b, number, obj_is_true(v));
		return;
	case API_INT32:
	case API_INT64:
		(void)obj_as_i64(v, &n);
		pb_add_number(b, number, (uint64_t)n);
		return;
	case API_DOUBLE:
		add_double(b, number, v);
		return;
	case API_STRING:
		pb_add_bytes(b, number, v ? obj_as_str(v) : STR(""));
		return;
	case API_BYTES: {
		CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(PROTOBUF_BYTES_MAX);
		if (v && base64_decode(obj_as_str(v), &bytes))
			pb_add_bytes(b, number, strbuf_str(&bytes));
		return;
	}
	case API_STRUCT:
	case API_QUANTITY:
	case API_INT_OR_STRING:
	case API_TIME:
	case API_MICRO_TIME:
	case API_FIELDS:
	case API_RAW:
	case API_JSON:
	case API_SCHEMA_OR_ARRAY:
	case API_SCHEMA_OR_BOOL:
	case API_SCHEMA_OR_STRINGS:
		add_message(b, f, number, v);
		return;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Entries are messages {key=1, value=2}, sorted; of a map of lists the value is {items=1}. */
static void add_map(struct strbuf *b, const struct api_field *f, const struct obj *map)
{
	size_t n = 0;
	CLEANUP(xfreep) const char **keys = xcalloc(obj_len(map) + 1, sizeof(*keys));
	OBJ_EACH (it, map)
		keys[n++] = it.key;
	qsort(keys, n, sizeof(*keys), by_text);
	for (size_t i = 0; i < n; i++) {
		const struct obj *v = obj_get(map, keys[i]);
		size_t at = b->len;
		pb_add_bytes(b, 1, str_of(keys[i]));
		if (!(f->marks & API_LIST)) {
			add_value(b, f, 2, v);
		} else {
			size_t items = b->len;
			for (size_t k = 0; k < obj_len(v); k++)
				add_value(b, f, 1, obj_at(v, k));
			pb_wrap(b, items, 2);
		}
		pb_wrap(b, at, f->number);
	}
}

static void add_field(struct strbuf *b, const struct api_field *f, const struct obj *o)
{
	const struct obj *v = f->flags & API_EMBEDDED ? o : obj_get(o, api_text(f->name));
	if (obj_type(v) == OBJ_NULL)
		v = NULL;
	if (f->marks & API_MAP) {
		add_map(b, f, v);
	} else if (f->marks & API_LIST) {
		for (size_t i = 0; i < obj_len(v); i++)
			add_value(b, f, f->number, obj_at(v, i));
	} else if (v || !(f->marks & API_POINTER)) {
		add_value(b, f, f->number, v);
	}
}

static void add_fields(struct strbuf *b, const struct api_type *t, const struct obj *o)
{
	const struct api_field *by_number[NUMBERS] = {NULL};
	size_t n;
	const struct api_field *fields = api_fields_of(t, &n);
	for (size_t i = 0; i < n; i++)
		by_number[fields[i].number] = &fields[i];
	for (size_t i = 1; i < NUMBERS; i++)
		if (by_number[i])
			add_field(b, by_number[i], o);
}
/* NOLINTEND(misc-no-recursion) */

/* What kind a list is of: "Pod" of "PodList". */
static const struct api_type *item_type(const char *api_version, const char *list_kind)
{
	char kind[KIND_BYTES];
	size_t n = strlen(list_kind), end = strlen("List");
	if (n <= end || n - end >= sizeof(kind) || strcmp(list_kind + n - end, "List") != 0)
		return NULL;
	memcpy(kind, list_kind, n - end);
	kind[n - end] = '\0';
	return api_type_of_kind(api_version, kind);
}

/* All of them are {metadata=1, items=2}. */
static void add_list(struct strbuf *b, const struct api_type *of, const struct obj *list)
{
	const struct obj *items = obj_get(list, "items");
	size_t at = b->len;
	add_fields(b, api_type_named("apis.meta.v1.ListMeta"), obj_get(list, "metadata"));
	pb_wrap(b, at, 1);
	for (size_t i = 0; i < obj_len(items); i++) {
		at = b->len;
		add_fields(b, of, obj_at(items, i));
		pb_wrap(b, at, 2);
	}
}

/* Unknown {typeMeta=1 {apiVersion=1, kind=2}, raw=2, contentEncoding=3, contentType=4} up to raw. */
static size_t unknown_begin(struct strbuf *b, const char *api_version, const char *kind)
{
	strbuf_add(b, PROTOBUF_MAGIC, PROTOBUF_MAGIC_BYTES);
	size_t at = b->len;
	pb_add_bytes(b, 1, str_of(api_version));
	pb_add_bytes(b, 2, str_of(kind));
	pb_wrap(b, at, 1);
	return b->len;
}

static void unknown_end(struct strbuf *b, size_t raw)
{
	pb_wrap(b, raw, 2);
	pb_add_bytes(b, 3, STR(""));
	pb_add_bytes(b, 4, STR(""));
}

bool protobuf_encode(const struct obj *o, struct strbuf *b)
{
	const char *api_version = obj_str(o, "apiVersion"), *kind = obj_str(o, "kind");
	if (!api_version || !kind)
		return false;
	bool is_status = strcmp(kind, "Status") == 0 && strcmp(api_version, "v1") == 0;
	const struct api_type *t = is_status ? api_type_named("apis.meta.v1.Status")
					     : api_type_of_kind(api_version, kind);
	const struct api_type *of = t ? NULL : item_type(api_version, kind);
	if (!t && !of)
		return false;
	size_t raw = unknown_begin(b, api_version, kind);
	if (t)
		add_fields(b, t, o);
	else
		add_list(b, of, o);
	unknown_end(b, raw);
	return true;
}

/* WatchEvent {type=1, object=2 {raw=1}}, bare. */
bool protobuf_encode_event(const struct obj *event, struct strbuf *b)
{
	size_t frame = b->len;
	strbuf_pad(b, 0, FRAME_BYTES);
	pb_add_bytes(b, 1, obj_as_str(obj_get(event, "type")));
	size_t at = b->len;
	bool ok = protobuf_encode(obj_get(event, "object"), b);
	pb_wrap(b, at, 1);
	pb_wrap(b, at, 2);
	size_t n = b->len - frame - FRAME_BYTES;
	for (size_t i = 0; ok && !b->over && i < FRAME_BYTES; i++)
		b->buf[frame + i] = (char)(n >> 8 * (FRAME_BYTES - 1 - i));
	return ok && !b->over;
}
