/* test_required.c: built-in objects that lack a field, and what a real kube-apiserver 1.36 said of
 * each (tests/golden/kube-api/required.py). */
#include <string.h>

#include "alm/apiserver/kinds/builtin_check.h"
#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RECORDED  "tests/golden/kube-api/required.jsonl"
#define BYTES_MAX ((size_t)4 << 20)
#define ANSWERS   794

/* An empty map or list goes when a body is decoded, so it is printed as an absent one. */
static const char *const empty[][2] = {
	{"Invalid value: {}: `selector` does not match",
	 "Invalid value: null: `selector` does not match"},
	{"Invalid value: []: either `defaultBackend`",
	 "Invalid value: null: either `defaultBackend`"},
};

static bool is_same(const char *want, const char *got)
{
	if (cstr_eq(want, got))
		return true;
	for (size_t i = 0; want && got && i < ARRAY_LEN(empty); i++) {
		const char *a = strstr(want, empty[i][0]), *b = strstr(got, empty[i][1]);
		if (a && b && a - want == b - got && !strncmp(want, got, (size_t)(a - want)) &&
		    !strcmp(a + strlen(empty[i][0]), b + strlen(empty[i][1])))
			return true;
	}
	return false;
}

static void test_required__as_recorded(void **state)
{
	(void)state;
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
	struct error err = ERROR_INIT;
	size_t n = 0, n_failed = 0;
	assert_ok(file_read(RECORDED, &text, &err), &err);
	struct str rest = strbuf_str(&text), line;
	while (str_next_line(&rest, &line)) {
		CLEANUP(obj_unrefp) struct obj *c = NULL;
		if (!line.len)
			continue;
		n++;
		assert_ok(json_parse(line, &c, &err), &err);
		strbuf_clear(&target);
		strbuf_addf(&target, "%s?dryRun=All", obj_str(c, "path"));
		struct answer a = apifake_do(f, "POST", target.buf, obj_str(c, "body"));
		const char *want = obj_str(c, "message");
		const char *got = a.status >= 400 ? obj_str(a.json, "message") : NULL;
		bool same = a.status == obj_i64(c, "code", 0) && is_same(want, got);
		n_failed += !same;
		if (!same)
			print_error("%s %.300s\n  want %.600s\n  got %d %.600s\n",
				    obj_str(c, "path"), obj_str(c, "body"),
				    want ? want : "it is taken", a.status, got ? got : "");
		apifake_forget(f);
	}
	assert_int_equal(n_failed, 0);
	assert_int_equal(n, ANSWERS);
}

#define SELECTS(l) "{\"matchLabels\":{\"a\":\"" l "\"}}"
#define SPEC(l)                                                          \
	"\"selector\":" SELECTS(                                         \
		l) ",\"template\":{\"metadata\":{\"labels\":{\"a\":\"" l \
		   "\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

/* What an update may not change; the texts are those of the same server. */
static void test_required__stays_as_it_was_made(void **state)
{
	(void)state;
	static const struct {
		const char *list, *made, *patch, *message;
	} cases[] = {
		{"deployments", SPEC("x"), SPEC("y"),
		 "spec.selector: Invalid value: " SELECTS("y") ": field is immutable"},
		{"daemonsets", SPEC("x"), SPEC("y"),
		 "spec.selector: Invalid value: " SELECTS("y") ": field is immutable"},
		{"statefulsets", SPEC("x"), "\"serviceName\":\"y\"",
		 "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
		 "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
		 "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"},
		{"deployments", SPEC("x"), "\"replicas\":3", NULL},
		{"statefulsets", SPEC("x"), "\"replicas\":3,\"minReadySeconds\":4", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
		CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(STRBUF_SMALL);
		CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&path, "/apis/apps/v1/namespaces/default/%s", cases[i].list);
		strbuf_addf(&body, "{\"metadata\":{\"name\":\"o\"},\"spec\":{%s}}", cases[i].made);
		assert_int_equal(apifake_do(f, "POST", path.buf, body.buf).status, 201);
		strbuf_adds(&path, "/o");
		strbuf_clear(&body);
		strbuf_addf(&body, "{\"spec\":{%s}}", cases[i].patch);
		struct answer a = apifake_do_type(f, "PATCH", path.buf,
						  "application/merge-patch+json", body.buf);
		assert_int_equal(a.status, cases[i].message ? 422 : 200);
		if (cases[i].message)
			assert_non_null(strstr(obj_str(a.json, "message"), cases[i].message));
	}
}

/* The finalizers that the server knows by a name without a domain, of a Namespace's spec. */
static void test_required__known_finalizers_of_a_namespace(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int status;
	} cases[] = {
		{"kubernetes", 201}, {"orphan", 201},   {"foregroundDeletion", 201},
		{"a.b/c", 201},      {"orphaned", 422}, {"Kubernetes", 422},
	};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(STRBUF_SMALL);
		strbuf_addf(&body,
			    "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"%s\"]}}",
			    cases[i].name);
		struct answer a = apifake_do(f, "POST", "/api/v1/namespaces?dryRun=All", body.buf);
		assert_int_equal(a.status, cases[i].status);
		if (cases[i].status == 422)
			assert_non_null(strstr(obj_str(a.json, "message"),
					       "name is neither a standard finalizer name nor is "
					       "it fully qualified"));
	}
}

static struct obj *spec_of(const char *spec)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (!spec)
		return NULL;
	strbuf_addf(&text, "{\"spec\":%s}", spec);
	assert_ok(json_parse(strbuf_str(&text), &o, &err), &err);
	return o;
}

