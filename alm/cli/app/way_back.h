/*
 * way_back: may an app go back to a version of its history (lifecycle.md 7.4)? What the API tells
 * is looked at first; the controllers, who look at all, have the last word, and a rollback that
 * they refuse is taken back.
 */
#ifndef ALM_CLI_APP_WAY_BACK_H
#define ALM_CLI_APP_WAY_BACK_H

#include "alm/cli/app/app_session.h"

#define WAY_BACK_WAIT_NS (30 * NS_PER_S)
#define WAY_BACK_HOLD_NS (5 * NS_PER_S)

/* Only a version that ran is a way back: one that was blocked, or waited until another came first, is Superseded, too. */
bool way_back_has_run(const struct obj *strategy);
/* What is known to stand against it: "OutOfRange: spec.version is >=2"; NULL: nothing. */
const char *way_back_refusal(struct cli *c, struct app_session *a, const struct obj *strategy,
			     const char *version);
/* After it was asked for: what the controllers say within WAY_BACK_WAIT_NS. NULL: it has begun, or
 * waits for a person or for time; *ret_note tells which, or that nobody answered. */
const char *way_back_verdict(struct cli *c, struct app_session *a, const char *version,
			     const char **ret_note);

/* Of a version that was asked for with alm upgrade: what holds it, and until when ("it waits: 0.9.6;
 * OutsideWindow until Sat 02:00Z"), or what it is refused for by now, looked at for WAY_BACK_HOLD_NS; NULL: it has
 * begun. */
const char *way_back_hold(struct cli *c, struct app_session *a, const char *version);
/* What a strategy that has not begun says of itself: "DependencyPending: waits for dice 1.0.0, AppType dice"; NULL:
 * nothing. Arena. */
const char *way_back_holds(const struct obj *strategy, struct arena *a);

#endif
