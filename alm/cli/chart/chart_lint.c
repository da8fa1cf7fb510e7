#include "alm/cli/chart/chart_lint.h"

#include <math.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/cli/chart/chart_dir.h"
#include "alm/cli/chart/chart_lint_rules.h"
#include "alm/cli/chart/template_run.h"
#include "installers/chart/chart_data.h"

const char *lint_level_name(enum chart_level level)
{
	static const char *const names[] = {"INFO", "WARNING", "ERROR"};
	return names[level];
}

/* ---- Chart.yaml ---- */

static void lint_name(struct lint_report *r, struct str name, const char *dir)
{
	static const char file[] = "Chart.yaml";
	struct str head, base;
	if (dir && str_rcut(str_trim_right(str_of(dir)), '/', &head, &base) && base.len &&
	    !str_is(base, ".") && !str_eq(base, name))
		chart_lint_add_own(r, file, "folder is named %.*s, the chart %.*s", STR_ARG(base),
				   STR_ARG(name));
	for (size_t i = 0; i < name.len; i++) {
		char ch = name.ptr[i];
		if (char_is_lower(ch) || char_is_digit(ch) || ch == '-')
			continue;
		chart_lint_add_own(r, file,
				   "name '%.*s' has other than lower-case letters, digits and -",
				   STR_ARG(name));
		return;
	}
}

/* ---- values ---- */

/* A number of at least 1e21 prints as 1e+21 wherever it goes, one from 1e6 on where it is printed
 * directly: helm/helm #1707. */
static void lint_number(struct lint_report *r, const char *path, double f, struct str templates)
{
	if (fabs(f) < 1e6 || f != floor(f))
		return;
	const char *use = arena_fmt(r->a, ".Values.%s", path);
	ptrdiff_t at = str_find(templates, str_of(use));
	if (at < 0)
		return;
	struct str line = str_skip(templates, (size_t)at + strlen(use)), action, rest;
	ptrdiff_t end = str_find(line, STR("}}"));
	action = end < 0 ? STR("") : str_sub(line, 0, (size_t)end);
	(void)rest;
	if (str_contains(action, STR("int")) || str_contains(action, STR("toYaml")) ||
	    str_contains(action, STR("toJson")) || (action.len && char_is_alnum(action.ptr[0])))
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	value_float_text(&b, f, 'g', 64);
	chart_lint_add_own(
		r, "values.yaml",
		"%s prints as %s where a template prints it directly; use int64 or toYaml", path,
		b.buf);
}

/* NOLINTNEXTLINE(misc-no-recursion): at most 32 deep */
static void lint_values(struct lint_report *r, const struct vmap *m, const char *prefix,
			struct str templates, int depth)
{
	for (size_t i = 0; i < vmap_count(m) && depth < 32; i++) {
		struct value v = m->entries[i].value;
		const char *path =
			*prefix ? arena_fmt(r->a, "%s.%.*s", prefix, STR_ARG(m->entries[i].key))
				: arena_fmt(r->a, "%.*s", STR_ARG(m->entries[i].key));
		if (v.type == VALUE_MAP)
			lint_values(r, v.map, path, templates, depth + 1);
		else if (v.type == VALUE_FLOAT)
			lint_number(r, path, v.f, templates);
	}
}

static struct str all_templates(struct arena *a, const struct chart *c)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(chart_limits_default.unpacked_bytes);
	for (size_t i = 0; i < c->templates.n; i++)
		strbuf_addstr(&b, c->templates.items[i].data);
	return str_n(arena_strndup(a, b.buf, b.len), b.len);
}

/* ---- what it renders to ---- */

static void lint_document(struct lint_report *r, const struct render_document *d, struct map *seen)
{
	const struct manifest_head *h = &d->head;
	const struct value *keep = vmap_getc(h->annotations, "helm.sh/resource-policy");
	if (!h->kind.len) {
		chart_lint_add_own(r, d->path, "a document has no kind");
		return;
	}
	if (!h->api_version.len)
		chart_lint_add(r, LINT_ERROR, d->path, "%.*s %.*s has no apiVersion",
			       STR_ARG(h->kind), STR_ARG(h->name));
	if (keep && strncmp(value_text(*keep).ptr, "keep", 4) != 0)
		chart_lint_add(
			r, LINT_ERROR, d->path,
			"helm.sh/resource-policy of %.*s %.*s is '%.*s', only keep means something",
			STR_ARG(h->kind), STR_ARG(h->name), STR_ARG(value_text(*keep)));
	if (!h->name.len)
		return;
	const char *id = arena_fmt(r->a, "%.*s/%.*s/%.*s/%.*s", STR_ARG(h->api_version),
				   STR_ARG(h->kind), STR_ARG(h->ns), STR_ARG(h->name));
	if (map_has(seen, id))
		chart_lint_add(r, LINT_ERROR, d->path, "%.*s %.*s is there twice", STR_ARG(h->kind),
			       STR_ARG(h->name));
	map_set(seen, id, NULL);
}

