/* What a whole manager does about each request of an operator that fails, with its definition, an instance of that and a
 * hook (tests/lib/strikes.h). */
#include "tests/lib/test.h"

#include "tests/lib/strikes.h"

#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
#define ETCD       FIXTURE_APPS "/etcd"
#define CRD        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/etcds.etcd.coreos.com"
#define PURPLE     "/apis/etcd.coreos.com/v1/namespaces/default/etcds/purple"
#define CATALOG_BODY                                                                     \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Catalog\",\"metadata\":" \
	"{\"name\":\"c\"},\"spec\":{\"interval\":\"30s\",\"source\":{\"url\":\"dir:///"  \
	"catalog\"}}}"
#define APP_BODY                                                                        \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":" \
	"{\"name\":\"etcd\"},\"spec\":{\"type\":\"com.tectonic.storage\"}}"
#define PURPLE_BODY                                                                     \
	"{\"apiVersion\":\"etcd.coreos.com/v1\",\"kind\":\"EtcdCluster\",\"metadata\":" \
	"{\"name\":\"purple\",\"namespace\":\"default\"},\"spec\":{\"size\":3}}"

#define VERSION(name, stored)                                                           \
	"    - name: " name "\n      served: true\n      storage: " stored              \
	"\n      subresources: {status: {}}\n      schema:\n        openAPIV3Schema:\n" \
	"          type: object\n          properties:\n            spec:\n"            \
	"              type: object\n              properties:\n"                       \
	"                size: {type: integer, minimum: 1}\n"
#define DEFINITION(versions)                                                               \
	"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n" \
	"  name: etcds.etcd.coreos.com\n"                                                  \
	"  annotations: {app.coreos.com/owner: etcd.com.tectonic.storage}\nspec:\n"        \
	"  group: etcd.coreos.com\n  scope: Namespaced\n"                                  \
	"  names: {plural: etcds, singular: etcd, kind: EtcdCluster, listKind: "           \
	"EtcdClusterList}\n  versions:\n" versions
#define DESCRIPTOR(more) \
	"appType: etcd.com.tectonic.storage\nprovides: [etcds.etcd.coreos.com/v1" more "]\n"

static const char deployment[] =
	"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: etcd-operator}\nspec:\n"
	"  selector: {matchLabels: {name: etcd-operator}}\n  template:\n"
	"    metadata: {labels: {name: etcd-operator}}\n    spec:\n      containers:\n"
	"        - {name: operator, image: 'quay.io/etcd:v{{ .Chart.Version }}'}\n";
static const char hook[] =
	"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: before\n"
	"  annotations: {helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-delete-policy: "
	"before-hook-creation}\ndata: {version: {{ .Chart.Version | quote }}}\n";

static const char *const old[] = {"alm.yaml",
				  DESCRIPTOR(""),
				  "crds/etcds.yaml",
				  DEFINITION(VERSION("v1", "true")),
				  "templates/d.yaml",
				  deployment,
				  "templates/h.yaml",
				  hook,
				  NULL};
static const char *const new[] = {"alm.yaml",
				  DESCRIPTOR(", etcds.etcd.coreos.com/v2"),
				  "crds/etcds.yaml",
				  DEFINITION(VERSION("v1", "true") VERSION("v2", "false")),
				  "templates/d.yaml",
				  deployment,
				  "templates/h.yaml",
				  hook,
				  NULL};

static void operator_phase(struct manager_fixture *f, size_t n)
{
	if (n == 0) {
		manager_fixture_chart_of(f, "/catalog", "etcd-operator", "0.9.4", old);
		manager_fixture_do(f, "POST", FIXTURE_CATALOGS, CATALOG_BODY, 201);
		manager_fixture_do(f, "POST", FIXTURE_APPS, APP_BODY, 201);
	} else if (n == 1) {
		manager_fixture_do(f, "POST", "/apis/etcd.coreos.com/v1/namespaces/default/etcds",
				   PURPLE_BODY, 201);
		manager_fixture_chart_of(f, "/catalog", "etcd-operator", "0.9.5", new);
	} else if (n == 2) {
		manager_fixture_do(f, "DELETE", PURPLE, NULL, 200);
	}
}

static void tell_strategy(struct manager_fixture *f, const char *version, struct strbuf *b)
{
	const char *at =
		arena_fmt(f->a, STRATEGIES "/install.%s.etcd.com.tectonic.storage", version);
	const char *stalled = manager_fixture_str(f, at, "@Stalled/message");
	strbuf_addf(b, "; %s %s", version, manager_fixture_str(f, at, "status.phase"));
	if (*stalled)
		strbuf_addf(b, ", stalled: %s", stalled);
}

static void operator_tell(struct manager_fixture *f, struct strbuf *b)
{
	const char *app = manager_fixture_str(f, ETCD, "@Stalled/message");
	const char *crd = manager_fixture_str(f, CRD, "@app.coreos.com/Stalled/message");
	strbuf_addf(b, "%s %s: %s %s; definition %s %s",
		    manager_fixture_str(f, ETCD, "status.installedVersion"),
		    manager_fixture_str(f, ETCD, "@Ready/status"),
		    manager_fixture_str(f, ETCD, "@Ready/reason"),
		    manager_fixture_str(f, ETCD, "@Ready/message"),
		    manager_fixture_str(f, CRD, "@app.coreos.com/Resolved/reason"),
		    manager_fixture_str(f, CRD, "spec.versions.1.name"));
	tell_strategy(f, "0.9.4", b);
	tell_strategy(f, "0.9.5", b);
	if (*app)
		strbuf_addf(b, "; app is stalled: %s", app);
	if (*crd)
		strbuf_addf(b, "; definition is stalled: %s", crd);
}

static void test_strikes_operator__and_its_instance(void **state)
{
	static const struct story s = {.golden = "tests/golden/strikes/operator.txt",
				       .phase = operator_phase,
				       .n_phases = 3,
				       .struck = 1,
				       .phase_ns = 70 * NS_PER_S,
				       .tell = operator_tell};
	(void)state;
	strikes_hold(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strikes_operator__and_its_instance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
