/* Chart.yaml: decoding as Go's JSON decoder does into a struct, and Helm's checks. */
#include <string.h>

#include "catalog/semver.h"
#include "installers/chart/chart.h"
#include "installers/format/yaml_go.h"
#include "installers/value/unicode.h"

enum field_type {
	FIELD_STR,
	FIELD_STRS,
	FIELD_STRMAP,
	FIELD_BOOL,
	FIELD_MAINTAINERS,
	FIELD_DEPS,
	FIELD_ANY
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
};

#define META(name, type, member) {name, type, offsetof(struct chart_meta, member)}
#define DEP(name, type, member)  {name, type, offsetof(struct chart_dependency, member)}
/* clang-format off */
static const struct field meta_fields[] = {
	META("name", FIELD_STR, name),
	META("home", FIELD_STR, home),
	META("sources", FIELD_STRS, sources),
	META("version", FIELD_STR, version),
	META("description", FIELD_STR, description),
	META("keywords", FIELD_STRS, keywords),
	META("maintainers", FIELD_MAINTAINERS, maintainers),
	META("icon", FIELD_STR, icon),
	META("apiVersion", FIELD_STR, api_version),
	META("condition", FIELD_STR, condition),
	META("tags", FIELD_STR, tags),
	META("appVersion", FIELD_STR, app_version),
	META("deprecated", FIELD_BOOL, deprecated),
	META("annotations", FIELD_STRMAP, annotations),
	META("kubeVersion", FIELD_STR, kube_version),
	META("dependencies", FIELD_DEPS, dependencies),
	META("type", FIELD_STR, type),
	{0},
};
static const struct field dep_fields[] = {
	DEP("name", FIELD_STR, name),
	DEP("version", FIELD_STR, version),
	DEP("repository", FIELD_STR, repository),
	DEP("condition", FIELD_STR, condition),
	DEP("tags", FIELD_STRS, tags),
	DEP("enabled", FIELD_BOOL, enabled),
	DEP("import-values", FIELD_ANY, import_values),
	DEP("alias", FIELD_STR, alias),
	{0},
};
static const struct field maintainer_fields[] = {
	{"name", FIELD_STR, offsetof(struct chart_maintainer, name)},
	{"email", FIELD_STR, offsetof(struct chart_maintainer, email)},
	{"url", FIELD_STR, offsetof(struct chart_maintainer, url)},
	{0},
};
/* clang-format on */

struct decoder {
	struct arena *a;
	struct chart_meta *meta;
	const char *type, *prefix; /* of the struct being read: "Dependency", "dependencies." */
	bool failed;               /* Go goes on after the first wrong type and reports that one */
	struct strbuf *msg;
};

static void wrong_type(struct decoder *d, struct value v, const char *field, const char *want)
{
	if (d->failed)
		return;
	d->failed = true;
	strbuf_addf(
		d->msg,
		"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go "
		"struct field %s.%s%s of type %s",
		yaml_go_json_type(v), d->type, d->prefix, field, want);
}

/* A number or bool where text is wanted becomes text; floats as %g in 32 bits. */
static bool scalar_text(struct arena *a, struct value v, struct str *ret)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (v.type == VALUE_STRING) {
		*ret = value_text(v);
		return true;
	}
	if (v.type == VALUE_BOOL)
		strbuf_adds(&b, v.b ? "true" : "false");
	else if (v.type == VALUE_INT64)
		strbuf_addf(&b, "%lld", (long long)v.i);
	else if (v.type == VALUE_UINT64)
		strbuf_addf(&b, "%llu", (unsigned long long)v.u);
	else if (v.type == VALUE_FLOAT)
		value_float_text(&b, v.f, 'g', 32);
	else
		return false;
	*ret = str_n(arena_text(a, b.buf, b.len), b.len);
	return true;
}

static void decode_str(struct decoder *d, const char *name, struct value v, struct str *ret)
{
	if (!scalar_text(d->a, v, ret))
		wrong_type(d, v, name, "string");
}

static void decode_strs(struct decoder *d, const char *name, struct value v, struct value *ret)
{
	if (v.type != VALUE_LIST) {
		wrong_type(d, v, name, "[]string");
		return;
	}
	*ret = value_list(d->a, VALUE_STRINGS, v.len);
	for (size_t i = 0; i < v.len; i++) {
		struct str s = STR("");
		if (v.items[i].type != VALUE_NIL)
			decode_str(d, name, v.items[i], &s);
		ret->items[i] = value_str(s);
	}
}

