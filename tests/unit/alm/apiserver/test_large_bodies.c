/* test_large_bodies.c: bodies below all limits of a request that took all memory of the server, or minutes, before each check
 * had a bound. One that has none again ends this program, or its time. */
#include <string.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define BODY_MAX ((size_t)2 << 20)
#define V1       "/api/v1/namespaces/default/"
#define POD \
	"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\""

static void repeat(struct strbuf *b, const char *item, const char *between, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(b, "%s%s", i ? between : "", item);
}

/* The message of an owner has all owners. */
static void owners(struct strbuf *b)
{
	strbuf_adds(b, "{\"metadata\":{\"name\":\"x\",\"ownerReferences\":[{\"controller\":true,"
		       "\"kind\":\"");
	repeat(b, "k", "", 100000);
	strbuf_adds(b, "\"},");
	repeat(b,
	       "{\"controller\":true,\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\",\"apiVersion\":"
	       "\"v1\"}",
	       ",", 4000);
	strbuf_adds(b, "]}}");
}

/* A path for each kind of volume. */
static void volumes(struct strbuf *b)
{
	strbuf_adds(b, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"schedule\":\"* * * * "
		       "*\",\"jobTemplate\":{\"spec\":{"
		       "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{"
		       "\"name\":\"c\",\"image\":\"i\"}],\"volumes\":[");
	repeat(b, "{\"fc\":{}}", ",", 60000); /* each gets its empty name */
	strbuf_adds(b, "]}}}}}}");
}

/* Each part has a message with the whole. */
static void registry(struct strbuf *b)
{
	strbuf_adds(
		b, POD
		"}],\"volumes\":[{\"name\":\"v\",\"quobyte\":{\"volume\":\"x\",\"registry\":\"");
	repeat(b, ",", "", 1000000);
	strbuf_adds(b, "\"}}]}}");
}

static void signer(struct strbuf *b)
{
	strbuf_adds(b, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"request\":\"YQ==\",\"usages\":["
		       "\"any\"],\"signerName\":\"");
	repeat(b, ".", "", 1000000);
	strbuf_adds(b, "/x\"}}");
}

/* Each variable looks for its volume. */
static void files(struct strbuf *b)
{
	strbuf_adds(b, POD ",\"env\":[");
	repeat(b,
	       "{\"name\":\"A\",\"valueFrom\":{\"fileKeyRef\":{\"volumeName\":\"v\",\"path\":\"p\","
	       "\"key\":\"k\"}}}",
	       ",", 9000);
	strbuf_adds(b, "]}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}},");
	repeat(b, "{}", ",", 20000);
	strbuf_adds(b, "]}}");
}

/* Each place is looked for among the others. */
static void spread(struct strbuf *b)
{
	strbuf_adds(b, POD "}],\"topologySpreadConstraints\":[");
	repeat(b,
	       "{\"maxSkew\":1,\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"DoNotSchedule\","
	       "\"minDomains\":1}",
	       ",", 16000);
	strbuf_adds(b, "]}}");
}

/* Long paths to short items. */
static void affinity(struct strbuf *b)
{
	strbuf_adds(b, POD "}],\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnored"
			   "DuringExecution\":[{\"topologyKey\":\"\",\"labelSelector\":{"
			   "\"matchExpressions\":[");
	repeat(b, "{\"key\":\"a\",\"operator\":\"Exists\"}", ",", 40000);
	strbuf_adds(b, "]}}]}}}}");
}

/* Each capability tells the whole. */
static void capabilities(struct strbuf *b)
{
	strbuf_adds(b, POD ",\"securityContext\":{\"allowPrivilegeEscalation\":false,"
			   "\"capabilities\":{\"add\":[");
	repeat(b, "\"CAP_SYS_ADMIN\"", ",", 85000);
	strbuf_adds(b, "]}}}]}}");
}

static void test_large_bodies__are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		void (*make)(struct strbuf *b);
	} rows[] = {
		{V1 "configmaps", owners},
		{"/apis/batch/v1/namespaces/default/cronjobs", volumes},
		{V1 "pods", registry},
		{"/apis/certificates.k8s.io/v1/certificatesigningrequests", signer},
		{V1 "pods", files},
		{V1 "pods", spread},
		{V1 "pods", affinity},
		{V1 "pods", capabilities},
	};
	struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BODY_MAX);
		rows[i].make(&b);
		assert_false(b.over);
		struct answer a = apifake_do(f, "POST", rows[i].target, b.buf);
		if (a.status != 422)
			fail_msg("%s: %d %.*s", rows[i].target, a.status,
				 STR_ARG(str_clip(a.body, 200)));
	}
	apifake_free(f);
}

/* A patch that makes an object larger than one may be is refused, and nothing changes. */
static void test_large_bodies__of_an_update(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int part = 0; part < 2; part++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BODY_MAX);
		strbuf_adds(&b, "{\"metadata\":{\"name\":\"x\"},\"data\":{");
		for (int i = 0; i < 50000; i++)
			strbuf_addf(&b, "%s\"%c%06d\":\"\"", i ? "," : "", 'a' + part, i);
		strbuf_adds(&b, "}}");
		struct answer a = apifake_do_type(
			f, part ? "PATCH" : "POST", part ? V1 "configmaps/x" : V1 "configmaps",
			part ? "application/merge-patch+json" : "application/json", b.buf);
		assert_int_equal(a.status, part ? 413 : 201);
	}
	struct answer a = apifake_do(f, "GET", V1 "configmaps/x", NULL);
	assert_int_equal(obj_len(obj_get(a.json, "data")), 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_bodies__are_refused),
		cmocka_unit_test(test_large_bodies__of_an_update),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
