/* What is left of the field managers and marks of kubectl and Helm. */
#include "tests/lib/test.h"

#include "alm/obj/json.h"
#include "alm/obj/obj.h"
#include "alm/unit/takeover.h"

#define OWN "alm:cli:web"

static struct obj *json(const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(json_parse(str_of(text), &o, &err), &err);
	return o;
}

/* Manager, operation, subresource, in order: "M a/b ..", what is left of it and what it is then. */
static void test_takeover__managers(void **state)
{
	(void)state;
	static const struct {
		const char *manager, *op, *sub;
		enum manager_fate want;
	} rows[] = {
		{"helm", "Apply", NULL, MANAGER_MOVES},
		{"helm", "Update", NULL, MANAGER_MOVES},
		{"kubectl", "Apply", NULL, MANAGER_MOVES},
		{"kubectl-client-side-apply", "Update", NULL, MANAGER_MOVES},
		{"kubectl-last-applied", "Apply", NULL, MANAGER_MOVES},
		{"before-first-apply", "Update", NULL, MANAGER_MOVES},
		{"alm:cli:other", "Apply", NULL, MANAGER_MOVES},
		{"alm:cli:other", "Update", NULL, MANAGER_GOES},
		{"kubectl-create", "Update", NULL, MANAGER_GOES},
		{"kubectl-edit", "Update", NULL, MANAGER_GOES},
		{"kubectl-rollout", "Update", NULL, MANAGER_GOES},
		{"kubectl", "Update", "scale", MANAGER_GOES},
		{"kubectl-patch", "Update", "status", MANAGER_STAYS},
		{"kube-controller-manager", "Update", "status", MANAGER_STAYS},
		{"kube-controller-manager", "Update", "scale", MANAGER_STAYS},
		{"helm-operator", "Update", NULL, MANAGER_STAYS},
		{"alm", "Apply", NULL, MANAGER_STAYS},
		{"argocd", "Apply", NULL, MANAGER_STAYS},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *entry = obj_map();
		obj_set_str(entry, "manager", rows[i].manager);
		obj_set_str(entry, "operation", rows[i].op);
		if (rows[i].sub)
			obj_set_str(entry, "subresource", rows[i].sub);
		if (takeover_fate(entry) != rows[i].want)
			fail_msg("%s %s", rows[i].manager, rows[i].op);
	}
	CLEANUP(obj_unrefp) struct obj *nobody = obj_map();
	assert_int_equal(takeover_fate(nobody), MANAGER_STAYS);
}

#define ENTRY(manager, op, version, fields)                                                    \
	"{\"manager\": \"" manager "\", \"operation\": \"" op "\", \"apiVersion\": \"" version \
	"\", \"fieldsV1\": {\"f:data\": {" fields "}}}"

static void test_takeover__fields(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		/* of one version all that is declared is one entry, with what it has already */
		{ENTRY("kubectl", "Apply", "v1",
		       "\"f:a\": {}") ", " ENTRY("kube-proxy", "Update", "v1",
						 "\"f:p\": {}") ", " ENTRY(OWN, "Apply", "v1",
									   "\"f:b\": {}") ", " //
		 ENTRY("helm", "Update", "v1", "\"f:c\": {}"),
		 "[{\"manager\":\"alm:cli:web\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
		 "\"fieldsV1\":{\"f:data\":{\"f:a\":{},\"f:b\":{},\"f:c\":{}}}},"
		 "{\"manager\":\"kube-proxy\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
		 "\"fieldsV1\":{\"f:data\":{\"f:p\":{}}}}]"},
		/* of another one it goes, and so does what was set by hand */
		{ENTRY("helm", "Apply", "v1", "\"f:a\": {}") ", " ENTRY(
			 "kubectl", "Apply", "v1beta1",
			 "\"f:b\": {}") ", " ENTRY("kubectl-edit", "Update", "v1", "\"f:c\": {}"),
		 "[{\"manager\":\"alm:cli:web\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
		 "\"fieldsV1\":{\"f:data\":{\"f:a\":{}}}}]"},
		{ENTRY("kubectl-create", "Update", "v1", "\"f:a\": {}"),
		 "[{\"manager\":\"alm:cli:web\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
		 "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:annotations\":{"
		 "\"f:app.coreos.com/applied\":{}}}}}]"}, /* an empty list would say nothing */
		{ENTRY("argocd", "Apply", "v1", "\"f:a\": {}") ", " ENTRY(OWN, "Apply", "v1",
									  "\"f:b\": {}"),
		 NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(1 << 16);
		strbuf_addf(&b, "{\"apiVersion\": \"v1\", \"metadata\": {\"managedFields\": [%s]}}",
			    rows[i][0]);
		CLEANUP(obj_unrefp) struct obj *live = json(b.buf);
		CLEANUP(obj_unrefp) struct obj *list = takeover_managers(live, OWN, takeover_fate);
		CLEANUP(xfreep) char *text = list ? json_text(list) : NULL;
		if (rows[i][1])
			assert_string_equal(text, rows[i][1]);
		else
			assert_null(list);
	}
}

static void test_takeover__marks(void **state)
{
	(void)state;
	static const char *const rows[][3] = {
		{"{\"annotations\": {\"kubectl.kubernetes.io/last-applied-configuration\": \"{}\", "
		 "\"mine\": \"a\"}}",
		 "{}",
		 "{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/"
		 "last-applied-configuration\":null}}}"},
		{"{\"annotations\": {\"meta.helm.sh/release-name\": \"web\", "
		 "\"meta.helm.sh/release-namespace\": \"x\"}, "
		 "\"labels\": {\"app.kubernetes.io/managed-by\": \"Helm\", \"app\": \"web\"}}",
		 "{}",
		 "{\"metadata\":{\"annotations\":{\"meta.helm.sh/release-name\":null,"
		 "\"meta.helm.sh/release-namespace\":null},\"labels\":{\"app.kubernetes.io/"
		 "managed-by\":null}}}"},
		/* what the files say, and what is nobody's mark */
		{"{\"labels\": {\"app.kubernetes.io/managed-by\": \"Helm\"}}",
		 "{\"labels\": {\"app.kubernetes.io/managed-by\": \"Helm\"}}", NULL},
		{"{\"labels\": {\"app.kubernetes.io/managed-by\": \"me\", \"helm.sh/chart\": "
		 "\"web-1\"}}",
		 "{}", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(obj_unrefp) struct obj *live = obj_map(), *want = obj_map();
		obj_set(live, "metadata", json(rows[i][0]));
		obj_set(want, "metadata", json(rows[i][1]));
		CLEANUP(obj_unrefp) struct obj *patch = takeover_patch(live, want, OWN);
		CLEANUP(xfreep) char *text = patch ? json_text(patch) : NULL;
		if (rows[i][2])
			assert_string_equal(text, rows[i][2]);
		else
			assert_null(patch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takeover__managers),
		cmocka_unit_test(test_takeover__fields),
		cmocka_unit_test(test_takeover__marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