/* The Y of 1.Y that the chart is linted for. */
static int kube_minor(struct arena *a, const struct render_request *rq)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct str text =
		rq->kube_version.len ? rq->kube_version : str_of(kube_version_default(rq->profile));
	struct kube_version v;
	int64_t minor;
	if (kube_version_parse(a, text, &v, &msg) < 0 || !str_parse_i64(v.minor, &minor))
		return 0;
	return (int)minor;
}

/* All is rendered, and a document cannot be read. Helm's lint looks at the chart's own .yaml and .yml
 * alone, which chart_lint_files() has done: this one is in another file, or in a subchart. */
static bool is_unreadable(int rc, const struct render_result *result)
{
	return rc != -E_LIMIT && result->n_files;
}

static void lint_rendered(struct lint_report *r, struct chart *c, const struct template_args *args,
			  const struct vmap *values, const struct tmpl_host *host)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	struct render_request rq = template_args_request(args);
	struct render_result result;
	rq.values = values;
	rq.host = host;
	rq.name = STR("test-release");
	rq.lenient = true;
	rq.strict = false; /* of lint it means that warnings fail */
	int rc = render_chart(r->a, c, &rq, &result, &msg);
	bool is_yaml = chart_lint_files(r, c, &result, kube_minor(r->a, &rq));
	for (size_t i = 0; i < result.warnings.n; i++)
		chart_lint_add_own(r, "templates/", "%s", result.warnings.items[i].text);
	if (rc < 0 && is_yaml && is_unreadable(rc, &result))
		chart_lint_add_own(r, "templates/", "it does not install: %s", msg.buf);
	else if (rc < 0 && is_yaml)
		chart_lint_add(r, LINT_ERROR, "templates/", "%s", msg.buf);
	if (rc < 0)
		return;
	for (size_t i = 0; i < result.n_documents; i++)
		lint_document(r, &result.documents[i], seen);
	if (result.is_random)
		chart_lint_add(r, LINT_INFO, "templates/",
			       "renders differently each time (random values, time or lookup)");
}

/* Chart.yaml is looked at first, for it may be why the chart cannot be loaded. */
static int load(struct lint_report *r, const struct template_args *args, struct chart **ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct chart_source *source = args->source;
	int rc = 0;
	if (!source) {
		source = ARENA_NEW(r->a, struct chart_source);
		rc = chart_dir_read(r->a, args->chart, source, &msg);
	} else if (args->chart_failure) {
		strbuf_adds(&msg, args->chart_failure);
		rc = -E_INVALID;
	}
	const struct archive_file *meta =
		rc < 0 || !source->is_dir ? NULL : archive_find(&source->files, "Chart.yaml");
	if (meta)
		chart_lint_yaml(r, meta->data);
	if (rc >= 0)
		rc = chart_dir_parse(r->a, source, args->profile, ret, &msg);
	meta = rc < 0 || source->is_dir ? NULL : archive_find(&source->files, "Chart.yaml");
	if (meta)
		chart_lint_yaml(r, meta->data);
	if (rc < 0)
		chart_lint_add(r, LINT_ERROR, "chart", "%s", msg.buf);
	return rc;
}

void chart_lint(struct arena *a, const struct template_args *args, const struct tmpl_host *host,
		struct lint_report *ret)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct chart *c;
	struct vmap *values;
	*ret = (struct lint_report){.a = a};
	if (load(ret, args, &c) < 0)
		return;
	lint_name(ret, c->meta.name, cstr_has_suffix(args->chart, ".tgz") ? NULL : args->chart);
	chart_lint_dependencies(ret, c);
	chart_lint_crds(ret, c);
	if (!c->values)
		chart_lint_add(ret, LINT_INFO, "values.yaml", "file does not exist");
	if (archive_find(&c->files, "templates"))
		chart_lint_add(ret, LINT_ERROR, "templates/", "not a directory");
	else if (!c->templates.n)
		chart_lint_add(ret, LINT_WARNING, "templates/", "directory does not exist");
	lint_values(ret, c->values, "", all_templates(a, c), 0);
	if (template_args_values(a, args, &values, &msg) < 0)
		chart_lint_add(ret, LINT_ERROR, "values.yaml", "%s", msg.buf);
	else
		lint_rendered(ret, c, args, values, host);
}
