/*
 * bench_cost: what a hostile request costs. Each kind of input is scaled 1x, 2x, 4x and sent to an
 * API server in process; printed are the CPU time, how it grows, and the memory at its peak. Marked
 * are growth above linear, more than 0.3 CPU s, and more than 20 times the body; a mark is exit 1.
 *
 *	bench_cost            all kinds
 *	bench_cost patch      those whose name contains "patch"
 *
 * To add a kind: a row in loads[].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"

#define CPU_S_MAX     0.3
#define GROWTH_MAX    8.0  /* of 4x over 1x; linear is 4 */
#define GROWTH_CPU_S  0.03 /* below this, 4x tells nothing */
#define RSS_RATIO_MAX 20.0
#define RSS_MIN       (32 << 20) /* what the largest object, of 1.5 MiB, may take */
#define REPEATS       3

#define NS   "/api/v1/namespaces/default"
#define CMS  NS "/configmaps"
#define DEPS "/apis/apps/v1/namespaces/default/deployments"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define XS   "/apis/e.io/v1/namespaces/default/xs"
#define DRY  "?dryRun=All"

#define CM(rest) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"" rest
#define X(rest)  "{\"apiVersion\":\"e.io/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"a\"" rest
#define DEP(name)                                                                            \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" name \
	"\"},\"spec\":"
#define POD(list)                                                                                \
	"{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{" \
	"\"a\":\"b\"}},\"spec\":{\"containers\":[" list "]}}}}"
#define CRD_HEAD                                                                                  \
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","      \
	"\"metadata\":{\"name\":\"xs.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"             \
	"\"Namespaced\","                                                                         \
	"\"names\":{\"plural\":\"xs\",\"kind\":\"X\"},\"versions\":[{\"name\":\"v1\",\"served\":" \
	"true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","             \
	"\"properties\":"                                                                         \
	"{\"spec\":"
#define CRD_TAIL    "}}}}]}}"
#define CRD(schema) CRDS "\n" CRD_HEAD schema CRD_TAIL
#define LIST_OF(s)  "{\"type\":\"array\",\"items\":" s "}"
#define ANY         "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}"
#define RULE(type, more, rule) \
	"{\"type\":\"" type "\"," more "\"x-kubernetes-validations\":[{\"rule\":\"" rule "\"}]}"

#define JP   "application/json-patch+json"
#define MP   "application/merge-patch+json"
#define SP   "application/strategic-merge-patch+json"
#define AP   "application/apply-patch+yaml"
#define YAML "application/yaml"

#define A_CM  CMS "\n" CM("},\"data\":{\"a\":\"b\"}}")
#define A_DEP DEPS "\n" DEP("d") POD("{\"name\":\"c\",\"image\":\"i\"}")

/* The body is head, n items with sep between them, tail; in an item @ is its number and # a number
 * out of order. With body NULL the request has none, and the items are objects created before it.
 */
struct load {
	const char *name, *method, *target, *type;
	const char *head, *item, *sep, *tail;
	int n;               /* items at 1x */
	const char *setup;   /* "TARGET\nBODY" to POST first, or NULL */
	const char *objects; /* TARGET that n objects of item are posted to, then the request */
};

