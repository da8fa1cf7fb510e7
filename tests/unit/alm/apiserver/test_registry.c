/* Verbs on objects, through apiserver_handle(). */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/obj/json.h"
#include "alm/obj/obj.h"
#include "alm/unit/ready.h"
#include "tests/lib/exchange_fake.h"

#define CMS   "/api/v1/namespaces/default/configmaps"
#define MERGE "application/merge-patch+json"

static const char cm_a[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			   "\"a\"},\"data\":{\"k\":\"1\"}}";

static const char crd[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":\"Namespaced\","
	"\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\",\"served\":"
	"true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{"
	"\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"n\":{"
	"\"type\":\"integer\",\"default\":3}}},\"status\":{\"type\":\"object\",\"properties\":{"
	"\"p\":{\"type\":\"string\"}}}}}}}]}}";
#define WS "/apis/e.io/v1/namespaces/default/ws"
static const char w_a[] =
	"{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"a\"},"
	"\"spec\":{},\"status\":{\"p\":\"x\"}}";

static void test_registry__create_sets_metadata(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", CMS, cm_a);
	assert_int_equal(a.status, 201);
	assert_non_null(obj_str(a.json, "metadata.uid"));
	assert_non_null(obj_str(a.json, "metadata.creationTimestamp"));
	assert_string_equal(obj_str(a.json, "metadata.namespace"), "default");
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 409);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", CMS "/b", NULL).status, 404);
}

static void test_registry__noop_keeps_revision(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", CMS, cm_a);
	struct answer b = apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"1\"}}");
	assert_int_equal(b.status, 200);
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"),
			    obj_str(b.json, "metadata.resourceVersion"));
	struct answer c = apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	assert_string_not_equal(obj_str(a.json, "metadata.resourceVersion"),
				obj_str(c.json, "metadata.resourceVersion"));
}

/* Whoever deletes says which object he means: uid and revision, each alone or both. */
static void test_registry__a_deletion_is_of_what_was_seen(void **state)
{
	static const struct {
		bool uid, rv;
		bool is_other_uid, is_other_rv;
	} cases[] = {{true, false, true, false}, {false, true, false, true},
		     {true, true, true, false},  {true, true, false, true},
		     {true, true, false, false}, {true, false, false, false}};
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool is_other = cases[i].is_other_uid || cases[i].is_other_rv;
		struct answer made = apifake_do(f, "POST", CMS, cm_a);
		assert_int_equal(made.status, 201);
		const char *uid =
			cases[i].is_other_uid ? "other" : obj_str(made.json, "metadata.uid");
		const char *rv =
			cases[i].is_other_rv ? "1" : obj_str(made.json, "metadata.resourceVersion");
		const char *body =
			arena_fmt(a, "{\"preconditions\":{%s%s%s%s%s%s%s}}",
				  cases[i].uid ? "\"uid\":\"" : "", cases[i].uid ? uid : "",
				  cases[i].uid ? "\"" : "", cases[i].uid && cases[i].rv ? "," : "",
				  cases[i].rv ? "\"resourceVersion\":\"" : "",
				  cases[i].rv ? rv : "", cases[i].rv ? "\"" : "");
		assert_int_equal(apifake_do(f, "DELETE", CMS "/a", body).status,
				 is_other ? 409 : 200);
		assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, is_other ? 200 : 404);
		if (is_other)
			apifake_do(f, "DELETE", CMS "/a", NULL);
	}
}

static void test_registry__stale_revision_conflicts(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", CMS, cm_a);
	struct answer a = apifake_do_type(f, "PATCH", CMS "/a", MERGE,
					  "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	assert_int_equal(a.status, 409);
	assert_string_equal(obj_str(a.json, "reason"), "Conflict");
}

/* An apply makes what is not there, whatever version it names; one that names an object changes that
 * one alone. So a late one makes nothing anew. */
static void test_registry__an_apply_that_names_an_object_makes_no_other(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	static const struct {
		const char *meta, *why;
		int status;
	} rows[] = {
		{"\"uid\":\"x\"", "no existing object was found", 409},
		{"\"uid\":\"x\",\"resourceVersion\":\"7\"", "no existing object was found", 409},
		{"\"resourceVersion\":\"7\"", NULL, 201},
		{"\"uid\":\"x\"", "field is immutable", 422},
		{"\"uid\":\"x\",\"resourceVersion\":\"7\"", "has been modified", 409},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&body,
			    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			    "\"a\",%s}}",
			    rows[i].meta);
		struct answer a = apifake_do_type(f, "PATCH", CMS "/a?fieldManager=t&force=true",
						  "application/apply-patch+yaml", body.buf);
		assert_int_equal(a.status, rows[i].status);
		if (rows[i].why)
			assert_non_null(strstr(obj_str(a.json, "message"), rows[i].why));
	}
}

