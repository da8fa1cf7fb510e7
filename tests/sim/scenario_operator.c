/* Scenarios around one operator, etcd: installed from a catalog, upgraded, approved, blocked,
 * removed, while its objects drift. */
#include <string.h>

#include "alm/obj/json.h"
#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC               NS_PER_S
#define CATALOGS          "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS              "/apis/app.coreos.com/v1beta1/apps"
#define STRATEGIES        "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define STRATEGY(version) STRATEGIES "/install." version ".etcd.com.tectonic.storage"
#define ETCD              APPS "/etcd"
#define CRD               "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/etcds.etcd.coreos.com"
#define INSTANCES         "/apis/etcd.coreos.com/v1/namespaces/default/etcds"
#define NS                "/namespaces/etcd/"
#define DEPLOYMENT        "/apis/apps/v1" NS "deployments/etcd-operator"
#define CONFIGMAP         "/api/v1" NS "configmaps/etcd-operator"
#define ACCOUNT           "/api/v1" NS "serviceaccounts/etcd-operator"

#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
#define APP_BODY                                                                        \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"etcd\"},\"spec\":{\"type\":\"com.tectonic.storage\"}}"
#define INSTANCE_BODY                                                                  \
	"{\"apiVersion\":\"etcd.coreos.com/v1\",\"kind\":\"EtcdCluster\",\"metadata\"" \
	":{\"name\":\"purple-ant\"},\"spec\":{\"size\":3}}"
#define MODE(m)  "{\"spec\":{\"upgrade\":{\"mode\":\"" m "\"}}}"
#define APPROVED "{\"spec\":{\"approved\":true}}"

static void put_0_9_4(struct world *w)
{
	charts_put(w, "0.9.4", SERVES_V1);
}

static void put_0_9_5(struct world *w)
{
	charts_put(w, "0.9.5", SERVES_V1 | SERVES_V2);
}

static void put_0_9_6(struct world *w)
{
	charts_put(w, "0.9.6", SERVES_V1 | SERVES_V2);
}

static void put_1_0_0(struct world *w)
{
	charts_put(w, "1.0.0", SERVES_V2);
}

#define CALL(after, f) {after, DO_CALL, "call", NULL, f}
#define INSTALL                                                                \
	CALL(0, put_0_9_4), {SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},    \
		{0, DO_CREATE, APPS, APP_BODY, NULL},                          \
	{                                                                      \
		5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.4", NULL \
	}

static const struct user_action install[] = {INSTALL, {0}};

static const struct user_action upgrade[] = {
	INSTALL,
	CALL(SEC, put_0_9_5),
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.5", NULL},
	{0},
};

static const struct user_action story[] = {
	INSTALL,
	{SEC, DO_CREATE, INSTANCES, INSTANCE_BODY, NULL},
	CALL(SEC, put_0_9_5),
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.5", NULL},
	{SEC, DO_PATCH, ETCD, MODE("Manual"), NULL},
	CALL(SEC, put_0_9_6),
	{5 * SEC, DO_UNTIL, STRATEGY("0.9.6"), "status.phase=AwaitingApproval", NULL},
	{SEC, DO_PATCH, STRATEGY("0.9.6"), APPROVED, NULL},
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.6", NULL},
	{SEC, DO_PATCH, ETCD, MODE("Automatic"), NULL},
	CALL(SEC, put_1_0_0),
	{5 * SEC, DO_UNTIL, ETCD, "@Ready=UpgradeBlocked", NULL},
	{0},
};

struct wanted {
	const char *target, *field_is_value; /* NULL: the object is not there */
};

static int check_all(struct world *w, const struct wanted *wanted, struct error *err)
{
	for (; wanted->target; wanted++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, wanted->target, &o, err);
		if (status < 0)
			return status;
		if (!wanted->field_is_value && status != 404)
			return error_set(err, E_INTERNAL, "%s is still there", wanted->target);
		if (wanted->field_is_value && !world_has(o, wanted->field_is_value)) {
			CLEANUP(xfreep) char *text = o ? json_text(obj_get(o, "status")) : NULL;
			return error_set(err, E_INTERNAL, "%s: %d, want %s; status %.600s",
					 wanted->target, status, wanted->field_is_value,
					 text ? text : "");
		}
	}
	return 0;
}

#define IMAGE "spec.template.spec.containers[0].image"
#define INSTALLED(version)                                                                         \
	{ETCD, "status.installedVersion=" version}, {STRATEGY(version), "status.phase=Succeeded"}, \
		{DEPLOYMENT, IMAGE "=quay.io/coreos/etcd-operator:v" version},                     \
		{CONFIGMAP, "data.version=" version}, {ACCOUNT, "metadata.name=etcd-operator"},    \
		{CRD, "@Established=InitialNamesAccepted"}

static int installed_094(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {INSTALLED("0.9.4"), {ETCD, "@Ready=Installed"}, {0}};
	return check_all(w, wanted, err);
}

static int installed_095(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {INSTALLED("0.9.5"),
					       {ETCD, "@Ready=Installed"},
					       {STRATEGY("0.9.4"), "status.phase=Superseded"},
					       {0}};
	return check_all(w, wanted, err);
}

static int story_ends(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {
		INSTALLED("0.9.6"),
		{ETCD, "@Ready=UpgradeBlocked"},
		{STRATEGY("0.9.4"), "status.phase=Superseded"},
		{STRATEGY("0.9.5"), "status.phase=Superseded"},
		{STRATEGY("1.0.0"), NULL},
		{INSTANCES "/purple-ant", "spec.size=3"},
		{0},
	};
	return check_all(w, wanted, err);
}

const struct scenario scenario_install = {
	.name = "install",
	.about = "an operator is installed from a catalog",
	.actions = install,
	.program = &operators_program,
	.simulate_workloads = true,
	.converged = installed_094,
};

const struct scenario scenario_upgrade = {
	.name = "upgrade",
	.about = "a new version appears and is installed",
	.actions = upgrade,
	.program = &operators_program,
	.simulate_workloads = true,
	.converged = installed_095,
};

const struct scenario scenario_story = {
	.name = "story",
	.about = "install, upgrade, approval, a blocked upgrade",
	.actions = story,
	.program = &operators_program,
	.simulate_workloads = true,
	.converged = story_ends,
};
