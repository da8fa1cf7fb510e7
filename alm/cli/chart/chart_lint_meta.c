/* Chart.yaml and the dependencies it names, by the rules of helm lint. */
#include <string.h>

#include "alm/cli/chart/chart_lint_rules.h"
#include "alm/obj/yaml.h"
#include "catalog/semver.h"
#include "installers/format/yaml_go.h"
#include "installers/tmpl/fn/url.h"

static const char file[] = "Chart.yaml";

static struct str text_of(const struct vmap *m, const char *key)
{
	const struct value *v = vmap_getc(m, key);
	return v && v->type == VALUE_STRING ? value_text(*v) : STR("");
}

/* ---- fields ---- */

static const char *const chart_fields[] = {
	"name",      "home",        "version",    "description", "icon",        "apiVersion",
	"condition", "tags",        "appVersion", "kubeVersion", "type",        "sources",
	"keywords",  "annotations", "deprecated", "maintainers", "dependencies"};
static const char *const maintainer_fields[] = {"name", "email", "url"};
static const char *const dependency_fields[] = {"name", "version", "repository",    "condition",
						"tags", "enabled", "import-values", "alias"};

/* Only spelt so: a strict reader takes capitals as another field. */
static struct str unknown_field(const struct vmap *m, const char *const *known, size_t n)
{
	for (size_t i = 0; i < vmap_count(m); i++) {
		bool found = false;
		for (size_t k = 0; k < n && !found; k++)
			found = str_is(m->entries[i].key, known[k]);
		if (!found)
			return m->entries[i].key;
	}
	return STR("");
}

static struct str unknown_inside(const struct vmap *m, const char *key, const char *const *known,
				 size_t n)
{
	const struct value *v = vmap_getc(m, key);
	struct str bad = STR("");
	for (size_t i = 0; v && v->type == VALUE_LIST && !bad.len && i < v->len; i++)
		if (v->items[i].type == VALUE_MAP)
			bad = unknown_field(v->items[i].map, known, n);
	return bad;
}

static void check_strict(struct lint_report *r, const struct vmap *m)
{
	struct str bad = unknown_field(m, chart_fields, ARRAY_LEN(chart_fields));
	if (!bad.len)
		bad = unknown_inside(m, "maintainers", maintainer_fields,
				     ARRAY_LEN(maintainer_fields));
	if (!bad.len)
		bad = unknown_inside(m, "dependencies", dependency_fields,
				     ARRAY_LEN(dependency_fields));
	if (bad.len)
		chart_lint_add(
			r, LINT_WARNING, file,
			"failed to strictly parse chart metadata file\n"
			"\terror unmarshaling JSON: while decoding JSON: json: unknown field "
			"\"%.*s\"",
			STR_ARG(bad));
}

/* Go's reader refuses a map that has a key twice, where it is to be strict. */
static void check_duplicates(struct lint_report *r, struct str text)
{
	struct yaml_documents docs = {0};
	struct error ignored;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (yaml_parse(text, &docs, &ignored) < 0)
		return;
	for (size_t i = 0; docs.n && i < docs.items[0].n_duplicates; i++)
		strbuf_addf(&b, "\n  %s", docs.items[0].duplicates[i]);
	yaml_documents_release(&docs);
	if (b.len)
		chart_lint_add(r, LINT_WARNING, file,
			       "failed to strictly parse chart metadata file\n"
			       "\terror converting YAML to JSON: yaml: unmarshal errors:%s",
			       b.buf);
}

static void check_is_string(struct lint_report *r, const struct vmap *m, const char *key)
{
	const struct value *v = vmap_getc(m, key);
	if (v && v->type != VALUE_STRING)
		chart_lint_add(r, LINT_ERROR, file,
			       "%s should be of type string but it's of type %s", key,
			       value_type_name(*v, TMPL_PROFILE_4_1));
}

/* ---- versions, addresses ---- */

