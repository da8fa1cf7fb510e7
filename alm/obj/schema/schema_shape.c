/* schema_shape.c: pruning and defaulting, in place, of an object under construction. */
#include <stdio.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/schema/schema_node.h"

#define PATH_BYTES_MAX ((size_t)64 << 10)

struct prune {
	void (*on_unknown)(void *arg, const char *path);
	void *arg;
	struct strbuf path;
};

static size_t push_key(struct strbuf *path, const char *key)
{
	size_t at = path->len;
	if (at > 0)
		strbuf_addc(path, '.');
	strbuf_adds(path, key);
	return at;
}

static size_t push_index(struct strbuf *path, size_t i)
{
	size_t at = path->len;
	strbuf_addf(path, "[%zu]", i);
	return at;
}

static void drop(struct prune *p, struct obj *map, const char *key)
{
	size_t at = push_key(&p->path, key);
	if (p->on_unknown)
		p->on_unknown(p->arg, p->path.buf);
	strbuf_truncate(&p->path, at);
	obj_del(map, key);
}

/* The keys of a map, so that it may change while they are visited. Owned array, borrowed names:
 * each is good until its own member is removed. */
static const char **keys_of(const struct obj *map, size_t *ret_n)
{
	const char **keys = xcalloc(obj_len(map) + 1, sizeof(*keys));
	size_t n = 0;
	OBJ_EACH (it, map)
		keys[n++] = it.key;
	*ret_n = n;
	return keys;
}

static const char *const object_meta_fields[] = {
	"name",
	"generateName",
	"namespace",
	"selfLink",
	"uid",
	"resourceVersion",
	"generation",
	"creationTimestamp",
	"deletionTimestamp",
	"deletionGracePeriodSeconds",
	"labels",
	"annotations",
	"ownerReferences",
	"finalizers",
	"managedFields",
	NULL,
};
static const char *const owner_fields[] = {
	"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion", NULL};
static const char *const managed_fields[] = {"manager",    "operation", "apiVersion",  "time",
					     "fieldsType", "fieldsV1",  "subresource", NULL};

static void prune_to_names(struct prune *p, struct obj *o, const char *const *names)
{
	size_t n;
	if (obj_type(o) != OBJ_MAP)
		return;
	CLEANUP(xfreep) const char **keys = keys_of(o, &n);
	for (size_t i = 0; i < n; i++)
		if (!cstr_in(keys[i], names))
			drop(p, o, keys[i]);
}

static void prune_meta_list(struct prune *p, struct obj *meta, const char *key,
			    const char *const *names)
{
	struct obj *list = obj_get_mut(meta, key);
	if (obj_type(list) != OBJ_LIST)
		return;
	size_t at = push_key(&p->path, key);
	for (size_t i = 0; i < obj_len(list); i++) {
		size_t item = push_index(&p->path, i);
		prune_to_names(p, obj_at_mut(list, i), names);
		strbuf_truncate(&p->path, item);
	}
	strbuf_truncate(&p->path, at);
}

static void prune_meta(struct prune *p, struct obj *meta)
{
	if (obj_type(meta) != OBJ_MAP)
		return;
	prune_to_names(p, meta, object_meta_fields);
	prune_meta_list(p, meta, "ownerReferences", owner_fields);
	prune_meta_list(p, meta, "managedFields", managed_fields);
}

static bool keeps_unknown(const struct schema *s)
{
	return s && (s->preserve || s->kept);
}

static void prune_node(struct prune *p, const struct schema *s, struct obj *o, bool is_resource);

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void prune_member(struct prune *p, const struct schema *s, struct obj *map, const char *key,
			 bool is_resource)
{
	struct obj *value = obj_get_mut(map, key);
	const struct schema *property = schema_property(s, key);
	if (is_resource && (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0))
		return;
	if (!property && s && !s->additional && !s->additional_any && keeps_unknown(s) &&
	    !(is_resource && strcmp(key, "metadata") == 0))
		return;
	size_t at = push_key(&p->path, key);
	if (is_resource && strcmp(key, "metadata") == 0)
		prune_meta(p, value);
	else if (property)
		prune_node(p, property, value, property->embedded);
	else if (s && (s->additional || s->additional_any))
		prune_node(p, s->additional, value, s->additional && s->additional->embedded);
	else {
		strbuf_truncate(&p->path, at);
		drop(p, map, key);
	}
	strbuf_truncate(&p->path, at);
}