/* clang-format off */
static const struct load loads[] = {
	{"create map", "POST", CMS DRY, NULL, CM("},\"data\":{"), "\"k@\":\"\"", ",", "}}", 25000, NULL, NULL},
	{"create map unsorted", "POST", CMS DRY, NULL, CM("},\"data\":{"), "\"k#\":\"\"", ",", "}}", 25000, NULL, NULL},
	{"create list of maps", "POST", CMS DRY, NULL, CM("},\"x\":["), "{}", ",", "]}", 120000, NULL, NULL},
	{"create list of lists", "POST", CMS DRY, NULL, CM("},\"x\":["), "[]", ",", "]}", 120000, NULL, NULL},
	{"create list of pairs", "POST", CMS DRY, NULL, CM("},\"x\":["), "[[],[]]", ",", "]}", 40000, NULL, NULL},
	{"create list of numbers", "POST", CMS DRY, NULL, CM("},\"x\":["), "1", ",", "]}", 180000, NULL, NULL},
	{"create list of strings", "POST", CMS DRY, NULL, CM("},\"x\":["), "\"\"", ",", "]}", 120000, NULL, NULL},
	{"create list of small maps", "POST", CMS DRY, NULL, CM("},\"x\":["), "{\"a\":1}", ",", "]}", 45000, NULL, NULL},
	{"create nested", "POST", CMS DRY, NULL, CM("},\"x\":["), "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", ",", "]}", 9000, NULL, NULL},
	{"create nested maps", "POST", CMS DRY, NULL, CM("},\"x\":["), "{\"\":{\"\":{\"\":{\"\":{\"\":{}}}}}}", ",", "]}", 12000, NULL, NULL},
	{"create unknown fields", "POST", CMS DRY, NULL, CM("}"), ",\"k#\":0", "", "}", 30000, NULL, NULL},
	{"create long string", "POST", CMS DRY, NULL, CM("},\"data\":{\"a\":\""), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "", "\"}}", 10000, NULL, NULL},
	{"create escapes", "POST", CMS DRY, NULL, CM("},\"data\":{\"a\":\""), "\\u0001", "", "\"}}", 50000, NULL, NULL},
	{"create duplicates", "POST", CMS DRY, NULL, CM("},\"data\":{"), "\"a\":\"\"", ",", "}}", 50000, NULL, NULL},
	{"create labels", "POST", CMS DRY, NULL, CM(",\"labels\":{"), "\"k#\":\"v\"", ",", "}}}", 20000, NULL, NULL},
	{"create annotations", "POST", CMS DRY, NULL, CM(",\"annotations\":{"), "\"k#\":\"v\"", ",", "}}}", 20000, NULL, NULL},
	{"create finalizers", "POST", CMS DRY, NULL, CM(",\"finalizers\":["), "\"a.b/c#\"", ",", "]}}", 20000, NULL, NULL},
	{"create owners", "POST", CMS DRY, NULL, CM(",\"ownerReferences\":["), "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"x\",\"uid\":\"#\"}", ",", "]}}", 6000, NULL, NULL},
	{"create managedFields", "POST", CMS DRY, NULL, CM(",\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"), "\"f:k#\":{}", ",", "}}]}}", 25000, NULL, NULL},
	{"create managers", "POST", CMS DRY, NULL, CM(",\"managedFields\":["), "{\"manager\":\"m#\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:a\":{}}}", ",", "]}}", 3000, NULL, NULL},
	{"create containers", "POST", DEPS DRY, NULL, DEP("e") "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[", "{\"name\":\"c#\"}", ",", "]}}}}", 15000, NULL, NULL},
	{"create secret", "POST", NS "/secrets" DRY, NULL, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"},\"stringData\":{", "\"k#\":\"\"", ",", "}}", 25000, NULL, NULL},
	{"create role", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles" DRY, NULL, "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"a\"},\"rules\":[", "{\"verbs\":[\"get\"],\"apiGroups\":[\"g#\"],\"resources\":[\"r#\"]}", ",", "]}", 5000, NULL, NULL},
	{"yaml map", "POST", CMS DRY, YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n", "  k#: ''\n", "", "", 25000, NULL, NULL},
	{"yaml list of maps", "POST", CMS DRY, YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: [", "{}", ",", "]\n", 100000, NULL, NULL},
	{"yaml aliases", "POST", CMS DRY, YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ny: &a [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]\nx: [", "*a", ",", "]\n", 8000, NULL, NULL},
	{"yaml merge keys", "POST", CMS DRY, YAML, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ny: &a {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7}\nx:\n", "- {<<: *a, h: 1}\n", "", "", 10000, NULL, NULL},
	{"yaml open brackets", "POST", CMS DRY, YAML, "", "[", "", "", 100000, NULL, NULL},
	{"yaml anchors", "POST", CMS DRY, YAML, "", "- &a# 1\n", "", "", 30000, NULL, NULL},
	{"put map", "PUT", CMS "/a" DRY, NULL, CM("},\"data\":{"), "\"k#\":\"\"", ",", "}}", 25000, A_CM, NULL},
	{"put finalizers", "PUT", CMS "/a" DRY, NULL, CM(",\"finalizers\":["), "\"a.b/c#\"", ",", "]}}", 20000, A_CM, NULL},
	{"patch merge map", "PATCH", CMS "/a" DRY, MP, "{\"data\":{", "\"k#\":\"\"", ",", "}}", 25000, A_CM, NULL},
	{"patch merge list", "PATCH", CMS "/a" DRY, MP, "{\"x\":[", "{}", ",", "]}", 120000, A_CM, NULL},
	{"patch json add first", "PATCH", CMS "/a" DRY, JP, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[]},", "{\"op\":\"add\",\"path\":\"/x/0\",\"value\":1}", ",", "]", 2400, A_CM, NULL},
	{"patch json add last", "PATCH", CMS "/a" DRY, JP, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[]},", "{\"op\":\"add\",\"path\":\"/x/-\",\"value\":1}", ",", "]", 2400, A_CM, NULL},
	{"patch json copy", "PATCH", CMS "/a" DRY, JP, "[", "{\"op\":\"copy\",\"from\":\"/data\",\"path\":\"/k#\"}", ",", "]", 2400, A_CM, NULL},
	{"patch json move", "PATCH", CMS "/a" DRY, JP, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[1,2,3,4]},", "{\"op\":\"move\",\"from\":\"/x/0\",\"path\":\"/x/3\"}", ",", "]", 2400, A_CM, NULL},
	{"patch json test", "PATCH", CMS "/a" DRY, JP, "[", "{\"op\":\"test\",\"path\":\"/data\",\"value\":{\"a\":\"b\"}}", ",", "]", 2400, A_CM, NULL},
	{"patch json remove first", "PATCH", CMS "/a" DRY, JP, "[{\"op\":\"add\",\"path\":\"/x\",\"value\":[1,1,1,1,1,1,1,1,1,1,1,1]},", "{\"op\":\"copy\",\"from\":\"/x/0\",\"path\":\"/x/0\"},{\"op\":\"remove\",\"path\":\"/x/1\"}", ",", "]", 1200, A_CM, NULL},
	{"patch strategic containers", "PATCH", DEPS "/d" DRY, SP, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[", "{\"name\":\"c#\"}", ",", "]}}}}", 4000, A_DEP, NULL},
	{"patch strategic order", "PATCH", DEPS "/d" DRY, SP, "{\"spec\":{\"template\":{\"spec\":{\"$setElementOrder/containers\":[", "{\"name\":\"c#\"}", ",", "]}}}}", 4000, A_DEP, NULL},
	{"patch strategic env", "PATCH", DEPS "/d" DRY, SP, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[", "{\"name\":\"c#\"}", ",", "]}]}}}}", 4000, A_DEP, NULL},
	{"patch strategic delete", "PATCH", DEPS "/d" DRY, SP, "{\"spec\":{\"template\":{\"spec\":{\"containers\":[", "{\"name\":\"c#\"},{\"name\":\"c#\",\"$patch\":\"delete\"}", ",", "]}}}}", 4000, A_DEP, NULL},
	{"patch strategic finalizers", "PATCH", CMS "/a" DRY, SP, "{\"metadata\":{\"finalizers\":[", "\"a.b/c#\"", ",", "]}}", 4000, A_CM, NULL},
	{"patch strategic primitives", "PATCH", CMS "/a" DRY, SP, "{\"metadata\":{\"finalizers\":[\"a.b/c\"],\"$deleteFromPrimitiveList/finalizers\":[", "\"a.b/c#\"", ",", "]}}", 20000, A_CM, NULL},
	{"patch strategic retain", "PATCH", CMS "/a" DRY, SP, "{\"data\":{\"$retainKeys\":[", "\"k#\"", ",", "]}}", 20000, A_CM, NULL},
	{"patch strategic map", "PATCH", CMS "/a" DRY, SP, "{\"data\":{", "\"k#\":\"\"", ",", "}}", 25000, A_CM, NULL},
	{"apply map", "PATCH", CMS "/b" DRY "&fieldManager=m", AP, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{", "\"k#\":\"\"", ",", "}}", 20000, NULL, NULL},
	{"apply yaml map", "PATCH", CMS "/b" DRY "&fieldManager=m", AP, "apiVersion: v1\nkind: ConfigMap\ndata:\n", "  k#: ''\n", "", "", 20000, NULL, NULL},
	{"apply containers", "PATCH", DEPS "/d" DRY "&fieldManager=m&force=true", AP, DEP("d") "{\"template\":{\"spec\":{\"containers\":[", "{\"name\":\"c#\"}", ",", "]}}}}", 8000, A_DEP, NULL},
	{"apply finalizers", "PATCH", CMS "/a" DRY "&fieldManager=m", AP, CM(",\"finalizers\":["), "\"a.b/c#\"", ",", "]}}", 15000, A_CM, NULL},
	{"apply over others", "PATCH", CMS "/a" DRY "&fieldManager=m&force=true", AP, CM("},\"data\":{"), "\"k#\":\"y\"", ",", "}}", 10000, NULL, "@" CMS},
	{"review extra list", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"},\"x\":[", "{}", ",", "]}}", 120000, NULL, NULL},
	{"review extra map", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"},\"x\":{", "\"k#\":0", ",", "}}}", 30000, NULL, NULL},
	{"review groups", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", NULL, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":\"u\",\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"},\"groups\":[", "\"g#\"", ",", "]}}", 20000, NULL, NULL},
	{"review token", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", NULL, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"x\",\"audiences\":[", "\"a#\"", ",", "]}}", 30000, NULL, NULL},
	{"crd properties", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"properties\":{", "\"p#\":{\"type\":\"string\"}", ",", "}}" CRD_TAIL, 8000, NULL, NULL},
	{"crd enum", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"string\",\"enum\":[", "\"e#\"", ",", "]}" CRD_TAIL, 20000, NULL, NULL},
	{"crd required", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"required\":[", "\"e#\"", ",", "]}" CRD_TAIL, 20000, NULL, NULL},
	{"crd allOf", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"allOf\":[", "{\"required\":[\"a#\"]}", ",", "]}" CRD_TAIL, 8000, NULL, NULL},
	{"crd patterns", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"properties\":{", "\"p#\":{\"type\":\"string\",\"pattern\":\"^[a-z]([-a-z0-9]*[a-z0-9])?$\"}", ",", "}}" CRD_TAIL, 2500, NULL, NULL},
	{"crd rules", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"x-kubernetes-validations\":[", "{\"rule\":\"self.size() >= 0 || @ > 0\"}", ",", "]}" CRD_TAIL, 4000, NULL, NULL},
	{"crd defaults", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"properties\":{", "\"p#\":{\"type\":\"string\",\"default\":\"d\"}", ",", "}}" CRD_TAIL, 6000, NULL, NULL},
	{"crd default value", "POST", CRDS DRY, NULL, CRD_HEAD ANY ",\"d\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"default\":{", "\"k#\":0", ",", "}}" CRD_TAIL, 15000, NULL, NULL},
	{"crd versions", "POST", CRDS DRY, NULL, "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"xs.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"xs\",\"kind\":\"X\"},\"versions\":[", "{\"name\":\"v@\",\"served\":true,\"storage\":false,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}", ",", "]}}", 1500, NULL, NULL},
	{"crd list keys", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}},\"x-kubernetes-list-map-keys\":[", "\"k#\"", ",", "]}" CRD_TAIL, 10000, NULL, NULL},
	{"crd create and serve", "POST", CRDS, NULL, CRD_HEAD "{\"type\":\"object\",\"properties\":{", "\"p#\":{\"type\":\"string\"}", ",", "}}" CRD_TAIL, 6000, NULL, NULL},
	{"cr properties", "POST", XS DRY, NULL, X("},\"spec\":{"), "\"k#\":\"\"", ",", "}}", 20000, CRD("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"), NULL},
	{"cr preserved", "POST", XS DRY, NULL, X("},\"spec\":{"), "\"k#\":\"\"", ",", "}}", 20000, CRD(ANY), NULL},
	{"cr pruned", "POST", XS DRY, NULL, X("},\"spec\":{"), "\"k#\":\"\"", ",", "}}", 20000, CRD("{\"type\":\"object\"}"), NULL},
	{"cr pruned strict", "POST", XS DRY "&fieldValidation=Strict", NULL, X("},\"spec\":{"), "\"k#\":\"\"", ",", "}}", 20000, CRD("{\"type\":\"object\"}"), NULL},
	{"cr set", "POST", XS DRY, NULL, X("},\"spec\":["), "\"i#\"", ",", "]}", 20000, CRD("{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}"), NULL},
	{"cr list map", "POST", XS DRY, NULL, X("},\"spec\":["), "{\"k\":\"i#\"}", ",", "]}", 15000, CRD("{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"],\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"string\"}}}}"), NULL},
	{"cr invalid items", "POST", XS DRY, NULL, X("},\"spec\":["), "1", ",", "]}", 60000, CRD(LIST_OF("{\"type\":\"string\"}")), NULL},
	{"cr patterns", "POST", XS DRY, NULL, X("},\"spec\":["), "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", ",", "]}", 1000, CRD(LIST_OF("{\"type\":\"string\",\"pattern\":\"^(a|aa)+$\"}")), NULL},
	{"cr pattern long", "POST", XS DRY, NULL, X("},\"spec\":\""), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "", "\"}", 8000, CRD("{\"type\":\"string\",\"pattern\":\"(a+a+)+[bc]\"}"), NULL},
	{"cr pattern every start", "POST", XS DRY, NULL, X("},\"spec\":\""), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "", "\"}", 2000, CRD("{\"type\":\"string\",\"pattern\":\"x*[yz]\"}"), NULL},
	{"cr enum", "POST", XS DRY, NULL, X("},\"spec\":["), "\"e9\"", ",", "]}", 20000, CRD(LIST_OF("{\"type\":\"string\",\"enum\":[\"e0\",\"e1\",\"e2\",\"e3\",\"e4\",\"e5\",\"e6\",\"e7\",\"e8\",\"e9\"]}")), NULL},
	{"cr default items", "POST", XS DRY, NULL, X("},\"spec\":["), "{}", ",", "]}", 5000, CRD(LIST_OF("{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"default\":{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32],\"b\":{\"c\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}}}}")), NULL},
	{"cr cel all", "POST", XS DRY, NULL, X("},\"spec\":{\"f\":["), "1", ",", "]}}", 20000, CRD(RULE("object", "\"properties\":{\"f\":" LIST_OF("{\"type\":\"integer\"}") "},", "self.f.all(a, a >= 0)")), NULL},
	{"cr cel nested", "POST", XS DRY, NULL, X("},\"spec\":{\"f\":["), "1", ",", "]}}", 1000, CRD(RULE("object", "\"properties\":{\"f\":" LIST_OF("{\"type\":\"integer\"}") "},", "self.f.all(a, self.f.all(b, a + b >= 0))")), NULL},
	{"cr cel items", "POST", XS DRY, NULL, X("},\"spec\":["), "{\"a\":1}", ",", "]}", 20000, CRD(LIST_OF(RULE("object", "\"properties\":{\"a\":{\"type\":\"integer\"}},", "self.a >= 0"))), NULL},
	{"cr cel matches", "POST", XS DRY, NULL, X("},\"spec\":{\"s\":["), "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", ",", "]}}", 1000, CRD(RULE("object", "\"properties\":{\"s\":" LIST_OF("{\"type\":\"string\"}") "},", "self.s.all(x, !x.matches('^(a|aa)+$'))")), NULL},
	{"cr cel matches of data", "POST", XS DRY, NULL, X("},\"spec\":{\"p\":\"(a?){40}(a|aa)+\",\"s\":["), "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", ",", "]}}", 1000, CRD(RULE("object", "\"properties\":{\"p\":{\"type\":\"string\"},\"s\":" LIST_OF("{\"type\":\"string\"}") "},", "self.s.all(x, x.matches(self.p) || true)")), NULL},
	{"cr cel text", "POST", XS DRY, NULL, X("},\"spec\":\""), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "", "\"}", 5000, CRD(RULE("string", "", "self.replace('a','bb').split('b').map(x, self).size() > 0 && !self.contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab')")), NULL},
	{"cr cel equal", "POST", XS DRY, NULL, X("},\"spec\":{\"f\":["), "#", ",", "]}}", 2000, CRD(RULE("object", "\"properties\":{\"f\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"integer\"}}},", "self.f == self.f.map(x, x)")), NULL},
	{"list", "GET", CMS, NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list selector", "GET", CMS "?labelSelector=l%20in%20(v1,v2,v3),m!=x,!n", NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list field selector", "GET", CMS "?fieldSelector=metadata.name!=a1,metadata.namespace=default", NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list table", "GET", CMS, "@table", NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list yaml", "GET", CMS, "@yaml", NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"delete collection", "DELETE", CMS, NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"delete namespace", "DELETE", NS, NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list selector of terms", "GET", CMS "?labelSelector=l%20in%20(v1,v2,v3,v4,v5,v6,v7,v8,v9,v10,v11,v12,v13,v14,v15,v16,v17,v18,v19,v20),a!=1,a!=2,a!=3,a!=4,a!=5,a!=6,a!=7,a!=8,a!=9", NULL, NULL, CM("@\",\"labels\":{\"l\":\"v@\"}},\"data\":{\"a\":\"b\"}}"), NULL, NULL, 1500, NULL, CMS},
	{"list cr table", "GET", XS, "@table", NULL, X("@\"},\"spec\":{\"a\":[{\"b\":1},{\"b\":2},{\"b\":3}],\"s\":\"x\"}}"), NULL, NULL, 1000, CRDS "\n" CRD_HEAD ANY "}},\"x\":1},\"additionalPrinterColumns\":[{\"name\":\"a\",\"type\":\"string\",\"jsonPath\":\".spec.a[*].b\"},{\"name\":\"b\",\"type\":\"string\",\"jsonPath\":\".spec.a[?(@.b==2)].b\"},{\"name\":\"c\",\"type\":\"string\",\"jsonPath\":\"..b\"}]}]}}", XS},
	{"get cr table", "GET", XS, "@table", NULL, X("@\"},\"spec\":{\"s\":\"x\"}}"), NULL, NULL, 500, CRDS "\n" CRD_HEAD ANY "}},\"x\":1},\"additionalPrinterColumns\":[{\"name\":\"a\",\"type\":\"string\",\"jsonPath\":\"..*..*..*\"}]}]}}", XS},
	{"crd columns", "POST", CRDS DRY, NULL, CRD_HEAD ANY "}},\"x\":1},\"additionalPrinterColumns\":[", "{\"name\":\"c#\",\"type\":\"string\",\"jsonPath\":\".spec.a[*].b\"}", ",", "]}]}}", 4000, NULL, NULL},
	{"crd short names", "POST", CRDS DRY, NULL, "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"xs.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}],\"names\":{\"plural\":\"xs\",\"kind\":\"X\",\"shortNames\":[", "\"s#\"", ",", "]}}}", 20000, NULL, NULL},
	{"crd rules of one cost", "POST", CRDS DRY, NULL, CRD_HEAD "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"x-kubernetes-validations\":[", "{\"rule\":\"self.a >= 0 || @ > 0\"}", ",", "]}" CRD_TAIL, 4000, NULL, NULL},
	{"review rules", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", NULL, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"default\",\"x\":[", "{}", ",", "]}}", 60000, NULL, NULL},
	{"review own", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", NULL, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\",\"x\":[", "{}", ",", "]}", 60000, NULL, NULL},
	{"cr anyOf nested", "POST", XS DRY, NULL, X("},\"spec\":["), "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}", ",", "]}", 8000, CRD(LIST_OF("{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"anyOf\":[{\"required\":[\"b\"]},{\"required\":[\"c\"]},{\"required\":[\"a\"]}],\"not\":{\"required\":[\"z\"]}}")), NULL},
	{"cr two hundred enums", "POST", XS DRY, NULL, X("},\"spec\":["), "\"z\"", ",", "]}", 60000, CRD(LIST_OF("{\"type\":\"string\",\"enum\":[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\",\"m\",\"n\",\"o\",\"p\",\"q\",\"r\",\"s\",\"t\",\"u\",\"v\",\"w\",\"x\",\"y\"]}")), NULL},
	{"openapi", "GET", "/openapi/v2", NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL},
};
/* clang-format on */

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* VmHWM or VmRSS, in bytes; 0 where there is no /proc. */
static size_t memory(const char *what)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
	struct error err = ERROR_INIT;
	uint64_t kib = 0;
	if (file_read("/proc/self/status", &b, &err) < 0)
		return 0;
	ptrdiff_t at = str_find(strbuf_str(&b), str_of(what));
	if (at < 0)
		return 0;
	struct str rest = str_trim_left(str_skip(strbuf_str(&b), (size_t)at + strlen(what) + 1));
	size_t n = 0;
	while (n < rest.len && char_is_digit(rest.ptr[n]))
		n++;
	str_parse_u64(str_sub(rest, 0, n), &kib);
	return (size_t)kib << 10;
}

static void memory_peak_reset(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");
	if (!f)
		return;
	(void)fputs("5", f);
	(void)fclose(f);
}

static void add_item(struct strbuf *b, const char *item, int i, int n)
{
	for (; *item; item++) {
		if (*item == '@')
			strbuf_addf(b, "%d", i);
		else if (*item == '#')
			strbuf_addf(b, "%d", (int)((unsigned)i * 2654435761u % (unsigned)(8 * n)));
		else
			strbuf_addc(b, *item);
	}
}

static void body_of(const struct load *l, int n, struct strbuf *b)
{
	strbuf_adds(b, l->head);
	for (int i = 0; i < n; i++) {
		if (i)
			strbuf_adds(b, l->sep);
		add_item(b, l->item, i, n);
	}
	strbuf_adds(b, l->tail);
}

static void setup(struct apifake *f, const struct load *l, int n)
{
	struct str target, body;
	if (l->setup && str_cut(str_of(l->setup), '\n', &target, &body)) {
		CLEANUP(xfreep) char *t = str_dup(target);
		struct answer a = apifake_do(f, "POST", t, body.ptr);
		if (a.status != 201)
			fprintf(stderr, "bench_cost: %s: setup: %d %.*s\n", l->name, a.status,
				STR_ARG(a.body));
	}
	for (int i = 0; l->objects && *l->objects != '@' && i < n; i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
		add_item(&b, l->item, i, n);
		ptrdiff_t at = str_find(strbuf_str(&b), STR("\"name\":\"a\""));
		if (at >= 0) /* CM() closes the name: "a" and the rest of the item in one */
			strbuf_remove(&b, (size_t)at + 9, 1);
		apifake_send(f, "POST", l->objects, NULL, b.buf);
		if (i % 100 == 99) {
			apifake_run(f);
			apifake_forget(f);
		}
	}
	apifake_run(f);
	apifake_forget(f);
}

struct cost {
	double cpu_s;
	size_t bytes, rss;
	int status;
};

static const char *shown;

static struct cost once(const struct load *l, int n)
{
	struct cost c = {0};
	static const struct apifake_options options = {.with_audit = true};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)8 << 20);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&options);
	setup(f, l, n);
	if (l->head)
		body_of(l, n, &b);
	if (l->objects && *l->objects == '@') { /* written once before, by another */
		apifake_do(f, "POST", l->objects + 1, b.buf);
		apifake_forget(f);
	}
	const char *type = l->type;
	if (type && *type == '@') {
		apifake_header(f, "Accept",
			       type[1] == 't' ? "application/json;as=Table;v=v1;g=meta.k8s.io"
					      : "application/yaml");
		type = NULL;
	}
	mem_trim();
	memory_peak_reset();
	size_t before = memory("VmRSS:");
	double t = cpu_s();
	size_t id = apifake_send(f, l->method, l->target, type, l->head ? b.buf : NULL);
	apifake_run(f);
	c.cpu_s = cpu_s() - t;
	size_t peak = memory("VmHWM:");
	c.rss = peak > before ? peak - before : 0;
	c.bytes = b.len ? b.len : apifake_bytes(f, id);
	struct answer a = apifake_answer(f, id);
	c.status = a.status;
	if (shown && a.status >= 400)
		printf("    %d %.*s\n", a.status, (int)(a.body.len < 600 ? a.body.len : 600),
		       a.body.ptr);
	return c;
}

