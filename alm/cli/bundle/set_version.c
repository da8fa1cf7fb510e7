#include "alm/cli/bundle/set_version.h"

#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define PLACES_MAX  500                 /* of a file, in which the old text stands: each is tried */
#define TRY_BYTES   ((size_t)256 << 20) /* of memory to read the file once more */
#define VERSION_MAX 128

/* Where the version of an object is. */
struct scalar {
	const char *key;
	struct obj *object;    /* as it is, with holder in it */
	struct obj *holder;    /* the map with the field */
	const char *field;     /* "version", "image" */
	const char *old, *new; /* the texts of the field */
	const char *from;      /* the version in it */
};

/* --- what has a version --- */

static bool is_version(const char *s)
{
	size_t n = strlen(s);
	for (size_t i = 0; i < n; i++)
		if (s[i] < ' ' || s[i] > '~' || strchr("\"'\\#{}[]", s[i]))
			return false;
	return n && n <= VERSION_MAX && s[0] != ' ' && s[n - 1] != ' ';
}

static bool is_tag(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!char_is_alnum(*p) && *p != '_' && (p == s || !strchr(".-", *p)))
			return false;
	return *s != '\0';
}

static int of_apptype(struct scalar *x, const char *version)
{
	struct obj *spec = obj_get_mut(x->object, "spec");
	x->holder = spec;
	x->field = "version";
	x->old = x->from = obj_str(spec, x->field);
	x->new = version;
	return x->old != NULL;
}

/* NULL: there are several, and none is of that name. */
static struct obj *container_of_name(struct obj *containers, const char *name)
{
	size_t n = obj_len(containers);
	for (size_t i = 0; i < n; i++)
		if (cstr_eq(obj_str(obj_at(containers, i), "name"), name))
			return obj_at_mut(containers, i);
	return n == 1 ? obj_at_mut(containers, 0) : NULL;
}

/* Of a Pod, of what has a template of it, of a CronJob. */
static struct obj *containers_of(struct obj *o)
{
	static const char *const inside[] = {"template", "jobTemplate"};
	struct obj *containers = NULL;
	while (o && !containers) {
		struct obj *spec = obj_get_mut(o, "spec");
		containers = obj_get_mut(spec, "containers");
		o = NULL;
		for (size_t i = 0; !o && i < ARRAY_LEN(inside); i++)
			o = obj_get_mut(spec, inside[i]);
	}
	return containers;
}

static int of_image(struct scalar *x, const char *version, struct arena *a)
{
	struct str image, before, tag;
	struct obj *containers = containers_of(x->object);
	x->holder = containers ? container_of_name(containers, meta_name(x->object)) : NULL;
	x->field = "image";
	x->old = x->holder ? obj_str(x->holder, x->field) : NULL;
	if (!x->old || strchr(x->old, '@') || !is_tag(version))
		return 0;
	image = str_of(x->old);
	if (!str_rcut(image, ':', &before, &tag) || str_find_char(tag, '/') >= 0)
		return 0;
	x->from = arena_strndup(a, tag.ptr, tag.len);
	x->new = arena_fmt(a, "%.*s:%s", STR_ARG(before), version);
	return 1;
}

static bool is_of(const char *key, const char *path)
{
	size_t n = strlen(path);
	return !strncmp(key, path, n) && (key[n] == '\0' || key[n] == '!');
}

/* How many there are; *ret is the first. */
static size_t find(const struct flat *f, const char *name, const char *version, const char *only,
		   struct scalar *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++) {
		struct scalar x = {.key = f->objects[i].key, .object = f->objects[i].object};
		if (!cstr_eq(meta_name(x.object), name) || (only && !is_of(x.key, only)))
			continue;
		int has = cstr_eq(meta_kind(x.object), "AppType") ? of_apptype(&x, version)
								  : of_image(&x, version, f->a);
		if (has && n++ == 0)
			*ret = x;
	}
	return n;
}

/* --- the text --- */

static int flat_of(struct arena *a, const struct files_entry *e, struct str text, struct flat *ret,
		   struct error *err)
{
	struct files one = {.a = a};
	flat_init(ret, a);
	return files_add(&one, e->path, text, err) < 0 ? -err->code
						       : files_flat(&one, "default", ret, err);
}