#define POLICY(rules) "{\"podSelector\":{},\"ingress\":[" rules "]}"
#define FROM(cidr)    "{\"from\":[{\"ipBlock\":{\"cidr\":\"" cidr "\"}}]}"
#define PORT(n)       "{\"ports\":[{\"port\":" n "}]}"
#define IN(v)         "{\"key\":\"a\",\"operator\":\"In\",\"values\":[" v "]}"
#define CHOOSES(more, list) \
	"{\"minAvailable\":1," more "\"selector\":{\"matchExpressions\":[" list "]}}"
#define RUNS(more, images)                                                                 \
	"{\"selector\":" SELECTS("x") ",\"template\":{\"metadata\":{\"labels\":{\"a\":\"x" \
				      "\"}},\"spec\":{" more "\"containers\":[" images "]}}}"
#define IMAGE(n)  "{\"name\":\"" n "\",\"image\":\"i\"}"
#define ALIAS(ip) "\"hostAliases\":[{\"ip\":\"" ip "\"}],"
#define NODES(v)  "\"nodeSelector\":{\"a\":\"" v "\"},"

/* A former release stored it: it is not in the way of an update of something else. */
static void test_required__what_was_there_is_not_judged_again(void **state)
{
	(void)state;
	static const struct {
		const char *group, *plural, *before, *after;
		size_t n;
	} cases[] = {
#define NETWORK "networking.k8s.io", "networkpolicies"
		{NETWORK, NULL, POLICY(FROM("10.0.0.5/24")), 1},
		{NETWORK, POLICY(FROM("10.0.0.5/24")), POLICY(FROM("10.0.0.5/24") "," PORT("80")),
		 0},
		{NETWORK, POLICY(FROM("10.0.0.5/24")), POLICY(PORT("80") "," FROM("10.0.0.5/24")),
		 0},
		{NETWORK, POLICY(FROM("10.0.0.5/24")), POLICY(FROM("10.0.0.6/24")), 1},
		{NETWORK, POLICY(FROM("10.0.0.5/24")),
		 POLICY(FROM("10.0.0.5/24") "," FROM("10.0.0.6/24")), 1},
		{NETWORK, POLICY(FROM("10.0.0.5/24")), POLICY(FROM("10.0.0.5/24") "," PORT("0")),
		 1},
		/* no text, so nobody knows whether it is the one from before */
		{NETWORK, POLICY(PORT("0")), POLICY(PORT("0") "," PORT("0")), 2},
		{NETWORK, POLICY(FROM("")), POLICY(FROM("") "," FROM("")), 2},
#define BUDGET "policy", "poddisruptionbudgets"
		{BUDGET, NULL, CHOOSES("", IN("\"a b\"")), 1},
		{BUDGET, CHOOSES("", IN("\"a b\"")), CHOOSES("", IN("\"x\",\"a b\"")), 0},
		{BUDGET, CHOOSES("", IN("\"a b\"")), CHOOSES("", IN("\"a b\",\"b c\"")), 1},
		{BUDGET, CHOOSES("", IN("\"a b\"")),
		 CHOOSES("\"maxUnavailable\":1,", IN("\"a b\"")), 1},
#define DEPLOYMENT "apps", "deployments"
		{DEPLOYMENT, RUNS(ALIAS("010.0.0.1"), IMAGE("a")),
		 RUNS(ALIAS("010.0.0.1"), IMAGE("b")), 0},
		{DEPLOYMENT, RUNS(ALIAS("010.0.0.1"), IMAGE("a")),
		 RUNS(ALIAS("010.0.0.2"), IMAGE("a")), 1},
		{DEPLOYMENT, RUNS(NODES("a b"), IMAGE("a")), RUNS(NODES("a b"), IMAGE("b")), 0},
		{DEPLOYMENT, RUNS(NODES("a b"), IMAGE("a")), RUNS(NODES("b c"), IMAGE("a")), 1},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		CLEANUP(obj_unrefp) struct obj *before = spec_of(cases[i].before);
		CLEANUP(obj_unrefp) struct obj *after = spec_of(cases[i].after);
		struct field_errors e;
		field_errors_init(&e, a);
		builtin_check(cases[i].group, cases[i].plural, after, before, &e);
		if (e.n != cases[i].n)
			fail_msg("%zu: %s: %zu errors, %s", i, cases[i].after, e.n,
				 e.n ? e.items[0].message : "");
	}
}

/* Where there are more than are kept, one of those that are not may be a new one. */
static void test_required__too_many_are_not_forgiven(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(strbuf_release) struct strbuf was = STRBUF_INIT(BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT(BYTES_MAX);
	for (size_t i = 0; i < FIELD_ERRORS_MAX; i++)
		strbuf_adds(&was, i ? "," FROM("10.0.0.5/24") : FROM("10.0.0.5/24"));
	for (size_t more = 0; more < 2; more++) {
		struct field_errors e;
		strbuf_clear(&is);
		strbuf_addf(&is, "%s,%s", was.buf, more ? FROM("10.0.0.6/24") : PORT("80"));
		CLEANUP(obj_unrefp) struct obj *before =
			spec_of(arena_fmt(a, POLICY("%s"), was.buf));
		CLEANUP(obj_unrefp) struct obj *after = spec_of(arena_fmt(a, POLICY("%s"), is.buf));
		field_errors_init(&e, a);
		builtin_check(NETWORK, after, before, &e);
		assert_int_equal(e.n, more ? FIELD_ERRORS_MAX : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_required__as_recorded),
		cmocka_unit_test(test_required__stays_as_it_was_made),
		cmocka_unit_test(test_required__known_finalizers_of_a_namespace),
		cmocka_unit_test(test_required__what_was_there_is_not_judged_again),
		cmocka_unit_test(test_required__too_many_are_not_forgiven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