static void decode_strmap(struct decoder *d, const char *name, struct value v, struct vmap **ret)
{
	if (v.type != VALUE_MAP) {
		wrong_type(d, v, name, "map[string]string");
		return;
	}
	*ret = vmap_new_sized(d->a, v.map->n);
	for (size_t i = 0; i < v.map->n; i++) {
		struct str s = STR("");
		if (v.map->entries[i].value.type != VALUE_NIL)
			decode_str(d, name, v.map->entries[i].value, &s);
		vmap_set(*ret, v.map->entries[i].key, value_str(s));
	}
}

static void decode_struct(struct decoder *d, const struct field *fields, const struct vmap *m,
			  void *out);

/* NOLINTBEGIN(misc-no-recursion): two levels: the fields of dependencies and maintainers hold no
 * structs */
/* An empty element is told apart by an absent name: the checks refuse it. */
static void decode_structs(struct decoder *d, const struct field *f, struct value v)
{
	bool deps = f->type == FIELD_DEPS;
	const char *type = d->type, *prefix = d->prefix;
	if (v.type != VALUE_LIST) {
		wrong_type(d, v, f->name, deps ? "[]*v2.Dependency" : "[]*v2.Maintainer");
		return;
	}
	if (deps) {
		d->meta->dependencies = ARENA_ARRAY(d->a, struct chart_dependency, v.len + 1);
		d->meta->n_dependencies = v.len;
		d->meta->has_dependencies = true;
	} else {
		d->meta->maintainers = ARENA_ARRAY(d->a, struct chart_maintainer, v.len + 1);
		d->meta->n_maintainers = v.len;
	}
	for (size_t i = 0; i < v.len; i++) {
		void *out =
			deps ? (void *)&d->meta->dependencies[i] : (void *)&d->meta->maintainers[i];
		struct str *name = out; /* the first member of both */
		if (v.items[i].type == VALUE_NIL)
			continue;
		if (v.items[i].type != VALUE_MAP) {
			wrong_type(d, v.items[i], f->name,
				   deps ? "v2.Dependency" : "v2.Maintainer");
			continue;
		}
		*name = STR("");
		d->type = deps ? "Dependency" : "Maintainer";
		d->prefix = deps ? "dependencies." : "maintainers.";
		decode_struct(d, deps ? dep_fields : maintainer_fields, v.items[i].map, out);
		d->type = type;
		d->prefix = prefix;
	}
}

static void decode_field(struct decoder *d, const struct field *f, struct value v, void *out)
{
	void *at = (char *)out + f->offset;
	if (v.type == VALUE_NIL)
		return;
	switch (f->type) {
	case FIELD_STR:
		decode_str(d, f->name, v, at);
		return;
	case FIELD_STRS:
		decode_strs(d, f->name, v, at);
		return;
	case FIELD_STRMAP:
		decode_strmap(d, f->name, v, at);
		return;
	case FIELD_BOOL:
		if (v.type == VALUE_BOOL)
			*(bool *)at = v.b;
		else
			wrong_type(d, v, f->name, "bool");
		return;
	case FIELD_ANY:
		if (v.type == VALUE_LIST)
			*(struct value *)at = v;
		else
			wrong_type(d, v, f->name, "[]interface {}");
		return;
	case FIELD_MAINTAINERS:
	case FIELD_DEPS:
		decode_structs(d, f, v);
		return;
	}
}

static bool equal_fold(struct str s, const char *name)
{
	if (s.len != strlen(name))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (char_lower(s.ptr[i]) != char_lower(name[i]))
			return false;
	return true;
}

/* Keys match in any case; one that matches exactly is preferred. */
static void decode_struct(struct decoder *d, const struct field *fields, const struct vmap *m,
			  void *out)
{
	for (const struct field *f = fields; f->name; f++) {
		const struct value *v = vmap_getc(m, f->name);
		for (size_t i = 0; !v && i < m->n; i++)
			if (equal_fold(m->entries[i].key, f->name))
				v = &m->entries[i].value;
		if (v)
			decode_field(d, f, *v, out);
	}
}
/* NOLINTEND(misc-no-recursion) */

int chart_read_meta(struct arena *a, struct str text, struct chart_meta *ret, struct strbuf *msg)
{
	struct value v;
	int rc = yaml_go_parse_ints(a, text, &v, msg);
	if (rc < 0)
		return rc;
	if (v.type == VALUE_NIL)
		return 0;
	if (v.type != VALUE_MAP) {
		strbuf_addf(
			msg,
			"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s "
			"into Go value of type v2.Metadata",
			yaml_go_json_type(v));
		return -E_INVALID;
	}
	struct decoder d = {.a = a, .meta = ret, .type = "Metadata", .prefix = "", .msg = msg};
	decode_struct(&d, meta_fields, v.map, ret);
	return d.failed ? -E_INVALID : 0;
}

/* ---- checks ---- */

