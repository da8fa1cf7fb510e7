#include "crds/legacy_crd.h"

#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/legacy_words.h"
#include "crds/marks.h"

#define SCHEMA_BYTES_MAX ((size_t)1 << 20)
#define VERSIONS_MAX     100
#define KEEP_UNKNOWN     "x-kubernetes-preserve-unknown-fields"

/* The text of 2017 is JSON with comments of a line. */
static int read_fields(struct str text, struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SCHEMA_BYTES_MAX);
	bool quoted = false;
	for (size_t i = 0; i < text.len; i++) {
		char ch = text.ptr[i];
		if (ch == '"')
			quoted = !quoted;
		if (!quoted && ch == '/' && i + 1 < text.len && text.ptr[i + 1] == '/')
			while (i < text.len && text.ptr[i] != '\n')
				i++;
		else
			strbuf_addc(&b, ch);
		if (quoted && ch == '\\' && i + 1 < text.len)
			strbuf_addc(&b, text.ptr[++i]);
	}
	int r = strbuf_check(&b, "the text", err);
	return r < 0 ? r : json_parse(strbuf_str(&b), ret, err);
}

static const char *type_of(const char *word)
{
	static const char *const words[][2] = {
		{"int", "integer"},   {"integer", "integer"}, {"string", "string"},
		{"bool", "boolean"},  {"boolean", "boolean"}, {"float", "number"},
		{"double", "number"}, {"number", "number"},
	};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i][0]))
			return words[i][1];
	return NULL;
}

/* {"size": "int", "outputs": {...}} as a schema.
 * NOLINTNEXTLINE(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static int schema_of(const struct obj *fields, const char *path, struct arena *a, struct obj **ret,
		     struct error *err)
{
	const char *word = obj_as_string(fields);
	const char *type = word ? type_of(word) : NULL;
	if (obj_type(fields) != OBJ_MAP && !type)
		return error_set(err, E_INVALID,
				 "%s: %s is no type of a field; write int, string, bool, number or "
				 "an object of fields",
				 path, word ? word : obj_type_name(obj_type(fields)));
	struct obj *schema = obj_map();
	obj_set_str(schema, "type", type ? type : "object");
	if (!type)
		obj_set(schema, "properties", obj_map());
	int r = 0;
	OBJ_EACH (it, type ? NULL : fields) {
		struct obj *field = NULL;
		r = schema_of(it.value, arena_fmt(a, "%s.%s", path, it.key), a, &field, err);
		if (r < 0)
			break;
		obj_set(obj_get_mut(schema, "properties"), it.key, field);
	}
	if (r < 0)
		obj_unref(schema);
	else
		*ret = schema;
	return r;
}

/* The fields were those of an instance's spec; what it tells its users is in its status, too. */
static int schema_2017(const char *text, struct arena *a, struct obj **ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *fields = NULL, *spec = NULL;
	static const char where[] = "spec.validation.openAPIv3";
	int r = read_fields(str_of(text), &fields, err);
	if (r < 0)
		return error_wrap(err, "%s", where);
	r = schema_of(fields, where, a, &spec, err);
	if (r < 0)
		return r;
	struct obj *schema = obj_map();
	obj_set_str(schema, "type", "object");
	obj_set_path(schema, "properties.spec", obj_ref(spec));
	obj_set_path(schema, "properties.status.type", obj_string("object"));
	const struct obj *outputs = obj_path(spec, "properties.outputs");
	if (outputs)
		obj_set_path(schema, "properties.status.properties.outputs", obj_ref(outputs));
	*ret = schema;
	return 0;
}

/* Before v1 nothing was pruned unless the definition said so. */
static int root_schema(const struct obj *validation, bool keeps_unknown, struct arena *a,
		       struct obj **ret, struct error *err)
{
	const char *text = obj_str(validation, "openAPIv3");
	if (text)
		return schema_2017(text, a, ret, err);
	*ret = obj_copy_map(obj_get(validation, "openAPIV3Schema"));
	if (!obj_has(*ret, "type"))
		obj_set_str(*ret, "type", "object");
	if (keeps_unknown)
		obj_set_bool(*ret, KEEP_UNKNOWN, true);
	return 0;
}