static struct cost measure(const struct load *l, int n)
{
	struct cost best = once(l, n);
	for (int i = 1; i < REPEATS && best.cpu_s < 1; i++) {
		struct cost c = once(l, n);
		best.cpu_s = c.cpu_s < best.cpu_s ? c.cpu_s : best.cpu_s;
		best.rss = c.rss < best.rss ? c.rss : best.rss;
	}
	return best;
}

/* 1 if it is marked. */
static int bench(const struct load *l)
{
	struct cost c[3];
	for (int i = 0; i < 3; i++)
		c[i] = measure(l, l->n << i);
	double growth = c[0].cpu_s > 0 ? c[2].cpu_s / c[0].cpu_s : 0;
	double ratio = (double)c[2].rss / (double)(c[2].bytes ? c[2].bytes : 1);
	bool steep = growth > GROWTH_MAX && c[2].cpu_s > GROWTH_CPU_S;
	bool heavy = c[2].cpu_s > CPU_S_MAX && l->head;
	bool fat = ratio > RSS_RATIO_MAX && c[2].rss > RSS_MIN;
	printf("%-28s %8zu B %3d  %8.1f %8.1f %8.1f ms  x%-5.1f %5zu MiB = %5.1f x%s%s%s\n",
	       l->name, c[2].bytes, c[2].status, c[0].cpu_s * 1e3, c[1].cpu_s * 1e3,
	       c[2].cpu_s * 1e3, growth, c[2].rss >> 20, ratio, steep ? " STEEP" : "",
	       heavy ? " HEAVY" : "", fat ? " FAT" : "");
	(void)fflush(stdout);
	return steep || heavy || fat;
}

int main(int argc, char **argv)
{
	int marked = 0;
	shown = getenv("SHOW");
	printf("%-28s %10s      %8s %8s %8s     growth peak\n", "at 4x:", "body", "1x", "2x", "4x");
	for (size_t i = 0; i < ARRAY_LEN(loads); i++)
		if (argc < 2 || strstr(loads[i].name, argv[1]))
			marked += bench(&loads[i]);
	printf("%d marked\n", marked);
	return marked > 0;
}