/* White space becomes blanks, what cannot be printed is removed (CVE-2020-15184,
 * CVE-2021-21303). */
static void clean(struct arena *a, struct str *s)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(s->len * 3 + 8);
	for (size_t i = 0; i < s->len;) {
		uint32_t r;
		size_t n = rune_next(str_skip(*s, i), &r);
		if (rune_is_space(r))
			strbuf_addc(&b, ' ');
		else if (rune_is_print(r))
			strbuf_addrune(&b, r);
		i += n;
	}
	if (s->ptr)
		*s = str_n(arena_text(a, b.buf, b.len), b.len);
}

static void clean_list(struct arena *a, struct value v)
{
	for (size_t i = 0; i < v.len; i++) {
		struct str s = value_text(v.items[i]);
		clean(a, &s);
		v.items[i] = value_str(s);
	}
}

static int refuse(struct strbuf *msg, const char *before, struct str name, const char *after)
{
	strbuf_addf(msg, "validation: %s", before);
	if (name.ptr)
		value_quote(msg, name);
	strbuf_adds(msg, after);
	return -E_INVALID;
}

static int check_name(const struct chart_meta *m, struct strbuf *msg)
{
	if (!m->name.len)
		return refuse(msg, "chart.metadata.name is required", STR_NONE, "");
	if (str_is(m->name, ".") || str_is(m->name, ".."))
		return refuse(msg, "chart.metadata.name ", m->name, " is not allowed");
	if (str_find_char(m->name, '/') >= 0)
		return refuse(msg, "chart.metadata.name ", m->name, " is invalid");
	return 0;
}

static int check_version(const struct chart_meta *m, struct strbuf *msg)
{
	struct version v;
	struct error err = ERROR_INIT;
	if (!m->version.len)
		return refuse(msg, "chart.metadata.version is required", STR_NONE, "");
	if (version_parse(m->version, VERSION_LOOSE, &v, &err) < 0)
		return refuse(msg, "chart.metadata.version ", m->version, " is invalid");
	return 0;
}

static int check_maintainers(struct arena *a, struct chart_meta *m, struct strbuf *msg)
{
	for (size_t i = 0; i < m->n_maintainers; i++) {
		struct chart_maintainer *x = &m->maintainers[i];
		if (!x->name.ptr)
			return refuse(msg, "maintainers must not contain empty or null nodes",
				      STR_NONE, "");
		clean(a, &x->name);
		clean(a, &x->email);
		clean(a, &x->url);
	}
	return 0;
}

static bool alias_is_valid(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!char_is_alnum(s.ptr[i]) && s.ptr[i] != '_' && s.ptr[i] != '-')
			return false;
	return true;
}

static struct str key_of(const struct chart_dependency *d)
{
	return d->alias.len ? d->alias : d->name;
}

static int check_dependencies(struct arena *a, struct chart_meta *m, struct strbuf *msg)
{
	if (m->n_dependencies > CHART_DEPENDENCIES_MAX)
		return refuse(msg, "too many dependencies", STR_NONE, "");
	for (size_t i = 0; i < m->n_dependencies; i++) {
		struct chart_dependency *d = &m->dependencies[i];
		if (!d->name.ptr)
			return refuse(msg, "dependencies must not contain empty or null nodes",
				      STR_NONE, "");
		clean(a, &d->name);
		clean(a, &d->version);
		clean(a, &d->repository);
		clean(a, &d->condition);
		clean_list(a, d->tags);
		if (!alias_is_valid(d->alias))
			return refuse(msg, "dependency ", d->name,
				      " has disallowed characters in the alias");
		for (size_t k = 0; k < i; k++)
			if (str_eq(key_of(&m->dependencies[k]), key_of(d)))
				return refuse(msg, "more than one dependency with name or alias ",
					      key_of(d), "");
	}
	return 0;
}

int chart_check_meta(struct arena *a, struct chart_meta *m, struct strbuf *msg)
{
	struct str *texts[] = {&m->name,      &m->description, &m->home,        &m->icon,
			       &m->condition, &m->tags,        &m->app_version, &m->kube_version};
	if (!m->api_version.len)
		m->api_version = STR("v1");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		clean(a, texts[i]);
	clean_list(a, m->sources);
	clean_list(a, m->keywords);
	if (check_name(m, msg) < 0 || check_version(m, msg) < 0)
		return -E_INVALID;
	if (m->type.len && !str_is(m->type, "application") && !str_is(m->type, "library"))
		return refuse(msg, "chart.metadata.type must be application or library", STR_NONE,
			      "");
	if (check_maintainers(a, m, msg) < 0)
		return -E_INVALID;
	return check_dependencies(a, m, msg);
}
