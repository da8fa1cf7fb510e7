/*
 * unsupported: fields that the CRDs accept, so that manifests of later versions can be stored, and
 * that this version of ALM does not act on. An object that has one is refused by a condition,
 * reason Unsupported, which names the field and the remedy: nothing is chosen or installed as if
 * the field were not there. What is installed already keeps running.
 *
 * Each of them is in the list of tests/lint/crd_fields.py, or read by code that acts on it.
 */
#ifndef ALM_CONTROLLERS_APP_UNSUPPORTED_H
#define ALM_CONTROLLERS_APP_UNSUPPORTED_H

#include "alm/obj/obj.h"

/* "spec.rolloutRef: ...", the first of an AppType, an annotation that cannot be read among them; NULL:
 * none. */
const char *unsupported_of_app(const struct obj *app, struct arena *a);
/* The same of an InstallStrategy made by hand, or what two of its fields contradict each other in.
 */
const char *unsupported_of_strategy(const struct obj *strategy, struct arena *a);

/* Digest of the archive: spec.strategy.sha256, else the one behind @sha256: in helmChart; NULL:
 * none. Borrowed. */
const char *strategy_sha256(const struct obj *strategy);

#endif
