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

/* The CRD and its objects outlive the app, and do not bring it back. */
static const struct user_action removal[] = {
	INSTALL,
	{SEC, DO_CREATE, INSTANCES, INSTANCE_BODY, NULL},
	{SEC, DO_DELETE, ETCD, NULL, NULL},
	{SEC, DO_GONE, ETCD, NULL, NULL},
	{SEC, DO_PATCH, CRD, "{\"metadata\":{\"labels\":{\"edited\":\"true\"}}}", NULL},
	{0},
};

/* A strategy that is deleted while its app lives: the objects stay, and another takes them over. */
static void note_uid(struct world *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	xfree(w->noted);
	w->noted = NULL;
	if (json_parse(strbuf_str(&w->user_body), &o, &err) == 0 && obj_str(o, "metadata.uid"))
		w->noted = xstrdup(obj_str(o, "metadata.uid"));
}

static const struct user_action detached[] = {
	INSTALL,
	{0, DO_APPEAR, DEPLOYMENT, NULL, NULL},
	CALL(0, note_uid),
	{SEC, DO_DELETE, STRATEGY("0.9.4"), NULL, NULL},
	{0},
};

/* An app of the same name is another app: what was approved for the first one does not count. */
#define CAREFUL_APP_BODY                                                                         \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":"          \
	"{\"name\":\"etcd\"},\"spec\":{\"type\":\"com.tectonic.storage\",\"upgrade\":{\"mode\":" \
	"\"Manual\",\"approveFirst\":true}}}"
#define APPROVED_INSTALL                                                                 \
	{SEC, DO_CREATE, APPS, CAREFUL_APP_BODY, NULL},                                  \
		{SEC, DO_UNTIL, ETCD, "@Ready=AwaitingApproval", NULL},                  \
		{0, DO_UNTIL, STRATEGY("0.9.4"), "status.phase=AwaitingApproval", NULL}, \
		{SEC, DO_PATCH, STRATEGY("0.9.4"), APPROVED, NULL},                      \
	{                                                                                \
		SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.4", NULL               \
	}

static const struct user_action again[] = {
	CALL(0, put_0_9_4),
	{SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},
	APPROVED_INSTALL,
	{SEC, DO_DELETE, ETCD, NULL, NULL},
	{SEC, DO_GONE, ETCD, NULL, NULL},
	APPROVED_INSTALL,
	{0},
};

/* The approval meets a plan that is about to change. */
static void note_approved(struct world *w)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	xfree(w->noted);
	w->noted = NULL;
	if (json_parse(strbuf_str(&w->user_body), &o, &err) == 0 &&
	    obj_str(o, "status.plan.digest"))
		w->noted = xstrdup(obj_str(o, "status.plan.digest"));
}

#define VALUES "{\"spec\":{\"values\":{\"replicas\":2}}}"

/* On the first install: an upgrade would give way to the changed values. */
static const struct user_action race[] = {
	CALL(0, put_0_9_4),
	{SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},
	{SEC, DO_CREATE, APPS, CAREFUL_APP_BODY, NULL},
	{5 * SEC, DO_UNTIL, STRATEGY("0.9.4"), "status.phase=AwaitingApproval", NULL},
	{SEC, DO_PATCH, ETCD, VALUES, NULL},
	{5 * NS_PER_MS, DO_PATCH, STRATEGY("0.9.4"), APPROVED, NULL},
	CALL(0, note_approved),
	{0},
};

/* Somebody edits and deletes what the operator is made of, also while it is upgraded. */
#define EDIT "{\"data\":{\"version\":\"edited\"}}"

static const struct user_action drift[] = {
	INSTALL,
	{SEC, DO_PATCH, CONFIGMAP, EDIT, NULL},
	{SEC, DO_DELETE, ACCOUNT, NULL, NULL},
	{20 * SEC, DO_UNTIL, CONFIGMAP, "data.version=0.9.4", NULL},
	{0, DO_APPEAR, ACCOUNT, NULL, NULL},
	CALL(SEC, put_0_9_5),
	{SEC, DO_APPEAR, STRATEGY("0.9.5"), NULL, NULL},
	{0, DO_DELETE, ACCOUNT, NULL, NULL},
	{5 * SEC, DO_UNTIL, ETCD, "status.installedVersion=0.9.5", NULL},
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

static int detached_stays(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (installed_094(w, err) < 0 || world_get(w, DEPLOYMENT, &o, err) < 0)
		return -err->code;
	const char *uid = obj_str(o, "metadata.uid");
	return cstr_eq(uid, w->noted) ? 0 : error_set(err, E_INTERNAL, "the Deployment is another");
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

static int removed(struct world *w, struct error *err)
{
	static const struct wanted wanted[] = {
		{ETCD, NULL},
		{STRATEGY("0.9.4"), NULL},
		{DEPLOYMENT, NULL},
		{CONFIGMAP, NULL},
		{ACCOUNT, NULL},
		{CRD, "@Established=InitialNamesAccepted"},
		{INSTANCES "/purple-ant", "spec.size=3"},
		{0},
	};
	return check_all(w, wanted, err);
}

/* Installed only as the very plan that the approval met. */
static int race_is_safe(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	int status = world_get(w, STRATEGY("0.9.4"), &o, err);
	if (status != 200)
		return status < 0 ? status : error_set(err, E_INTERNAL, "0.9.4: %d", status);
	const char *phase = obj_str(o, "status.phase"), *plan = obj_str(o, "status.plan.digest");
	if (cstr_eq(phase, "Succeeded") && !cstr_eq(plan, w->noted))
		return error_set(err, E_INTERNAL, "approved was %s, installed is %s",
				 w->noted ? w->noted : "nothing", plan ? plan : "nothing");
	if (!cstr_eq(phase, "Succeeded") && !cstr_eq(phase, "AwaitingApproval"))
		return error_set(err, E_INTERNAL, "0.9.4 is %s", phase ? phase : "nowhere");
	return 0;
}

const struct scenario scenario_install = {
	.name = "install",
	.about = "an operator is installed from a catalog",
	.actions = install,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 50,
	.converged = installed_094,
};

const struct scenario scenario_upgrade = {
	.name = "upgrade",
	.about = "a new version appears and is installed",
	.actions = upgrade,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 95,
	.converged = installed_095,
};

const struct scenario scenario_story = {
	.name = "story",
	.about = "install, upgrade, approval, a blocked upgrade",
	.actions = story,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 145,
	.converged = story_ends,
};

const struct scenario scenario_remove = {
	.name = "remove",
	.about = "the app is removed, its CRD stays",
	.actions = removal,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 70, /* one status of the app, with its Event, while the catalog is read */
	.converged = removed,
};

const struct scenario scenario_again = {
	.name = "again",
	.about = "an approved app is removed and made again",
	.actions = again,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 113,
	.converged = installed_094,
};

const struct scenario scenario_detached = {
	.name = "detached",
	.about = "a strategy is deleted while its app lives",
	.actions = detached,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 95,
	.converged = detached_stays,
};

const struct scenario scenario_race = {
	.name = "race",
	.about = "an approval meets a plan that changes",
	.actions = race,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 60,
	.converged = race_is_safe,
};

const struct scenario scenario_drift = {
	.name = "drift",
	.about = "objects are edited and deleted, also during an upgrade",
	.actions = drift,
	.program = &operators_program,
	.simulate_workloads = true,
	.writes = 105,
	.converged = installed_095,
};
