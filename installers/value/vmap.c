/* vmap: the maps of values, entries sorted by key bytes; and structs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "installers/value/value.h"

struct vmap *vmap_new_sized(struct arena *a, size_t n)
{
	struct vmap *m = ARENA_NEW(a, struct vmap);
	m->arena = a;
	if (n) {
		m->entries = ARENA_ARRAY(a, struct vmap_entry, n);
		m->cap = n;
	}
	return m;
}

struct vmap *vmap_new(struct arena *a)
{
	return vmap_new_sized(a, 0);
}

/* Index of the key, or of the place where it belongs. */
static size_t find(const struct vmap *m, struct str key, bool *ret_found)
{
	size_t lo = 0, hi = m->n;
	*ret_found = false;
	if (hi > 0) { /* keys often arrive sorted */
		int last = str_cmp(m->entries[hi - 1].key, key);
		if (last <= 0) {
			*ret_found = last == 0;
			return last == 0 ? hi - 1 : hi;
		}
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = str_cmp(m->entries[mid].key, key);
		if (c == 0) {
			*ret_found = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct value *vmap_get(const struct vmap *m, struct str key)
{
	if (!m || !m->n)
		return NULL;
	bool found;
	size_t i = find(m, key, &found);
	return found ? &m->entries[i].value : NULL;
}

struct value *vmap_getc(const struct vmap *m, const char *key)
{
	return vmap_get(m, str_of(key));
}

void vmap_set(struct vmap *m, struct str key, struct value v)
{
	bool found;
	size_t i = find(m, key, &found);
	v.iface = 0;
	if (found) {
		m->entries[i].value = v;
		return;
	}
	ARENA_GROW(m->arena, m->entries, m->cap, m->n, 4);
	assert(m->entries);
	if (i < m->n)
		memmove(&m->entries[i + 1], &m->entries[i], (m->n - i) * sizeof(*m->entries));
	m->entries[i] = (struct vmap_entry){key, v};
	m->n++;
}

void vmap_append(struct vmap *m, struct str key, struct value v)
{
	ARENA_GROW(m->arena, m->entries, m->cap, m->n, 4);
	assert(m->entries);
	v.iface = 0;
	m->entries[m->n++] = (struct vmap_entry){key, v};
}

/* The pointer is the place: of equal keys the later one comes later. */
static int by_key_and_place(const void *a, const void *b)
{
	const struct vmap_entry *const *x = a, *const *y = b;
	int c = str_cmp((*x)->key, (*y)->key);
	return c ? c : (*x > *y) - (*x < *y);
}

static bool is_sorted(const struct vmap *m)
{
	for (size_t i = 1; i < m->n; i++)
		if (str_cmp(m->entries[i - 1].key, m->entries[i].key) >= 0)
			return false;
	return true;
}

void vmap_settle(struct vmap *m)
{
	if (is_sorted(m))
		return;
	CLEANUP(xfreep) struct vmap_entry *old = xcalloc(m->n, sizeof(*old));
	CLEANUP(xfreep) const struct vmap_entry **order =
		xcalloc(m->n, sizeof(const struct vmap_entry *));
	memcpy(old, m->entries, m->n * sizeof(*old));
	for (size_t i = 0; i < m->n; i++)
		order[i] = &old[i];
	qsort((void *)order, m->n, sizeof(*order), by_key_and_place);
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++) {
		n -= n && str_eq(m->entries[n - 1].key, order[i]->key);
		m->entries[n++] = *order[i];
	}
	m->n = n;
}

void vmap_setc(struct vmap *m, const char *key, struct value v)
{
	vmap_set(m, str_of(key), v);
}

bool vmap_del(struct vmap *m, struct str key)
{
	bool found;
	size_t i = find(m, key, &found);
	if (!found)
		return false;
	m->n--;
	memmove(&m->entries[i], &m->entries[i + 1], (m->n - i) * sizeof(*m->entries));
	return true;
}

struct vmap *vmap_clone(struct arena *a, const struct vmap *m)
{
	struct vmap *copy = vmap_new_sized(a, vmap_count(m));
	copy->n = vmap_count(m);
	if (copy->n)
		memcpy(copy->entries, m->entries, copy->n * sizeof(*copy->entries));
	return copy;
}

struct vstruct *vstruct_new(struct arena *a, const struct vstruct_type *type)
{
	struct vstruct *st = ARENA_NEW(a, struct vstruct);
	st->type = type;
	st->fields = ARENA_ARRAY(a, struct value, type->n_fields);
	return st;
}

struct value *vstruct_get(const struct vstruct *st, struct str name)
{
	for (size_t i = 0; i < st->type->n_fields; i++) {
		if (str_is(name, st->type->fields[i].name))
			return &st->fields[i];
	}
	return NULL;
}
