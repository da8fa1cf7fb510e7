#include "alm/render/tree_read.h"

#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/io/beneath.h"

static int read_open(int fd, const char *path, struct files *ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(FILE_BYTES_MAX);
	if (file_read_fd(fd, path, &b, err) < 0)
		return -err->code;
	return files_add(ret, path, strbuf_str(&b), err);
}

/* ---- a folder ---- */

struct walk {
	int root;
	struct str rules;
	struct files *files;
};

/* A checked-out submodule, or a repository of its own: what git commits of either is no file. */
static bool has_repository(const struct walk *w, const char *folder)
{
	enum beneath_kind kind;
	struct error ignored = ERROR_INIT;
	return beneath_kind(w->root, arena_fmt(w->files->a, "%s/.git", folder), &kind, &ignored) >=
	       0;
}

static int read_file(const struct walk *w, const char *path, struct error *err)
{
	struct file_info info;
	CLEANUP(file_close) int fd = -1;
	if (beneath_open_plain(w->root, path, &info, &fd, err) < 0)
		return -err->code;
	if (w->files->refused && files_check_size(path, info.size, err) < 0)
		return files_refuse(w->files->refused, NULL, path, err);
	return read_open(fd, path, w->files, err);
}

/* NOLINTBEGIN(misc-no-recursion): files_take() bounds the depth by FILES_DEPTH_MAX */
static int walk_dir(struct walk *w, const char *inside, struct error *err);

static int walk_entry(struct walk *w, const char *path, struct error *err)
{
	static const enum files_kind kinds[] = {[BENEATH_FILE] = FILES_FILE,
						[BENEATH_DIR] = FILES_DIR,
						[BENEATH_LINK] = FILES_LINK,
						[BENEATH_OTHER] = FILES_OTHER};
	enum beneath_kind kind;
	if (beneath_kind(w->root, path, &kind, err) < 0)
		return -err->code;
	bool is_repository = kind == BENEATH_DIR && has_repository(w, path);
	int r = files_take(w->rules, path, is_repository ? FILES_SUBMODULE : kinds[kind], err);
	if (r < 0)
		return files_refuse(w->files->refused, w->files->flaws, path, err);
	if (r && kind == BENEATH_DIR)
		return walk_dir(w, path, err);
	return r && (w->files->refused || files_is_manifest(path)) ? read_file(w, path, err) : 0;
}

