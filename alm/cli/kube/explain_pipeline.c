/* explain_pipeline: `alm explain pipeline`: the five concepts of alm run, without a server. What may
 * be written in a Rollout is printed from the tables that read it. */
#include "alm/cli/kube/explain_pipeline.h"
#include "alm/base/visible.h"
#include "alm/cli/term.h"
#include "alm/unit/rollout.h"

static const char concepts[] =
	"A pipeline brings what somebody wrote into a cluster. It has five parts; alm run takes\n"
	"each as a flag (alm run --help has them in this order).\n"
	"\n"
	"TRIGGER\n"
	"     When it runs: once (oneoff); at once and again in each interval; or for each object\n"
	"     of a kind, when it or one that belongs to it changes (resource). One that is done\n"
	"     leaves an inventory in the cluster, which the next one goes on from, whatever its\n"
	"     trigger is. sql reads the rows of an SQLite file (path, query, key, groupRows in\n"
	"     --trigger.database.config), each with a run and a configuration. A plugin, "
	"trigger-NAME in $ALM_PLUGIN_DIR, gives keys with a\n"
	"     configuration each: a run a key.\n"
	"\n"
	"RENDERER\n"
	"     Makes objects, each with a key: file reads the manifests of a folder, and a key is\n"
	"     the path of a file (a.yaml), with the number of the document where a file has\n"
	"     several (a.yaml!0, a.yaml!1); jsonnet evaluates a program, whose fields are the\n"
	"     objects; NAME asks the plugin renderer-NAME. --render-only prints them.\n"
	"\n"
	"CONFIGURATION\n"
	"     What a renderer makes them of: the object that began the run, or --config-file,\n"
	"     which wins; a program has it as import 'generic-operator/config'. Between them lie\n"
	"     the sources of --config-from FILE, later ones win:\n"
	"\n"
	"         from:\n"
	"         - {configMap: {namespace: apps, name: web, key: config.yaml}}  no key: all of "
	"data\n"
	"         - {secret: {name: web}}\n"
	"         - {resource: {apiVersion: v1, kind: Node, name: one}}          the object\n"
	"         - {sql: {path: apps.db, query: SELECT * FROM apps}}            rows: [..]\n"
	"         - {file: {path: more.yaml}}\n"
	"\n"
	"     import 'alm-runtime/secrets/list' gives all Secrets there are, NAME/list the "
	"objects\n"
	"     of a resource that the trigger names. --source.database.file FILE names queries,\n"
	"     whose rows are import 'alm-runtime/NAME':\n"
	"\n"
	"         queries:\n"
	"         - {name: teams, path: apps.db, query: SELECT name, size FROM teams}\n"
	"\n"
	"     Where several files name a database, --database-connections-file has its path, and\n"
	"     they say databaseName:\n"
	"\n"
	"         connections:\n"
	"         - {name: apps, type: sqlite, sqlite: {path: apps.db}}\n"
	"\n"
	"ROLLOUT\n"
	"     In which groups and steps the objects are applied, and what tells that a step\n"
	"     succeeded. Groups follow each other, and so do their steps; with parallel: true\n"
	"     they go at once. A step that fails ends the run after its group, unless it says\n"
	"     continueOnError: true.\n"
	"\n"
	"         apiVersion: workflow.kubernetes.io/v1alpha1   or app.coreos.com/v1alpha1\n"
	"         kind: Rollout\n"
	"         metadata: {name: grafana}\n"
	"         spec:\n"
	"           groups:\n"
	"           - name: web\n"
	"             steps:\n"
	"             - object: grafana/deployment.yaml   a key, or a pattern: crds/*\n"
	"               action: CreateOrUpdate\n"
	"               timeout: 10m\n"
	"               canary:                           of action: Canary, a Deployment's\n"
	"                 steps: [{weight: 25, pause: 5m}, {weight: 50, approval: Manual}]\n"
	"                 maxReplicas: 10\n"
	"               success:                          none: until the object is ready\n"
	"               - wait: condition=Available       as alm wait --for\n"
	"               - fieldComparisons:\n"
	"                 - path: '{.status.unavailableReplicas}'\n"
	"                   default: 0\n"
	"                   value: {static: 0}            or {path: JSONPATH}\n"
	"               - prometheus:                     samples, once all else holds\n"
	"                   address: service://monitoring/prometheus:9090   or https://\n"
	"                   query: sum(rate(errors[1m])) / sum(rate(requests[1m]))\n"
	"                   successCondition: result < 0.01   JSONQL; failureCondition\n"
	"                   interval: 10s                 count 3, failureLimit 0\n"
	"                   noData: Hold                  or Fail, Pass; dryRun: true\n"
	"               - {plugin: NAME, config: ..}      the program check-NAME says it\n"
	"               failure:                          none: all of them\n"
	"               - {checkName: Unschedulable, grace: 2m}\n";

static const char feedback[] =
	"FEEDBACK\n"
	"     Each step that ends is told on standard output, and to the status of the object "
	"that\n"
	"     began the run; the exit status is 0 when all were done and 1 when one failed. "
	"--audit-log DIR/alm.db keeps a log of all\n"
	"     writes and transitions (alm audit timeline unit/NAME --data-dir DIR; alm audit "
	"verify).\n"
	"     --feedback.webhook URL\n"
	"     tells each transition as a CloudEvent, signed with --feedback.webhook.secret-file,\n"
	"     until it is taken. --metrics-listen ADDR:PORT serves /metrics, /healthz, /readyz.\n";

static void add_list(struct strbuf *b, const char *title, const struct strbuf *names)
{
	struct str rest = strbuf_str(names), name;
	size_t column = 0;
	visible_addf(b, "     %s", title);
	for (column = 5 + strlen(title); str_next(&rest, ',', &name);) {
		name = str_trim(name);
		if (column + name.len + 2 > 84) {
			visible_addf(b, "\n        ");
			column = 8;
		}
		visible_addf(b, " %.*s%s", STR_ARG(name), rest.ptr ? "," : "");
		column += name.len + 2;
	}
	visible_addf(b, "\n");
}

void explain_pipeline(void)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf actions = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf failures = STRBUF_INIT(STRBUF_SMALL);
	rollout_actions(&actions);
	failure_names(&failures);
	visible_add_lines(&b, str_of(concepts));
	visible_addf(&b, "\n");
	visible_addf(&actions, ", NAME of a plugin action-NAME (alm plugins)");
	add_list(&b, "Actions:", &actions);
	add_list(&b, "Failure checks:", &failures);
	visible_addf(&b, "\n");
	visible_add_lines(&b, str_of(feedback));
	term_lines(strbuf_str(&b));
}