static bool is_strict_semver(struct str s)
{
	struct version v;
	struct error err = ERROR_INIT;
	size_t dots = 0;
	for (size_t i = 0; i < s.len && s.ptr[i] != '-' && s.ptr[i] != '+'; i++)
		dots += s.ptr[i] == '.';
	return dots == 2 && char_is_digit(s.ptr[0]) &&
	       version_parse(s, VERSION_STRICT, &v, &err) >= 0;
}

/* As text: a number stands for what it prints. */
static struct str version_text(struct arena *a, const struct vmap *m, const char *key)
{
	const struct value *v = vmap_getc(m, key);
	return v && v->type != VALUE_NIL ? value_string(a, *v) : STR("");
}

static void check_version(struct lint_report *r, const struct vmap *m)
{
	struct str text = version_text(r->a, m, "version");
	struct version v;
	struct error err = ERROR_INIT;
	if (!text.len)
		chart_lint_add(r, LINT_ERROR, file, "version is required");
	else if (version_parse(text, VERSION_LOOSE, &v, &err) < 0)
		chart_lint_add(r, LINT_ERROR, file, "version '%.*s' is not a valid SemVer",
			       STR_ARG(text));
	if (!is_strict_semver(text))
		chart_lint_add(r, LINT_WARNING, file, "version '%.*s' is not a valid SemVerV2",
			       STR_ARG(text));
}

static bool is_request_url(struct arena *a, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct url u;
	return text.len && url_parse(a, text, &u, &msg) && u.scheme.len;
}

static bool is_host(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (!char_is_alnum(c) && c != '-' && c != '.' && (unsigned char)c < 0x80)
			return false;
	}
	return s.len > 0;
}

static bool is_email(struct str s)
{
	struct str local, host, name, tld;
	return str_cut(s, '@', &local, &host) && local.len && is_host(host) &&
	       str_find_char(s, ' ') < 0 && str_rcut(host, '.', &name, &tld) && name.len && tld.len;
}

static bool is_url(struct arena *a, struct str s)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct url u;
	if (s.len <= 3 || s.len >= 2083 || s.ptr[0] == '.' || str_find_char(s, ' ') >= 0)
		return false;
	if (!str_contains(s, STR("://")))
		s = str_of(arena_fmt(a, "http://%.*s", STR_ARG(s)));
	return url_parse(a, s, &u, &msg) && u.host.len &&
	       (str_find_char(u.host, '.') > 0 || str_has_prefix(u.host, STR("localhost")));
}

/* ---- people, sources ---- */

static void check_maintainers(struct lint_report *r, const struct vmap *m)
{
	const struct value *list = vmap_getc(m, "maintainers");
	for (size_t i = 0; list && list->type == VALUE_LIST && i < list->len; i++) {
		struct value v = list->items[i];
		if (v.type != VALUE_MAP) {
			chart_lint_add(r, LINT_ERROR, file, "a maintainer entry is empty");
			return;
		}
		struct str name = text_of(v.map, "name"), email = text_of(v.map, "email"),
			   url = text_of(v.map, "url");
		bool bad_email = email.len && !is_email(email);
		if (!name.len)
			chart_lint_add(r, LINT_ERROR, file, "each maintainer requires a name");
		else if (bad_email)
			chart_lint_add(r, LINT_ERROR, file,
				       "invalid email '%.*s' for maintainer '%.*s'", STR_ARG(email),
				       STR_ARG(name));
		else if (url.len && !is_url(r->a, url))
			chart_lint_add(r, LINT_ERROR, file,
				       "invalid url '%.*s' for maintainer '%.*s'", STR_ARG(url),
				       STR_ARG(name));
		else
			continue;
		return;
	}
}

static void check_links(struct lint_report *r, const struct vmap *m)
{
	const struct value *list = vmap_getc(m, "sources");
	struct str icon = text_of(m, "icon");
	for (size_t i = 0; list && list->type == VALUE_LIST && i < list->len; i++) {
		struct value v = list->items[i];
		struct str s = v.type == VALUE_STRING ? value_text(v) : STR("");
		if (is_request_url(r->a, s))
			continue;
		chart_lint_add(r, LINT_ERROR, file, "invalid source URL '%.*s'", STR_ARG(s));
		break;
	}
	if (!icon.len)
		chart_lint_add(r, LINT_INFO, file, "icon is recommended");
	else if (!is_request_url(r->a, icon))
		chart_lint_add(r, LINT_ERROR, file, "invalid icon URL '%.*s'", STR_ARG(icon));
}

