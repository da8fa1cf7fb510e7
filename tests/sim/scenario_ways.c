/* Every way that a strategy may go but those of a plain upgrade: it fails, is tried again, goes
 * back, or its plan is taken from it. What the chart does, the values say. */
#include "tests/sim/charts_sim.h"
#include "tests/sim/operators.h"
#include "tests/sim/scenarios.h"

#define SEC        NS_PER_S
#define CATALOGS   "/apis/app.coreos.com/v1alpha1/catalogs"
#define APPS       "/apis/app.coreos.com/v1beta1/apps"
#define WEB        APPS "/web"
#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define V1         STRATEGIES "/install.0.1.0.web.io.ops"
#define V2         STRATEGIES "/install.0.2.0.web.io.ops"
#define V3         STRATEGIES "/install.0.3.0.web.io.ops"
#define V4         STRATEGIES "/install.0.4.0.web.io.ops"
#define BACK       "/apis/batch/v1/namespaces/web/jobs/web-back"
#define END        "/apis/batch/v1/namespaces/web/jobs/web-end"
#define ONLY_TWO   "/api/v1/namespaces/web/configmaps/web-a-two"
#define NO_RETURN  "/api/v1/namespaces/web/configmaps/web-no-return"
#define SERVICE    "/api/v1/namespaces/web/services/web"
#define PLAN(n) \
	"/api/v1/namespaces/alm-system/secrets/plan.install.0.1.0.web.io.ops.b8c148d3.r" n ".0"
/* How a Job has ended, as its controller tells it: with less a server refuses its status. */
#define MET(type) "{\"type\":\"" type "\",\"status\":\"True\"}"
#define HOOK_FAILED                                                         \
	"{\"status\":{\"failed\":1,\"startTime\":\"2026-01-01T00:00:00Z\"," \
	"\"conditions\":[" MET("FailureTarget") "," MET("Failed") "]}}"
#define HOOK_DONE                                                              \
	"{\"status\":{\"succeeded\":1,\"startTime\":\"2026-01-01T00:00:00Z\"," \
	"\"completionTime\":\"2026-01-01T00:00:00Z\",\"conditions\":[" MET(    \
		"SuccessCriteriaMet") "," MET("Complete") "]}}"
#define ADDRESS(list) "{\"status\":{\"loadBalancer\":{\"ingress\":" list "}}}"
#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"community\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":"   \
	"\"dir://" CATALOG_DIR "\"}}}"
/* A crash and a jump of the clock leave a tenth of a deadline: SHORT for what is to miss it, LONG
 * for what is to be done whatever happens meanwhile. */
#define SHORT                    "\"1m\""
#define LONG                     "\"1h\""
#define DEADLINES(apply, verify) "\"deadlines\":{\"installing\":" apply ",\"verifying\":" verify "}"
#define APP_BODY(upgrade)                                                               \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"web\"},\"spec\":{\"type\":\"io.ops\",\"values\":{\"does\":\"\"},"  \
	"\"upgrade\":{" upgrade                                                         \
	DEADLINES(LONG, LONG) "}}}"

/* refused: by the server; slow: without who gives addresses, never ready. */
#define HOOK(name, event)                                                      \
	"---\n"                                                                \
	"apiVersion: batch/v1\n"                                               \
	"kind: Job\n"                                                          \
	"metadata: {name: " name ", annotations: {helm.sh/hook: " event "}}\n" \
	"spec:\n"                                                              \
	"  template:\n"                                                        \
	"    spec: {restartPolicy: Never, containers: [{name: x, image: x}]}\n"