/* Two writes of one turn: the second is judged by the first, both share one commit. */
static void test_registry__one_turn_one_commit(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t first = apifake_send(f, "POST", CMS, NULL, cm_a);
	size_t second = apifake_send(f, "POST", CMS, NULL, cm_a);
	size_t read = apifake_send(f, "GET", CMS "/a", NULL, NULL);
	assert_int_equal(apifake_answer(f, first).status, 0);
	assert_int_equal(apifake_answer(f, read).status, 0);
	apifake_run(f);
	assert_int_equal(apifake_answer(f, first).status, 201);
	assert_int_equal(apifake_answer(f, second).status, 409);
	assert_int_equal(apifake_answer(f, read).status, 200);
}

static void test_registry__client_that_left_is_not_answered(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	size_t n = apifake_send(f, "POST", CMS, NULL, cm_a);
	apifake_close(f, n);
	apifake_run(f);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 200);
}

static void test_registry__dry_run_stores_nothing(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", CMS "?dryRun=All", cm_a);
	assert_int_equal(a.status, 201);
	assert_null(obj_str(a.json, "metadata.resourceVersion"));
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 404);
}

static void test_registry__finalizer_holds(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", CMS, cm_a);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"metadata\":{\"finalizers\":[\"x.y/z\"]}}");
	struct answer a = apifake_do(f, "DELETE", CMS "/a", NULL);
	assert_string_equal(obj_str(a.json, "kind"), "ConfigMap");
	assert_non_null(obj_str(a.json, "metadata.deletionTimestamp"));
	a = apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"metadata\":{\"finalizers\":null}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 404);
}

static void test_registry__custom_resource_is_defaulted_and_split(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
	assert_int_equal(a.status, 201);
	a = apifake_do(f, "POST", WS, w_a);
	assert_int_equal(a.status, 201);
	assert_int_equal(obj_i64(a.json, "spec.n", 0), 3);
	assert_null(obj_path(a.json, "status"));
	a = apifake_do_type(f, "PATCH", WS "/a/status", MERGE,
			    "{\"spec\":{\"n\":9},\"status\":{\"p\":\"q\"}}");
	assert_int_equal(obj_i64(a.json, "spec.n", 0), 3);
	assert_string_equal(obj_str(a.json, "status.p"), "q");
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 1);
	a = apifake_do_type(f, "PATCH", WS "/a", MERGE, "{\"spec\":{\"n\":9},\"status\":null}");
	assert_string_equal(obj_str(a.json, "status.p"), "q");
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 2);
}

