/* test_builtin.c: bodies of built-in kinds, and what a real kube-apiserver 1.36 said of each
 * (tests/golden/kube-api/builtin.py). */
#include <string.h>

#include "alm/base/file.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define RECORDED  "tests/golden/kube-api/builtin.jsonl"
#define BYTES_MAX ((size_t)4 << 20)

static size_t n_failed;

static void differs(const struct obj *c, const char *what, const char *want, const char *got)
{
	n_failed++;
	print_error("%s %s %.300s\n  %s: want %.700s\n  got %.700s\n", obj_str(c, "method"),
		    obj_str(c, "path"), obj_str(c, "body"), what, want, got);
}

/* Equal, but for what the recorded server chose by itself.
 * NOLINTNEXTLINE(misc-no-recursion): over a recording */
static bool matches(const struct obj *want, const struct obj *have)
{
	if (cstr_eq(obj_as_string(want), "ANY"))
		return have;
	if (obj_type(want) != obj_type(have) || obj_len(want) != obj_len(have))
		return false;
	if (obj_type(want) != OBJ_MAP && obj_type(want) != OBJ_LIST)
		return obj_equal(want, have);
	for (size_t i = 0; obj_type(want) == OBJ_LIST && i < obj_len(want); i++)
		if (!matches(obj_at(want, i), obj_at(have, i)))
			return false;
	OBJ_EACH (it, want)
		if (!matches(it.value, obj_get(have, it.key)))
			return false;
	return true;
}

static void check_parts(const struct obj *c, const struct obj *answer)
{
	const struct obj *parts = obj_get(c, "parts");
	OBJ_EACH (it, parts) {
		const struct obj *have = obj_get(answer, it.key);
		if (have && matches(it.value, have))
			continue;
		CLEANUP(xfreep) char *want = json_text(it.value);
		CLEANUP(xfreep) char *got = have ? json_text(have) : NULL;
		differs(c, it.key, want, got ? got : "nothing");
	}
}

static void check_warnings(const struct obj *c, const struct answer *a)
{
	const struct obj *want = obj_get(c, "warnings");
	size_t n = 0;
	for (size_t i = 0; i < a->headers->n; i++) {
		const char *value = a->headers->items[i].value;
		if (strcmp(a->headers->items[i].name, "Warning") != 0)
			continue;
		const char *text = obj_as_string(obj_at(want, n++));
		if (!text || !strstr(value, text))
			differs(c, "warning", text ? text : "none", value);
	}
	if (n < obj_len(want))
		differs(c, "warnings", obj_as_string(obj_at(want, n)), "fewer");
}

static void check_line(struct apifake *f, struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	struct answer a = apifake_do_type(f, obj_str(c, "method"), obj_str(c, "path"),
					  obj_str(c, "type"), obj_str(c, "body"));
	const char *message = obj_str(a.json, "message"), *want = obj_str(c, "message");
	CLEANUP(strbuf_release) struct strbuf code = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&code, "%d %s", a.status, message && a.status >= 400 ? message : "");
	if (a.status != (int)obj_i64(c, "code", 0))
		differs(c, "code", want ? want : "success", code.buf);
	else if (want && (!message || strcmp(want, message) != 0))
		differs(c, "message", want, code.buf);
	else
		check_parts(c, a.json);
	check_warnings(c, &a);
}

static void test_builtin__answers_are_those_of_a_real_server(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BYTES_MAX);
	assert_ok(file_read(RECORDED, &text, &err), &err);
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	struct str rest = strbuf_str(&text), line;
	size_t n = 0;
	while (str_next(&rest, '\n', &line))
		if (line.len) {
			check_line(f, line);
			apifake_forget(f);
			n++;
		}
	assert_true(n > 150);
	if (n_failed)
		fail_msg("%zu differences in %zu answers", n_failed, n);
}

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define VOLUME(source)                                                                       \
	"\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{"  \
	"\"name\":"                                                                          \
	"\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"v\",\"projected\":{\"sources\":[{" \
	"\"secret\":"                                                                        \
	"{\"name\":\"s\"}" source "}]}}]}}"

/* A write that asks for a feature that is off alone is none: nothing is rolled out for it. */
static void test_builtin__what_is_dropped_is_no_change(void **state)
{
	(void)state;
	struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(f, "POST", DEPLOYMENTS,
				     "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{"
				     "\"matchLabels\":{\"a\":\"b\"}}," VOLUME("") "}}");
	assert_int_equal(a.status, 201);
	a = apifake_do_type(
		f, "PATCH", DEPLOYMENTS "/d", "application/merge-patch+json",
		"{\"spec\":{" VOLUME(
			",\"clusterTrustBundle\":{\"name\":\"n\",\"path\":\"p\"}") "}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 1);
	a = apifake_do_type(f, "PATCH", DEPLOYMENTS "/d", "application/merge-patch+json",
			    "{\"spec\":{\"paused\":true,\"template\":{\"spec\":{\"overhead\":{"
			    "\"cpu\":\"1\"}}}}}");
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 2);
	a = apifake_do_type(f, "PATCH", DEPLOYMENTS "/d", "application/merge-patch+json",
			    "{\"spec\":{\"template\":{\"spec\":{\"overhead\":{\"cpu\":\"+1\"}}}}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(obj_i64(a.json, "metadata.generation", 0), 2);
	apifake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtin__answers_are_those_of_a_real_server),
		cmocka_unit_test(test_builtin__what_is_dropped_is_no_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
