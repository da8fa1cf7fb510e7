#include "alm/cli/kube/manifest.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"

/* NOLINTNEXTLINE(misc-no-recursion): a List in a List; objects nest at most OBJ_DEPTH_MAX deep */
static int add(struct cli *c, struct manifest *m, const struct obj *o, const char *file, int line,
	       struct error *err)
{
	const char *kind = meta_kind(o);
	const struct obj *items = obj_get(o, "items");
	if (obj_type(o) != OBJ_MAP)
		return error_set(err, E_INVALID, "%s:%d: not an object", file, line);
	if (kind && cstr_has_suffix(kind, "List") && obj_type(items) == OBJ_LIST) {
		for (size_t i = 0; i < obj_len(items); i++) {
			int r = add(c, m, obj_at(items, i), file, line, err);
			if (r < 0)
				return r;
		}
		return 0;
	}
	if (m->n == MANIFEST_OBJECTS_MAX)
		return error_set(err, E_LIMIT, "more than %d objects", MANIFEST_OBJECTS_MAX);
	ARENA_GROW(c->arena, m->items, m->cap, m->n, 16);
	m->items[m->n++] = (struct manifest_item){.o = o, .file = file, .line = line};
	return 0;
}

static int read_file(struct cli *c, struct manifest *m, const char *path, file_read_fn read,
		     struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_BYTES_MAX);
	struct yaml_documents docs = {0};
	int r = read(path, &text, err);
	if (r >= 0)
		r = yaml_parse(strbuf_str(&text), &docs, err);
	if (r < 0)
		return error_wrap(err, "%s", path);
	for (size_t i = 0; i < docs.n && r >= 0; i++) {
		struct obj *o = obj_keep(c->arena, obj_ref(docs.items[i].value));
		if (docs.items[i].n_duplicates)
			r = error_set(err, E_INVALID, "%s: %s", path, docs.items[i].duplicates[0]);
		else
			r = add(c, m, o, path, docs.items[i].line, err);
	}
	yaml_documents_release(&docs);
	return r;
}

static bool is_manifest(const char *name)
{
	return cstr_has_suffix(name, ".yaml") || cstr_has_suffix(name, ".yml") ||
	       cstr_has_suffix(name, ".json");
}

static int read_path(struct cli *c, struct manifest *m, const char *path, struct error *err)
{
	struct file_info info = {0};
	char **names;
	size_t n;
	if (!strcmp(path, "-"))
		return read_file(c, m, path, file_read_input, err);
	int r = file_info(path, &info, err);
	if (r < 0 || !info.is_dir)
		return r < 0 ? r : read_file(c, m, path, file_read_input, err);
	r = dir_list(path, MANIFEST_OBJECTS_MAX, &names, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n && r >= 0; i++)
		if (is_manifest(names[i]))
			r = read_file(c, m, arena_fmt(c->arena, "%s/%s", path, names[i]), file_read,
				      err);
	dir_list_free(names, n);
	return r;
}

int manifest_read(struct cli *c, struct manifest *ret, struct error *err)
{
	const char *path;
	int r = 0;
	if (!cli_value(c, "filename"))
		return error_set(err, E_USAGE, "-f FILE is missing");
	for (size_t i = 0; r >= 0 && (path = cli_value_at(c, "filename", i)); i++)
		r = read_path(c, ret, path, err);
	if (r >= 0 && !ret->n)
		return error_set(err, E_INVALID, "no objects passed to %s", c->cmd->name);
	return r;
}