static void test_registry__definition_takes_its_objects_along(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
	apifake_do(f, "POST", WS, w_a);
	struct answer a =
		apifake_do(f, "DELETE",
			   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.e.io", NULL);
	assert_int_equal(a.status, 200);
	assert_int_equal(apifake_do(f, "GET", WS, NULL).status, 404);
	assert_int_equal(
		apifake_do(f, "GET",
			   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.e.io", NULL)
			.status,
		404);
}

static void test_registry__pages_stay_at_their_revision(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (int i = 0; i < 5; i++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		struct error err = ERROR_INIT;
		assert_ok(json_parse(str_of(cm_a), &o, &err), &err);
		obj_set_path(o, "metadata.name", obj_stringf("c%d", i));
		CLEANUP(xfreep) char *text = json_text(o);
		apifake_do(f, "POST", CMS, text);
	}
	struct answer a = apifake_do(f, "GET", CMS "?limit=2", NULL);
	const char *token = obj_str(a.json, "metadata.continue");
	assert_int_equal(obj_len(obj_get(a.json, "items")), 2);
	assert_int_equal(obj_i64(a.json, "metadata.remainingItemCount", 0), 4);
	apifake_do(f, "DELETE", CMS "/c4", NULL);
	CLEANUP(arena_freep) struct arena *ar = arena_new(4096);
	struct answer b =
		apifake_do(f, "GET", arena_fmt(ar, CMS "?limit=9&continue=%s", token), NULL);
	assert_int_equal(b.status, 200);
	assert_int_equal(obj_len(obj_get(b.json, "items")), 4);
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"),
			    obj_str(b.json, "metadata.resourceVersion"));
}

static void test_registry__restart_keeps_objects_and_revisions(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	apifake_do(f, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
	apifake_do(f, "POST", WS, w_a);
	apifake_do(f, "DELETE", WS "/a", NULL);
	struct answer a = apifake_do(f, "GET", WS, NULL);
	apifake_restart(f);
	struct answer b = apifake_do(f, "GET", WS, NULL);
	assert_int_equal(b.status, 200);
	assert_string_equal(obj_str(a.json, "metadata.resourceVersion"),
			    obj_str(b.json, "metadata.resourceVersion"));
	a = apifake_do(f, "POST", WS, w_a);
	assert_int_equal(a.status, 201);
}

static void test_registry__every_write_has_its_row(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	int64_t before = audit_last_seq(apifake_audit(f));
	/* A client's own Audit-ID names nothing of ours: the row is written all the same. */
	apifake_header(f, "Audit-ID", "alm-00000000-1-1-1");
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 201);
	assert_int_equal(audit_last_seq(apifake_audit(f)), before + 1);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error err = ERROR_INIT;
	assert_ok(audit_row_get(apifake_audit(f), before + 1, &row, &err), &err);
	assert_string_equal(obj_str(row, "type"), "Write");
	assert_string_equal(obj_str(row, "actor"), "admin");
	assert_string_equal(obj_str(row, "body.outcome"), "Applied");
	assert_string_equal(obj_str(row, "body.clientId"), "alm-00000000-1-1-1");
	struct answer a =
		apifake_do(f, "GET", "/apis/audit.app.coreos.com/v1alpha1/auditrecords", NULL);
	assert_int_equal(a.status, 200);
	assert_true(obj_len(obj_get(a.json, "items")) > 0);
}

/* Even the tag of our own log, which anyone can read in a header, is not believed from the wire. */
/* The newest record is of a write by this user; NULL: by ALM itself. */
static void is_last_by(struct apifake *f, const char *actor)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct audit *log = apifake_audit(f);
	assert_ok(audit_row_get(log, audit_last_seq(log), &row, &err), &err);
	assert_string_equal(obj_str(row, "type"), "Write");
	assert_true(cstr_eq(obj_str(row, "actor"), actor));
}

static void test_registry__forged_audit_id_suppresses_nothing(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	CLEANUP(arena_freep) struct arena *a = arena_new(4096);
	const char *id = arena_fmt(a, "alm-%s-5-0-1", audit_origin_tag(apifake_audit(f)));
	int64_t before = audit_last_seq(apifake_audit(f));
	apifake_header(f, "Audit-ID", id);
	apifake_do(f, "POST", CMS, cm_a);
	is_last_by(f, "admin");
	apifake_header(f, "Audit-ID", id);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"2\"}}");
	is_last_by(f, "admin");
	assert_int_equal(audit_last_seq(apifake_audit(f)), before + 2);
	/* The executor of this process is believed; what a repeated request changes has its row,
	 * too. */
	apifake_trust(f, id);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"3\"}}");
	is_last_by(f, NULL);
	apifake_trust(f, id);
	apifake_do_type(f, "PATCH", CMS "/a", MERGE, "{\"data\":{\"k\":\"4\"}}");
	assert_int_equal(audit_last_seq(apifake_audit(f)), before + 4);
}

/* The log refuses: no object, now and after a restart; reads go on. */
static void test_registry__no_row_no_object(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	struct error err = ERROR_INIT;
	assert_ok(db_exec(apifake_db(f),
			  "CREATE TEMP TRIGGER full BEFORE INSERT ON main.audit BEGIN SELECT "
			  "RAISE(ABORT, 'disk full'); END",
			  &err),
		  &err);
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 503);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 404);
	assert_int_equal(apifake_do(f, "GET", "/api/v1/namespaces", NULL).status, 200);
	assert_int_equal(apifake_do(f, "GET", "/readyz", NULL).status, 500);
	assert_int_equal(apifake_do(f, "GET", "/livez", NULL).status, 200);
	assert_ok(db_exec(apifake_db(f), "DROP TRIGGER temp.full", &err), &err);
	apifake_restart(f);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 404);
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 201);
	assert_int_equal(apifake_do(f, "GET", "/readyz", NULL).status, 200);
}

