/*
 * usage: the view's answers to what the resolver asks about live state: CRDs with owner, served and
 * stored versions, and
 * how much each managed resource is used (objects, stored, last writer). Answers come from the
 * view.
 */
#ifndef ALM_CONTROLLERS_APP_USAGE_H
#define ALM_CONTROLLERS_APP_USAGE_H

#include "alm/engine/view.h"

struct app;

/* Sets in.crd, in.usage, in.unmet and in.arg of the app. */
void usage_bind(const struct view *v, struct app *app);
/* Number of custom resources of plural.group (any version); -1: not known yet. */
int64_t usage_count(const struct view *v, const char *crd_name);

/* Does any of the resources (plural.group/version, NULL-ended) have an instance? */
bool usage_any_instance(const struct view *v, const char *const *managed);

#endif
