/* crd_source.c: see crd_source.h. */
#include "alm/cli/crd/crd_source.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/chart/chart_dir.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/sources/inspect.h"

#define FOLDER_DEPTH_MAX 8
#define FOLDER_NAMES_MAX 10000

/* NOLINTBEGIN(misc-no-recursion): folders at most FOLDER_DEPTH_MAX deep, then a List in a List
 * within OBJ_DEPTH_MAX */
static int add(struct cli *c, struct crd_source *s, const struct obj *o, const char *file,
	       struct error *err)
{
	const char *kind = meta_kind(o);
	const struct obj *items = obj_get(o, "items");
	if (kind && cstr_has_suffix(kind, "List") && obj_type(items) == OBJ_LIST) {
		for (size_t i = 0; i < obj_len(items); i++)
			if (add(c, s, obj_at(items, i), file, err) < 0)
				return -err->code;
		return 0;
	}
	if (obj_type(o) != OBJ_MAP || !kind)
		return 0; /* values.yaml and the like stand beside manifests */
	if (s->n == CRD_SOURCE_OBJECTS_MAX)
		return error_set(err, E_LIMIT, "%s: more than %d objects", file,
				 CRD_SOURCE_OBJECTS_MAX);
	ARENA_GROW(c->arena, s->items, s->cap, s->n, 8);
	s->items[s->n++] = o;
	return 0;
}
/* NOLINTEND(misc-no-recursion) */

static int add_text(struct cli *c, struct crd_source *s, struct str text, const char *file,
		    struct error *err)
{
	struct yaml_documents docs = {0};
	int r = yaml_parse(text, &docs, err);
	if (r < 0)
		return error_wrap(err, "%s", file);
	for (size_t i = 0; i < docs.n && r >= 0; i++)
		r = add(c, s, obj_keep(c->arena, obj_ref(docs.items[i].value)), file, err);
	yaml_documents_release(&docs);
	return r;
}

static int add_file(struct cli *c, struct crd_source *s, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_BYTES_MAX);
	int r = file_read_input(path, &text, err);
	return r < 0 ? r : add_text(c, s, strbuf_str(&text), path, err);
}

static bool is_manifest(const char *name)
{
	return cstr_has_suffix(name, ".yaml") || cstr_has_suffix(name, ".yml") ||
	       cstr_has_suffix(name, ".json");
}

/* A folder with Chart.yaml, or an archive: what a catalog would say that it brings. */
static int add_chart(struct cli *c, struct crd_source *s, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct chart_source source;
	struct obj *crds = obj_keep(c->arena, obj_list());
	int r = chart_dir_read(c->arena, path, &source, &msg);
	if (r < 0)
		return error_set(err, -r, "%s", msg.buf);
	if (!source.is_dir)
		r = archive_read(c->arena, source.packed, &source.budget, &source.files, err);
	if (r >= 0)
		r = inspect_crds(c->arena, &source.files, crds, err);
	if (r < 0)
		return error_wrap(err, "%s", path);
	for (size_t i = 0; i < obj_len(crds) && r >= 0; i++)
		r = add(c, s, obj_at(crds, i), path, err);
	return r;
}

/* NOLINTBEGIN(misc-no-recursion): folders at most FOLDER_DEPTH_MAX deep, then a List in a List
 * within OBJ_DEPTH_MAX */
static int add_folder(struct cli *c, struct crd_source *s, const char *path, int depth,
		      struct error *err)
{
	char **names;
	size_t n;
	struct file_info info;
	int r = dir_list(path, FOLDER_NAMES_MAX, &names, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n && r >= 0; i++) {
		const char *file = arena_fmt(c->arena, "%s/%s", path, names[i]);
		r = file_info(file, &info, err);
		if (r >= 0 && info.is_dir && depth < FOLDER_DEPTH_MAX)
			r = add_folder(c, s, file, depth + 1, err);
		else if (r >= 0 && info.is_regular && is_manifest(file))
			r = add_file(c, s, file, err);
	}
	dir_list_free(names, n);
	return r;
}
/* NOLINTEND(misc-no-recursion) */

static int add_live(struct cli *c, const char *name, struct session **s, struct crd_source *ret,
		    struct error *err)
{
	const struct obj *body = NULL;
	int r = *s ? 0 : session_open(c, s, err);
	if (r >= 0)
		r = session_get(*s, *name ? arena_fmt(c->arena, CRD_PATH "/%s", name) : CRD_PATH,
				&body, err);
	ret->live = true;
	return r < 0 ? r : add(c, ret, body, "live", err);
}

int crd_source_read(struct cli *c, const char *from, struct session **s, struct crd_source *ret,
		    struct error *err)
{
	struct file_info info = {0};
	int r = 0;
	*ret = (struct crd_source){0};
	if (cstr_has_prefix(from, "live:"))
		return add_live(c, from + strlen("live:"), s, ret, err);
	if (strcmp(from, "-") != 0)
		r = file_info(from, &info, err);
	if (r < 0)
		return r;
	bool packed = cstr_has_suffix(from, ".tgz") || cstr_has_suffix(from, ".tar.gz");
	if (packed || (info.is_dir && file_exists(arena_fmt(c->arena, "%s/Chart.yaml", from))))
		r = add_chart(c, ret, from, err);
	else if (info.is_dir)
		r = add_folder(c, ret, from, 0, err);
	else
		r = add_file(c, ret, from, err);
	if (r >= 0 && ret->n == 0)
		return error_set(err, E_NOTFOUND, "%s: no objects found", from);
	return r;
}