/* SQLite gives up the whole transaction, as on a full disk: nothing of the turn stays. */
static void test_registry__lost_transaction_takes_the_turn_back(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct error err = ERROR_INIT;
	assert_ok(db_exec(apifake_db(f),
			  "CREATE TEMP TRIGGER full BEFORE INSERT ON main.objects WHEN NEW.name "
			  "LIKE '%/b' BEGIN SELECT RAISE(ROLLBACK, 'disk full'); END",
			  &err),
		  &err);
	struct answer first = apifake_do(f, "GET", CMS, NULL);
	size_t watch =
		apifake_send(f, "GET", CMS "?watch=1&fieldSelector=metadata.name=a", NULL, NULL);
	size_t a = apifake_send(f, "POST", CMS, NULL, cm_a);
	size_t b = apifake_send(f, "POST", CMS, NULL,
				"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
				"\"name\":\"b\"}}");
	apifake_run(f);
	assert_int_equal(apifake_answer(f, a).status, 503);
	assert_int_equal(apifake_answer(f, b).status, 503);
	assert_int_equal(apifake_bytes(f, watch), 0);
	assert_int_equal(apifake_do(f, "GET", CMS "/a", NULL).status, 404);
	struct answer again = apifake_do(f, "GET", CMS, NULL);
	assert_string_equal(obj_str(first.json, "metadata.resourceVersion"),
			    obj_str(again.json, "metadata.resourceVersion"));
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 201);
}

static void test_registry__refusals_are_recorded_once(void **state)
{
	(void)state;
	struct apifake_options o = {.with_audit = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	int64_t before = audit_last_seq(apifake_audit(f));
	for (int i = 0; i < 3; i++) {
		apifake_header(f, "Authorization", "Bearer alice");
		assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 403);
	}
	assert_int_equal(audit_last_seq(apifake_audit(f)), before + 1);
	apifake_header(f, "Authorization", "Bearer nobody");
	assert_int_equal(apifake_do(f, "POST", CMS, cm_a).status, 401);
	assert_int_equal(audit_last_seq(apifake_audit(f)), before + 1);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	struct error err = ERROR_INIT;
	assert_ok(audit_row_get(apifake_audit(f), before + 1, &row, &err), &err);
	assert_string_equal(obj_str(row, "body.outcome"), "Denied");
	assert_string_equal(obj_str(row, "actor"), "alice");
}

