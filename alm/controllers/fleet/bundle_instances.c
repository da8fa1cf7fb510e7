#include "alm/controllers/fleet/bundle_instances.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/base/str.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/bundle_spec.h"
#include "alm/obj/meta.h"

#define NAME_MAX_BYTES 50 /* as a Bundle's */
#define NS_MAX_BYTES   63
#define SCHEME         "file://"

static int invalid(size_t i, const char *field, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "spec.instances[%zu]%s%s: %s", i, *field ? "." : "", field,
			 what);
}

/* a-z, 0-9 and -, as a label of DNS */
static bool is_label(const char *s, size_t max)
{
	size_t n = strlen(s);
	return n && n <= max && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n &&
	       s[0] != '-' && s[n - 1] != '-';
}

static int read_name(const struct obj *o, size_t i, struct flat_instance *items, struct error *err)
{
	const char *name = obj_str(o, "name");
	if (!name || !is_label(name, NAME_MAX_BYTES))
		return invalid(i, "name", "1 to 50 of a-z, 0-9 and - are wanted", err);
	if (cstr_eq(name, BUNDLE_INSTANCE))
		return invalid(i, "name",
			       "\"" BUNDLE_INSTANCE "\" is what is below no instance's folder; "
			       "take another one",
			       err);
	for (size_t k = 0; k < i; k++)
		if (cstr_eq(items[k].name, name))
			return invalid(i, "name", "another instance has it already", err);
	items[i].name = name;
	return 0;
}

static int read_namespace(const struct obj *o, size_t i, struct flat_instance *ret,
			  struct error *err)
{
	ret->ns = obj_str(o, "namespace");
	if (obj_get(o, "namespace") && !(ret->ns && is_label(ret->ns, NS_MAX_BYTES)))
		return invalid(i, "namespace", "the name of a Namespace is wanted", err);
	return 0;
}

/* "file://apps/web", without "." and "..", and not the whole tree. */
static int read_package(const struct obj *o, size_t i, struct arena *a, struct flat_instance *ret,
			struct error *err)
{
	static const char wanted[] = "file://FOLDER is wanted, a folder below spec.source.git.path "
				     "with manifests, as file://apps/web; charts, oci:// and "
				     "packages of a Catalog are not built yet";
	const char *text = obj_str(o, "package");
	struct str rest = str_of(text ? text : ""), part;
	if (!str_has_prefix(rest, STR(SCHEME)) || rest.len > FLAT_KEY_MAX)
		return invalid(i, "package", wanted, err);
	rest = str_skip(rest, strlen(SCHEME));
	while (rest.len && rest.ptr[rest.len - 1] == '/')
		rest.len--;
	ret->folder = arena_strndup(a, rest.ptr, rest.len);
	if (!rest.len)
		return invalid(i, "package", wanted, err);
	while (rest.len && str_next(&rest, '/', &part))
		if (!part.len || part.ptr[0] == '.')
			return invalid(i, "package", wanted, err);
	return 0;
}

static int check_unbuilt(const struct obj *o, size_t i, struct error *err)
{
	static const char *const unbuilt[] = {"version", "digest", "values", "overrides"};
	for (size_t k = 0; k < ARRAY_LEN(unbuilt); k++)
		if (obj_get(o, unbuilt[k]))
			return invalid(i, unbuilt[k],
				       "this is not built yet: nothing is applied while it is "
				       "there; remove it, and do not count on it",
				       err);
	return 0;
}

/* --- what they need --- */

/* Who needs whom: at [i * n + k], whether i needs k. */
struct needs {
	size_t n;
	bool *of;
	size_t *open; /* how many that it needs have no turn yet */
};

static int add_need(struct needs *t, size_t i, size_t k, const struct obj *name,
		    const struct map *places, struct error *err)
{
	const char *text = obj_as_string(name);
	size_t place = text ? map_number(places, text) : 0; /* from 1 on */
	size_t at = place - 1;
	if (!place || at == i)
		return error_set(err, E_INVALID,
				 "spec.instances[%zu].needs[%zu]: %.60s: want the name of "
				 "another instance of this Bundle",
				 i, k, text ? text : "no text");
	if (t->of[i * t->n + at])
		return error_set(err, E_INVALID,
				 "spec.instances[%zu].needs[%zu]: %.60s: it is there twice; take "
				 "one away",
				 i, k, text);
	t->of[i * t->n + at] = true;
	t->open[i]++;
	return 0;
}

static int read_needs(const struct obj *list, const struct map *places, struct needs *t,
		      struct error *err)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obj *needs = obj_get(obj_at(list, i), "needs");
		if (needs && obj_type(needs) != OBJ_LIST)
			return invalid(i, "needs", "a list of other instances is wanted, by name",
				       err);
		for (size_t k = 0; k < obj_len(needs); k++) /* what is twice ends it */
			if (add_need(t, i, k, obj_at(needs, k), places, err) < 0)
				return -err->code;
	}
	return 0;
}

