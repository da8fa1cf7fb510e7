#include "alm/unit/flat.h"

#include <stdlib.h>

#include "alm/base/map.h"
#include "alm/obj/gvk.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "crds/marks.h"

void flat_init(struct flat *f, struct arena *a)
{
	*f = (struct flat){.a = a};
}

/* "web/a.yaml!1 (line 12)"; the file too, where the key does not begin with it. */
static const char *place(struct arena *a, const struct flat_object *o)
{
	bool named = cstr_has_prefix(o->key, o->file);
	const char *line = o->line ? arena_fmt(a, "%sline %d", named ? "" : ", ", o->line) : "";
	if (named && !o->line)
		return o->key;
	return arena_fmt(a, "%s (%s%s)", o->key, named ? "" : o->file, line);
}

static int invalid(struct flat *f, const struct flat_object *o, const char *what, struct error *err)
{
	return error_set(err, E_INVALID, "%s: %s", place(f->a, o), what);
}

/* What somebody wrote as text and YAML reads as none. As a namespace it would be the default one. */
static int check_text(struct flat *f, const struct flat_object *o, const char *field,
		      struct error *err)
{
	const struct obj *value = obj_get(obj_get(o->object, "metadata"), field);
	enum obj_type type = obj_type(value);
	if (type == OBJ_ABSENT || type == OBJ_NULL || type == OBJ_STRING)
		return 0;
	return error_set(err, E_INVALID,
			 "%s: metadata.%s is of type %s and not text: YAML 1.1 reads y, no, on and "
			 "the like as truth values, and 1 and 1e3 as numbers; write it in quotes",
			 place(f->a, o), field, obj_type_name(type));
}

static int check_object(struct flat *f, const struct flat_object *o, struct error *err)
{
	struct gvk gvk;
	if (obj_type(o->object) != OBJ_MAP)
		return error_set(err, E_INVALID, "%s: an API object is wanted, not %s",
				 place(f->a, o), obj_type_name(obj_type(o->object)));
	if (!meta_is_well_formed(o->object))
		return invalid(f, o, "metadata is no object", err);
	if (!gvk_of(o->object, f->a, &gvk))
		return invalid(f, o, "apiVersion or kind is missing or malformed", err);
	if (check_text(f, o, "name", err) < 0 || check_text(f, o, "namespace", err) < 0)
		return -err->code;
	if (!meta_name(o->object) || !*meta_name(o->object))
		return invalid(f, o,
			       "metadata.name is missing (generateName does not do: each run would "
			       "make another object)",
			       err);
	return 0;
}

static int add_one(struct flat *f, struct flat_object o, struct error *err)
{
	obj_keep(f->a, o.object);
	if (!*o.key || str_of(o.key).len > FLAT_KEY_MAX)
		return error_set(err, E_INVALID,
				 "%s: a key of 1 to %d bytes is wanted, this has %zu", o.file,
				 FLAT_KEY_MAX, str_of(o.key).len);
	if (check_object(f, &o, err) < 0)
		return -err->code;
	if (f->n == FLAT_OBJECTS_MAX)
		return error_set(err, E_LIMIT, "%s: there are more than %d objects",
				 place(f->a, &o), FLAT_OBJECTS_MAX);
	if (o.instance) {
		o.object = obj_keep(f->a, obj_copy(o.object));
		meta_set_label(o.object, LABEL_INSTANCE, flat_instance_of(f, &o)->name);
	}
	ARENA_GROW(f->a, f->objects, f->cap, f->n, 16);
	f->objects[f->n++] = o;
	return 0;
}

/* As kubectl has it: whatever has items and a kind that ends in List. */
static bool is_list(const struct obj *o)
{
	const char *kind = meta_kind(o);
	return kind && cstr_has_suffix(kind, "List") && obj_type(obj_get(o, "items")) == OBJ_LIST;
}

/* An item of a typed list need not repeat what it is. Owned. */
static struct obj *item_of(struct arena *a, const struct obj *list, size_t i)
{
	const struct obj *item = obj_at(obj_get(list, "items"), i);
	const char *kind = meta_kind(list);
	if (obj_type(item) != OBJ_MAP || obj_has(item, "kind") || cstr_eq(kind, "List"))
		return obj_ref(item);
	struct obj *o = obj_copy_shallow(item);
	obj_set_str(o, "apiVersion", meta_api_version(list));
	obj_set_str(o, "kind", arena_strndup(a, kind, str_of(kind).len - (sizeof("List") - 1)));
	return o;
}

static int add_item(struct flat *f, struct flat_object o, struct error *err)
{
	if (!is_list(o.object))
		return add_one(f, o, err);
	obj_keep(f->a, o.object);
	return invalid(f, &o, "a List in a List: write its items out", err);
}