static void test_registry__simulated_deployment_rolls_out(void **state)
{
	(void)state;
	static const char d[] =
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"
		"\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
		"\"template\":{"
		"\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"image\":\"x:1%s\"}]}}}}";
	struct apifake_options o = {.simulate = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(8192);
	strbuf_adds(&b, d);
	ptrdiff_t at = str_find(strbuf_str(&b), STR("%s"));
	strbuf_remove(&b, (size_t)at, 2);
	apifake_do(f, "POST", "/apis/apps/v1/namespaces/default/deployments", b.buf);
	apifake_advance(f, NS_PER_S);
	struct answer x =
		apifake_do(f, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
	assert_int_equal(obj_i64(x.json, "status.readyReplicas", 0), 2);
	assert_int_equal(obj_i64(x.json, "status.observedGeneration", 0), 1);
	apifake_do_type(
		f, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d", MERGE,
		"{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
		"\"x:fail\"}]}}}}");
	apifake_advance(f, NS_PER_S);
	x = apifake_do(f, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL);
	assert_int_equal(obj_i64(x.json, "status.readyReplicas", -1), 0);
}

/* Many operators have a converter; nothing runs here that could answer. */

/* Every kind that an install waits for on the word of a controller (controllers/ready.c). */
static void test_registry__simulated_is_what_installs_wait_for(void **state)
{
	(void)state;
	static const struct {
		const char *list, *body;
	} kinds[] = {
		{"/apis/apiregistration.k8s.io/v1/apiservices",
		 "{\"apiVersion\":\"apiregistration.k8s.io/"
		 "v1\",\"kind\":\"APIService\",\"metadata\":{"
		 "\"name\":\"v1.x.io\"},\"spec\":{\"group\":\"x.io\",\"version\":\"v1\","
		 "\"groupPriorityMinimum\":100,\"versionPriority\":100,"
		 "\"service\":{\"name\":\"s\",\"namespace\":\"default\"}}}"},
		{"/api/v1/namespaces/default/replicationcontrollers",
		 "{\"apiVersion\":\"v1\",\"kind\":\"ReplicationController\",\"metadata\":{\"name\":"
		 "\"v1.x.io\"},\"spec\":{\"replicas\":2,\"selector\":{\"a\":\"b\"},\"template\":{"
		 "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":"
		 "\"c\","
		 "\"image\":\"x:1\"}]}}}}"},
	};
	struct apifake_options o = {.simulate = true};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(&o);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(256);
		CLEANUP(arena_freep) struct arena *a = arena_new(STRBUF_SMALL);
		const char *why = NULL;
		strbuf_addf(&path, "%s/v1.x.io", kinds[i].list);
		assert_int_equal(apifake_do(f, "POST", kinds[i].list, kinds[i].body).status, 201);
		apifake_advance(f, NS_PER_S);
		struct answer x = apifake_do(f, "GET", path.buf, NULL);
		assert_int_equal(ready_check(x.json, false, a, &why), READY);
		const char *reason = obj_str(x.json, "status.conditions[0].reason");
		assert_true(i > 0 || cstr_eq(reason, "Passed"));
	}
}

/* What a configuration says of metadata is judged by its type, in the words of a real 1.36 (which says 500). */
static void test_registry__apply_judges_metadata(void **state)
{
	(void)state;
#define UID "11111111-1111-1111-1111-111111111111"
#define OWNS                                                                                   \
	"\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"x\",\"uid\":" \
	"\"" UID "\","
	static const struct {
		const char *metadata, *message;
	} cases[] = {
		{OWNS "\"bogus\":1}]",
		 "typed patch object (/own; /v1, Kind=ConfigMap): "
		 ".metadata.ownerReferences[uid=\"" UID "\"].bogus: field not declared in schema"},
		{OWNS "\"controller\":\"x\"}]", "typed patch object (/own; /v1, Kind=ConfigMap): "
						".metadata.ownerReferences[uid=\"" UID
						"\"].controller: expected boolean, got &{x}"},
		{"\"bogus\":1", "typed patch object (/own; /v1, Kind=ConfigMap): .metadata.bogus: "
				"field not declared in schema"},
		{"\"labels\":{\"x\":1}", "typed patch object (/own; /v1, Kind=ConfigMap): "
					 ".metadata.labels.x: expected string, got "
					 "&value.valueUnstructured{Value:1}"},
		{"\"creationTimestamp\":\"x\"",
		 "failed to convert new object (/own; /v1, Kind=ConfigMap) to proper version: "
		 "unable to convert unstructured object to /v1, Kind=ConfigMap: parsing time "
		 "\"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\""},
	};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 12);
		strbuf_addf(&b,
			    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
			    "\"name\":\"own\",%s}}",
			    cases[i].metadata);
		struct answer a = apifake_do_type(
			f, "PATCH", "/api/v1/namespaces/default/configmaps/own?fieldManager=m",
			"application/apply-patch+yaml", b.buf);
		assert_int_equal(a.status, 400);
		assert_non_null(strstr(obj_str(a.json, "message"), cases[i].message));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry__create_sets_metadata),
		cmocka_unit_test(test_registry__noop_keeps_revision),
		cmocka_unit_test(test_registry__stale_revision_conflicts),
		cmocka_unit_test(test_registry__a_deletion_is_of_what_was_seen),
		cmocka_unit_test(test_registry__an_apply_that_names_an_object_makes_no_other),
		cmocka_unit_test(test_registry__one_turn_one_commit),
		cmocka_unit_test(test_registry__client_that_left_is_not_answered),
		cmocka_unit_test(test_registry__dry_run_stores_nothing),
		cmocka_unit_test(test_registry__finalizer_holds),
		cmocka_unit_test(test_registry__custom_resource_is_defaulted_and_split),
		cmocka_unit_test(test_registry__definition_takes_its_objects_along),
		cmocka_unit_test(test_registry__pages_stay_at_their_revision),
		cmocka_unit_test(test_registry__restart_keeps_objects_and_revisions),
		cmocka_unit_test(test_registry__every_write_has_its_row),
		cmocka_unit_test(test_registry__forged_audit_id_suppresses_nothing),
		cmocka_unit_test(test_registry__no_row_no_object),
		cmocka_unit_test(test_registry__lost_transaction_takes_the_turn_back),
		cmocka_unit_test(test_registry__refusals_are_recorded_once),
		cmocka_unit_test(test_registry__simulated_deployment_rolls_out),
		cmocka_unit_test(test_registry__simulated_is_what_installs_wait_for),
		cmocka_unit_test(test_registry__apply_judges_metadata),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
