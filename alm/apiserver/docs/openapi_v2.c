/* openapi_v2: the protobuf document (gnostic's OpenAPIv2.proto; numbers in kube-api.md
 * 4.2). */
#include "alm/apiserver/docs/openapi.h"

#include <string.h>

#include "alm/apiserver/wire/protobuf_write.h"
#include "alm/obj/json.h"

/* Operation {parameters=8 {parameter=1 {nonBody=2 {query=3 {in=2, name=4}}}}, extensions=13
 * {name=1, value=2 {yaml=2}}} */
static void add_operation(struct strbuf *b, const struct kind *k)
{
	size_t start = b->len;
	pb_add_bytes(b, 2, STR("query"));
	pb_add_bytes(b, 4, STR("dryRun"));
	pb_wrap(b, start, 3);
	pb_wrap(b, start, 2);
	pb_wrap(b, start, 1);
	pb_wrap(b, start, 8);
	start = b->len;
	CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&yaml, "{group: \"%s\", version: %s, kind: %s}", k->group, k->version, k->kind);
	pb_add_bytes(b, 2, strbuf_str(&yaml));
	pb_wrap(b, start, 2);
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(64);
	pb_add_bytes(&name, 1, STR("x-kubernetes-group-version-kind"));
	strbuf_insert(b, start, strbuf_str(&name));
	pb_wrap(b, start, 13);
}

static void add_path(struct strbuf *b, const struct kind *k)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
	size_t start = b->len;
	add_operation(b, k);
	pb_wrap(b, start, 8); /* PathItem.patch */
	pb_wrap(b, start, 2); /* NamedPathItem.value */
	strbuf_addf(&name, "/%s%s/%s/%s/{name}", k->group[0] ? "apis/" : "api", k->group,
		    k->version, k->plural);
	pb_add_bytes(&path, 1, strbuf_str(&name));
	strbuf_insert(b, start, strbuf_str(&path));
	pb_wrap(b, start, 2); /* Paths.path */
}

/* --- definitions --- */

/* NamedAny {name=1, value=2 {yaml=2}}; JSON is YAML. */
static void add_extension(struct strbuf *b, const char *name, const struct obj *value)
{
	CLEANUP(xfreep) char *yaml = json_text(value);
	size_t start = b->len;
	pb_add_bytes(b, 2, str_of(yaml));
	pb_wrap(b, start, 2);
	CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(STRBUF_SMALL);
	pb_add_bytes(&head, 1, str_of(name));
	strbuf_insert(b, start, strbuf_str(&head));
	pb_wrap(b, start, 31);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as JSON is read */
static void add_schema(struct strbuf *b, const struct obj *s);

static void add_named(struct strbuf *b, struct str name, const struct obj *schema)
{
	size_t start = b->len;
	add_schema(b, schema);
	pb_wrap(b, start, 2);
	CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(STRBUF_SMALL);
	pb_add_bytes(&head, 1, name);
	strbuf_insert(b, start, strbuf_str(&head));
	pb_wrap(b, start, 1); /* of Definitions, of Properties */
}

static void add_properties(struct strbuf *b, const struct obj *properties)
{
	size_t start = b->len;
	OBJ_EACH (it, properties)
		add_named(b, str_of(it.key), it.value);
	pb_wrap(b, start, 25);
}

/* Schema in the message of that number, which has it as its field 1. */
static void add_sub(struct strbuf *b, const struct obj *schema, unsigned number)
{
	size_t start = b->len;
	add_schema(b, schema);
	pb_wrap(b, start, 1);
	pb_wrap(b, start, number);
}

static void add_text(struct strbuf *b, const struct obj *s, const char *key, unsigned number)
{
	struct str text = obj_as_str(obj_get(s, key));
	if (text.len)
		pb_add_bytes(b, number, text);
}

static void add_default(struct strbuf *b, const struct obj *value)
{
	CLEANUP(xfreep) char *yaml = json_text(value);
	size_t start = b->len;
	pb_add_bytes(b, 2, str_of(yaml));
	pb_wrap(b, start, 5);
}

static void add_schema(struct strbuf *b, const struct obj *s)
{
	const struct obj *required = obj_get(s, "required"), *type = obj_get(s, "type");
	add_text(b, s, "$ref", 1);
	add_text(b, s, "format", 2);
	add_text(b, s, "description", 4);
	if (obj_has(s, "default"))
		add_default(b, obj_get(s, "default"));
	for (size_t i = 0; i < obj_len(required); i++)
		pb_add_bytes(b, 19, obj_as_str(obj_at(required, i)));
	if (obj_has(s, "additionalProperties"))
		add_sub(b, obj_get(s, "additionalProperties"), 21);
	if (type) {
		size_t start = b->len;
		pb_add_bytes(b, 1, obj_as_str(type));
		pb_wrap(b, start, 22);
	}
	if (obj_has(s, "items"))
		add_sub(b, obj_get(s, "items"), 23);
	if (obj_has(s, "properties"))
		add_properties(b, obj_get(s, "properties"));
	OBJ_EACH (it, s)
		if (cstr_has_prefix(it.key, "x-"))
			add_extension(b, it.key, it.value);
}
/* NOLINTEND(misc-no-recursion) */

/* The length of the JSON object that s begins with. */
static size_t object_len(struct str s)
{
	size_t depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < s.len; i++) {
		if (quoted && s.ptr[i] == '\\') {
			i++;
			continue;
		}
		quoted ^= s.ptr[i] == '"';
		if (quoted)
			continue;
		depth += s.ptr[i] == '{';
		depth -= s.ptr[i] == '}';
		if (depth == 0)
			return i + 1;
	}
	return s.len;
}

/* One definition at a time: as a tree, all of them would take 20 MB. */
static void add_definitions(struct strbuf *b, struct kinds *k)
{
	CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(OPENAPI_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(OPENAPI_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(OPENAPI_BYTES_MAX);
	struct str rest, name, before;
	openapi_v2_definitions(k, &json);
	rest = str_skip(strbuf_str(&json), 1);
	while (str_cut(rest, '"', &before, &rest) && str_cut(rest, '"', &name, &rest)) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *schema = NULL;
		rest = str_skip(rest, 1); /* : */
		size_t n = object_len(rest);
		if (json_parse(str_sub(rest, 0, n), &schema, &err) < 0)
			break;
		strbuf_clear(&one);
		add_named(&one, name, schema);
		strbuf_addstr(&all, strbuf_str(&one));
		rest = str_skip(rest, n);
	}
	pb_add_bytes(b, 9, strbuf_str(&all));
}

void openapi_v2_protobuf(struct kinds *k, struct strbuf *b)
{
	size_t n;
	const struct kind *const *all = kinds_all(k, &n);
	pb_add_bytes(b, 1, STR("2.0"));
	size_t start = b->len;
	pb_add_bytes(b, 1, STR("ALM"));
	pb_add_bytes(b, 2, STR("v0.1.0"));
	pb_wrap(b, start, 2);
	start = b->len;
	for (size_t i = 0; i < n; i++)
		if (all[i]->verbs & VERB_PATCH)
			add_path(b, all[i]);
	pb_wrap(b, start, 8);
	add_definitions(b, k);
}
