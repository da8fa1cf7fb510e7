/* managed.c: see managed.h. */
#include "alm/obj/patch/managed.h"

#include <stdlib.h>
#include <string.h>

static struct managed_entry *push(struct managed *m)
{
	ARENA_GROW(m->arena, m->items, m->cap, m->n, 8);
	m->items[m->n] = (struct managed_entry){0};
	return &m->items[m->n++];
}

static const char *text(const struct obj *o, const char *key, struct arena *a)
{
	const char *s = obj_as_string(obj_get(o, key));
	return arena_strdup(a, s ? s : "");
}

static bool parse_entry(const struct obj *o, struct managed *m)
{
	const char *operation = obj_as_string(obj_get(o, "operation"));
	const char *type = obj_as_string(obj_get(o, "fieldsType"));
	const struct obj *fields = obj_get(o, "fieldsV1");
	if (!operation || (strcmp(operation, "Apply") != 0 && strcmp(operation, "Update") != 0))
		return false;
	if (!type || strcmp(type, "FieldsV1") != 0)
		return false;
	struct fieldset *set = fields && obj_type(fields) != OBJ_NULL
				       ? fieldset_parse(fields, m->arena)
				       : fieldset_new(m->arena);
	if (!set)
		return false;
	*push(m) = (struct managed_entry){
		.manager = text(o, "manager", m->arena),
		.api_version = text(o, "apiVersion", m->arena),
		.subresource = text(o, "subresource", m->arena),
		.time = text(o, "time", m->arena),
		.is_apply = operation[0] == 'A',
		.fields = set,
	};
	return true;
}

bool managed_parse(const struct obj *list, struct arena *a, struct managed *ret)
{
	*ret = (struct managed){.arena = a};
	if (!list || obj_type(list) == OBJ_NULL)
		return true;
	if (obj_type(list) != OBJ_LIST || obj_len(list) > MANAGED_ENTRIES_MAX)
		return false;
	for (size_t i = 0; i < obj_len(list); i++) {
		if (parse_entry(obj_at(list, i), ret))
			continue;
		*ret = (struct managed){.arena = a};
		return false;
	}
	return true;
}

bool managed_is_reset(const struct obj *list)
{
	const struct obj *only = obj_at(list, 0);
	return obj_len(list) == 1 && obj_type(only) == OBJ_MAP && obj_len(only) == 0;
}

static int by_order(const void *a, const void *b)
{
	const struct managed_entry *x = a, *y = b;
	int c = (int)y->is_apply - (int)x->is_apply;
	if (c == 0)
		c = strcmp(x->time, y->time);
	if (c == 0)
		c = strcmp(x->manager, y->manager);
	if (c == 0)
		c = strcmp(x->api_version, y->api_version);
	return c ? c : strcmp(x->subresource, y->subresource);
}

struct obj *managed_print(const struct managed *m)
{
	if (m->n == 0)
		return NULL;
	struct managed_entry *sorted = arena_memdup(m->arena, m->items, m->n * sizeof(*m->items));
	qsort(sorted, m->n, sizeof(*sorted), by_order);
	struct obj *list = obj_list();
	for (size_t i = 0; i < m->n; i++) {
		const struct managed_entry *e = &sorted[i];
		struct obj *o = obj_map();
		obj_set_str(o, "apiVersion", e->api_version);
		obj_set_str(o, "fieldsType", "FieldsV1");
		obj_set(o, "fieldsV1", fieldset_print(e->fields));
		obj_set_str(o, "manager", e->manager);
		obj_set_str(o, "operation", e->is_apply ? "Apply" : "Update");
		obj_set_str(o, "subresource", *e->subresource ? e->subresource : NULL);
		obj_set_str(o, "time", *e->time ? e->time : NULL);
		obj_append(list, o);
	}
	return list;
}

size_t managed_text_bytes(const struct managed *m)
{
	size_t n = 2;
	for (size_t i = 0; i < m->n; i++)
		n += fieldset_text_bytes(m->items[i].fields) + strlen(m->items[i].manager) + 128;
	return n;
}

static bool same_key(const struct managed_entry *x, const struct managed_entry *y)
{
	return x->is_apply == y->is_apply && strcmp(x->manager, y->manager) == 0 &&
	       strcmp(x->api_version, y->api_version) == 0 &&
	       strcmp(x->subresource, y->subresource) == 0;
}

struct managed_entry *managed_find(struct managed *m, const struct managed_entry *key)
{
	for (size_t i = 0; i < m->n; i++)
		if (same_key(&m->items[i], key))
			return &m->items[i];
	return NULL;
}

struct managed_entry *managed_at(struct managed *m, const struct managed_entry *key)
{
	struct managed_entry *e = managed_find(m, key);
	if (e)
		return e;
	struct managed_entry copy = *key; /* key may stand in items, which moves */
	e = push(m);
	*e = copy;
	e->fields = fieldset_new(m->arena);
	return e;
}

void managed_drop_empty(struct managed *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->n; i++)
		if (!fieldset_is_empty(m->items[i].fields))
			m->items[kept++] = m->items[i];
	m->n = kept;
}

static size_t count_updates(const struct managed *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		n += !m->items[i].is_apply;
	return n;
}

/* The Update entries of one version that are folded into one, oldest first. */
struct bucket {
	const char *api_version, *time;
	const struct fieldset **sets;
	size_t n;
};

static struct bucket *bucket_of(struct bucket *buckets, size_t *n, const char *api_version)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(buckets[i].api_version, api_version) == 0)
			return &buckets[i];
	buckets[*n] = (struct bucket){.api_version = api_version};
	return &buckets[(*n)++];
}

static void fill(struct bucket *b, struct managed *m, struct managed_entry *e)
{
	if (!b->sets)
		b->sets = ARENA_ARRAY(m->arena, const struct fieldset *, m->n);
	b->sets[b->n++] = e->fields;
	b->time = e->time;
}

static void store_bucket(struct managed *m, const struct bucket *b)
{
	struct managed_entry key = {.manager = MANAGED_ANCIENT_CHANGES,
				    .api_version = b->api_version,
				    .subresource = ""};
	struct managed_entry *e = managed_at(m, &key);
	e->fields = fieldset_union_all(b->sets, b->n, m->arena);
	e->time = b->time;
}

/* The first entry of a version only joins when a second one of that version is folded: a bucket
 * for one entry saves nothing. */
void managed_cap(struct managed *m)
{
	size_t updates = count_updates(m), n = m->n, n_buckets = 0;
	if (updates <= MANAGED_UPDATES_MAX)
		return;
	struct managed_entry *sorted = arena_memdup(m->arena, m->items, n * sizeof(*sorted));
	struct bucket *buckets = ARENA_ARRAY(m->arena, struct bucket, n);
	struct managed_entry **firsts = ARENA_ARRAY(m->arena, struct managed_entry *, n);
	qsort(sorted, n, sizeof(*sorted), by_order);
	for (size_t i = 0; i < n && updates > MANAGED_UPDATES_MAX; i++) {
		if (sorted[i].is_apply)
			continue;
		struct bucket *b = bucket_of(buckets, &n_buckets, sorted[i].api_version);
		struct managed_entry *e = managed_find(m, &sorted[i]);
		struct managed_entry **first = &firsts[b - buckets];
		fill(b, m, e);
		if (b->n == 1) {
			*first = e;
			continue;
		}
		(*first)->fields = e->fields = fieldset_new(m->arena);
		updates--;
	}
	for (size_t i = 0; i < n_buckets; i++)
		if (buckets[i].n > 1)
			store_bucket(m, &buckets[i]);
	managed_drop_empty(m);
}