static int walk_dir(struct walk *w, const char *inside, struct error *err)
{
	char **names;
	size_t n;
	int r = 0;
	if (beneath_list(w->root, inside, FILES_MAX, &names, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = walk_entry(
			w, arena_fmt(w->files->a, "%s%s%s", inside, *inside ? "/" : "", names[i]),
			err);
		r = r < 0 ? flaws_take(w->files->flaws, err) : r;
	}
	dir_list_free(names, n);
	return r;
}
/* NOLINTEND(misc-no-recursion) */

/* Of the root; a tree without one has no rules. */
static int read_rules(int root, struct strbuf *b, struct error *err)
{
	struct file_info info;
	struct error why = ERROR_INIT;
	CLEANUP(file_close) int fd = -1;
	if (beneath_open_plain(root, FILES_IGNORE, &info, &fd, &why) < 0)
		return why.code == E_NOTFOUND ? 0 : error_copy(err, &why);
	return file_read_fd(fd, FILES_IGNORE, b, err);
}

int tree_read_dir(const char *dir, struct files *ret, struct error *err)
{
	struct file_info info;
	CLEANUP(strbuf_release) struct strbuf rules = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(file_close) int root = -1;
	if (beneath_open_root(dir, &info, &root, err) < 0)
		return -err->code;
	struct walk w = {.root = root, .files = ret};
	if (read_rules(root, &rules, err) < 0)
		return error_wrap(err, "%s", dir);
	w.rules = strbuf_str(&rules);
	if (walk_dir(&w, "", err) < 0)
		return error_wrap(err, "%s", dir);
	files_sort(ret);
	return 0;
}

/* ---- a program ---- */

struct loader {
	struct files *files;
	struct tree_program *program;
	struct map *seen; /* what was read, by its normal path; its number + 1 */
	struct map *scanned;
	size_t n_imports;
};

/* path is normal, in one of the roots. */
static int open_path(const char *root, const char *path, int *ret_fd, struct error *err)
{
	struct file_info info;
	CLEANUP(file_close) int dir = -1;
	size_t n = strlen(root);
	if (beneath_open_root(n ? root : ".", &info, &dir, err) < 0)
		return -err->code;
	const char *rest = path + n + (n && path[n] == '/');
	if (beneath_open_plain(dir, rest, &info, ret_fd, err) < 0)
		return n ? error_wrap(err, "%s", root) : -err->code;
	return 0;
}

/* 1: it is in files, under *ret. 0: there is no such file. */
static int read_path(struct loader *l, const char *path, const char **ret, struct error *err)
{
	struct error why = ERROR_INIT;
	CLEANUP(file_close) int fd = -1;
	const char *root = import_root(&l->program->roots, l->files->a, path);
	if (!root)
		return error_set(err, E_NOTALLOWED,
				 "%s leads out of the program's folder and of the library folders "
				 "(--renderer.jsonnet.jpaths)",
				 path);
	*ret = path;
	if (map_has(l->seen, path))
		return 1;
	if (open_path(root, path, &fd, &why) < 0)
		return why.code == E_NOTFOUND ? 0 : error_copy(err, &why);
	if (++l->n_imports > IMPORTS_MAX)
		return error_set(err, E_LIMIT, "more than %d files are imported", IMPORTS_MAX);
	if (read_open(fd, path, l->files, err) < 0)
		return -err->code;
	map_set_number(l->seen, path, l->files->n);
	return 1;
}

static int add_live(struct loader *l, const char *name, struct error *err)
{
	static const char *const known[] = {"config", "cluster", "values", NULL};
	struct tree_program *p = l->program;
	if (cstr_in(name, known))
		return 0;
	for (size_t i = 0; i < p->n_live; i++)
		if (cstr_eq(p->live[i], name))
			return 0;
	if (p->n_live == IMPORTS_MAX)
		return error_set(err, E_LIMIT, "more than %d lists are imported", IMPORTS_MAX);
	ARENA_GROW(l->files->a, p->live, p->live_cap, p->n_live, 4);
	p->live[p->n_live++] = name;
	return 0;
}

static int load_ref(struct loader *l, const char *base, const struct import_ref *ref,
		    struct error *err)
{
	const char *name = import_runtime(ref->path), *path;
	const struct import_roots *roots = &l->program->roots;
	if (*name)
		return add_live(l, name, err);
	for (size_t i = 0; (path = import_place(roots, l->files->a, base, ref->path, i)); i++) {
		int r = read_path(l, path, &path, err);
		if (r < 0)
			return r;
		if (r && ref->kind == IMPORT_CODE)
			map_set(l->scanned, path, NULL);
		if (r)
			return 0;
	}
	return 0;
}

/* Each file of code once, in the order in which they were found; more come meanwhile. */
static int load_all(struct loader *l, struct error *err)
{
	for (struct map_entry *e = map_first(l->scanned); e; e = map_next(e)) {
		struct import_refs refs;
		struct arena *a = l->files->a;
		const char *file = arena_strdup(a, e->key), *base = import_base(a, file);
		struct str text = l->files->items[map_number(l->seen, file) - 1].text;
		if (imports_scan(a, text, &refs, err) < 0)
			return error_wrap(err, "%s", file);
		for (size_t i = 0; i < refs.n; i++)
			if (load_ref(l, base, &refs.items[i], err) < 0)
				return error_wrap(err, "%s:%d: import", file, refs.items[i].line);
	}
	return 0;
}

static int load(struct loader *l, struct error *err)
{
	const char *path = l->program->entrypoint;
	int r = read_path(l, path, &path, err);
	if (r == 0)
		return error_set(err, E_NOTFOUND, "%s: no such file", path);
	map_set(l->scanned, path, NULL);
	return r < 0 ? r : load_all(l, err);
}

static int check_jpath(const char *const *jpath, size_t n, struct error *err)
{
	if (n > IMPORT_JPATH_MAX)
		return error_set(err, E_LIMIT, "more than %d library folders", IMPORT_JPATH_MAX);
	for (size_t i = 0; i < n; i++) {
		struct file_info info;
		CLEANUP(file_close) int fd = -1;
		if (beneath_open_root(jpath[i], &info, &fd, err) < 0)
			return error_wrap(err, "library folder");
	}
	return 0;
}

int tree_read_program(const char *entrypoint, const char *const *jpath, size_t n_jpath,
		      struct files *ret, struct tree_program *ret_program, struct error *err)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	CLEANUP(map_freep) struct map *scanned = map_new(NULL);
	char *path = import_normal(ret->a, entrypoint);
	bool inside = *path != '/' && !cstr_has_prefix(path, "../");
	struct tree_program p = {
		.entrypoint = path,
		.roots = {.tree = inside ? "" : import_normal(ret->a, import_base(ret->a, path)),
			  .jpath = jpath,
			  .n_jpath = n_jpath}};
	struct loader l = {.files = ret, .program = &p, .seen = seen, .scanned = scanned};
	if (check_jpath(jpath, n_jpath, err) < 0 || load(&l, err) < 0)
		return -err->code;
	files_sort(ret);
	*ret_program = p;
	return 0;
}
