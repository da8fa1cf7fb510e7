/*
 * plan_cache: documents of stored plans (install_plan.h) as trees. A strategy reads its plan in
 * every reconcile; unpacking and parsing 4 MiB of definitions each time was a fifth of what an
 * upgrade took.
 *
 * A document is found by the digest of its stored bytes, so a plan that is stored again is another
 * one. The owner clears it when nothing was read for a while: at rest nothing is held.
 */
#ifndef ALM_CONTROLLERS_UNIT_PLAN_CACHE_H
#define ALM_CONTROLLERS_UNIT_PLAN_CACHE_H

#include "alm/base/mem.h"
#include "alm/base/str.h"
#include "alm/obj/obj.h"

#define PLAN_CACHE_DOCUMENTS  ((size_t)4) /* of an upgrade: the plan and the one before */
#define PLAN_CACHE_TEXT_BYTES ((size_t)8 << 20)

struct plan_cache;
struct plan_cache *plan_cache_new(void);
void plan_cache_free(struct plan_cache *c);
DEFINE_FREEP(plan_cache)

/* Owned by the caller; NULL: it is not there. Nobody changes it. */
struct obj *plan_cache_get(struct plan_cache *c, const char *digest);
/* text_bytes: of its JSON. What was put first is dropped when there is no room; too large is not
 * kept. */
void plan_cache_put(struct plan_cache *c, const char *digest, const struct obj *doc,
		    size_t text_bytes);
bool plan_cache_is_empty(const struct plan_cache *c);
void plan_cache_clear(struct plan_cache *c);

#endif
