#include "alm/source/files.h"

#include <stdlib.h>

#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "installers/chart/chart.h"

static struct str base_name(const char *path)
{
	struct str head, base;
	return str_rcut(str_of(path), '/', &head, &base) ? base : str_of(path);
}

static int refuse(const char *path, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "%s is %s; remove it, or name it in " FILES_IGNORE, path,
			 what);
}

static int check_depth(const char *path, struct error *err)
{
	size_t depth = 1;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	return depth <= FILES_DEPTH_MAX
		       ? 0
		       : error_set(err, E_LIMIT, "%s: nested deeper than %d folders", path,
				   FILES_DEPTH_MAX);
}

int files_take(struct str rules, const char *path, enum files_kind kind, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	bool ignored = false;
	if (str_has_prefix(base_name(path), STR(".")))
		return 0;
	if (!utf8_valid(str_of(path)))
		return error_set(err, E_INVALID, "%s: the name is not UTF-8; rename it", path);
	if (check_depth(path, err) < 0)
		return -err->code;
	if (rules.len && chart_ignores(rules, str_of(path), kind == FILES_DIR, &ignored, &msg) < 0)
		return error_set(err, E_INVALID, FILES_IGNORE ": %s", msg.buf);
	if (ignored)
		return 0;
	switch (kind) {
	case FILES_FILE:
	case FILES_DIR:
		return 1;
	case FILES_LINK:
		return refuse(path, "a symbolic link, and links are not followed", err);
	case FILES_SUBMODULE:
		return refuse(path, "a submodule, and submodules are not fetched", err);
	case FILES_OTHER:
		break;
	}
	return refuse(path, "neither a file nor a folder", err);
}

bool files_is_manifest(const char *path)
{
	return cstr_has_suffix(path, ".yaml") || cstr_has_suffix(path, ".yml") ||
	       cstr_has_suffix(path, ".json");
}

/* A name that is not UTF-8 stands in no program. */
int files_refuse(struct obj *refused, struct flaws *flaws, const char *path, struct error *err)
{
	if (!refused)
		return flaws_take(flaws, err);
	if (obj_len(refused) == FILES_MAX)
		return error_set(err, E_LIMIT, "%s: there are more than %d files", path, FILES_MAX);
	if (utf8_valid(str_of(path)))
		obj_set_str(refused, path, err->msg);
	*err = ERROR_INIT;
	return 0;
}

int files_check_size(const char *path, uint64_t bytes, struct error *err)
{
	return bytes <= FILE_BYTES_MAX ? 0
				       : error_set(err, E_LIMIT, "%s is larger than %zu MiB", path,
						   FILE_BYTES_MAX >> 20);
}

int files_check_pointer(const char *path, struct str text, struct error *err)
{
	return str_has_prefix(text, STR("version https://git-lfs.github.com/"))
		       ? refuse(path, "a pointer of Git LFS, and not the file itself", err)
		       : 0;
}

int files_add(struct files *f, const char *path, struct str text, struct error *err)
{
	if (f->n == FILES_MAX)
		return error_set(err, E_LIMIT, "%s: there are more than %d files", path, FILES_MAX);
	if (files_check_size(path, text.len, err) < 0)
		return -err->code;
	if (text.len > FILES_BYTES_MAX - f->bytes)
		return error_set(err, E_LIMIT, "%s: the files are larger than %zu MiB together",
				 path, FILES_BYTES_MAX >> 20);
	ARENA_GROW(f->a, f->items, f->cap, f->n, 16);
	f->items[f->n++] = (struct files_entry){
		.path = arena_strdup(f->a, path),
		.text = str_n(arena_text(f->a, text.ptr ? text.ptr : "", text.len), text.len)};
	f->bytes += text.len;
	return 0;
}

static int cmp_entries(const void *a, const void *b)
{
	const struct files_entry *x = a, *y = b;
	return str_cmp(str_of(x->path), str_of(y->path));
}

void files_sort(struct files *f)
{
	if (f->n)
		qsort(f->items, f->n, sizeof(*f->items), cmp_entries);
}

const struct files_entry *files_get(const struct files *f, const char *path)
{
	const struct files_entry key = {.path = path};
	return f->n ? bsearch(&key, f->items, f->n, sizeof(key), cmp_entries) : NULL;
}

static int flat_json(const struct files_entry *e, struct flat *ret, struct error *err)
{
	struct obj *o = NULL;
	if (json_parse(e->text, &o, err) < 0)
		return error_wrap(err, "%s", e->path);
	const struct flat_place p = {.name = e->path, .file = e->path, .alone = true};
	return flat_add(ret, &p, o, err);
}

/* Those of only comments are left out by the parser; what is there and is null says nothing either.
 */
static bool is_empty(const struct yaml_document *d)
{
	return obj_type(d->value) == OBJ_NULL || obj_type(d->value) == OBJ_ABSENT;
}

static int add_document(struct flat *ret, const struct flat_place *p, const struct yaml_document *d,
			struct error *err)
{
	if (d->n_duplicates)
		return error_set(err, E_INVALID, "%s: %s", p->file, d->duplicates[0]);
	return flat_add(ret, p, obj_ref(d->value), err);
}

static int add_documents(const struct files_entry *e, const struct yaml_documents *docs,
			 struct flat *ret, struct error *err)
{
	size_t n = 0, doc = 0;
	for (size_t i = 0; i < docs->n; i++)
		n += !is_empty(&docs->items[i]);
	for (size_t i = 0; i < docs->n; i++) {
		const struct yaml_document *d = &docs->items[i];
		if (is_empty(d))
			continue;
		const struct flat_place p = {.name = e->path,
					     .file = e->path,
					     .doc = doc,
					     .alone = n == 1,
					     .line = d->line};
		if (add_document(ret, &p, d, err) < 0 && flaws_take(ret->flaws, err) < 0)
			return -err->code;
		doc++;
	}
	return 0;
}

static int flat_yaml(const struct files_entry *e, struct flat *ret, struct error *err)
{
	struct yaml_documents docs = {0};
	if (yaml_parse(e->text, &docs, err) < 0)
		return error_wrap(err, "%s", e->path);
	int r = add_documents(e, &docs, ret, err);
	yaml_documents_release(&docs);
	return r;
}

static int flat_file(const struct files_entry *e, struct flat *ret, struct error *err)
{
	if (files_check_pointer(e->path, e->text, err) < 0)
		return -err->code;
	return cstr_has_suffix(e->path, ".json") ? flat_json(e, ret, err) : flat_yaml(e, ret, err);
}

/* Its templates are none of YAML: what they are is said once, and not what is wrong with each. */
static int check_charts(const struct files *f, const struct flat *ret, struct error *err)
{
	size_t n = ret->instances ? ret->instances->n : 0;
	for (size_t i = 0; i < n; i++) {
		const char *folder = ret->instances->items[i].folder;
		if (files_get(f, arena_fmt(ret->a, "%s/Chart.yaml", folder)))
			return error_set(
				err, E_INVALID,
				"spec.instances[%zu].package: %s/ is a chart, and charts "
				"are not built yet; write out its manifests (alm template)",
				i, folder);
	}
	return 0;
}

int files_flat(const struct files *f, const char *ns, struct flat *ret, struct error *err)
{
	if (check_charts(f, ret, err) < 0)
		return -err->code;
	for (size_t i = 0; i < f->n; i++)
		if (files_is_manifest(f->items[i].path) && flat_file(&f->items[i], ret, err) < 0 &&
		    flaws_take(ret->flaws, err) < 0)
			return -err->code;
	return flat_sort(ret, ns, err);
}
