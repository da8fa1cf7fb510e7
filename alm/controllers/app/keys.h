/* keys: which key a changed object concerns, as several controllers ask it (watch_rule.key). */
#ifndef ALM_CONTROLLERS_APP_KEYS_H
#define ALM_CONTROLLERS_APP_KEYS_H

#include "alm/engine/chain.h"
#include "alm/engine/controller.h"

const char *key_self(const struct view *v, const struct obj *o, struct arena *a);
const char *key_app_ref(const struct view *v, const struct obj *o,
			struct arena *a); /* spec.appTypeRef.name */
const char *key_app_label(const struct view *v, const struct obj *o,
			  struct arena *a); /* label app */
const char *key_crd_owner(const struct view *v, const struct obj *o,
			  struct arena *a); /* NAME of NAME.TYPE */
#define KEY_ALL "*"                         /* of MEANS_STRATEGIES: those of every app */
const char *key_all(const struct view *v, const struct obj *o, struct arena *a);
const char *key_marked(const struct view *v, const struct obj *o,
		       struct arena *a); /* the app that annotation apps names, or KEY_ALL */

/* Chains of causes: an app's by its name, a catalog's as "catalog:NAME". */
extern const struct chain_rule app_chains[];

#endif