static struct obj *columns_of(const struct obj *old)
{
	struct obj *list = obj_copy_list(old);
	for (size_t i = 0; i < obj_len(list); i++) {
		struct obj *column = obj_copy(obj_at(list, i));
		const struct obj *path = obj_get(column, "JSONPath");
		if (path) {
			obj_set(column, "jsonPath", obj_ref(path));
			obj_del(column, "JSONPath");
		}
		obj_set_at(list, i, column);
	}
	return list;
}

/* One of spec.versions; what it does not say itself the definition says for all. */
static int version_of(const struct obj *spec, const struct obj *old, const char *name,
		      struct arena *a, struct obj **ret, struct error *err)
{
	const struct obj *own = obj_get(old, "schema"), *columns, *subresources;
	const struct obj *validation = own ? own : obj_get(spec, "validation");
	struct obj *schema = NULL;
	int r = root_schema(validation, obj_flag(spec, "preserveUnknownFields", true), a, &schema,
			    err);
	if (r < 0)
		return r;
	columns = obj_get(old, "additionalPrinterColumns");
	columns = columns ? columns : obj_get(spec, "additionalPrinterColumns");
	subresources = obj_get(old, "subresources");
	subresources = subresources ? subresources : obj_get(spec, "subresources");
	*ret = obj_map();
	obj_set_str(*ret, "name", name);
	obj_set_bool(*ret, "served", obj_flag(old, "served", true));
	obj_set_bool(*ret, "storage", obj_flag(old, "storage", true));
	obj_set_path(*ret, "schema.openAPIV3Schema", schema);
	if (columns)
		obj_set(*ret, "additionalPrinterColumns", columns_of(columns));
	if (subresources)
		obj_set(*ret, "subresources", obj_ref(subresources));
	else if (obj_str(validation, "openAPIv3"))
		obj_set_path(*ret, "subresources.status", obj_map());
	return 0;
}

/* "1" is v1; a name that may stand is kept. */
static const char *version_name(const struct obj *version, struct arena *a)
{
	struct str number = obj_number_text(version);
	const char *text =
		number.ptr ? arena_strndup(a, number.ptr, number.len) : obj_as_string(version);
	return text && char_is_digit(*text) ? arena_fmt(a, "v%s", text) : text;
}

static int convert_versions(struct obj *spec, const char *of_group, struct arena *a,
			    struct legacy *ret, struct error *err)
{
	const struct obj *old = obj_get(spec, "versions");
	size_t n = obj_len(old) ? obj_len(old) : 1;
	struct obj *list = obj_keep(a, obj_list());
	if (n > VERSIONS_MAX)
		return error_set(err, E_LIMIT, "spec.versions: more than %d", VERSIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct obj *one = obj_len(old) ? obj_at(old, i) : NULL;
		const struct obj *said = obj_get(one ? one : spec, one ? "name" : "version");
		const char *name = version_name(said, a);
		struct obj *version = NULL;
		if (!name && !of_group)
			return error_set(err, E_INVALID, "spec.version is missing");
		int r = version_of(spec, one, name ? name : of_group, a, &version, err);
		if (r < 0)
			return r;
		obj_append(list, version);
	}
	if (!obj_len(old))
		legacy_warn(a, ret, "spec.version", "spec.versions");
	obj_set(spec, "versions", obj_ref(list));
	return 0;
}

static void convert_conversion(struct obj *spec)
{
	const struct obj *old = obj_get(spec, "conversion");
	const struct obj *config = obj_get(old, "webhookClientConfig");
	const struct obj *reviews = obj_get(old, "conversionReviewVersions");
	if (!config)
		return;
	struct obj *now = obj_map();
	obj_set_str(now, "strategy", obj_str(old, "strategy"));
	obj_set_path(now, "webhook.clientConfig", obj_ref(config));
	struct obj *list = obj_copy_list(reviews);
	if (!obj_len(list))
		obj_append(list, obj_string("v1beta1"));
	obj_set_path(now, "webhook.conversionReviewVersions", list);
	obj_set(spec, "conversion", now);
}

