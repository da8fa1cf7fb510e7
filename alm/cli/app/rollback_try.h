/*
 * rollback_try: what the server would refuse of a way back, asked by dry runs of the stored plan
 * before anything is changed (lifecycle.md 7.4). The controllers ask the same, as the app's
 * account.
 */
#ifndef ALM_CLI_APP_ROLLBACK_TRY_H
#define ALM_CLI_APP_ROLLBACK_TRY_H

#include "alm/cli/app/app_session.h"

/* The first custom resource of the strategy's plan that a newer CRD does not take, and why; NULL:
 * none is known of. What the user may not read or write is not judged: the controllers report
 * it. */
const char *rollback_refused_object(struct cli *c, struct app_session *a,
				    const struct obj *strategy);

#endif
