/* app_metrics: the alm_* series of an AppType (lifecycle.md 4.5), from its object alone. */
#ifndef ALM_CONTROLLERS_APPTYPE_APP_METRICS_H
#define ALM_CONTROLLERS_APPTYPE_APP_METRICS_H

#include <stdbool.h>

struct metrics;
struct obj;

/* m may be NULL. Series of a state that is over are set to 0; gone: all of the app's. */
void app_metrics_update(struct metrics *m, const struct obj *apptype, bool gone);

#endif
