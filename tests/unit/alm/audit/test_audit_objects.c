/* objects = log (audit.md 12): whatever is done through the API is what the log says, and
 * whatever is done behind it is found and named. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/audit/objects.h"
#include "alm/audit/verify.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/cli/audit/audit_source.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"

#define ROUNDS      600
#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"
#define CATALOGS    "/apis/app.coreos.com/v1alpha1/catalogs"
#define MERGE       "application/merge-patch+json"

static char dir[64];
static struct apifake *f;
static struct verify_report *rep;

static void remove_dir(void)
{
	static const char *const names[] = {"audit.key",  "redact.key", "audit.head", "alm.db-wal",
					    "alm.db-shm", "alm.db",     "alm.db.lock"};
	struct error err = ERROR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[128];
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)file_remove(path, &err);
	}
	(void)rmdir(dir);
}

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/alm-objects-XXXXXX");
	assert_non_null(mkdtemp(dir));
	struct apifake_options o = {.with_audit = true, .simulate = true, .key_dir = dir};
	f = apifake_new(&o);
	rep = xcalloc(1, sizeof(*rep));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	apifake_free(f);
	xfree(rep);
	remove_dir();
	return 0;
}

static int do_it(const char *method, const char *target, const char *type, const char *body)
{
	return apifake_do_type(f, method, target, type, body).status;
}

static void verify(void)
{
	struct error err = ERROR_INIT;
	unsigned char key[AUDIT_KEY_BYTES];
	struct audit_source source = {.db = apifake_db(f)};
	assert_ok(audit_read_key(dir, AUDIT_REDACT_KEY, key, &err), &err);
	struct verify_options o = {.skip_file_check = true,
				   .each_object = audit_source_objects,
				   .each_object_arg = &source,
				   .redact_key = key};
	assert_ok(verify_log(apifake_db(f), &o, rep, &err), &err);
}

static void assert_intact(const char *after)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	verify();
	verify_print(rep, &b);
	if (verify_exit(rep) != 0 || !rep->objects_compared)
		fail_msg("after %s: %s", after, b.buf);
}

static void assert_found(const char *what, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	verify();
	verify_print(rep, &b);
	if (verify_exit(rep) != 4 || !strstr(b.buf, text))
		fail_msg("%s: wanted %s, got %s", what, text, b.buf);
}

static void sql(const char *text)
{
	struct error err = ERROR_INIT;
	assert_ok(db_exec(apifake_db(f), text, &err), &err);
}

/* Random everyday acts. */

static uint64_t random_state = 7;

static size_t below(size_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)((random_state >> 33) % n);
}

