#include "alm/source/config_from.h"

#include "alm/base/hash.h"
#include "alm/obj/decode.h"
#include "alm/obj/yaml.h"

#define NODES_MAX ((size_t)1 << 12)

#define FIELD(name, member) {name, DECODE_STR, offsetof(struct config_from, member)}
static const struct decode_field data_fields[] = {
	FIELD("namespace", ns), FIELD("name", name), FIELD("key", key), {0}};
static const struct decode_field resource_fields[] = {FIELD("apiVersion", api_version),
						      FIELD("kind", kind),
						      FIELD("namespace", ns),
						      FIELD("name", name),
						      {0}};
static const struct decode_field sql_fields[] = {FIELD("path", path), FIELD("query", query), {0}};
static const struct decode_field file_fields[] = {FIELD("path", path), {0}};

/* clang-format off */
static const struct {
	const char *name, *kind;
	const struct decode_field *fields;
	const char *required[4];
} types[] = {
	[FROM_CONFIG_MAP] = {"configMap", "ConfigMap", data_fields,     {"name"}},
	[FROM_SECRET]     = {"secret",    "Secret",    data_fields,     {"name"}},
	[FROM_RESOURCE]   = {"resource",  NULL,        resource_fields, {"apiVersion", "kind", "name"}},
	[FROM_SQL]        = {"sql",       NULL,        sql_fields,      {"path", "query"}},
	[FROM_FILE]       = {"file",      NULL,        file_fields,     {"path"}},
};
/* clang-format on */

static int check_type(const struct obj *o, const char *at, enum config_from_type *ret,
		      struct error *err)
{
	OBJ_EACH (it, o)
		for (size_t i = 0; i < ARRAY_LEN(types) && obj_len(o) == 1; i++)
			if (cstr_eq(it.key, types[i].name)) {
				*ret = (enum config_from_type)i;
				return 0;
			}
	return error_set(err, E_INVALID,
			 "%s: one of configMap, secret, resource, sql, file is wanted", at);
}

static int read_one(const struct obj *o, const char *at, struct arena *a, struct config_from *ret,
		    struct error *err)
{
	enum config_from_type type;
	if (check_type(o, at, &type, err) < 0)
		return -err->code;
	const struct obj *value = obj_get(o, types[type].name);
	const char *path = arena_fmt(a, "%s.%s", at, types[type].name);
	*ret = (struct config_from){.type = type, .api_version = "v1", .kind = types[type].kind};
	if (decode_members(value, path, types[type].fields, ret, a, err) < 0)
		return -err->code;
	for (const char *const *want = types[type].required; *want; want++) {
		const char *text = obj_str(value, *want);
		if (!text || !*text)
			return error_set(err, E_INVALID, "%s.%s: is missing", path, *want);
	}
	return 0;
}

int config_from_parse(const struct obj *list, const char *field, struct arena *a,
		      struct config_sources *ret, struct error *err)
{
	struct config_sources s = {.items = ARENA_ARRAY(a, struct config_from, obj_len(list) + 1)};
	if (obj_type(list) != OBJ_LIST || !obj_len(list))
		return error_set(err, E_INVALID, "%s: is missing: a list of sources", field);
	if (obj_len(list) > CONFIG_FROM_MAX)
		return error_set(err, E_LIMIT, "%s: more than %d entries", field, CONFIG_FROM_MAX);
	for (; s.n < obj_len(list); s.n++)
		if (read_one(obj_at(list, s.n), arena_fmt(a, "%s[%zu]", field, s.n), a,
			     &s.items[s.n], err) < 0)
			return -err->code;
	*ret = s;
	return 0;
}

static int read_all(const struct obj *o, struct arena *a, struct config_sources *ret,
		    struct error *err)
{
	struct {
		const struct obj *from;
	} top = {0};
	const struct decode_field fields[] = {{"from", DECODE_LIST, 0}, {0}};
	if (decode_members(o, "it", fields, &top, a, err) < 0)
		return -err->code;
	return config_from_parse(top.from, "from", a, ret, err);
}

int config_from_read(struct str text, const char *file, struct arena *a, struct config_sources *ret,
		     struct error *err)
{
	struct config_sources sources = {0};
	struct obj *o = NULL;
	if (yaml_parse_one_max(text, NODES_MAX, &o, err) < 0)
		return error_wrap(err, "%s", file);
	obj_keep(a, o);
	if (read_all(o, a, &sources, err) < 0)
		return error_wrap(err, "%s", file);
	*ret = sources;
	return 0;
}

const char *config_from_text(const struct config_from *f, const char *ns, struct arena *a)
{
	if (!f->kind)
		return f->path;
	return arena_fmt(a, "%s %s%s%s", f->kind, ns ? ns : "", ns ? "/" : "", f->name);
}

/* --- layers --- */

/* Of a ConfigMap as it is, of a Secret decoded. */
static int text_of(const struct config_from *f, const char *key, const struct obj *value,
		   const char *name, struct strbuf *b, struct error *err)
{
	const char *text = obj_as_string(value);
	strbuf_clear(b);
	if (!text)
		return error_set(err, E_NOTFOUND, "%s: has no key %s", name, key);
	if (f->type == FROM_CONFIG_MAP)
		strbuf_adds(b, text);
	else if (!base64_decode(str_of(text), b))
		return error_set(err, E_INVALID, "%s: key %s is no base64", name, key);
	return strbuf_check(b, name, err);
}

/* A message of the parser has no value: it has what it met. Of a Secret it is not told. */
static int parse_key(const struct config_from *f, const struct obj *data, const char *name,
		     struct arena *a, const struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct obj *o = NULL;
	const char *at = arena_fmt(a, "%s key %s", name, f->key);
	if (text_of(f, f->key, obj_get(data, f->key), name, &b, err) < 0)
		return -err->code;
	if (config_parse(strbuf_str(&b), at, &o, err) < 0)
		return f->type == FROM_SECRET
			       ? error_set(err, err->code,
					   "%s: one object of YAML or JSON is wanted", at)
			       : -err->code;
	*ret = obj_keep(a, o);
	return 0;
}

static int take_all(const struct config_from *f, const struct obj *data, const char *name,
		    struct arena *a, const struct obj **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct obj *o = obj_keep(a, obj_map());
	OBJ_EACH (it, data) {
		if (text_of(f, it.key, it.value, name, &b, err) < 0)
			return -err->code;
		obj_set(o, it.key, obj_stringn(strbuf_str(&b)));
	}
	*ret = o;
	return 0;
}

/* Without what changes at each write, whoever writes whatever. */
static struct obj *lasting(const struct obj *live)
{
	struct obj *o = obj_copy_map(live), *meta = obj_copy_map(obj_get(o, "metadata"));
	obj_del(meta, "managedFields");
	obj_del(meta, "resourceVersion");
	if (obj_len(meta))
		obj_set(o, "metadata", meta);
	else
		obj_unref(meta);
	return o;
}

int config_from_layer(const struct config_from *f, const struct obj *live, const char *name,
		      struct arena *a, const struct obj **ret, struct error *err)
{
	const struct obj *data = obj_get(live, "data");
	if (f->type == FROM_RESOURCE) {
		*ret = obj_keep(a, lasting(live));
		return 0;
	}
	return f->key ? parse_key(f, data, name, a, ret, err)
		      : take_all(f, data, name, a, ret, err);
}
