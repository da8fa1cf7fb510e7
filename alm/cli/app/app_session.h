/* app_session: what the lifecycle commands share: an app, its strategies, its candidates, as the
 * server tells them. */
#ifndef ALM_CLI_APP_APP_SESSION_H
#define ALM_CLI_APP_APP_SESSION_H

#include "alm/cli/app/overview.h"
#include "alm/cli/session.h"

struct app_session {
	struct session *session;
	const struct obj *app, *strategies; /* the AppType; the InstallStrategyList */
};

/* E_NOTFOUND for an unknown app. session is freed by app_session_release(). */
int app_session_open(struct cli *c, const char *app, struct app_session *ret, struct error *err);
/* Both again, in an open session. */
int app_session_read(struct cli *c, const char *app, struct app_session *a, struct error *err);
/* E_NOTFOUND, with the app that is like it. */
int app_session_no_app(struct cli *c, struct session *s, const char *app, struct error *err);
void app_session_release(struct app_session *a);

const struct obj *app_session_candidate(const struct app_session *a,
					const char *version); /* or NULL */
const struct obj *app_session_strategy(const struct cli *c, const struct app_session *a,
				       const char *version);
/* The stored plan of a strategy; NULL with an error if it is not there. */
const struct obj *app_session_plan(const struct cli *c, const struct app_session *a,
				   const struct obj *strategy, struct error *err);
/* "1.0.0 is not installable: ... It would be after ...", with numbered steps. */
void app_session_print_refusal(const struct app_session *a, const struct obj *candidate, bool wide);
/* Merge patch of the AppType or a strategy; *ret may be NULL. */
int app_session_patch(struct app_session *a, const struct obj *live, const struct obj *patch,
		      struct error *err);

/* -o json or yaml of a decision: {app, version, outcome, message, strategy, plan, reason, steps}.
 * candidate, strategy and message may be NULL. */
int app_session_print_outcome(const struct cli *c, const char *version, const char *outcome,
			      const char *message, const struct obj *candidate,
			      const struct obj *strategy, struct error *err);
/* Who he is to the server, which knows it: a SelfSubjectReview. Arena; NULL: it does not say. */
const char *session_user(struct session *s);
/* What `alm status` and `alm top` show: all apps, strategies and catalogs. */
int app_session_overview(struct session *s, struct overview_input *in, struct error *err);

#endif