static bool same(const struct flat *x, const struct flat *y)
{
	char left[SHA256_HEX], right[SHA256_HEX];
	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		json_digest(x->objects[i].object, left);
		json_digest(y->objects[i].object, right);
		if (strcmp(left, right) != 0)
			return false;
	}
	return true;
}

static struct str replaced(struct arena *a, struct str text, size_t at, const char *old,
			   const char *new)
{
	size_t end = at + strlen(old);
	const char *s = arena_fmt(a, "%.*s%s%.*s", (int)at, text.ptr, new, (int)(text.len - end),
				  text.ptr + end);
	return str_of(s);
}

/* Can a text of YAML begin and end there? A part of a longer word needs no try. */
static bool is_place(struct str text, size_t at, size_t len)
{
	const char *before = at ? strchr(" \t\n\r\"'{[,:", text.ptr[at - 1]) : NULL;
	size_t end = at + len;
	return before && *before &&
	       (end == text.len || (text.ptr[end] && strchr(" \t\n\r\"'}],", text.ptr[end])));
}

/* Does the file with new in the place of old say what is wanted, and no more? *ret: its text, in a.
 * What it takes to find out is let go of: a large file has many places. */
static bool fits(struct arena *a, const struct files_entry *e, const struct flat *want, size_t at,
		 const char *old, const char *new, struct str *ret)
{
	CLEANUP(arena_freep) struct arena *one = arena_new(TRY_BYTES);
	struct flat got;
	struct error ignored = ERROR_INIT;
	struct str text = replaced(one, e->text, at, old, new);
	if (flat_of(one, e, text, &got, &ignored) < 0 || !same(&got, want))
		return false;
	*ret = str_n(arena_text(a, text.ptr, text.len), text.len);
	return true;
}

/* Each place where the old text stands, until one makes of the file what is wanted. */
static int edit(const struct files *f, const struct files_entry *e, const struct flat *want,
		const struct scalar *x, struct str *ret, struct error *err)
{
	const char *quoted = arena_fmt(f->a, "\"%s\"", x->new);
	size_t len = strlen(x->old), places = 0;
	for (size_t at = 0; at + len <= e->text.len; at++) {
		if (memcmp(e->text.ptr + at, x->old, len) != 0 || !is_place(e->text, at, len))
			continue;
		if (places++ == PLACES_MAX)
			return error_set(
				err, E_LIMIT,
				"%s: \"%s\" stands in more than %d places of the file, and "
				"none of the first is the version; change it by hand",
				x->key, x->old, PLACES_MAX);
		if (fits(f->a, e, want, at, x->old, x->new, ret) ||
		    fits(f->a, e, want, at, x->old, quoted, ret))
			return 0;
	}
	return error_set(err, E_INVALID,
			 "%s: \"%s\" does not stand there as one text that could be changed by "
			 "itself; change it by hand",
			 x->key, x->old);
}

int set_version_find(const struct files *f, const char *name, const char *version, const char *only,
		     struct set_version *ret, struct error *err)
{
	struct flat all, want;
	struct scalar x, y;
	struct str path, rest;
	flat_init(&all, f->a);
	if (!is_version(version))
		return error_set(err, E_INVALID, "\"%s\" is no version", version);
	if (files_flat(f, "default", &all, err) < 0)
		return -err->code;
	size_t n = find(&all, name, version, only, &x);
	if (!n)
		return error_set(err, E_NOTFOUND,
				 "no AppType %s with spec.version, and no workload %s whose "
				 "container %s, or only one, has an image with a tag",
				 name, name, name);
	if (n > 1)
		return error_set(err, E_INVALID,
				 "%zu objects named %s have a version, %s the first; name its file "
				 "with --file",
				 n, name, x.key);
	(void)str_cut(str_of(x.key), '!', &path, &rest);
	*ret = (struct set_version){
		.key = x.key, .path = arena_strndup(f->a, path.ptr, path.len), .from = x.from};
	if (cstr_eq(x.old, x.new))
		return 0;
	const struct files_entry *e = files_get(f, ret->path);
	if (!e || flat_of(f->a, e, e->text, &want, err) < 0)
		return e ? -err->code : error_set(err, E_NOTFOUND, "%s is gone", ret->path);
	if (find(&want, name, version, NULL, &y) != 1)
		return error_set(err, E_INVALID, "%s: several objects of that name", ret->path);
	obj_set_str(y.holder, y.field, y.new);
	return edit(f, e, &want, &x, &ret->text, err);
}