#define TEMPLATE                                                  \
	"apiVersion: v1\n"                                        \
	"kind: ConfigMap\n"                                       \
	"metadata: {name: {{ .Release.Name }}}\n"                 \
	"data: {version: {{ .Chart.Version | quote }}}\n"         \
	"{{- if eq .Values.does \"refused\" }}\n"                 \
	"---\n"                                                   \
	"apiVersion: v1\n"                                        \
	"kind: ConfigMap\n"                                       \
	"metadata: {name: Not_A_Name}\n"                          \
	"{{- else if eq .Values.does \"slow\" }}\n"               \
	"---\n"                                                   \
	"apiVersion: v1\n"                                        \
	"kind: Service\n"                                         \
	"metadata: {name: {{ .Release.Name }}}\n"                 \
	"spec: {type: LoadBalancer, ports: [{port: 80}]}\n"       \
	"{{- else if eq .Values.does \"no-return\" }}\n"          \
	"---\n"                                                   \
	"apiVersion: v1\n"                                        \
	"kind: ConfigMap\n"                                       \
	"metadata: {name: {{ .Release.Name }}-no-return}\n" HOOK( \
		"web-back", "pre-rollback") "{{- end }}\n" HOOK("web-end", "pre-delete")

static void put_1(struct world *w)
{
	charts_put_text(w, "web", "0.1.0", TEMPLATE);
}

static void put_2(struct world *w)
{
	charts_put_text(w, "web", "0.2.0",
			TEMPLATE "---\n"
				 "apiVersion: v1\n"
				 "kind: ConfigMap\n"
				 "metadata: {name: {{ .Release.Name }}-a-two}\n"
				 "---\n"
				 "apiVersion: v1\n"
				 "kind: ConfigMap\n"
				 "metadata: {name: Not_A_Name}\n");
}

/* Nothing of it fails. */
static void put_3(struct world *w)
{
	charts_put_text(w, "web", "0.3.0",
			"apiVersion: v1\n"
			"kind: ConfigMap\n"
			"metadata: {name: {{ .Release.Name }}}\n" HOOK("web-end", "pre-delete"));
}

static void put_4(struct world *w)
{
	charts_put_text(w, "web", "0.4.0",
			"apiVersion: v1\n"
			"kind: ConfigMap\n"
			"metadata: {name: {{ .Release.Name }}}\n");
}

#define CALL(after, f) {after, DO_CALL, "call", NULL, f}
#define BEGIN(upgrade)                                                  \
	CALL(0, put_1), {SEC, DO_CREATE, CATALOGS, CATALOG_BODY, NULL}, \
	{                                                               \
		0, DO_CREATE, APPS, APP_BODY(upgrade), NULL             \
	}
#define VALUES(does, apply, verify)                          \
	{SEC, DO_PATCH, WEB,                                 \
	 "{\"spec\":{\"values\":{\"does\":\"" does           \
	 "\"},\"upgrade\":{" DEADLINES(apply, verify) "}}}", \
	 NULL}
#define UPGRADE(text) {SEC, DO_PATCH, WEB, "{\"spec\":{\"upgrade\":{" text "}}}", NULL}
#define ACCOUNT(name) {SEC, DO_PATCH, WEB, "{\"spec\":{\"serviceAccountName\":" name "}}", NULL}
#define RETRY(v)             \
	{SEC, DO_PATCH, WEB, \
	 "{\"metadata\":{\"annotations\":{\"app.coreos.com/retry\":\"" v "\"}}}", NULL}
#define PHASE(s, phase) {SEC, DO_UNTIL, s, "status.phase=" phase, NULL}
#define STATE(state)    {SEC, DO_UNTIL, WEB, "@Ready=" state, NULL}

/* Changed values fail, before the first write is over and after it; so does a newer version. One that waits for approval gives
 * way to a later one. */
