/*
 * install_of: what the Install of a run says, out of what is known of that run (bundle_side.h) and what the
 * Install said before. Pure: it is no second truth, and nothing but its number of attempts and its times is read of it.
 *
 * An Install is `BUNDLE.default.<12 digits of the digest of its objects>` of namespace alm-cluster-default: what was
 * rolled out before and is again has the same one, with another attempt.
 */
#ifndef ALM_CONTROLLERS_FLEET_INSTALL_OF_H
#define ALM_CONTROLLERS_FLEET_INSTALL_OF_H

#include "alm/base/arena.h"
#include "alm/controllers/fleet/bundle_side.h"
#include "alm/controllers/fleet/install_state.h"

#define INSTALL_API         "store.app.coreos.com/v1"
#define INSTALL_KIND        "Install"
#define INSTALL_OBJECTS_MAX 200
#define INSTALLS_KEPT       3 /* that have ended, besides the newest: spec.historyLimit of the Bundle */

struct install_of {
	const struct bundle_now *now; /* has a job */
	const struct obj *live;       /* the Install; NULL: there is none */
	int64_t now_ns;
	struct arena *a;
};

/* Of what the job rolls out. */
const char *install_name(const struct bundle_now *now, struct arena *a);
/* The status that it is to have; owned. */
struct obj *install_status(const struct install_of *x);
/* Its spec under that status; owned. */
struct obj *install_spec(const struct install_of *x, const struct obj *status);
/* The status of one whose place `by`, a revision, takes; owned. NULL: it has ended. */
struct obj *install_supersede(const struct install_of *x, const char *by);
/* Another state, attempt or reason; or it has ended, and says something else. How far one is that goes on is no
 * news: the Bundle's status tells that each second. */
bool install_is_news(const struct obj *live, const struct obj *status);

#endif