static const char widgets[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"widgets.e.io\"},\"spec\":{\"group\":\"e.io\",\"scope\":"
	"\"Namespaced\",\"names\":{\"plural\":\"widgets\",\"singular\":\"widget\",\"kind\":"
	"\"Widget\",\"listKind\":\"WidgetList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
	"\"storage\":%s,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{\"type\":"
	"\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}},{\"name\":\"v2\",\"served\":"
	"true,\"storage\":%s,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{"
	"\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
	"\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"n\":{\"type\":\"number\","
	"\"default\":1.50}}},\"status\":{\"type\":\"object\","
	"\"x-kubernetes-preserve-unknown-fields\":true}}}}}]}}";

static void put_definition(struct arena *a)
{
	bool v1 = below(2);
	const char *text = arena_fmt(a, widgets, v1 ? "true" : "false", v1 ? "false" : "true");
	if (do_it("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, text) ==
	    409)
		do_it("PATCH",
		      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
		      "widgets.e.io?fieldManager=m&force=true",
		      "application/apply-patch+yaml", text);
}

struct kind_row {
	const char *path, *api, *kind;
	bool cluster;
};

static const struct kind_row kinds[] = {
	{"/api/v1", "v1", "ConfigMap", false},
	{"/api/v1", "v1", "Secret", false},
	{"/apis/apps/v1", "apps/v1", "Deployment", false},
	{"/apis/e.io/v1", "e.io/v1", "Widget", false},
	{"/apis/e.io/v2", "e.io/v2", "Widget", false},
	{"/apis/coordination.k8s.io/v1", "coordination.k8s.io/v1", "Lease", false},
	{"/api/v1", "v1", "Namespace", true},
	{"/apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1", "ClusterRole", true},
};

static const char *body_of(const struct kind_row *k, const char *name, struct arena *a)
{
	static const char spec[] =
		"\"spec\":{\"n\":2.0,\"token\":\"t\",\"list\":[],\"map\":{},\"s\":\"\","
		"\"replicas\":1,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{"
		"\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":"
		"\"c\",\"image\":\"x:1\",\"env\":[{\"name\":\"PASSWORD\",\"value\":\"p\"}]}]}}}";
	static const char *const parts[] = {
		"\"data\":{\"k\":\"djE=\",\"password\":\"c2VjcmV0\"}",
		"\"data\":{\"url\":\"aHR0cHM6Ly91OnBAaC8=\"},\"stringData\":{\"k\":\"v2\"}",
		spec,
		"\"spec\":{\"n\":1e2,\"text\":\"\\u00e9\\u2028 \\\" \\\\ /\"},\"status\":{\"a\":1}",
		"\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]",
	};
	return arena_fmt(a,
			 "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
			 "\"annotations\":{\"n\":\"%zu\"}%s},%s}",
			 k->api, k->kind, name, below(100),
			 below(5) ? "" : ",\"finalizers\":[\"e.io/hold\"]",
			 parts[below(ARRAY_LEN(parts))]);
}

static const char *plural_of(const char *kind, struct arena *a)
{
	char *s = arena_fmt(a, "%ss", kind);
	for (char *p = s; *p; p++)
		*p = char_lower(*p);
	return s;
}

static void one_act(struct arena *a)
{
	const struct kind_row *k = &kinds[below(ARRAY_LEN(kinds))];
	const char *name = arena_fmt(a, "n%zu", below(4));
	const char *ns = below(3) ? "default" : arena_fmt(a, "n%zu", below(4));
	const char *all = k->cluster ? arena_fmt(a, "%s/%s", k->path, plural_of(k->kind, a))
				     : arena_fmt(a, "%s/namespaces/%s/%s", k->path, ns,
						 plural_of(k->kind, a));
	const char *one = arena_fmt(a, "%s/%s", all, name), *body = body_of(k, name, a);
	switch (below(12)) {
	case 0:
	case 1:
	case 2:
		do_it("POST", all, NULL, body);
		break;
	case 3:
		do_it("PATCH", one, MERGE, body);
		break;
	case 4:
		do_it("PATCH", arena_fmt(a, "%s?fieldManager=m&force=true", one),
		      "application/apply-patch+yaml", body);
		break;
	case 5:
		do_it("PATCH", arena_fmt(a, "%s/status", one), MERGE,
		      arena_fmt(a, "{\"status\":{\"n\":%zu,\"transitionSeq\":%zu}}", below(9),
				below(9)));
		break;
	case 6:
		do_it("DELETE", one, NULL, "{}");
		break;
	case 7:
		do_it("PATCH", one, MERGE, "{\"metadata\":{\"finalizers\":null}}");
		break;
	case 8:
		do_it("DELETE", all, NULL, NULL);
		break;
	case 9:
		put_definition(a);
		break;
	case 10:
		if (!below(4))
			do_it("DELETE",
			      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
			      "widgets.e.io",
			      NULL, NULL);
		break;
	default:
		apifake_advance(f, (int64_t)below(20) * NS_PER_S);
		if (!below(5))
			apifake_restart(f);
		break;
	}
}

static void test_audit_objects__everyday_acts_are_no_tampering(void **state)
{
	(void)state;
	assert_intact("the start");
	for (int i = 0; i < ROUNDS; i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
		one_act(a);
		if (i % 20 == 19) {
			assert_intact(arena_fmt(a, "%d acts", i + 1));
			apifake_forget(f);
		}
	}
	assert_true(rep->objects > 20);
	assert_true(rep->rows > 200);
}

/* A transition of a Catalog, as the executor announces and writes it. */
static void transit(const char *name, const char *phase, bool written)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	struct error err = ERROR_INIT;
	const char *one = arena_fmt(a, CATALOGS "/%s", name);
	struct answer got = apifake_do(f, "GET", one, NULL);
	const char *uid = obj_str(got.json, "metadata.uid");
	int64_t tseq = 0, row_seq = 0, seq = 0;
	assert_int_equal(got.status, 200);
	assert_ok(audit_head(apifake_audit(f), uid, &tseq, &row_seq, &err), &err);
	const char *status = arena_fmt(a, "{\"phase\":\"%s\",\"transitionSeq\":%lld}", phase,
				       (long long)tseq + 1);
	CLEANUP(obj_unrefp) struct obj *body = obj_map();
	obj_set_str(body, "status", status);
	struct audit_row row = {.type = "Transition",
				.reason = phase,
				.subject = {.kind = "Catalog", .name = name, .uid = uid},
				.transition_seq = tseq + 1,
				.body = body};
	assert_ok(audit_append_now(apifake_audit(f), &row, &seq, &err), &err);
	if (!written)
		return;
	apifake_trust(f, arena_fmt(a, "alm-%s-row-%lld", audit_origin_tag(apifake_audit(f)),
				   (long long)seq));
	assert_int_equal(do_it("PATCH", arena_fmt(a, "%s/status", one), MERGE,
			       arena_fmt(a, "{\"status\":%s}", status)),
			 200);
}

static void create_catalog(const char *name)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *text =
		arena_fmt(a,
			  "{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":"
			  "\"Catalog\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"source\":{"
			  "\"url\":\"dir:///c\"}}}",
			  name);
	assert_int_equal(do_it("POST", CATALOGS, NULL, text), 201);
}

