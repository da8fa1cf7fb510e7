/*
 * obj_map: the maps of obj.h. Members stand in the order in which they came; from nine on there is
 * an index behind them, by a seeded hash. A member that is removed leaves a hole until the next
 * growth, so a pointer to a later one stays good.
 */
#include <assert.h>
#include <string.h>

#include "alm/base/hash.h"
#include "alm/obj/obj_node.h"

#define CAP_MIN        2
#define CAP_SCANNED    8 /* up to here a search looks at all */
#define CACHE_SIZE     256
#define CACHED_KEY_MAX 64

struct member {
	struct obj *key; /* NULL: gone */
	struct obj *value;
};

struct obj_members {
	uint32_t cap, used; /* used counts the holes, too */
	uint32_t n_slots;   /* a power of two, at least 2 * cap; 0: no index */
	uint32_t padding;
	struct member items[]; /* behind them n_slots of 1 + item, 0 is free */
};

static size_t block_bytes(uint32_t cap, uint32_t n_slots)
{
	return sizeof(struct obj_members) + cap * sizeof(struct member) +
	       n_slots * sizeof(uint32_t);
}

static struct obj_map_node *map_node(const struct obj *o)
{
	assert(o && o->type == OBJ_MAP);
	return mem_unconst(o);
}

static struct obj_members *members_of(const struct obj *o)
{
	return o && o->type == OBJ_MAP ? map_node(o)->members : NULL;
}

static uint32_t *slots_of(struct obj_members *m)
{
	return (uint32_t *)(void *)(m->items + m->cap);
}

static struct str key_str(const struct obj *key)
{
	return str_n(node_text(key), key->len);
}

/* A key of the API comes again and again: one node of it is shared. */
static struct obj *cache[CACHE_SIZE];

void obj_forget_keys(void)
{
	for (size_t i = 0; i < CACHE_SIZE; i++) {
		obj_unref(cache[i]);
		cache[i] = NULL;
	}
}

static struct obj *key_node(struct str key)
{
	if (key.len == 0 || key.len > CACHED_KEY_MAX)
		return obj_stringn(key);
	size_t first = (unsigned char)key.ptr[0], last = (unsigned char)key.ptr[key.len - 1];
	size_t middle = (unsigned char)key.ptr[key.len / 2];
	struct obj **slot =
		&cache[(key.len * 31 + first * 7 + middle * 17 + last * 131) % CACHE_SIZE];
	if (!*slot || !str_eq(key_str(*slot), key)) {
		obj_unref(*slot);
		*slot = node_scalar(OBJ_STRING, key);
	}
	return obj_ref(*slot);
}

static bool is_key(const struct member *e, struct str key)
{
	return e->key && str_eq(key_str(e->key), key);
}

static struct member *find(const struct obj *o, struct str key)
{
	struct obj_members *m = members_of(o);
	if (!m)
		return NULL;
	for (uint32_t i = 0; !m->n_slots && i < m->used; i++)
		if (is_key(&m->items[i], key))
			return &m->items[i];
	if (!m->n_slots)
		return NULL;
	const uint32_t *slots = slots_of(m);
	for (uint32_t i = (uint32_t)hash_key(key);; i++) {
		uint32_t at = slots[i & (m->n_slots - 1)];
		if (!at)
			return NULL;
		if (is_key(&m->items[at - 1], key))
			return &m->items[at - 1];
	}
}

/* item is the number of a member that the index does not have. */
static void index_add(struct obj_members *m, uint32_t item)
{
	uint32_t *slots = slots_of(m);
	uint32_t i = (uint32_t)hash_key(key_str(m->items[item].key));
	while (slots[i & (m->n_slots - 1)])
		i++;
	slots[i & (m->n_slots - 1)] = item + 1;
}

static struct obj *moved(const struct obj *value)
{
	return mem_unconst(value);
}

/* What lives of from, in order, in a block of that capacity; copy makes the values. */
static struct obj_members *block_new(uint32_t cap, const struct obj_members *from,
				     struct obj *(*copy)(const struct obj *value))
{
	uint32_t n_slots = cap > CAP_SCANNED ? 2 * cap : 0;
	struct obj_members *m = node_alloc(block_bytes(cap, n_slots));
	*m = (struct obj_members){.cap = cap, .n_slots = n_slots};
	memset(slots_of(m), 0, n_slots * sizeof(uint32_t));
	for (uint32_t i = 0; from && i < from->used; i++) {
		const struct member *e = &from->items[i];
		if (!e->key)
			continue;
		struct obj *key = copy == moved ? e->key : obj_ref(e->key);
		m->items[m->used++] = (struct member){key, copy(e->value)};
		if (n_slots)
			index_add(m, m->used - 1);
	}
	return m;
}

