/* Owners, propagation, namespaces, Events' hour. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"
#include "tests/lib/exchange_fake.h"

#define CMS   "/api/v1/namespaces/default/configmaps"
#define CRDS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MANY  230 /* ENGINE_BATCH: 100 */
#define MERGE "application/merge-patch+json"
#define JOBS  "/apis/batch/v1/namespaces/default/jobs"
#define JOB                                                                                   \
	"{\"metadata\":{\"name\":\"o\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":" \
	"\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
#define JOB_REF "\"apiVersion\":\"batch/v1\",\"kind\":\"Job\""
#define RCS     "/api/v1/namespaces/default/replicationcontrollers"
#define RC                                                                                         \
	"{\"metadata\":{\"name\":\"o\"},\"spec\":{\"replicas\":0,\"template\":{\"metadata\":{"     \
	"\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}" \
	"}"
#define RC_REF "\"apiVersion\":\"v1\",\"kind\":\"ReplicationController\""

/* A ConfigMap; its uid is copied out. */
static void make(struct apifake *f, const char *name, const char *owner_refs, char uid[37])
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
		    "\"ownerReferences\":[%s]}}",
		    name, owner_refs);
	struct answer a = apifake_do(f, "POST", CMS, b.buf);
	assert_int_equal(a.status, 201);
	memcpy(uid, obj_str(a.json, "metadata.uid"), 37);
}

static const char *ref(struct arena *a, const char *name, const char *uid, bool blocks)
{
	return arena_fmt(a,
			 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\",\"uid\":"
			 "\"%s\",\"blockOwnerDeletion\":%s}",
			 name, uid, blocks ? "true" : "false");
}

static int status_of(struct apifake *f, const char *target)
{
	return apifake_do(f, "GET", target, NULL).status;
}

static void test_gc__dependents_follow(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37], dep[37], leaf[37];
	make(f, "owner", "", owner);
	make(f, "dep", ref(a, "owner", owner, false), dep);
	make(f, "leaf", ref(a, "dep", dep, false), leaf);
	apifake_do(f, "DELETE", CMS "/owner", NULL);
	assert_int_equal(status_of(f, CMS "/dep"), 404);
	assert_int_equal(status_of(f, CMS "/leaf"), 404);
}

static void test_gc__one_living_owner_is_enough(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char one[37], two[37], dep[37];
	make(f, "one", "", one);
	make(f, "two", "", two);
	make(f, "dep", arena_fmt(a, "%s,%s", ref(a, "one", one, false), ref(a, "two", two, false)),
	     dep);
	apifake_do(f, "DELETE", CMS "/one", NULL);
	struct answer x = apifake_do(f, "GET", CMS "/dep", NULL);
	assert_int_equal(x.status, 200);
	assert_int_equal(obj_len(obj_path(x.json, "metadata.ownerReferences")), 1);
	assert_string_equal(obj_str(x.json, "metadata.ownerReferences[0].uid"), two);
}

static void test_gc__owner_that_never_was(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char dep[37];
	make(f, "dep", ref(a, "x", "00000000-0000-4000-8000-000000000000", false), dep);
	assert_int_equal(status_of(f, CMS "/dep"), 404);
}

static void test_gc__owner_of_another_namespace_is_none(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37];
	make(f, "owner", "", owner);
	const char *dep = arena_fmt(a,
				    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				    "\"name\":\"dep\",\"ownerReferences\":[%s]}}",
				    ref(a, "owner", owner, false));
	apifake_do(f, "POST", "/api/v1/namespaces/kube-public/configmaps", dep);
	assert_int_equal(status_of(f, "/api/v1/namespaces/kube-public/configmaps/dep"), 404);
	struct answer e = apifake_do(f, "GET", "/api/v1/namespaces/kube-public/events", NULL);
	assert_string_equal(obj_str(e.json, "items[0].reason"), "OwnerRefInvalidNamespace");
}

/* The uid is that of a ConfigMap. */
static void test_gc__owner_of_another_kind_is_none(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37], dep[37];
	make(f, "owner", "", owner);
	make(f, "dep",
	     arena_fmt(a,
		       "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"owner\","
		       "\"uid\":\"%s\"}",
		       owner),
	     dep);
	assert_int_equal(status_of(f, CMS "/dep"), 404);
	assert_int_equal(status_of(f, CMS "/owner"), 200);
}

static void test_gc__orphans_stay(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37], dep[37];
	make(f, "owner", "", owner);
	make(f, "dep", ref(a, "owner", owner, false), dep);
	apifake_do(f, "DELETE", CMS "/owner?propagationPolicy=Orphan", NULL);
	assert_int_equal(status_of(f, CMS "/owner"), 404);
	struct answer x = apifake_do(f, "GET", CMS "/dep", NULL);
	assert_int_equal(x.status, 200);
	assert_null(obj_path(x.json, "metadata.ownerReferences"));
}

