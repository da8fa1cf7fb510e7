/*
 * test_stored.c: what a former release stored, and this one would not take, can still be labelled and let go; a rule that is
 * younger than the object holds for what changes.
 */
#include <stdlib.h>
#include <string.h>

#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/apifake_expect.h"
#include "tests/lib/test.h"

#define LARGE    (1400000 / 4 * 4) /* of base64: more than 1 MiB decoded */
#define TEXT_MAX (LARGE + 4096)

static const struct {
	const char *group, *api_version, *kind, *plural, *meta, *rest;
	const char *worse;  /* a merge patch that makes it as bad anew: 422 */
	const char *beside; /* one that changes something else of it, or NULL */
} rows[] = {
	{"", "v1", "Secret", "secrets", "", "\"type\":\"Opaque\",\"data\":{\"a\":\"@\"}",
	 "{\"data\":{\"b\":\"YQ==\"}}", NULL},
	{"networking.k8s.io", "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "",
	 "\"spec\":{\"podSelector\":{},\"policyTypes\":[\"Ingress\",\"Egress\",\"Ingress\"]}",
	 "{\"spec\":{\"policyTypes\":[\"Ingress\",\"Egress\",\"Egress\"]}}",
	 "{\"spec\":{\"ingress\":[{}]}}"},
	{"", "v1", "Service", "services",
	 ",\"annotations\":{\"service.kubernetes.io/topology-mode\":\"Auto\","
	 "\"service.kubernetes.io/topology-aware-hints\":\"Disabled\"}",
	 "\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"a.b\"}",
	 "{\"metadata\":{\"annotations\":{\"service.kubernetes.io/topology-mode\":\"Other\"}}}",
	 NULL},
	{"", "v1", "Service", "services",
	 ",\"annotations\":{\"service.beta.kubernetes.io/load-balancer-source-ranges\":\"10.0.0.0/"
	 "8\"}",
	 "\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"a.b\"}",
	 "{\"metadata\":{\"annotations\":{"
	 "\"service.beta.kubernetes.io/load-balancer-source-ranges\":\"10.0.0.0/9\"}}}",
	 NULL},
	{"", "v1", "ServiceAccount", "serviceaccounts",
	 ",\"finalizers\":[\"a.b/"
	 "c\"],\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\","
	 "\"uid\":"
	 "\"u\"}]",
	 "\"automountServiceAccountToken\":false",
	 "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":"
	 "\"f\","
	 "\"uid\":\"v\"}]}}",
	 NULL},
};

/* '@' stands for what is too large. */
static char *stored_text(size_t i)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEXT_MAX);
	const char *at = strchr(rows[i].rest, '@');
	strbuf_addf(&b,
		    "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"old\","
		    "\"namespace\":\"default\",\"uid\":\"11111111-2222-4333-8444-555555555555\","
		    "\"creationTimestamp\":\"2029-01-01T00:00:00Z\"%s},",
		    rows[i].api_version, rows[i].kind, rows[i].meta);
	strbuf_addstr(&b, at ? (struct str){rows[i].rest, (size_t)(at - rows[i].rest)}
			     : str_of(rows[i].rest));
	for (size_t n = 0; at && n < LARGE; n++)
		strbuf_addc(&b, 'A');
	strbuf_adds(&b, at ? at + 1 : "");
	strbuf_addc(&b, '}');
	return xstrndup(b.buf, b.len);
}

static void check_row(size_t i)
{
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(xfreep) char *text = stored_text(i);
	const char *root = *rows[i].group ? "apis" : "api";
	const char *at = arena_fmt(a, "/%s/%s/namespaces/default/%s/old", root, rows[i].api_version,
				   rows[i].plural);
	apifake_plant(f, arena_fmt(a, "%s/%s/default/old", rows[i].group, rows[i].plural), text);
	apifake_restart(f);
	struct answer done =
		apifake_expect(f, "PATCH", at, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}", 200);
	assert_string_equal(obj_str(done.json, "metadata.labels.x"), "y");
	if (rows[i].beside)
		apifake_expect(f, "PATCH", at, rows[i].beside, 200);
	apifake_expect(f, "PATCH", at, rows[i].worse, 422);
	apifake_expect(f, "PATCH", at, "{\"metadata\":{\"finalizers\":[\"a.b/c\"]}}", 200);
	apifake_expect(f, "DELETE", at, NULL, 200);
	apifake_expect(f, "PATCH", at, "{\"metadata\":{\"finalizers\":null}}", 200);
	apifake_expect(f, "GET", at, NULL, 404);
}

static void test_stored__what_is_old_is_labelled_and_let_go(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored__what_is_old_is_labelled_and_let_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