static void block_free(struct obj_members *m)
{
	if (m)
		node_free(m, block_bytes(m->cap, m->n_slots));
}

/* The smallest capacity for n members: a power of two, for the index. */
static uint32_t cap_for(uint32_t n)
{
	uint32_t cap = CAP_MIN;
	assert(n < UINT32_MAX / 4);
	while (cap < n)
		cap *= 2;
	return cap;
}

/* Consumes value. */
static void add(struct obj *o, struct str key, struct obj *value)
{
	struct obj_map_node *map = map_node(o);
	struct obj_members *m = map->members;
	if (!m || m->used == m->cap) {
		/* half of them holes: the same size again, without them */
		bool wider = o->len >= (m ? m->cap / 2 + 1 : 0);
		map->members = block_new(cap_for(wider ? o->len + 1 : m->cap), m, moved);
		block_free(m);
		m = map->members;
	}
	m->items[m->used++] = (struct member){key_node(key), value};
	if (m->n_slots)
		index_add(m, m->used - 1);
	o->len++;
}

struct obj *obj_map(void)
{
	struct obj_map_node *map = node_alloc(sizeof(*map));
	*map = (struct obj_map_node){.head = {.refs = 1, .type = OBJ_MAP}};
	return &map->head;
}

static struct obj *copied(const struct obj *o, struct obj *(*copy)(const struct obj *value))
{
	struct obj *map = obj_map();
	uint32_t n = (uint32_t)obj_len(o);
	if (n > 0)
		map_node(map)->members = block_new(cap_for(n), members_of(o), copy);
	map->len = n;
	return map;
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
struct obj *node_map_copy(const struct obj *o)
{
	return copied(o, obj_copy);
}

struct obj *obj_copy_shallow(const struct obj *o)
{
	return copied(obj_type(o) == OBJ_MAP ? o : NULL, obj_ref);
}

/* NOLINTNEXTLINE(misc-no-recursion): objects nest at most OBJ_DEPTH_MAX deep */
void node_map_release(struct obj *o)
{
	struct obj_members *m = members_of(o);
	for (uint32_t i = 0; m && i < m->used; i++) {
		obj_unref(m->items[i].key);
		if (m->items[i].key)
			obj_unref(m->items[i].value);
	}
	block_free(m);
}

const struct obj *obj_getn(const struct obj *map, struct str key)
{
	const struct member *e = find(map, key);
	return e ? e->value : NULL;
}

const struct obj *obj_get(const struct obj *map, const char *key)
{
	return obj_getn(map, str_of(key));
}

bool obj_has(const struct obj *map, const char *key)
{
	return obj_get(map, key) != NULL;
}

struct obj_iter obj_iter(const struct obj *map)
{
	const struct obj_members *m = members_of(map);
	struct obj_iter it = {0};
	if (m) {
		it.entry = m->items;
		it.end = m->items + m->used;
	}
	return it;
}

bool obj_iter_next(struct obj_iter *it)
{
	const struct member *e = it->entry;
	while (e != it->end && !e->key)
		e++;
	if (e == it->end)
		return false;
	it->key = node_text(e->key);
	it->len = e->key->len;
	it->value = e->value;
	it->entry = e + 1;
	return true;
}

void obj_setn(struct obj *map, struct str key, struct obj *value)
{
	struct member *e = find(map, key);
	assert(value);
	if (!e) {
		add(map, key, value);
		return;
	}
	struct obj *before = e->value;
	e->value = value;
	obj_unref(before);
}

void obj_set(struct obj *map, const char *key, struct obj *value)
{
	obj_setn(map, str_of(key), value);
}

void obj_set_newn(struct obj *map, struct str key, struct obj *value)
{
	assert(value);
	add(map, key, value);
}

void obj_set_new(struct obj *map, const char *key, struct obj *value)
{
	obj_set_newn(map, str_of(key), value);
}

void obj_del(struct obj *map, const char *key)
{
	struct member *e = find(map, str_of(key));
	if (!e)
		return;
	obj_unref(e->key);
	obj_unref(e->value);
	*e = (struct member){NULL, NULL};
	map->len--;
}

bool obj_is_set(const struct obj *o)
{
	enum obj_type t = obj_type(o);
	return t != OBJ_ABSENT && t != OBJ_NULL;
}

const char *obj_unknown_member(const struct obj *map, const char *const *names)
{
	OBJ_EACH (it, map) {
		size_t i = 0;
		while (names[i] && strcmp(names[i], it.key) != 0)
			i++;
		if (!names[i])
			return it.key;
	}
	return NULL;
}

struct obj *obj_need_map(struct obj *map, const char *key)
{
	if (!obj_has(map, key))
		obj_set(map, key, obj_map());
	return obj_get_mut(map, key);
}