/* More than one turn takes. */
static void test_gc__many_orphans_stay(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37], dep[37];
	make(f, "owner", "", owner);
	for (int i = 0; i < MANY; i++)
		make(f, arena_fmt(a, "dep-%d", i), ref(a, "owner", owner, false), dep);
	apifake_do(f, "DELETE", CMS "/owner?propagationPolicy=Orphan", NULL);
	assert_int_equal(status_of(f, CMS "/owner"), 404);
	for (int i = 0; i < MANY; i++) {
		struct answer x = apifake_do(f, "GET", arena_fmt(a, CMS "/dep-%d", i), NULL);
		assert_int_equal(x.status, 200);
		assert_null(obj_path(x.json, "metadata.ownerReferences"));
	}
}

static void test_gc__foreground_waits_for_blockers(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char owner[37], dep[37];
	make(f, "owner", "", owner);
	make(f, "dep", ref(a, "owner", owner, true), dep);
	apifake_do_type(f, "PATCH", CMS "/dep", MERGE,
			"{\"metadata\":{\"finalizers\":[\"x.y/z\"]}}");
	apifake_do(f, "DELETE", CMS "/owner?propagationPolicy=Foreground", NULL);
	assert_int_equal(status_of(f, CMS "/owner"), 200);
	assert_non_null(
		obj_str(apifake_do(f, "GET", CMS "/dep", NULL).json, "metadata.deletionTimestamp"));
	apifake_do_type(f, "PATCH", CMS "/dep", MERGE, "{\"metadata\":{\"finalizers\":[]}}");
	assert_int_equal(status_of(f, CMS "/dep"), 404);
	assert_int_equal(status_of(f, CMS "/owner"), 404);
}

/* Whatever owns one goes, and does not wait for it; it stays as it is. */
static void test_gc__definitions_are_never_collected(void **state)
{
	static const struct {
		const char *kind, *version, *target;
	} owners[] = {
		{"Namespace", "v1", "/api/v1/namespaces"},
		{"ClusterRole", "rbac.authorization.k8s.io/v1",
		 "/apis/rbac.authorization.k8s.io/v1/clusterroles"},
	};
	static const char *const ways[] = {"", "?propagationPolicy=Foreground",
					   "?propagationPolicy=Background"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(owners) * ARRAY_LEN(ways); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		const char *kind = owners[i / ARRAY_LEN(ways)].kind,
			   *version = owners[i / ARRAY_LEN(ways)].version,
			   *target = owners[i / ARRAY_LEN(ways)].target;
		const char *one = arena_fmt(a, "%s/owner", target);
		struct answer owner = apifake_do(f, "POST", target,
						 arena_fmt(a,
							   "{\"apiVersion\":\"%s\",\"kind\":\"%s\","
							   "\"metadata\":{\"name\":\"owner\"}}",
							   version, kind));
		const char *crd =
			arena_fmt(a,
				  "{\"apiVersion\":\"apiextensions.k8s.io/"
				  "v1\",\"kind\":\"CustomResourceDefinition\","
				  "\"metadata\":{\"name\":\"ws.e.io\",\"ownerReferences\":[{"
				  "\"apiVersion\":\"%s\","
				  "\"kind\":\"%s\",\"name\":\"owner\",\"uid\":\"%s\","
				  "\"blockOwnerDeletion\":true}]},"
				  "\"spec\":{\"group\":\"e.io\",\"scope\":\"Cluster\",\"names\":{"
				  "\"plural\":\"ws\","
				  "\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
				  "\"storage\":true,"
				  "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
				  version, kind, obj_str(owner.json, "metadata.uid"));
		assert_int_equal(apifake_do(f, "POST", CRDS, crd).status, 201);
		apifake_do(f, "DELETE", arena_fmt(a, "%s%s", one, ways[i % ARRAY_LEN(ways)]), NULL);
		assert_int_equal(status_of(f, one), 404);
		struct answer left = apifake_do(f, "GET", CRDS "/ws.e.io", NULL);
		assert_int_equal(left.status, 200);
		assert_null(obj_str(left.json, "metadata.deletionTimestamp"));
	}
}

static void test_gc__namespace_takes_its_content_along(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const char ns[] = "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
				 "\"name\":\"n\"}}";
	static const char cm[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				 "\"name\":\"a\",\"finalizers\":[\"x.y/z\"]}}";
	apifake_do(f, "POST", "/api/v1/namespaces", ns);
	assert_int_equal(status_of(f, "/api/v1/namespaces/n/serviceaccounts/default"), 200);
	assert_int_equal(status_of(f, "/api/v1/namespaces/n/configmaps/kube-root-ca.crt"), 200);
	apifake_do(f, "POST", "/api/v1/namespaces/n/configmaps", cm);
	apifake_do(f, "DELETE", "/api/v1/namespaces/n", NULL);
	assert_int_equal(status_of(f, "/api/v1/namespaces/n"), 200);
	assert_int_equal(apifake_do(f, "POST", "/api/v1/namespaces/n/configmaps", cm).status, 403);
	apifake_do_type(f, "PATCH", "/api/v1/namespaces/n/configmaps/a", MERGE,
			"{\"metadata\":{\"finalizers\":null}}");
	assert_int_equal(status_of(f, "/api/v1/namespaces/n"), 404);
	assert_int_equal(status_of(f, "/api/v1/namespaces/n/configmaps/a"), 404);
}

/* Pods trust what it says. */
static void test_gc__the_root_certificate_comes_back(void **state)
{
	static const struct {
		const char *method, *body;
	} rows[] = {
		{"DELETE", NULL},
		{"PUT",
		 "{\"metadata\":{\"name\":\"kube-root-ca.crt\"},\"data\":{\"ca.crt\":\"x\"}}"},
		{"PATCH", "{\"data\":{\"more\":\"x\"},\"metadata\":{\"annotations\":null}}"},
	};
	static const char *const ca = CMS "/kube-root-ca.crt";
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *type = rows[i].method[1] == 'A' ? MERGE : "application/json";
		assert_int_equal(apifake_do_type(f, rows[i].method, ca, type, rows[i].body).status,
				 200);
		struct answer a = apifake_do(f, "GET", ca, NULL);
		assert_int_equal(a.status, 200);
		assert_string_equal(obj_as_string(obj_get(obj_get(a.json, "data"), "ca.crt")), "");
		assert_int_equal(obj_len(obj_get(a.json, "data")), 1);
		assert_int_equal(obj_len(obj_path(a.json, "metadata.annotations")), 1);
	}
}

