/*
 * approver: is who stands in spec.approvedBy of an InstallStrategy who approved it (audit.md 6)? On
 * the embedded server always. Elsewhere if deploy/approver.yaml is in force, or, where we serve that
 * webhook (settings.approval_ca), deploy/approval-webhook.yaml: word for word (of the webhook with
 * our CA and whatever port) and since before the approval; asked live, once for each approval, each
 * of the two for itself: what may not be read of one says nothing of the other. Pure.
 *
 * Since when it stands so its managedFields say, which whoever may write it may forge. So one that was
 * changed since it was made (metadata.generation, which is the server's) is believed only where a look
 * while the approval was waited for has found the same one (uid, generation), and ended before the
 * second in which the approval was given, by our clock and the server's. An approval that is given
 * before anybody looked, with one that was changed, is claimed.
 */
#ifndef ALM_CONTROLLERS_APP_APPROVER_H
#define ALM_CONTROLLERS_APP_APPROVER_H

#include "alm/engine/plan.h"
#include "alm/engine/view.h"

#define APPROVER_POLICY    "approver.opinstaller.coreos.com"
#define APPROVER_WEBHOOK   "approvals.opinstaller.coreos.com"
#define APPROVER_SETTLE_NS (5 * NS_PER_S) /* until every API server has a new policy */
#define APPROVER_LOOK_NS   (10 * NS_PER_MIN)

enum approver_answer {
	APPROVER_CLAIMED,
	APPROVER_KNOWN,
	APPROVER_ASKED, /* not known yet: approver_ask(), and the outcome brings the key back */
};

enum approver_answer approver_is_known(const struct view *v, const struct obj *strategy);
void approver_ask(const struct view *v, const struct obj *strategy, struct plan *plan);
/* While an approval is waited for: looks at what would tie it, again after APPROVER_LOOK_NS. */
void approver_look(const struct view *v, const struct obj *strategy, struct plan *plan);
/* Of APPROVER_CLAIMED: what could not be read, and the rule that gives the right; NULL: all could. */
const char *approver_trouble(const struct view *v, const struct obj *strategy);

#endif