static const struct user_action ways[] = {
	BEGIN(""),
	PHASE(V1, "Succeeded"),
	STATE("Installed"),
	VALUES("refused", SHORT, LONG),
	PHASE(V1, "Installing"),
	STATE("UpgradeBlocked"),
	VALUES("slow", LONG, SHORT),
	PHASE(V1, "Verifying"),
	PHASE(V1, "Succeeded"), /* the former ones: the app still said so of the first failure */
	STATE("UpgradeBlocked"),
	VALUES("no-return", LONG, LONG),
	{SEC, DO_APPEAR, NO_RETURN, NULL, NULL},
	PHASE(V1, "Succeeded"),
	VALUES("refused", SHORT, LONG),
	{SEC, DO_APPEAR, BACK, NULL, NULL},
	{0, DO_PATCH, BACK "/status", HOOK_FAILED, NULL},
	PHASE(V1, "Failed"),
	STATE("Degraded"),
	VALUES("", LONG, LONG),
	PHASE(V1, "Succeeded"),
	STATE("Installed"),
	UPGRADE(DEADLINES(SHORT, LONG)),
	CALL(0, put_2),
	PHASE(V2, "Installing"),
	PHASE(V2, "RolledBack"),
	{SEC, DO_GONE, ONLY_TWO, NULL, NULL}, /* what only the failed version had */
	UPGRADE("\"onFailure\":\"Stay\""),
	RETRY("0.2.0"),
	PHASE(V2, "Installing"),
	PHASE(V2, "Failed"),
	STATE("Degraded"),
	UPGRADE("\"mode\":\"Manual\""),
	CALL(SEC, put_3),
	PHASE(V3, "AwaitingApproval"),
	CALL(SEC, put_4),
	PHASE(V4, "AwaitingApproval"),
	PHASE(V3, "Superseded"), /* two never wait for approval at once */
	{0},
};

/* A first install: it fails, is tried again, breaks, and is removed with a hook. */
static const struct user_action first[] = {
	BEGIN("\"mode\":\"Manual\",\"approveFirst\":true,"),
	PHASE(V1, "AwaitingApproval"),
	VALUES("refused", SHORT, LONG),
	PHASE(V1, "AwaitingApproval"),
	ACCOUNT("\"nobody\""),
	PHASE(V1, "Blocked"),
	ACCOUNT("null"),
	PHASE(V1, "AwaitingApproval"),
	ACCOUNT("\"nobody\""),
	PHASE(V1, "Blocked"),
	UPGRADE("\"mode\":\"Automatic\",\"approveFirst\":false"),
	ACCOUNT("null"),
	PHASE(V1, "Installing"),
	{0, DO_DELETE, PLAN("1"), NULL, NULL},
	PHASE(V1, "Failed"),
	STATE("Failed"),
	VALUES("slow", LONG, SHORT),
	PHASE(V1, "Verifying"),
	{0, DO_DELETE, PLAN("2"), NULL, NULL},
	PHASE(V1, "Failed"),
	UPGRADE(DEADLINES(LONG, LONG)),
	RETRY("0.1.0"),
	PHASE(V1, "Verifying"),
	{0, DO_PATCH, SERVICE "/status", ADDRESS("[{\"ip\":\"192.0.2.1\"}]"), NULL},
	STATE("Installed"),
	{SEC, DO_PATCH, SERVICE "/status", ADDRESS("null"), NULL},
	STATE("Degraded"),
	CALL(0, put_3),
	{SEC, DO_UNTIL, WEB, "status.installedVersion=0.3.0", NULL},
	{SEC, DO_DELETE, WEB, NULL, NULL},
	STATE("Deleting"),
	{SEC, DO_PATCH, END "/status", HOOK_DONE, NULL},
	{SEC, DO_GONE, WEB, NULL, NULL},
	{0},
};

static int ends(struct world *w, const char *target, const char *wanted, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	int status = world_get(w, target, &o, err);
	if (status < 0)
		return status;
	return world_has(o, wanted)
		       ? 0
		       : error_set(err, E_INTERNAL, "%s: %d, want %s", target, status, wanted);
}

static int ways_end(struct world *w, struct error *err)
{
	int r = ends(w, WEB, "status.installedVersion=0.1.0", err);
	return r < 0 ? r : ends(w, V2, "status.phase=Failed", err);
}

static int first_ends(struct world *w, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	int status = world_get(w, V1, &o, err);
	if (status < 0)
		return status;
	return status == 404 ? 0 : error_set(err, E_INTERNAL, "0.1.0: %d, want 404", status);
}

const struct scenario scenario_ways = {
	.name = "ways",
	.about = "changed values and a newer version fail, and what ran runs again",
	.actions = ways,
	.program = &operators_program,
	.converged = ways_end,
};

const struct scenario scenario_first = {
	.name = "first",
	.about = "a first install fails, is tried again, breaks and is removed",
	.actions = first,
	.program = &operators_program,
	.converged = first_ends,
};
