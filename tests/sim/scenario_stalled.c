/* A reconcile that fails again and again, for a cause outside of ALM, shows on its object; when the
 * cause is gone, so is what it showed. */
#include <string.h>

#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC      NS_PER_S
#define CATALOGS "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS     "/apis/app.coreos.com/v1beta1/apps"
#define WEB      APPS "/web"
#define STRATEGY "/apis/opinstaller.coreos.com/v1beta1/installstrategies/install.0.1.0.web.io.ops"
#define CRDS     "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CANARY   WORLD_CANARY
#define THING    "/apis/x.io/v1/things/web"

#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
#define APP_BODY                                                                              \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":"       \
	"{\"name\":\"web\"},\"spec\":{\"type\":\"io.ops\",\"values\":{\"password\":\"" CANARY \
	"\"}}}"
/* What is refused is quoted by the server, and the password is part of it. */
#define SPEC(pattern)                                                                         \
	"{\"group\":\"x.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"things\","         \
	"\"singular\":\"thing\",\"kind\":\"Thing\",\"listKind\":\"ThingList\"},\"versions\":" \
	"[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":"                      \
	"{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"size\":"                 \
	"{\"type\":\"integer\"},\"password\":{\"type\":\"string\",\"pattern\":\"" pattern     \
	"\"}}}}}]}"
#define CRD_BODY                                                                             \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\"," \
	"\"metadata\":{\"name\":\"things.x.io\"},\"spec\":" SPEC("^$") "}"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define ROLE_BODY                                                                                 \
	"{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\",\"metadata\":" \
	"{\"name\":\"web-things\"},\"rules\":[{\"apiGroups\":[\"x.io\"],\"resources\":"           \
	"[\"things\"],\"verbs\":[\"*\"]}]}"
#define BINDING_BODY                                                                        \
	"{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\"," \
	"\"metadata\":{\"name\":\"web-things\"},\"roleRef\":{\"apiGroup\":"                 \
	"\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"web-things\"},"  \
	"\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"app-web\",\"namespace\":"    \
	"\"alm-system\"}]}"

/* Somebody else's CRD does not let the object be. */
static void put_thing(struct world *w)
{
	charts_put_text(w, "web", "0.1.0",
			"apiVersion: x.io/v1\n"
			"kind: Thing\n"
			"metadata: {name: web}\n"
			"size: 3\n"
			"password: {{ .Values.password | quote }}\n");
}

static const struct user_action actions[] = {
	{0, DO_CREATE, CRDS, CRD_BODY, NULL},
	{SEC, DO_UNTIL, CRDS "/things.x.io", "@Established=InitialNamesAccepted", NULL},
	{0, DO_CREATE, RBAC "/clusterroles", ROLE_BODY, NULL},
	{0, DO_CREATE, RBAC "/clusterrolebindings", BINDING_BODY, NULL},
	{0, DO_CALL, "call", NULL, put_thing},
	{SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL},
	{0, DO_CREATE, APPS, APP_BODY, NULL},
	{5 * SEC, DO_UNTIL, STRATEGY, "@Stalled=Refused", NULL},
	{60 * SEC, DO_UNTIL, STRATEGY, "status.phase=Installing", NULL},
	{0, DO_PATCH, CRDS "/things.x.io", "{\"spec\":" SPEC(".*") "}", NULL},
	{SEC, DO_UNTIL, WEB, "status.installedVersion=0.1.0", NULL},
	{0},
};

static int converged(struct world *w, struct error *err)
{
	static const struct {
		const char *target, *field_is_value;
	} wanted[] = {{WEB, "@Ready=Installed"},
		      {WEB, "@Stalled="},
		      {STRATEGY, "status.phase=Succeeded"},
		      {STRATEGY, "@Stalled="},
		      {THING, "size=3"}};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		int status = world_get(w, wanted[i].target, &o, err);
		if (status < 0)
			return status;
		if (!world_has(o, wanted[i].field_is_value))
			return error_set(err, E_INTERNAL, "%s: %d, want %s", wanted[i].target,
					 status, wanted[i].field_is_value);
	}
	return 0;
}

const struct scenario scenario_stalled = {
	.name = "stalled",
	.about = "what the server refuses for ever is told, until it does not",
	.actions = actions,
	.program = &operators_program,
	.simulate_workloads = true,
	.converged = converged,
};