/* ---- the file ---- */

static void check_api_version(struct lint_report *r, struct str api)
{
	if (!api.len)
		chart_lint_add(r, LINT_ERROR, file,
			       "apiVersion is required. The value must be either \"v1\" or \"v2\"");
	else if (!str_is(api, "v1") && !str_is(api, "v2"))
		chart_lint_add(r, LINT_ERROR, file,
			       "apiVersion '%.*s' is not valid. The value must be either \"v1\" or "
			       "\"v2\"",
			       STR_ARG(api));
}

static void check_v2_only(struct lint_report *r, const struct vmap *m, struct str api)
{
	const struct value *deps = vmap_getc(m, "dependencies");
	if (str_is(api, "v2"))
		return;
	if (text_of(m, "type").len)
		chart_lint_add(
			r, LINT_ERROR, file,
			"chart type is not valid in apiVersion '%.*s'. It is valid in apiVersion "
			"'v2'",
			STR_ARG(api));
	if (deps && deps->type == VALUE_LIST && deps->len)
		chart_lint_add(
			r, LINT_ERROR, file,
			"dependencies are not valid in the Chart file with apiVersion '%.*s'. "
			"They are valid in apiVersion 'v2'",
			STR_ARG(api));
}

void chart_lint_yaml(struct lint_report *r, struct str text)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct vmap *m;
	if (yaml_go_parse_map(r->a, text, &m, &msg) < 0) {
		chart_lint_add(r, LINT_ERROR, file, "unable to parse YAML\n\t%s", msg.buf);
		return;
	}
	struct str name = text_of(m, "name"), api = text_of(m, "apiVersion");
	check_duplicates(r, text);
	check_strict(r, m);
	if (!version_text(r->a, m, "name").len)
		chart_lint_add(r, LINT_ERROR, file, "name is required");
	else if (str_find_char(name, '/') >= 0)
		chart_lint_add(r, LINT_ERROR, file, "chart name \"%.*s\" is invalid",
			       STR_ARG(name));
	check_api_version(r, api);
	check_is_string(r, m, "version");
	check_version(r, m);
	check_is_string(r, m, "appVersion");
	check_maintainers(r, m);
	check_links(r, m);
	check_v2_only(r, m, api);
}

/* ---- dependencies ---- */

static void add_name(struct strbuf *b, struct str name)
{
	if (b->len)
		strbuf_addc(b, ',');
	strbuf_addstr(b, name);
}

static bool is_listed(const struct chart *c, struct str name)
{
	for (size_t k = 0; k < c->meta.n_dependencies; k++)
		if (str_eq(c->meta.dependencies[k].name, name))
			return true;
	return false;
}

static bool is_there(const struct chart *c, struct str name)
{
	for (size_t k = 0; k < c->n_charts; k++)
		if (str_eq(c->charts[k]->meta.name, name))
			return true;
	return false;
}

void chart_lint_dependencies(struct lint_report *r, const struct chart *c)
{
	CLEANUP(strbuf_release) struct strbuf unlisted = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf missing = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < c->n_charts; i++)
		if (!is_listed(c, c->charts[i]->meta.name))
			add_name(&unlisted, c->charts[i]->meta.name);
	for (size_t i = 0; i < c->meta.n_dependencies; i++)
		if (!is_there(c, c->meta.dependencies[i].name))
			add_name(&missing, c->meta.dependencies[i].name);
	if (unlisted.len)
		chart_lint_add(r, LINT_ERROR, file,
			       "chart metadata is missing these dependencies: %s", unlisted.buf);
	if (missing.len)
		chart_lint_add(r, LINT_WARNING, file,
			       "chart directory is missing these dependencies: %s", missing.buf);
}