/* The kind itself; any status is as good as another here. */
static void define_catalogs(void)
{
	struct error err = ERROR_INIT;
	static const char text[] =
		"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
		"\"metadata\":{\"name\":\"catalogs.app.coreos.com\"},\"spec\":{\"group\":"
		"\"app.coreos.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"catalogs\","
		"\"singular\":\"catalog\",\"kind\":\"Catalog\",\"listKind\":\"CatalogList\"},"
		"\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,\"storage\":true,"
		"\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{\"type\":"
		"\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";
	(void)err;
	do_it("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, text);
	apifake_advance(f, NS_PER_S);
}

static void test_audit_objects__announced_statuses_are_no_tampering(void **state)
{
	(void)state;
	define_catalogs();
	create_catalog("a");
	transit("a", "Ready", true);
	assert_intact("a transition");
	transit("a", "Failed", false);
	assert_intact("a crash between record and status");
	assert_int_equal(do_it("PATCH", CATALOGS "/a", MERGE, "{\"spec\":{\"priority\":3}}"), 200);
	assert_intact("a change of the spec in between");
	assert_int_equal(
		do_it("PATCH", CATALOGS "/a/status", MERGE, "{\"status\":{\"phase\":\"Bogus\"}}"),
		200);
	assert_intact("a status that a user wrote");
	transit("a", "Ready", true);
	assert_int_equal(do_it("PATCH", CATALOGS "/a", MERGE, "{\"spec\":{\"priority\":4}}"), 200);
	transit("a", "Failed", true);
	assert_intact("and one put back");
	apifake_restart(f);
	assert_int_equal(do_it("DELETE", CATALOGS "/a", NULL, NULL), 200);
	assert_intact("its deletion");
	assert_int_equal(rep->transitions, 5); /* the last is Deleted */
	create_catalog("a");
	transit("a", "Ready", true);
	assert_intact("another of its name");
	assert_int_equal(do_it("DELETE",
			       "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
			       "catalogs.app.coreos.com",
			       NULL, NULL),
			 200);
	apifake_advance(f, 10 * NS_PER_S);
	assert_intact("its definition gone");
	assert_int_equal(rep->transitions, 7);
}

/* Only the executor of this process leaves out the record of a status that a record announces: a
 * client that says its Audit-ID has one of its own. */
static void test_audit_objects__a_client_does_not_pass_for_the_executor(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	define_catalogs();
	create_catalog("d");
	transit("d", "Ready", false);
	struct audit *log = apifake_audit(f);
	int64_t announced = audit_last_seq(log);
	apifake_header(
		f, "Audit-ID",
		arena_fmt(a, "alm-%s-row-%lld", audit_origin_tag(log), (long long)announced));
	assert_int_equal(do_it("PATCH", CATALOGS "/d/status", MERGE,
			       "{\"status\":{\"phase\":\"Ready\",\"transitionSeq\":1}}"),
			 200);
	assert_int_equal(audit_last_seq(log), announced + 1);
	assert_ok(audit_row_get(log, announced + 1, &row, &err), &err);
	assert_string_equal(obj_str(row, "type"), "Write");
	assert_string_equal(obj_str(row, "actor"), "admin");
}

/* The row that says Deleted leads to who did it. */
static void test_audit_objects__a_deletion_has_its_transition_and_cause(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	CLEANUP(obj_unrefp) struct obj *cause = NULL;
	define_catalogs();
	create_catalog("b");
	transit("b", "Ready", true);
	assert_int_equal(do_it("DELETE", CATALOGS "/b", NULL, NULL), 200);
	int64_t last = audit_last_seq(apifake_audit(f));
	assert_ok(audit_row_get(apifake_audit(f), last, &row, &err), &err);
	assert_string_equal(obj_str(row, "type"), "Transition");
	assert_string_equal(obj_str(row, "reason"), "Deleted");
	assert_string_equal(obj_str(row, "body.from"), "Ready");
	assert_int_equal(obj_i64(row, "transitionSeq", 0), 2);
	assert_ok(audit_row_get(apifake_audit(f), obj_i64(row, "cause", 0), &cause, &err), &err);
	assert_string_equal(obj_str(cause, "body.verb"), "delete");
	assert_string_equal(obj_str(cause, "actor"), "admin");
}

#define NEWEST(name) "(SELECT max(id) FROM objects WHERE name LIKE '%" name "')"

static const struct {
	const char *what, *sql, *finding;
} tampering[] = {
	{"a value changed",
	 "UPDATE objects SET value = CAST(replace(CAST(value AS TEXT), 'stolen', 'innocent') AS "
	 "BLOB)"
	 " WHERE id = " NEWEST("configmaps/default/c"),
	 "ConfigMap c: it is not what this record left"},
	{"an object added",
	 "INSERT INTO objects SELECT (SELECT max(id) FROM objects) + 1,"
	 " 'rbac.authorization.k8s.io/clusterrolebindings//backdoor', 1, 0,"
	 " (SELECT max(id) FROM objects) + 1, 0, CAST('{\"apiVersion\":"
	 "\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":"
	 "\"backdoor\",\"uid\":\"deca37e1-5860-4b92-b425-5a41be91e87c\"},\"roleRef\":{\"apiGroup\":"
	 "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
	 "\"subjects\":[{\"kind\":\"User\",\"name\":\"bob\"}]}' AS BLOB)",
	 "ClusterRoleBinding backdoor: no record created this object"},
	{"an object removed", "DELETE FROM objects WHERE name LIKE '%configmaps/default/c'",
	 "ConfigMap c: it is gone, and no record deleted it"},
	{"an older state put back",
	 "DELETE FROM objects WHERE id = " NEWEST("configmaps/default/c"),
	 "ConfigMap c: it is not what this record left"},
	{"a deleted object put back",
	 "DELETE FROM objects WHERE id = " NEWEST("configmaps/default/gone"),
	 "ConfigMap gone: it is there, though this record deleted it"},
	{"a status changed",
	 "UPDATE objects SET value = CAST(replace(CAST(value AS TEXT), '\"Ready\"', '\"Fine\"') AS"
	 " BLOB) WHERE id = " NEWEST("catalogs//a"),
	 "Catalog a: its status is not the one of this record"},
	{"a spec behind an announced status changed",
	 "UPDATE objects SET value = CAST(replace(CAST(value AS TEXT), 'dir:///c', 'dir:///d') AS"
	 " BLOB) WHERE id = " NEWEST("catalogs//a"),
	 "Catalog a: it is not what this record left"},
	{"a secret changed",
	 "UPDATE objects SET value = CAST(replace(CAST(value AS TEXT), 'aHVudGVyMg==',"
	 " 'aHVudGVyMw==') AS BLOB) WHERE id = " NEWEST("secrets/default/s"),
	 "Secret s: it is not what this record left"},
	{"an object copied to another namespace",
	 "INSERT INTO objects SELECT (SELECT max(id) FROM objects) + 1,"
	 " 'rbac.authorization.k8s.io/rolebindings/kube-system/b', 1, 0,"
	 " (SELECT max(id) FROM objects) + 1, 0, value FROM objects"
	 " WHERE id = " NEWEST("rolebindings/default/b"),
	 "RoleBinding b: no record created this object"},
	{"an object moved to another namespace",
	 "UPDATE objects SET name = 'rbac.authorization.k8s.io/rolebindings/kube-system/b'"
	 " WHERE id = " NEWEST("rolebindings/default/b"),
	 "RoleBinding b: no record created this object"},
	{"an object moved to another name",
	 "UPDATE objects SET name = '/secrets/default/t' WHERE id = " NEWEST("secrets/default/s"),
	 "Secret t: no record created this object"},
	{"an object copied to another kind",
	 "INSERT INTO objects SELECT (SELECT max(id) FROM objects) + 1,"
	 " '/secrets/default/c', 1, 0, (SELECT max(id) FROM objects) + 1, 0, value FROM objects"
	 " WHERE id = " NEWEST("configmaps/default/c"),
	 "Secret c: no record created this object"},
};

static void make_objects(void)
{
	define_catalogs();
	create_catalog("a");
	transit("a", "Ready", true);
	assert_int_equal(
		do_it("POST", CONFIG_MAPS, NULL,
		      "{\"metadata\":{\"name\":\"c\"},\"kind\":\"ConfigMap\",\"apiVersion\":"
		      "\"v1\",\"data\":{\"k\":\"v\"}}"),
		201);
	assert_int_equal(do_it("PATCH", CONFIG_MAPS "/c", MERGE, "{\"data\":{\"k\":\"stolen\"}}"),
			 200);
	assert_int_equal(do_it("POST", CONFIG_MAPS, NULL,
			       "{\"metadata\":{\"name\":\"gone\"},\"kind\":\"ConfigMap\","
			       "\"apiVersion\":\"v1\"}"),
			 201);
	assert_int_equal(do_it("DELETE", CONFIG_MAPS "/gone", NULL, NULL), 200);
	assert_int_equal(do_it("POST", "/api/v1/namespaces/default/secrets", NULL,
			       "{\"metadata\":{\"name\":\"s\"},\"kind\":\"Secret\",\"apiVersion\":"
			       "\"v1\",\"data\":{\"p\":\"aHVudGVyMg==\"}}"),
			 201);
	assert_int_equal(
		do_it("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		      NULL,
		      "{\"metadata\":{\"name\":\"b\"},\"kind\":\"RoleBinding\",\"apiVersion\":"
		      "\"rbac.authorization.k8s.io/v1\",\"roleRef\":{\"apiGroup\":"
		      "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"}}"),
		201);
}

