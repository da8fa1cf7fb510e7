/*
 * discovery: kind <-> resource on a server (aggregated v2, v2beta1, then legacy). Cached in memory,
 * read again once on "no match"; a group that failed is an error for that group only.
 */
#ifndef ALM_CLIENT_DISCOVERY_H
#define ALM_CLIENT_DISCOVERY_H

#include "alm/client/client.h"

struct discovery;

struct discovery *discovery_new(struct client *c);
void discovery_free(struct discovery *d);
DEFINE_FREEP(discovery)

typedef void (*discovery_fn)(void *arg, const struct error *err);
/* Reads everything (again). */
void discovery_refresh(struct discovery *d, discovery_fn fn, void *arg);
/* Whoever waits with this arg is not called any more. */
void discovery_cancel(struct discovery *d, const void *arg);
/* From the cache, NULL if unknown; borrowed until the next refresh. version NULL: the preferred
 * one. */
const struct resource *discovery_kind(const struct discovery *d, const char *group,
				      const char *version, const char *kind);
/* What a user types: plural, singular, short name, kind, "plural.group", "plural.version.group";
 * case-insensitive as kubectl ("Apps"). */
const struct resource *discovery_name(const struct discovery *d, const char *name);
const struct resource *const *discovery_all(const struct discovery *d, size_t *ret_n);

/* From the cache, read again once when it does not match; exactly one callback, in a later turn.
 * found is borrowed. E_NOTFOUND 'no matches for kind "X" in group "g"', or what is wrong with the
 * group. version NULL: any. */
typedef void (*discovery_found_fn)(void *arg, const struct resource *found,
				   const struct error *err);
void discovery_require_kind(struct discovery *d, const char *group, const char *version,
			    const char *kind, discovery_found_fn fn, void *arg);
void discovery_require_name(struct discovery *d, const char *name, discovery_found_fn fn,
			    void *arg);
/* Can objects of it be listed and deleted? */
bool discovery_is_deletable(const struct discovery *d, const struct resource *r);
/* Why a group, whichever, could not be read, or NULL. */
const char *discovery_trouble(const struct discovery *d);
/* Why the group could not be read, or NULL. */
const char *discovery_group_trouble(const struct discovery *d, const char *group);

const char *discovery_short_names(const struct discovery *d,
				  const struct resource *r); /* "ist,x" or "" */
const char *discovery_singular(const struct discovery *d, const struct resource *r);

#endif
