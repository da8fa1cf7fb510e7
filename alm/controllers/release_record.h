/*
 * release_record: Helm's own record of the release, so that the real helm lists, shows, rolls back
 * and uninstalls what ALM installed (charts.md 10.1).
 */
#ifndef ALM_CONTROLLERS_RELEASE_RECORD_H
#define ALM_CONTROLLERS_RELEASE_RECORD_H

struct strategy_pass;

/* Plans the Secret sh.helm.release.v1.NAME.vREV with this status if it does not have it yet; true
 * once it does. The record of the revision before becomes superseded when this one is deployed. */
int release_record_plan(struct strategy_pass *s, const char *status);

#endif
