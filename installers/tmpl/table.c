#include "installers/tmpl/table.h"

#include <stdint.h>
#include <string.h>

void table_init(struct table *t, struct arena *a)
{
	*t = (struct table){.arena = a};
}

/* FNV-1a, eight bytes a step for long texts. */
static uint64_t hash_of(struct str s)
{
	uint64_t h = UINT64_C(14695981039346656037) ^ s.len;
	size_t i = 0;
	for (; i + 8 <= s.len; i += 8) {
		uint64_t w;
		memcpy(&w, s.ptr + i, 8);
		h = (h ^ w) * UINT64_C(1099511628211);
		h ^= h >> 29;
	}
	for (; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * UINT64_C(1099511628211);
	return h ^ h >> 32;
}

static struct table_slot *slot_of(const struct table *t, struct str key, uint64_t hash)
{
	size_t i = (size_t)hash & (t->cap - 1);
	while (t->slots[i].value && (t->slots[i].hash != hash || !str_eq(t->slots[i].key, key)))
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

void *table_get(const struct table *t, struct str key)
{
	return t->cap ? slot_of(t, key, hash_of(key))->value : NULL;
}

void table_set(struct table *t, struct str key, void *value)
{
	if (4 * (t->n + 1) > 3 * t->cap) {
		struct table old = *t;
		t->cap = t->cap ? t->cap * 2 : 16;
		t->slots = ARENA_ARRAY(t->arena, struct table_slot, t->cap);
		for (size_t i = 0; i < old.cap; i++) {
			if (old.slots[i].value)
				*slot_of(t, old.slots[i].key, old.slots[i].hash) = old.slots[i];
		}
	}
	uint64_t hash = hash_of(key);
	struct table_slot *slot = slot_of(t, key, hash);
	if (!slot->value)
		t->n++;
	*slot = (struct table_slot){key, hash, value};
}