static void prune_node(struct prune *p, const struct schema *s, struct obj *o, bool is_resource)
{
	if (obj_type(o) == OBJ_LIST) {
		if (s && keeps_unknown(s) && !s->items)
			return;
		const struct schema *items = s ? s->items : NULL;
		for (size_t i = 0; i < obj_len(o); i++) {
			size_t at = push_index(&p->path, i);
			prune_node(p, items, obj_at_mut(o, i), items && items->embedded);
			strbuf_truncate(&p->path, at);
		}
	} else if (obj_type(o) == OBJ_MAP) {
		size_t n;
		CLEANUP(xfreep) const char **keys = keys_of(o, &n);
		for (size_t i = 0; i < n; i++)
			prune_member(p, s, o, keys[i], is_resource);
	}
}
/* NOLINTEND(misc-no-recursion) */

void schema_prune(const struct schema *s, struct obj *o,
		  void (*on_unknown)(void *arg, const char *path), void *arg)
{
	struct prune p = {.on_unknown = on_unknown, .arg = arg};
	strbuf_init(&p.path, PATH_BYTES_MAX);
	prune_node(&p, s, o, true);
	strbuf_release(&p.path);
}

void schema_prune_value(const struct schema *s, struct obj *o,
			void (*on_unknown)(void *arg, const char *path), void *arg)
{
	struct prune p = {.on_unknown = on_unknown, .arg = arg};
	strbuf_init(&p.path, PATH_BYTES_MAX);
	prune_node(&p, s, o, s->embedded);
	strbuf_release(&p.path);
}

static bool has_only(const struct obj *o, const char *const *names)
{
	OBJ_EACH (it, o)
		if (!cstr_in(it.key, names))
			return false;
	return true;
}