static bool ready(void)
{
	return apifake_do(f, "GET", "/readyz", NULL).status == 200;
}

static void test_audit_objects__what_was_done_behind_the_log_is_found(void **state)
{
	(void)state;
	make_objects();
	assert_intact("the objects were made");
	sql("CREATE TABLE saved AS SELECT * FROM objects");
	for (size_t i = 0; i < ARRAY_LEN(tampering); i++) {
		sql("DELETE FROM objects; INSERT INTO objects SELECT * FROM saved");
		sql(tampering[i].sql);
		assert_found(tampering[i].what, tampering[i].finding);
		/* the server finds it, too, without a verify, after its start */
		apifake_restart(f);
		assert_true(ready());
		apifake_advance(f, 5 * NS_PER_S);
		if (ready())
			fail_msg("%s: ready", tampering[i].what);
		sql("DELETE FROM objects; INSERT INTO objects SELECT * FROM saved");
		apifake_restart(f);
		apifake_advance(f, 5 * NS_PER_S);
		assert_true(ready());
	}
	sql("DROP TABLE saved");
	assert_intact("all was put back");
}

static void test_audit_objects__writing_it_through_the_api_is_the_remedy(void **state)
{
	(void)state;
	make_objects();
	sql(tampering[0].sql);
	apifake_restart(f);
	apifake_advance(f, 5 * NS_PER_S);
	assert_false(ready());
	assert_int_equal(do_it("PATCH", CONFIG_MAPS "/c", MERGE, "{\"data\":{\"k\":\"fine\"}}"),
			 200);
	assert_intact("it was written again");
	apifake_advance(f, 20 * NS_PER_S);
	assert_true(ready());
}

