/*
 * engine: writes of the server itself (collector, namespaces, definitions, simulation). Each is a
 * normal, audited commit under the name of its component.
 */
#ifndef ALM_APISERVER_LOOPS_ENGINE_H
#define ALM_APISERVER_LOOPS_ENGINE_H

#include "alm/apiserver/core.h"
#include "alm/apiserver/options.h"
#include "alm/base/clock.h"

struct engine {
	const char *user, *manager;
	/* In Kubernetes it is a client of its own, so policies are asked of what it deletes. Webhooks are not: nobody waits here. */
	bool asks;
};

#define ENGINE_RETRY_NS (10 * NS_PER_S) /* of what a policy refused */

/* Objects handled in one turn of the loop, so that no turn grows long. */
#define ENGINE_BATCH 100

/* Creates o (consumed) as the server itself, unless it is there already; for bootstrap objects. */
int engine_ensure(struct apiserver *s, struct obj *o, struct error *err);
/* Creates o (consumed; complete, with its status and without managedFields). ret_uid: of the object,
 * also of one that was there: E_EXISTS. */
int engine_create(struct apiserver *s, const struct engine *e, struct obj *o,
		  char ret_uid[STORE_UID_TEXT], struct error *err);
/* Replaces the object, its status too, by o (borrowed). Unchanged: no write. */
int engine_replace(struct apiserver *s, const struct engine *e, struct head *h, const struct obj *o,
		   struct error *err);
/* edit changes the object, as it is stored (with a converter: in the version it has). Unchanged: no write. */
int engine_update(struct apiserver *s, const struct engine *e, struct head *h,
		  const char *subresource, void (*edit)(void *arg, struct obj *o), void *arg,
		  struct error *err);
int engine_delete(struct apiserver *s, const struct engine *e, struct head *h,
		  enum propagation policy, struct error *err);
/* The kind in which the resource is stored, another version where that one is not served; NULL: none is. */
const struct kind *engine_kind(const struct apiserver *s, const struct store_table *res);

#endif