/* Each blocks its owner, the last of them the first: the collector of Kubernetes unblocks the one
 * that closes the circle. */
static void test_gc__a_circle_is_no_block(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	char uid[3][37];
	make(f, "one", "", uid[0]);
	make(f, "two", ref(a, "one", uid[0], true), uid[1]);
	make(f, "three", ref(a, "two", uid[1], true), uid[2]);
	const char *closed = arena_fmt(a, "{\"metadata\":{\"ownerReferences\":[%s]}}",
				       ref(a, "three", uid[2], true));
	assert_int_equal(apifake_do_type(f, "PATCH", CMS "/one", MERGE, closed).status, 200);
	apifake_do(f, "DELETE", CMS "/one?propagationPolicy=Foreground", NULL);
	assert_int_equal(status_of(f, CMS "/one"), 404);
	assert_int_equal(status_of(f, CMS "/two"), 404);
	assert_int_equal(status_of(f, CMS "/three"), 404);
}

/* Clients of old were told nothing of dependents, and those of these two kinds stayed. */
static void test_gc__some_kinds_leave_dependents(void **state)
{
	static const struct {
		const char *list, *body, *kind, *query;
		int status; /* of the dependent, afterwards */
		bool warns;
	} rows[] = {
		{JOBS, JOB, JOB_REF, "", 200, true},
		{JOBS, JOB, JOB_REF, "?propagationPolicy=Background", 404, false},
		{JOBS, JOB, JOB_REF, "?propagationPolicy=Orphan", 200, false},
		{RCS, RC, RC_REF, "", 200, false},
		{RCS, RC, RC_REF, "?orphanDependents=false", 404, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		char uid[37];
		struct answer owner = apifake_do(f, "POST", rows[i].list, rows[i].body);
		assert_int_equal(owner.status, 201);
		make(f, "dep",
		     arena_fmt(a, "{%s,\"name\":\"o\",\"uid\":\"%s\"}", rows[i].kind,
			       obj_str(owner.json, "metadata.uid")),
		     uid);
		struct answer gone = apifake_do(
			f, "DELETE", arena_fmt(a, "%s/o%s", rows[i].list, rows[i].query), NULL);
		assert_int_equal(gone.status, 200);
		const char *said = http_header(gone.headers, "Warning");
		assert_int_equal(said != NULL, rows[i].warns);
		assert_int_equal(status_of(f, arena_fmt(a, "%s/o", rows[i].list)), 404);
		assert_int_equal(status_of(f, CMS "/dep"), rows[i].status);
	}
}

static void test_gc__events_live_an_hour(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", "/api/v1/namespaces/default/events",
		   "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
		   "\"involvedObject\":{\"namespace\":\"default\"}}");
	apifake_advance(f, 59 * NS_PER_MIN);
	assert_int_equal(status_of(f, "/api/v1/namespaces/default/events/e"), 200);
	apifake_advance(f, 3 * NS_PER_MIN);
	assert_int_equal(status_of(f, "/api/v1/namespaces/default/events/e"), 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc__dependents_follow),
		cmocka_unit_test(test_gc__one_living_owner_is_enough),
		cmocka_unit_test(test_gc__owner_that_never_was),
		cmocka_unit_test(test_gc__owner_of_another_namespace_is_none),
		cmocka_unit_test(test_gc__owner_of_another_kind_is_none),
		cmocka_unit_test(test_gc__orphans_stay),
		cmocka_unit_test(test_gc__many_orphans_stay),
		cmocka_unit_test(test_gc__foreground_waits_for_blockers),
		cmocka_unit_test(test_gc__definitions_are_never_collected),
		cmocka_unit_test(test_gc__namespace_takes_its_content_along),
		cmocka_unit_test(test_gc__the_root_certificate_comes_back),
		cmocka_unit_test(test_gc__a_circle_is_no_block),
		cmocka_unit_test(test_gc__some_kinds_leave_dependents),
		cmocka_unit_test(test_gc__events_live_an_hour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