static void make_objects_without_log(void)
{
	static const char *const names[] = {"c", "d", "e"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char body[128];
		(void)snprintf(body, sizeof(body),
			       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
			       "\"name\":\"%s\"}}",
			       names[i]);
		assert_int_equal(do_it("POST", CONFIG_MAPS, NULL, body), 201);
	}
}

static void reopen(bool with_audit)
{
	static char path[80];
	(void)snprintf(path, sizeof(path), "%s/alm.db", dir);
	apifake_free(f);
	struct apifake_options o = {.with_audit = with_audit, .key_dir = dir, .path = path};
	f = apifake_new(&o);
}

static void forget_head(void)
{
	struct error err = ERROR_INIT;
	char head[80];
	reopen(false);
	(void)snprintf(head, sizeof(head), "%s/audit.head", dir);
	assert_ok(file_remove(head, &err), &err);
}

static void bypass(void)
{
	struct error err = ERROR_INIT;
	struct audit_config c = {.db = apifake_db(f), .loop = apifake_loop(f), .key_dir = dir};
	assert_ok(audit_bypass(&c, &err), &err);
}

static void test_audit_objects__those_written_without_the_log_are_recorded(void **state)
{
	(void)state;
	forget_head(); /* of the log in memory */
	bypass();      /* no log yet: nothing to say */
	make_objects_without_log();
	reopen(true);
	assert_intact("a log beside objects that were there before");
	assert_int_equal(do_it("PATCH", CONFIG_MAPS "/c", MERGE, "{\"data\":{\"k\":\"2\"}}"), 200);
	assert_int_equal(do_it("DELETE", CONFIG_MAPS "/d", NULL, NULL), 200);
	assert_intact("they were changed");
	reopen(false);
	bypass();
	assert_int_equal(do_it("DELETE", CONFIG_MAPS "/c", NULL, NULL), 200);
	verify();
	assert_int_equal(verify_exit(rep), 1); /* nobody knows */
	reopen(true);
	assert_intact("--no-audit in between");
	sql("DELETE FROM objects WHERE name LIKE '%configmaps/default/e'");
	assert_found("an object of before", "ConfigMap e: it is gone, and no record deleted it");
	apifake_restart(f);
	apifake_advance(f, 5 * NS_PER_S);
	assert_false(ready());
}

