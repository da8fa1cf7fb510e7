/* warn_paths: of files of a volume that hide each other, one path being another one or a folder on the way to it; see warn_parts.h. */
#include <string.h>

#include "alm/apiserver/kinds/field_check.h"
#include "alm/apiserver/kinds/warn_parts.h"

/* What a path is compared with: those before it. Beyond it, nothing is told. */
#define COMPARED_MAX 64

struct file {
	struct str path;    /* without slashes at its end */
	const char *source; /* of a projected volume, else "" */
};

struct files {
	struct field_errors *w;
	const char *volume, *kind; /* as they are told */
	struct file items[COMPARED_MAX];
	size_t n;
};

static bool is_above(struct str folder, struct str path)
{
	return path.len >= folder.len && memcmp(path.ptr, folder.ptr, folder.len) == 0 &&
	       (path.len == folder.len || path.ptr[folder.len] == '/');
}

static const char *shown(const struct files *files, const struct file *f)
{
	struct arena *a = files->w->arena;
	const char *path = check_quoted(files->w, arena_strndup(a, f->path.ptr, f->path.len));
	return *f->source ? arena_fmt(a, "%s (%s)", path, f->source) : path;
}

static void add(struct files *files, const char *path, const char *source)
{
	struct file f = {str_of(path), source};
	while (f.path.len && f.path.ptr[f.path.len - 1] == '/')
		f.path.len--;
	if (!f.path.len || files->n == COMPARED_MAX)
		return; /* the first is refused */
	for (size_t i = 0; i < files->n; i++) {
		const struct file *was = &files->items[i];
		if (is_above(was->path, f.path) || is_above(f.path, was->path))
			warn_add(files->w, "",
				 arena_fmt(files->w->arena,
					   "volume %s (%s): overlapping paths: %s with %s",
					   files->volume, files->kind, shown(files, &f),
					   shown(files, was)));
	}
	files->items[files->n++] = f;
}

static void add_items(struct files *files, const struct obj *source, const char *told)
{
	const struct obj *list = obj_get(source, "items");
	for (size_t i = 0; i < obj_len(list); i++)
		add(files, check_text(obj_at(list, i), "path"), told);
}

/* "ConfigMap "a"". */
static const char *named(struct field_errors *w, const char *kind, const char *name)
{
	return arena_fmt(w->arena, "%s %s", kind, check_quoted(w, name));
}

static const struct {
	const char *field, *kind, *name; /* of the object that it shows */
	const char *name_in_volume;      /* where the volume itself is of it */
} sources[] = {
	{"configMap", "ConfigMap", "name", "name"},
	{"secret", "Secret", "name", "secretName"},
	{"downwardAPI", "DownwardAPI", NULL, NULL},
};

static void of_projected(struct files *files, const struct obj *list)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *o = obj_at(list, i);
		bool told = false;
		if (!obj_len(o))
			warn_add(files->w, "",
				 arena_fmt(files->w->arena,
					   "volume %s (Projected) has no sources provided",
					   files->volume));
		for (size_t k = 0; k < ARRAY_LEN(sources) && !told; k++) {
			const struct obj *s = obj_get(o, sources[k].field);
			told = obj_has(s, "items");
			add_items(files, s,
				  !told             ? ""
				  : sources[k].name ? named(files->w, sources[k].kind,
							    check_text(s, sources[k].name))
						    : sources[k].kind);
		}
		if (!told && obj_has(o, "serviceAccountToken"))
			add(files, check_text(obj_get(o, "serviceAccountToken"), "path"),
			    "ServiceAccountToken");
	}
}

void warn_of_paths(struct field_errors *w, const struct obj *volumes)
{
	struct files *files = arena_alloc(w->arena, sizeof(*files));
	for (size_t i = 0; i < obj_len(volumes); i++) {
		const struct obj *v = obj_at(volumes, i);
		*files = (struct files){.w = w, .volume = check_quoted(w, check_text(v, "name"))};
		for (size_t k = 0; k < ARRAY_LEN(sources); k++) {
			const struct obj *s = obj_get(v, sources[k].field);
			files->n = 0;
			files->kind = sources[k].kind;
			if (obj_len(obj_get(s, "items")) > 1 && sources[k].name)
				files->kind = named(w, sources[k].kind,
						    check_text(s, sources[k].name_in_volume));
			add_items(files, s, "");
		}
		files->n = 0;
		files->kind = "Projected";
		of_projected(files, obj_path(v, "projected.sources"));
	}
}
