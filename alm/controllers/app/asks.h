/*
 * asks: what people ask of an app by its spec: mode, pause, one version, waivers. Each change has
 * an Approval record (lifecycle.md 4.4) that says who asked and why: the reason stands in the
 * annotation app.coreos.com/reason, written together with the change. Pure.
 */
#ifndef ALM_CONTROLLERS_APP_ASKS_H
#define ALM_CONTROLLERS_APP_ASKS_H

#include "alm/controllers/app/app.h"

#define ANNOTATION_REASON     "app.coreos.com/reason"
#define ANNOTATION_REASON_FOR "app.coreos.com/reason-for" /* the generation it was given for */

#define ASKS_WAIVERS_MAX 32 /* are reported one by one, the others by their number */

/* {mode, paused, to, waivers, reason}, the reason as a digest and texts cut: kept in the
 * SpecChanged record, to compare the next with. Owned. */
struct obj *asks_of(const struct app *app);
/* The records of what changed since the last SpecChanged record of this app. */
void asks_plan(const struct view *v, const struct app *app, struct plan *plan);

#endif
