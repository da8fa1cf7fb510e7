/* keytable: see keytable.h. Open addressing with linear probing; an entry is its hash, of which 0
 * means free, then the value. */
#include "alm/base/keytable.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "alm/base/hash.h"

#define SLOTS_MIN ((size_t)64)

struct keytable {
	unsigned char *slots;
	size_t n, n_slots; /* slots: a power of 2, at most seven eighths used */
	size_t value_bytes, slot_bytes;
};

struct keytable *keytable_new(size_t value_bytes)
{
	struct keytable *t = xcalloc(1, sizeof(*t));
	assert(value_bytes % sizeof(uint64_t) == 0);
	t->value_bytes = value_bytes;
	t->slot_bytes = sizeof(uint64_t) + value_bytes;
	return t;
}

void keytable_free(struct keytable *t)
{
	if (!t)
		return;
	xfree(t->slots);
	xfree(t);
}

size_t keytable_count(const struct keytable *t)
{
	return t->n;
}

static unsigned char *slot_at(const struct keytable *t, size_t i)
{
	return t->slots + i * t->slot_bytes;
}

static uint64_t hash_at(const struct keytable *t, size_t i)
{
	uint64_t h;
	memcpy(&h, slot_at(t, i), sizeof(h));
	return h;
}

static uint64_t hash_of(const char *key)
{
	uint64_t h = hash_key(str_of(key));
	return h ? h : 1;
}

/* Where it is, or the free slot where it would be. */
static size_t find(const struct keytable *t, uint64_t h)
{
	size_t i = h & (t->n_slots - 1);
	while (hash_at(t, i) && hash_at(t, i) != h)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static bool has(const struct keytable *t, uint64_t h, size_t *ret)
{
	if (!t->n)
		return false;
	*ret = find(t, h);
	return hash_at(t, *ret) != 0;
}

static void put(struct keytable *t, uint64_t h, const void *value)
{
	unsigned char *slot = slot_at(t, find(t, h));
	memcpy(slot, &h, sizeof(h));
	memcpy(slot + sizeof(h), value, t->value_bytes);
}

/* With room for n, and those of before that stay. */
static void rebuild(struct keytable *t, size_t n, bool (*stays)(void *arg, const void *value),
		    void *arg)
{
	struct keytable old = *t;
	t->n = 0;
	t->n_slots = SLOTS_MIN;
	while (n > t->n_slots / 8 * 7)
		t->n_slots *= 2;
	t->slots = xcalloc(t->n_slots, t->slot_bytes);
	for (size_t i = 0; i < old.n_slots; i++) {
		const unsigned char *value = slot_at(&old, i) + sizeof(uint64_t);
		if (!hash_at(&old, i) || (stays && !stays(arg, value)))
			continue;
		put(t, hash_at(&old, i), value);
		t->n++;
	}
	xfree(old.slots);
}

bool keytable_get(const struct keytable *t, const char *key, void *ret)
{
	size_t i;
	if (!has(t, hash_of(key), &i))
		return false;
	memcpy(ret, slot_at(t, i) + sizeof(uint64_t), t->value_bytes);
	return true;
}

void keytable_set(struct keytable *t, const char *key, const void *value)
{
	uint64_t h = hash_of(key);
	size_t i;
	if (!has(t, h, &i)) {
		if (t->n + 1 > t->n_slots / 8 * 7)
			rebuild(t, t->n + 1, NULL, NULL);
		t->n++;
	}
	put(t, h, value);
}

/* Those behind it that were pushed there come nearer to where they belong. */
bool keytable_del(struct keytable *t, const char *key)
{
	size_t mask = t->n_slots - 1, hole;
	if (!has(t, hash_of(key), &hole))
		return false;
	for (size_t i = (hole + 1) & mask; hash_at(t, i); i = (i + 1) & mask) {
		size_t home = hash_at(t, i) & mask;
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		memcpy(slot_at(t, hole), slot_at(t, i), t->slot_bytes);
		hole = i;
	}
	memset(slot_at(t, hole), 0, t->slot_bytes);
	t->n--;
	return true;
}

void keytable_filter(struct keytable *t, bool (*stays)(void *arg, const void *value), void *arg)
{
	rebuild(t, t->n, stays, arg);
}