/* The first of the list that may goes next. Without a need that is the list. */
static int rank_all(const struct needs *t, struct flat_instance *items, struct error *err)
{
	for (size_t rank = 1; rank <= t->n; rank++) {
		size_t i = 0, left = t->n;
		while (i < t->n && (items[i].rank || t->open[i])) {
			left = left == t->n && !items[i].rank ? i : left;
			i++;
		}
		if (i == t->n)
			return invalid(
				left, "needs",
				"a circle: what it needs needs it, by way of others; take one "
				"of these needs away",
				err);
		items[i].rank = rank;
		for (size_t k = 0; k < t->n; k++)
			t->open[k] -= t->of[k * t->n + i];
	}
	return 0;
}

/* Each name is looked up once, as this is done at every reading of a spec. */
static int rank_by_needs(const struct obj *list, struct flat_instance *items, size_t n,
			 struct error *err)
{
	CLEANUP(map_freep) struct map *places = map_new(NULL);
	CLEANUP(xfreep) bool *of = xcalloc(n * n + 1, sizeof(*of));
	CLEANUP(xfreep) size_t *open = xcalloc(n + 1, sizeof(*open));
	struct needs t = {n, of, open};
	for (size_t i = 0; i < n; i++)
		map_set_number(places, items[i].name, i + 1);
	return read_needs(list, places, &t, err) < 0 ? -err->code : rank_all(&t, items, err);
}

int bundle_instances_read(const struct obj *bundle, struct arena *a, struct flat_instances *ret,
			  struct error *err)
{
	const struct obj *list = obj_path(bundle, "spec.instances");
	size_t n = obj_len(list);
	if (!list || obj_type(list) == OBJ_NULL)
		return 0;
	if (obj_type(list) != OBJ_LIST || n > FLAT_INSTANCES_MAX)
		return error_set(err, E_INVALID, "spec.instances: a list of at most %d is wanted",
				 FLAT_INSTANCES_MAX);
	struct flat_instance *items = ARENA_ARRAY(a, struct flat_instance, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct obj *o = obj_at(list, i);
		if (obj_type(o) != OBJ_MAP)
			return invalid(i, "", "{name, namespace, package} is wanted", err);
		if (read_name(o, i, items, err) < 0 || read_namespace(o, i, &items[i], err) < 0 ||
		    read_package(o, i, a, &items[i], err) < 0 || check_unbuilt(o, i, err) < 0)
			return -err->code;
	}
	if (rank_by_needs(list, items, n, err) < 0)
		return -err->code;
	*ret = (struct flat_instances){items, n};
	return 0;
}

/* --- their namespaces --- */

static int tell_unknown(struct flat *f, const struct flat_object *x,
			const struct bundle_scopes *scopes, struct error *err)
{
	const struct flat_instance *i = flat_instance_of(f, x);
	const char *text = arena_fmt(
		f->a,
		"%s: %s %s names no namespace, and nobody knows yet whether %s has one, that of "
		"instance %s (%s): write metadata.namespace, or put the definition into the tree",
		x->key, meta_kind(x->object), meta_name(x->object), meta_kind(x->object), i->name,
		i->ns);
	return scopes->unsure ? flaws_add(scopes->unsure, text, err)
			      : error_set(err, E_INVALID, "%s", text);
}

static int place(struct flat *f, struct flat_object *x, const struct bundle_scopes *scopes,
		 struct error *err)
{
	const struct flat_instance *i = flat_instance_of(f, x);
	if (!i || !i->ns || meta_namespace(x->object))
		return 0;
	int scope = bundle_scope_of(f, x->object, scopes);
	if (scope < 0)
		return tell_unknown(f, x, scopes, err);
	if (scope) /* its own copy: it has the label of the instance */
		obj_set_path(x->object, "metadata.namespace", obj_string(i->ns));
	return 0;
}

int bundle_instances_place(const struct bundle_spec *b, struct flat *f,
			   const struct bundle_scopes *scopes, struct error *err)
{
	struct flat_instances whose = b->instances;
	if (!whose.n)
		return 0;
	for (size_t i = 0; i < f->n; i++)
		if (place(f, &f->objects[i], scopes, err) < 0 && flaws_take(f->flaws, err) < 0)
			return -err->code;
	/* what has none now lies in none: of two instances it is the same object */
	struct flat_instance *bare = ARENA_ARRAY(f->a, struct flat_instance, whose.n);
	for (size_t i = 0; i < whose.n; i++)
		bare[i] = (struct flat_instance){.name = whose.items[i].name,
						 .folder = whose.items[i].folder};
	const struct flat_instances without = {bare, whose.n}, *with = f->instances;
	f->instances = &without;
	int rc = flat_sort(f, b->ns, err);
	f->instances = with;
	return rc < 0 ? rc : flat_check_instances(f, err);
}
