/*
 * managed: metadata.managedFields as entries with parsed field sets. Private to apply*.c, and read
 * by the gate, which asks who still writes through a version.
 */
#ifndef ALM_OBJ_PATCH_MANAGED_H
#define ALM_OBJ_PATCH_MANAGED_H

#include "alm/obj/patch/fieldset.h"

struct managed_entry {
	const char *manager, *api_version, *subresource; /* arena; subresource "" for main */
	bool is_apply;
	const char *time; /* RFC 3339, "" if none */
	struct fieldset *fields;
};

struct managed {
	struct arena *arena;
	struct managed_entry *items;
	size_t n, cap;
};

/* Of the built-in managers. */
#define MANAGED_BEFORE_FIRST_APPLY "before-first-apply"
#define MANAGED_ANCIENT_CHANGES    "ancient-changes"
#define MANAGED_UPDATES_MAX        10
#define MANAGED_ENTRIES_MAX        2048
#define MANAGED_APPLIERS_MAX       1024 /* who applies has an entry for good */

/* False if list is not a valid managedFields (then ret is empty). Absent or []: true, none. A list
 * of more than MANAGED_ENTRIES_MAX is not valid. */
bool managed_parse(const struct obj *list, struct arena *a, struct managed *ret);
/* [{}] */
bool managed_is_reset(const struct obj *list);
/* Sorted as the API server does: Apply before Update, then by time, then by name. NULL if there is
 * none; else owned. */
struct obj *managed_print(const struct managed *m);
/* Bytes of its text, about. */
size_t managed_text_bytes(const struct managed *m);

/* The entry with the same key, or NULL. */
struct managed_entry *managed_find(struct managed *m, const struct managed_entry *key);
/* Found or made, empty. */
struct managed_entry *managed_at(struct managed *m, const struct managed_entry *key);
void managed_drop_empty(struct managed *m);
/* Folds the oldest Update entries beyond MANAGED_UPDATES_MAX into ancient-changes, by version. */
void managed_cap(struct managed *m);

#endif
