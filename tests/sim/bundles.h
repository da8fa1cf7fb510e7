/*
 * bundles: what the scenarios of a Bundle share: Bundle "web" of the branch that git_sim has, and what
 * holds at every write and at the end. It is runner.h's, as the engine is, and besides:
 *
 *	wanted    what is deleted is in none of the commits that may be applied, or the Bundle goes
 *	agreed    what is left says the same in Bundle and Install
 *	recorded  each commit that was pushed is in the log, read or superseded, in the order of the branch
 */
#ifndef TESTS_SIM_BUNDLES_H
#define TESTS_SIM_BUNDLES_H

#include "tests/sim/git_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/runner.h"

#define SEC     NS_PER_S
#define MAPS    "/api/v1/namespaces/default/configmaps"
#define BUNDLES "/apis/app.coreos.com/v1alpha1/bundles"
#define WEB     BUNDLES "/" RUN_BUNDLE
#define CM(name, v) \
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: " name "}, data: {v: \"" v "\"}}"
/* more: fields of its spec */
#define BUNDLE(interval, more)                                                                    \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Bundle\",\"metadata\":{\"name\":" \
	"\"" RUN_BUNDLE "\"},\"spec\":{\"source\":{\"git\":{\"url\":\"file://" GIT_SIM_PATH       \
	"\"}},\"trigger\":{\"interval\":\"" interval "\"}," more "}}"
#define PUSH(after, n) {after, DO_FILE, GIT_SIM_HEAD, n, NULL}

struct bundles_want {
	const char *name, *v; /* of a ConfigMap; v NULL: not there. Ended by a name of NULL. */
};

void bundles_observe(struct world *w, const struct http_request *r, bool faulty);
int bundles_converged(struct world *w, const struct bundles_want *list, struct error *err);

#endif
