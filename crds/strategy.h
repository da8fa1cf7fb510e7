/* strategy: the typed view of an InstallStrategy. Borrows as apptype.h does. */
#ifndef CRDS_STRATEGY_H
#define CRDS_STRATEGY_H

#include "alm/obj/decode.h"

struct strategy {
	const char *name;
	const char *app;                                   /* spec.appTypeRef.name */
	const char *version;                               /* 1 or "0.9.6", as written */
	const char *replaces;                              /* or NULL */
	const char *type;                                  /* helm, jsonnet, file, image */
	const char *chart;                                 /* helmChart, or NULL */
	const char *image;                                 /* or NULL */
	const char *sha256;                                /* 7 to 64 digits, or NULL */
	const char *target_namespace;                      /* strategy.namespace, or NULL */
	const char *rollout;                               /* or NULL */
	const struct obj *jsonnet, *values, *requirements; /* or NULL */
	struct decode_strs resources;                      /* plural.group/version */
	bool approved;
	const char *approved_plan, *approved_by, *approval_reason;
};

/* E_INVALID names the field. */
int strategy_decode(const struct obj *o, struct arena *a, struct strategy *ret, struct error *err);

#endif