/* The version leaves the group, and with it the name. */
static const char *convert_group(struct obj *o, struct arena *a, struct legacy *ret)
{
	const char *version = NULL, *old = obj_str(o, "spec.group");
	const char *plural = obj_str(o, "spec.names.plural");
	struct str group;
	if (!old || !plural || !legacy_group(str_of(old), a, &group, &version))
		return NULL;
	const char *name = arena_fmt(a, "%s.%.*s", plural, STR_ARG(group));
	const char *was = meta_name(o);
	legacy_warn(a, ret, arena_fmt(a, "definition %s", was ? was : old), name);
	obj_set_path(o, "spec.group", obj_stringn(group));
	obj_set_path(o, "metadata.name", obj_string(name));
	return version;
}

static void convert_owner(struct obj *o, struct arena *a, struct legacy *ret)
{
	static const char *const fields[] = {"metadata.ownerRef", "metadata.ownerReference"};
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *owner = obj_str(o, fields[i]);
		if (!owner)
			continue;
		meta_set_annotation(o, ANNOTATION_OWNER, owner);
		obj_del_path(o, fields[i]);
		legacy_warn(a, ret, fields[i], "annotation " ANNOTATION_OWNER);
	}
}

int legacy_crd(struct obj *o, struct arena *a, struct legacy *ret, struct error *err)
{
	static const char *const gone[] = {"version", "validation", "subresources",
					   "additionalPrinterColumns", "preserveUnknownFields"};
	struct obj *spec = obj_get_mut(o, "spec");
	if (obj_type(spec) != OBJ_MAP)
		return error_set(err, E_INVALID, "spec is missing");
	legacy_warn(a, ret, "apiVersion " LEGACY_CRD_VERSION, "apiextensions.k8s.io/v1");
	obj_set_str(o, "apiVersion", "apiextensions.k8s.io/v1");
	convert_owner(o, a, ret);
	const char *of_group = convert_group(o, a, ret);
	int r = convert_versions(spec, of_group, a, ret, err);
	if (r < 0)
		return r;
	if (obj_str(spec, "validation.openAPIv3"))
		legacy_warn(a, ret, "spec.validation.openAPIv3",
			    "spec.versions[].schema.openAPIV3Schema");
	convert_conversion(spec);
	for (size_t i = 0; i < ARRAY_LEN(gone); i++)
		obj_del(spec, gone[i]);
	return 0;
}

/* --- one version of several --- */

static size_t find_version(const struct obj *list, const struct obj *version)
{
	size_t i = 0;
	while (i < obj_len(list) &&
	       !cstr_eq(obj_str(obj_at(list, i), "name"), obj_str(version, "name")))
		i++;
	return i;
}

bool legacy_crd_has(const struct obj *there, const struct obj *said)
{
	const struct obj *list = obj_path(there, "spec.versions");
	return find_version(list, obj_at(obj_path(said, "spec.versions"), 0)) < obj_len(list);
}

int legacy_crd_fits(const struct obj *there, const struct obj *said, struct error *err)
{
	static const char *const fields[] = {"spec.names.kind", "spec.names.plural", "spec.scope"};
	const char *owner = meta_annotation(said, ANNOTATION_OWNER);
	const char *was = meta_annotation(there, ANNOTATION_OWNER);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!obj_equal(obj_path(there, fields[i]), obj_path(said, fields[i])))
			return error_set(err, E_CONFLICT, "%s is there, whose %s is %s and not %s",
					 meta_name(there), fields[i], obj_str(there, fields[i]),
					 obj_str(said, fields[i]));
	if (owner && was && !cstr_eq(owner, was))
		return error_set(err, E_CONFLICT, "%s belongs to %s and not to %s",
				 meta_name(there), was, owner);
	return 0;
}

void legacy_crd_join(const struct obj *there, struct obj *said)
{
	const struct obj *own = obj_path(said, "spec.versions");
	struct obj *list = obj_copy_list(obj_path(there, "spec.versions"));
	for (size_t i = 0; i < obj_len(own); i++) {
		struct obj *v = obj_copy(obj_at(own, i));
		size_t at = find_version(list, v);
		const struct obj *old = obj_at(list, at);
		obj_set_bool(v, "storage", obj_flag(old, "storage", false));
		obj_set_bool(v, "served", obj_flag(old, "served", true));
		if (at < obj_len(list))
			obj_set_at(list, at, v);
		else
			obj_append(list, v);
	}
	obj_set_path(said, "spec.versions", list);
}