static void test_audit_objects__a_key_is_64_hex_digits(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "00", "x"};
	unsigned char key[AUDIT_KEY_BYTES];
	char path[96];
	(void)snprintf(path, sizeof(path), "%s/bad.key", dir);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct error err = ERROR_INIT;
		assert_ok(file_replace(path, str_of(texts[i]), 0600, &err), &err);
		assert_int_equal(audit_read_key(dir, "bad.key", key, &err), -E_CORRUPT);
		assert_non_null(strstr(err.msg, "bad.key does not hold 64 hex digits"));
		assert_ok(file_remove(path, &err), &err);
	}
}

/* A call looks at one, so that whoever goes over many deleted ones can pause (objects_check.c). */
static void test_audit_objects__each_call_passes_one_deleted_or_not(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool lives;
	} rows[] = {{"a", false}, {"b", true}, {"c", false}, {"d", true}};
	struct error err = ERROR_INIT;
	struct objects_log l = {.db = apifake_db(f)};
	struct objects_cursor c = {.seq = 0};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[128];
		snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"%s\"}}", rows[i].name);
		assert_int_equal(do_it("POST", CONFIG_MAPS, NULL, text), 201);
		snprintf(text, sizeof(text), CONFIG_MAPS "/%s", rows[i].name);
		assert_int_equal(rows[i].lives ? 200 : do_it("DELETE", text, NULL, ""), 200);
	}
	while (objects_next_written(&l, &c, &err) > 0) {
		if (strcmp(c.kind, "ConfigMap") != 0 || strlen(c.name) > 1)
			continue; /* what the server made itself */
		assert_string_equal(c.name, rows[n].name);
		assert_int_equal(c.uid != NULL, rows[n].lives);
		n++;
	}
	assert_int_equal(n, ARRAY_LEN(rows));
	objects_cursor_release(&c);
}

static void test_audit_objects__digests_of_no_log_are_an_error(void **state)
{
	(void)state;
	static const unsigned char key[REDACT_KEY_BYTES];
	struct error err = ERROR_INIT;
	struct db *d;
	struct db_config dc = {.path = ":memory:"};
	assert_ok(db_open(&dc, &d, &err), &err);
	assert_true(objects_digests_fit(d, key, &err) < 0);
	db_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_objects__digests_of_no_log_are_an_error),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__each_call_passes_one_deleted_or_not, setup, teardown),
		cmocka_unit_test_setup_teardown(test_audit_objects__a_key_is_64_hex_digits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_audit_objects__everyday_acts_are_no_tampering,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__announced_statuses_are_no_tampering, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__a_client_does_not_pass_for_the_executor, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__a_deletion_has_its_transition_and_cause, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__what_was_done_behind_the_log_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__those_written_without_the_log_are_recorded, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_audit_objects__writing_it_through_the_api_is_the_remedy, setup,
			teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
