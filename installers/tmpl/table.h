/* table: text keys (any bytes, borrowed) to pointers; open addressing, no deletion. */
#ifndef INSTALLERS_TMPL_TABLE_H
#define INSTALLERS_TMPL_TABLE_H

#include "alm/base/arena.h"
#include "alm/base/str.h"

struct table_slot {
	struct str key;
	uint64_t hash;
	void *value; /* NULL: free */
};

struct table {
	struct arena *arena;
	struct table_slot *slots;
	size_t n, cap;
};

void table_init(struct table *t, struct arena *a);
void *table_get(const struct table *t, struct str key); /* NULL if absent */
void table_set(struct table *t, struct str key, void *value);

#endif