static int add_items(struct flat *f, const struct flat_place *p, struct flat_object o,
		     struct error *err)
{
	const struct obj *list = obj_keep(f->a, o.object);
	for (size_t i = 0; i < obj_len(obj_get(list, "items")); i++) {
		o.object = item_of(f->a, list, i);
		o.key = arena_fmt(f->a, "%s!%zu.%zu", p->name, p->doc, i);
		if (add_item(f, o, err) < 0 && flaws_take(f->flaws, err) < 0)
			return -err->code;
	}
	return 0;
}

static int add_as(struct flat *f, const struct flat_place *p, size_t instance, struct obj *object,
		  struct error *err)
{
	struct flat_object o = {.key = p->alone ? arena_strdup(f->a, p->name)
						: arena_fmt(f->a, "%s!%zu", p->name, p->doc),
				.file = arena_strdup(f->a, p->file),
				.doc = p->doc,
				.line = p->line,
				.instance = instance,
				.object = object};
	if (is_list(object))
		return add_items(f, p, o, err);
	return add_one(f, o, err) < 0 ? flaws_take(f->flaws, err) : 0;
}

const struct flat_instance *flat_instance_of(const struct flat *f, const struct flat_object *o)
{
	return o->instance && f->instances ? &f->instances->items[o->instance - 1] : NULL;
}

/* What of a path is below the folder; NULL: it is not. */
static const char *below(const char *path, const char *folder)
{
	size_t n = str_of(folder).len;
	return cstr_has_prefix(path, folder) && path[n] == '/' ? path + n + 1 : NULL;
}

int flat_add(struct flat *f, const struct flat_place *p, struct obj *object, struct error *err)
{
	size_t n = f->instances ? f->instances->n : 0, found = 0;
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct flat_instance *x = &f->instances->items[i];
		const char *rest = below(p->name, x->folder);
		struct flat_place at = *p;
		if (!rest)
			continue;
		found++;
		at.name = arena_fmt(f->a, "%s/%s", x->name, rest);
		rc = add_as(f, &at, i + 1, obj_ref(object), err);
	}
	if (!found)
		return add_as(f, p, 0, object, err);
	obj_unref(object);
	return rc;
}

static int cmp_keys(const void *a, const void *b)
{
	const struct flat_object *x = a, *y = b;
	int r = str_cmp(str_of(x->key), str_of(y->key));
	return r ? r : str_cmp(str_of(x->file), str_of(y->file));
}

/* Without the version: two of them are views of one object. NUL-free, as a slash is in no name. */
static const char *ns_of(const struct flat *f, const struct flat_object *o, const char *ns)
{
	const struct flat_instance *i = flat_instance_of(f, o);
	return i && i->ns ? i->ns : ns;
}

static const char *identity(struct arena *a, const struct obj *o, const char *ns)
{
	struct gvk gvk;
	const char *own = meta_namespace(o) ? meta_namespace(o) : ns;
	if (!gvk_of(o, a, &gvk))
		return "";
	return arena_fmt(a, "%s/%s/%s/%s", gvk.group, gvk.kind, own ? own : "", meta_name(o));
}

static const char *object_text(struct arena *a, const struct obj *o, const char *ns)
{
	const char *own = meta_namespace(o) ? meta_namespace(o) : ns;
	return arena_fmt(a, "%s %s%s%s", meta_kind(o), own ? own : "", own ? "/" : "",
			 meta_name(o));
}

/* before: of the objects that stay, the one in front of it; NULL: it is the first. */
static int check_once(struct flat *f, const struct flat_object *o, const struct flat_object *before,
		      const struct flat_object *same, const char *ns, struct error *err)
{
	if (before && cstr_eq(o->key, before->key))
		return error_set(err, E_INVALID, "DuplicateObject: key %s is given by %s and by %s",
				 o->key, before->file, o->file);
	if (same)
		return error_set(err, E_INVALID,
				 "DuplicateObject: %s is in %s and in %s; leave it in one",
				 object_text(f->a, o->object, ns_of(f, o, ns)), place(f->a, same),
				 place(f->a, o));
	return 0;
}

static int check_twice(struct flat *f, const char *ns, struct error *err)
{
	CLEANUP(map_freep) struct map *seen = map_new(NULL);
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++) {
		struct flat_object *o = &f->objects[n];
		*o = f->objects[i];
		const char *id = identity(f->a, o->object, ns_of(f, o, ns));
		if (check_once(f, o, n ? o - 1 : NULL, map_get(seen, id), ns, err) == 0) {
			map_set(seen, id, o);
			n++;
		} else if (flaws_take(f->flaws, err) < 0) {
			return -err->code;
		}
	}
	f->n = n;
	return 0;
}

int flat_sort(struct flat *f, const char *ns, struct error *err)
{
	if (f->n)
		qsort(f->objects, f->n, sizeof(*f->objects), cmp_keys);
	return check_twice(f, ns, err);
}

