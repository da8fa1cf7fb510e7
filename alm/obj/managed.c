/* managed.c: see managed.h. */
#include "alm/obj/managed.h"

#include <stdlib.h>
#include <string.h>

static struct managed_entry *push(struct managed *m)
{
	if (m->n == m->cap) {
		size_t cap = mem_grown(m->cap, m->n + 1);
		struct managed_entry *items = ARENA_ARRAY(m->arena, struct managed_entry, cap);
		if (m->n > 0)
			memcpy(items, m->items, m->n * sizeof(*items));
		m->items = items;
		m->cap = cap;
	}
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
	if (obj_type(list) != OBJ_LIST)
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

static void fold(struct managed *m, struct managed_entry *bucket, struct managed_entry *e)
{
	bucket->fields = fieldset_union(bucket->fields, e->fields, m->arena);
	bucket->time = e->time;
	e->fields = fieldset_new(m->arena);
}

/* The first entry of a version only joins when a second one of that version is folded: a bucket
 * for one entry saves nothing. */
void managed_cap(struct managed *m)
{
	size_t updates = count_updates(m);
	if (updates <= MANAGED_UPDATES_MAX)
		return;
	struct managed_entry *sorted = arena_memdup(m->arena, m->items, m->n * sizeof(*m->items));
	size_t n = m->n;
	qsort(sorted, n, sizeof(*sorted), by_order);
	for (size_t i = 0; i < n && updates > MANAGED_UPDATES_MAX; i++) {
		struct managed_entry *first = NULL;
		if (sorted[i].is_apply)
			continue;
		for (size_t j = 0; j < i && !first; j++)
			if (!sorted[j].is_apply &&
			    strcmp(sorted[j].api_version, sorted[i].api_version) == 0)
				first = &sorted[j];
		if (!first)
			continue;
		struct managed_entry key = {.manager = MANAGED_ANCIENT_CHANGES,
					    .api_version = sorted[i].api_version,
					    .subresource = "",
					    .time = sorted[i].time};
		bool made = managed_find(m, &key) == NULL;
		managed_at(m, &key);
		struct managed_entry *bucket = managed_find(m, &key);
		if (made)
			fold(m, bucket, managed_find(m, first));
		if (managed_find(m, &sorted[i]) != bucket)
			fold(m, bucket, managed_find(m, &sorted[i]));
		updates--;
	}
	managed_drop_empty(m);
}

void managed_copy(const struct managed *from, struct managed *ret)
{
	*ret = *from;
	ret->cap = from->n;
	ret->items = arena_memdup(from->arena, from->items, from->n * sizeof(*from->items));
}

bool managed_equal(const struct managed *x, const struct managed *y)
{
	struct managed other = *y;
	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		const struct managed_entry *e = managed_find(&other, &x->items[i]);
		if (!e || !fieldset_equal(e->fields, x->items[i].fields))
			return false;
	}
	return true;
}
