/* test_required.c: built-in objects that lack a field, and what a real kube-apiserver 1.36 said of
 * each (tests/golden/kube-api/required.py). */
#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_required__as_recorded),
		cmocka_unit_test(test_required__stays_as_it_was_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