static bool meta_is_pruned(const struct obj *meta)
{
	const struct obj *owners = obj_get(meta, "ownerReferences");
	const struct obj *managed = obj_get(meta, "managedFields");
	for (size_t i = 0; i < obj_len(owners); i++)
		if (!has_only(obj_at(owners, i), owner_fields))
			return false;
	for (size_t i = 0; i < obj_len(managed); i++)
		if (!has_only(obj_at(managed, i), managed_fields))
			return false;
	return has_only(meta, object_meta_fields);
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool is_pruned(const struct schema *s, const struct obj *o, bool is_resource);

/* prune_member() without its effect. */
static bool member_is_pruned(const struct schema *s, const struct obj_iter *it, bool is_resource)
{
	const struct schema *property = schema_property(s, it->key);
	if (is_resource && (strcmp(it->key, "apiVersion") == 0 || strcmp(it->key, "kind") == 0))
		return true;
	if (is_resource && strcmp(it->key, "metadata") == 0)
		return meta_is_pruned(it->value);
	if (property)
		return is_pruned(property, it->value, property->embedded);
	if (s && (s->additional || s->additional_any))
		return is_pruned(s->additional, it->value,
				 s->additional && s->additional->embedded);
	return keeps_unknown(s);
}

static bool is_pruned(const struct schema *s, const struct obj *o, bool is_resource)
{
	if (obj_type(o) == OBJ_LIST) {
		const struct schema *items = s ? s->items : NULL;
		if (s && keeps_unknown(s) && !items)
			return true;
		for (size_t i = 0; i < obj_len(o); i++)
			if (!is_pruned(items, obj_at(o, i), items && items->embedded))
				return false;
	} else if (obj_type(o) == OBJ_MAP) {
		OBJ_EACH (it, o)
			if (!member_is_pruned(s, &it, is_resource))
				return false;
	}
	return true;
}
/* NOLINTEND(misc-no-recursion) */

static bool is_bad_null(const struct schema *s, const struct obj *value)
{
	return !s->nullable && obj_type(value) == OBJ_NULL;
}

/* What is put into an object while it is defaulted. */
struct defaulting {
	size_t left; /* bytes */
	bool over, keeps_nulls, adds_none;
};

/* A copy of the default of s; NULL if there is none, or no room for it. */
static struct obj *default_of(struct defaulting *d, const struct schema *s, const char *key)
{
	size_t bytes = s->default_bytes + (key ? strlen(key) + strlen("\"\":,") : strlen(","));
	if (!s->default_value || d->adds_none)
		return NULL;
	if (d->over || bytes > d->left) {
		d->over = true;
		return NULL;
	}
	d->left -= bytes;
	return obj_copy(s->default_value);
}

/* A member that is null and may not be: the default takes its place, or it is removed; what is applied is judged instead. */
static void default_null(struct defaulting *d, const struct schema *s, struct obj *o,
			 const char *key)
{
	struct obj *value = default_of(d, s, key);
	if (value)
		obj_set(o, key, value);
	else if (!d->keeps_nulls && !(d->adds_none && s->default_value))
		obj_del(o, key);
}

static void default_members(struct defaulting *d, const struct schema *s, struct obj *o)
{
	OBJ_EACH (it, o) {
		const struct schema *child = schema_field(s, it.key);
		if (child && is_bad_null(child, it.value))
			default_null(d, child, o, it.key);
	}
	for (size_t i = 0; i < s->n_defaulted && !d->over; i++) {
		const struct schema_named *p = &s->defaulted[i];
		struct obj *value = obj_has(o, p->name) ? NULL : default_of(d, p->schema, p->name);
		if (value)
			obj_set_new(o, p->name, value);
	}
}

/* NOLINTBEGIN(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static void default_node(struct defaulting *d, const struct schema *s, struct obj *o)
{
	if (!s || d->over)
		return;
	if (obj_type(o) == OBJ_LIST) {
		for (size_t i = 0; s->items && i < obj_len(o); i++) {
			struct obj *value = is_bad_null(s->items, obj_at(o, i))
						    ? default_of(d, s->items, NULL)
						    : NULL;
			if (value)
				obj_set_at(o, i, value);
			default_node(d, s->items, obj_at_mut(o, i));
		}
	} else if (obj_type(o) == OBJ_MAP) {
		default_members(d, s, o);
		OBJ_EACH (it, o)
			default_node(d, schema_field(s, it.key), obj_get_mut(o, it.key));
	}
}
/* NOLINTEND(misc-no-recursion) */

bool schema_default(const struct schema *s, struct obj *o)
{
	struct defaulting d = {.left = SCHEMA_DEFAULTED_BYTES_MAX};
	default_node(&d, s, o);
	return !d.over;
}

bool schema_default_applied(const struct schema *s, struct obj *o)
{
	struct defaulting d = {.left = SCHEMA_DEFAULTED_BYTES_MAX, .keeps_nulls = true};
	default_node(&d, s, o);
	return !d.over;
}

void schema_fit(const struct schema *s, struct obj *o)
{
	struct defaulting d = {.adds_none = true};
	schema_prune(s, o, NULL, NULL);
	default_node(&d, s, o);
}

static bool map_is_defaulted(const struct schema *s, const struct obj *o)
{
	for (size_t i = 0; i < s->n_defaulted; i++)
		if (!obj_has(o, s->defaulted[i].name))
			return false;
	OBJ_EACH (it, o) {
		const struct schema *child = schema_field(s, it.key);
		if (child && is_bad_null(child, it.value))
			return false;
	}
	return true;
}

/* schema_default() without its effect. */
/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
static bool is_defaulted(const struct schema *s, const struct obj *o)
{
	if (!s)
		return true;
	if (obj_type(o) == OBJ_LIST) {
		for (size_t i = 0; s->items && i < obj_len(o); i++) {
			bool filled = obj_type(obj_at(o, i)) == OBJ_NULL && !s->items->nullable &&
				      s->items->default_value;
			if (filled || !is_defaulted(s->items, obj_at(o, i)))
				return false;
		}
	} else if (obj_type(o) == OBJ_MAP) {
		if (!map_is_defaulted(s, o))
			return false;
		OBJ_EACH (it, o)
			if (!is_defaulted(schema_field(s, it.key), it.value))
				return false;
	}
	return true;
}

bool schema_is_shaped(const struct schema *s, const struct obj *o)
{
	return is_pruned(s, o, true) && is_defaulted(s, o);
}
