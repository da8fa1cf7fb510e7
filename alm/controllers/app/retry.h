/*
 * retry: what failed, and when it is tried again (lifecycle.md 4.1, 7.6). Pure.
 *
 * A first install that failed is tried again after 1, 2, 4 ... 60 minutes, at once when its values
 * or account change or `--retry` asks. Changed values of what is installed that failed are marked
 * in status.failed of the strategy, whose former revision runs again: they are not tried again
 * until they differ or `--retry` asks.
 */
#ifndef ALM_CONTROLLERS_APP_RETRY_H
#define ALM_CONTROLLERS_APP_RETRY_H

#include "alm/controllers/app/app.h"

/* How long a first install waits that failed so many times in a row (status.failures). */
int64_t retry_wait_ns(int64_t failures);
/* When it is tried again, by the wall clock: conditions is status.conditions. */
int64_t retry_at_ns(const struct obj *conditions, int64_t failures, int64_t now_ns);
/* Does `alm retry` ask for this version? */
bool retry_is_asked(const struct app *app, const char *version);
/* Are the values and the account of today those that status.failed of the strategy names? */
bool retry_would_repeat(const struct app *app, const struct strategy_ref *s, struct arena *a);

#endif
