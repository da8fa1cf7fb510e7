#include "alm/cli/catalog/catalog_files.h"

#include <string.h>

#include "alm/cli/progress.h"
#include "alm/obj/yaml.h"
#include "alm/sources/source.h"
#include "catalog/index/package.h"
#include "installers/chart/archive.h"

#define ARCHIVE_ARENA_BYTES ((size_t)256 << 20)

int catalog_chart(struct str archive, struct obj **ret, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARCHIVE_ARENA_BYTES);
	struct archive_budget budget = ARCHIVE_BUDGET_INIT(&chart_limits_default);
	struct archive_files files = {0};
	struct obj *o = NULL;
	if (archive_read(a, archive, &budget, &files, err) < 0)
		return -err->code;
	const struct archive_file *chart = archive_find(&files, "Chart.yaml");
	const struct archive_file *descriptor = archive_find(&files, "alm.yaml");
	if (!chart)
		return error_set(err, E_INVALID, "the archive has no Chart.yaml");
	if (yaml_parse_one(chart->data, &o, err) < 0)
		return error_wrap(err, "Chart.yaml");
	if (descriptor) {
		if (obj_type(obj_get(o, "annotations")) != OBJ_MAP)
			obj_set(o, "annotations", obj_map());
		obj_set(obj_get_mut(o, "annotations"), PACKAGE_ANNOTATION,
			obj_stringn(descriptor->data));
	}
	*ret = o;
	return 0;
}

struct catalog_listing {
	struct obj *entries;
};

struct catalog_listing *catalog_listing_new(void)
{
	struct catalog_listing *l = xcalloc(1, sizeof(*l));
	l->entries = obj_map();
	return l;
}

void catalog_listing_free(struct catalog_listing *l)
{
	if (!l)
		return;
	obj_unref(l->entries);
	xfree(l);
}

void catalog_listing_add(struct catalog_listing *l, struct obj *chart, const char *digest,
			 const char *base_url, const char *file)
{
	struct obj *urls = obj_list();
	const char *name = obj_str(chart, "name");
	size_t n = base_url ? strlen(base_url) : 0;
	obj_append(urls, obj_stringf("%s%s%s", base_url ? base_url : "",
				     n && base_url[n - 1] != '/' ? "/" : "", file));
	obj_set(chart, "urls", urls);
	obj_set_str(chart, "digest", digest);
	if (!obj_has(l->entries, name))
		obj_set(l->entries, name, obj_list());
	obj_append(obj_get_mut(l->entries, name), chart);
}

void catalog_listing_print(const struct catalog_listing *l, const char *generated, struct strbuf *b)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	obj_set_str(o, "apiVersion", "v1");
	obj_set_str(o, "generated", generated);
	obj_set(o, "entries", obj_ref(l->entries));
	yaml_print(o, b);
}

const char *catalog_file_name(const struct package_version *p, struct arena *a)
{
	return arena_fmt(a, "%s-%.*s.tgz", p->package, STR_ARG(p->version.text));
}

int catalog_each(struct cli *c, struct catalog_source *s, catalog_archive_fn fn, void *arg,
		 struct error *err)
{
	const struct catalog_index *x = catalog_source_index(s);
	struct progress p;
	progress_start(&p, x->n);
	if (x->n_rejected)
		return error_set(err, E_INVALID, "%s", x->rejected[0]);
	for (size_t i = 0; i < x->n; i++) {
		CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
		const struct package_version *v = x->versions[i];
		progress_step(&p,
			      arena_fmt(c->arena, "%s %.*s", v->package, STR_ARG(v->version.text)));
		if (v->ambiguous)
			return error_set(err, E_INVALID, "%s %.*s: %s", v->package,
					 STR_ARG(v->version.text), v->ambiguous);
		if (catalog_source_fetch(s, v, &bytes, err) < 0 ||
		    fn(arg, v, strbuf_str(&bytes), err) < 0)
			return error_wrap(err, "%s %.*s", v->package, STR_ARG(v->version.text));
	}
	progress_end(&p);
	return 0;
}
