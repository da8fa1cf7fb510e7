/* discovery_table: what one reading of a server's discovery documents says. Pure. */
#ifndef ALM_CLIENT_DISCOVERY_TABLE_H
#define ALM_CLIENT_DISCOVERY_TABLE_H

#include "alm/client/resource.h"
#include "alm/obj/obj.h"

#define DISCOVERY_RESOURCES_MAX 20000
#define DISCOVERY_BYTES_MAX     ((size_t)64 << 20)

struct discovery_entry {
	struct resource resource;
	const char *singular, *short_names; /* "a,b", or "" */
	bool deletable;                     /* verbs list and delete */
};

/* Rows in the server's order: groups, and versions within a group, preferred first. */
struct discovery_table {
	struct arena *arena;
	struct discovery_entry *items;
	const struct resource **resources; /* of items */
	size_t n, cap;
	struct map *troubles; /* group -> text in the arena */
};

struct discovery_table *discovery_table_new(void);
void discovery_table_free(struct discovery_table *t);
DEFINE_FREEP(discovery_table)

/* An APIGroupDiscoveryList, v2 or v2beta1; false if it is something else. */
bool discovery_table_add_aggregated(struct discovery_table *t, const struct obj *doc);
/* An APIResourceList. */
void discovery_table_add_list(struct discovery_table *t, const struct obj *doc);
void discovery_table_fail(struct discovery_table *t, const char *group, const char *why);
void discovery_table_finish(struct discovery_table *t); /* no more rows */

const struct discovery_entry *discovery_table_kind(const struct discovery_table *t,
						   const char *group, const char *version,
						   const char *kind);
const struct discovery_entry *discovery_table_name(const struct discovery_table *t,
						   const char *name);

#endif