/* What there is of an instance. */
struct share {
	size_t n;             /* objects */
	const char *stranger; /* a key of no instance that begins as its keys do; NULL: none */
};

/* A flaw that was found before may be why it has none. */
static int check_share(const struct flat *f, size_t at, const struct share *s, struct error *err)
{
	const struct flat_instance *x = &f->instances->items[at];
	if (!s->n && !(f->flaws && f->flaws->n)) {
		error_set(err, E_INVALID,
			  "spec.instances[%zu].package: there is no object in a .yaml, .yml "
			  "or .json file below %s/; name the folder that has some, or "
			  "remove the instance",
			  at, x->folder);
		if (flaws_take(f->flaws, err) < 0)
			return -err->code;
	}
	if (!s->stranger)
		return 0;
	error_set(err, E_INVALID,
		  "spec.instances[%zu].name: %s is of no instance, and would be "
		  "taken for one of %s; rename the instance, or the folder",
		  at, s->stranger, x->name);
	return flaws_take(f->flaws, err);
}

/* One pass over the objects. Arena. */
static struct share *read_shares(const struct flat *f)
{
	struct share *shares = ARENA_ARRAY(f->a, struct share, f->instances->n + 1);
	CLEANUP(map_freep) struct map *names =
		map_new(NULL); /* a name is a label: without a slash */
	for (size_t i = 0; i < f->instances->n; i++)
		map_set(names, f->instances->items[i].name, &shares[i]);
	for (size_t i = 0; i < f->n; i++) {
		const struct flat_object *o = &f->objects[i];
		struct str first, rest;
		struct share *s = NULL;
		if (o->instance)
			shares[o->instance - 1].n++;
		else if (str_cut(str_of(o->key), '/', &first, &rest))
			s = map_getn(names, first);
		if (s && !s->stranger)
			s->stranger = o->key;
	}
	return shares;
}

int flat_check_instances(const struct flat *f, struct error *err)
{
	if (!f->instances)
		return 0;
	const struct share *shares = read_shares(f);
	for (size_t i = 0; i < f->instances->n; i++)
		if (check_share(f, i, &shares[i], err) < 0)
			return -err->code;
	return 0;
}

static int cmp_key(const void *key, const void *object)
{
	const struct flat_object *o = object;
	return str_cmp(str_of(key), str_of(o->key));
}

const struct flat_object *flat_get(const struct flat *f, const char *key)
{
	return f->n ? bsearch(key, f->objects, f->n, sizeof(*f->objects), cmp_key) : NULL;
}

void flat_print(const struct flat *f, const struct obj *rollout, struct strbuf *b)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *objects = obj_map();
	for (size_t i = 0; i < f->n; i++)
		obj_set(objects, f->objects[i].key, obj_ref(f->objects[i].object));
	obj_set(o, "objects", objects);
	if (rollout)
		obj_set(o, "rollout", obj_ref(rollout));
	json_print_pretty(o, 4, b);
	strbuf_addc(b, '\n');
}

struct obj *flat_encode(const struct flat *f)
{
	struct obj *list = obj_list();
	for (size_t i = 0; i < f->n; i++) {
		const struct flat_object *o = &f->objects[i];
		struct obj *e = obj_map();
		obj_set_str(e, "key", o->key);
		obj_set_str(e, "file", o->file);
		obj_set_int(e, "doc", (int64_t)o->doc);
		obj_set_int(e, "line", o->line);
		if (o->instance)
			obj_set_int(e, "instance", (int64_t)o->instance);
		obj_set(e, "object", obj_ref(o->object));
		obj_append(list, e);
	}
	return list;
}

int flat_decode(const struct obj *list, const char *ns, struct flat *f, struct error *err)
{
	for (size_t i = 0; i < obj_len(list); i++) {
		const struct obj *e = obj_at(list, i);
		const char *key = obj_as_string(obj_get(e, "key"));
		const char *file = obj_as_string(obj_get(e, "file"));
		int64_t doc = obj_i64(e, "doc", -1), line = obj_i64(e, "line", -1);
		int64_t instance = obj_i64(e, "instance", 0);
		int64_t n = f->instances ? (int64_t)f->instances->n : 0;
		if (!key || !file || doc < 0 || line < 0 || line > INT32_MAX || instance < 0 ||
		    instance > n)
			return error_set(err, E_INVALID, "entry %zu of the flat map is malformed",
					 i);
		struct flat_object o = {.key = arena_strdup(f->a, key),
					.file = arena_strdup(f->a, file),
					.doc = (size_t)doc,
					.line = (int)line,
					.instance = (size_t)instance,
					.object = obj_ref(obj_get(e, "object"))};
		if (add_one(f, o, err) < 0)
			return -err->code;
	}
	return flat_sort(f, ns, err);
}
