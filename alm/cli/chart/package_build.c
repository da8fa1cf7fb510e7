#include "alm/cli/chart/package_build.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/chart/chart_dir.h"
#include "alm/obj/yaml.h"
#include "catalog/index/package.h"

struct build {
	struct arena *a;
	struct archive_files files;
	struct chart *chart;
	struct str descriptor; /* alm.yaml; ptr NULL if there is none */
};

static int fail(struct error *err, int code, const struct strbuf *msg)
{
	return error_set(err, code < 0 ? -code : E_INVALID, "%s", msg->buf);
}

static struct archive_file *find(struct build *b, const char *path)
{
	for (size_t i = 0; i < b->files.n; i++)
		if (!strcmp(b->files.items[i].path, path))
			return &b->files.items[i];
	return NULL;
}

/* Chart.yaml with the wanted version and the descriptor in it; as it is if neither is new. */
static int write_chart_yaml(struct build *b, const char *version, struct error *err)
{
	struct archive_file *f = find(b, "Chart.yaml");
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(chart_limits_default.file_bytes);
	if (!f)
		return error_set(err, E_INVALID,
				 "Chart.yaml file is missing; a chart is a folder with one");
	if (!version && !b->descriptor.ptr)
		return 0;
	if (yaml_parse_one(f->data, &o, err) < 0)
		return error_wrap(err, "Chart.yaml");
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_INVALID, "Chart.yaml is no map");
	if (version)
		obj_set_str(o, "version", version);
	if (b->descriptor.ptr) {
		if (obj_type(obj_get(o, "annotations")) != OBJ_MAP)
			obj_set(o, "annotations", obj_map());
		obj_set(obj_get_mut(o, "annotations"), PACKAGE_ANNOTATION,
			obj_stringn(b->descriptor));
	}
	yaml_print(o, &text);
	if (strbuf_check(&text, "Chart.yaml", err) < 0)
		return -err->code;
	f->data = str_n(arena_text(b->a, text.buf, text.len), text.len);
	return 0;
}

/* The folder must load as the chart it will be. */
static int load(struct build *b, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	int rc = chart_load(b->a, &b->files, &budget, TMPL_PROFILE_4_1, &b->chart, &msg);
	return rc < 0 ? fail(err, rc, &msg) : 0;
}

/* "plural.group/v1" and "plural.group/v2" become "plural.group/v1,v2". */
static const char *join_provides(struct arena *a, const struct obj *list)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct str last = STR_NONE;
	for (size_t i = 0; i < obj_len(list); i++) {
		struct str crd, version, text = obj_as_str(obj_at(list, i));
		if (!str_cut(text, '/', &crd, &version))
			continue;
		if (last.ptr && str_eq(crd, last))
			strbuf_addf(&b, ",%.*s", STR_ARG(version));
		else
			strbuf_addf(&b, "%s%.*s", b.len ? " " : "", STR_ARG(text));
		last = crd;
	}
	return b.len ? arena_strdup(a, b.buf) : NULL;
}

static int read_descriptor(struct build *b, struct package_built *ret, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (!b->descriptor.ptr)
		return 0;
	if (yaml_parse_one(b->descriptor, &o, err) < 0)
		return error_wrap(err, "alm.yaml");
	const char *app_type = obj_str(o, "appType");
	ret->app_type = app_type ? arena_strdup(b->a, app_type) : NULL;
	ret->provides = join_provides(b->a, obj_get(o, "provides"));
	return 0;
}

/* What a catalog will read from the archive must be readable now. */
static int check_package(struct build *b, const char *digest, struct error *err)
{
	struct package_version *v;
	const struct archive_file *f = find(b, "Chart.yaml");
	const struct package_source s = {.chart_yaml = f ? f->data : STR(""),
					 .descriptor = b->descriptor,
					 .digest = digest,
					 .locator = ""};
	return package_read(&s, b->a, &v, err);
}

int package_build(struct arena *a, const char *dir, const char *version, const char *out_dir,
		  struct package_built *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf packed =
		STRBUF_INIT(chart_limits_default.packed_bytes);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct build b = {.a = a};
	struct package_built built = {0};
	int rc = chart_dir_files(a, dir, NULL, &budget, &b.files, &msg);
	if (rc < 0)
		return fail(err, rc, &msg);
	struct archive_file *descriptor = find(&b, "alm.yaml");
	if (descriptor)
		b.descriptor = descriptor->data;
	if (write_chart_yaml(&b, version, err) < 0 || load(&b, err) < 0 ||
	    read_descriptor(&b, &built, err) < 0)
		return error_wrap(err, "%s", dir);
	const char *name = arena_fmt(a, "%.*s", STR_ARG(b.chart->meta.name));
	if (archive_write(&b.files, name, &packed, err) < 0 ||
	    strbuf_check(&packed, "the archive", err) < 0)
		return -err->code;
	sha256_hex(strbuf_str(&packed), built.sha256);
	if (check_package(&b, built.sha256, err) < 0)
		return error_wrap(err, "%s", dir);
	const char *file = arena_fmt(a, "%s-%.*s.tgz", name, STR_ARG(b.chart->meta.version));
	built.path = arena_fmt(a, "%s/%s", out_dir, file);
	if (dir_make(out_dir, 0755, err) < 0 ||
	    file_put(out_dir, file, strbuf_str(&packed), 0644, err) < 0)
		return -err->code;
	*ret = built;
	return 0;
}
