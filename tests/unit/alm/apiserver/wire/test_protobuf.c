#include "alm/apiserver/wire/protobuf.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/schema/api_decode.h"
#include "tests/lib/test.h"

/* Bodies as kubectl 1.33 sent them. */
#define CONFIGMAP                                                                                \
	"6b3873000a0f0a0276311209436f6e6669674d617012240a120a02636d12001a0022002a00320038004200" \
	"12060a016112016212060a01631201641a002200"
#define SECRET                                                                                   \
	"6b3873000a0c0a027631120653656372657412220a110a017312001a0022002a00320038004200120b0a01" \
	"70120667656865696d1a001a002200"
#define ROLEBINDING                                                                                \
	"6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b526f6c6542"   \
	"696e64696e6712b5010a120a02726212001a0022002a00320038004200122a0a04557365721219726261632e" \
	"617574686f72697a6174696f6e2e6b38732e696f1a05616c696365220012270a0547726f75701219726261"   \
	"632e617574686f72697a6174696f6e2e6b38732e696f1a01672200121a0a0e536572766963654163636f75"   \
	"6e7412001a02736122026e731a2e0a19726261632e617574686f72697a6174696f6e2e6b38732e696f120b"   \
	"436c7573746572526f6c651a04766965771a002200"
#define SERVICE                                                                                  \
	"6b3873000a0d0a02763112075365727669636512690a1f0a0373766312001a0022002a003200380042005a" \
	"0a0a03617070120373766312420a1b0a0738302d38303830120354435018502207080010903f1a00280012" \
	"0a0a0361707012037376631a002209436c757374657249503a00420052005a00600068001a020a001a002200"
#define QUOTA                                                                                    \
	"6b3873000a130a027631120d5265736f7572636551756f746112300a110a017112001a0022002a00320038" \
	"00420012190a0a0a0363707512030a01310a0b0a04706f647312030a01321a001a002200"

static int decode(const char *hex, struct obj **ret, struct error *err)
{
	unsigned char bytes[1024];
	size_t n = strlen(hex) / 2;
	assert_true(n <= sizeof(bytes) && hex_decode(str_of(hex), bytes, n));
	return protobuf_decode(str_n((const char *)bytes, n), ret, err);
}

static void expect(const char *hex, const char *json)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	assert_ok(decode(hex, &o, &err), &err);
	CLEANUP(xfreep) char *text = json_text(o);
	assert_string_equal(text, json);
}

static void test_protobuf__bodies_of_kubectl(void **state)
{
	(void)state;
	expect(CONFIGMAP, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			  "\"cm\"},\"data\":{\"a\":\"b\",\"c\":\"d\"}}");
	expect(SECRET, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},"
		       "\"data\":{\"p\":\"Z2VoZWlt\"}}");
	expect(ROLEBINDING,
	       "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleBinding\","
	       "\"metadata\":{\"name\":\"rb\"},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":"
	       "\"rbac.authorization.k8s.io\",\"name\":\"alice\"},{\"kind\":\"Group\",\"apiGroup\":"
	       "\"rbac.authorization.k8s.io\",\"name\":\"g\"},{\"kind\":\"ServiceAccount\","
	       "\"name\":\"sa\",\"namespace\":\"ns\"}],\"roleRef\":{\"apiGroup\":"
	       "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"}}");
	expect(SERVICE,
	       "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"svc\","
	       "\"labels\":{\"app\":\"svc\"}},\"spec\":{\"ports\":[{\"name\":\"80-8080\","
	       "\"protocol\":\"TCP\",\"port\":80,\"targetPort\":8080}],\"selector\":{\"app\":"
	       "\"svc\"},\"type\":\"ClusterIP\"},\"status\":{\"loadBalancer\":{}}}");
	expect(QUOTA, "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
		      "\"q\"},\"spec\":{\"hard\":{\"cpu\":\"1\",\"pods\":\"2\"}},\"status\":{}}");
}

/* Objects of 44 kinds as a real server answered them in both forms (tests/golden/kube-api): the same bytes, but that it keeps
 * the blanks of the JSON that it was sent in them. */
static void check_encoded(const struct obj *c)
{
	static const char *const has_blanks[] = {"ControllerRevision", "DeviceClass", NULL};
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROTOBUF_BYTES_MAX);
	assert_true(protobuf_encode(obj_get(c, "json"), &b) && !b.over);
	CLEANUP(xfreep) char *hex = xmalloc(2 * b.len + 1);
	hex_encode(b.buf, b.len, hex);
	if (!cstr_eq(hex, obj_str(c, "hex")) && !cstr_in(obj_str(c, "json.kind"), has_blanks))
		fail_msg("%s: want %s\ngot  %s", obj_str(c, "json.kind"), obj_str(c, "hex"), hex);
}

static void check_recorded(struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL, *o = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	check_encoded(c);
	struct str hex = str_of(obj_str(c, "hex"));
	unsigned char *bytes = xmalloc(hex.len / 2);
	assert_true(hex_decode(hex, bytes, hex.len / 2));
	int r = protobuf_decode(str_n((const char *)bytes, hex.len / 2), &o, &err);
	xfree(bytes);
	assert_ok(r, &err);
	CLEANUP(obj_unrefp) struct obj *want = obj_copy(obj_get(c, "json"));
	const struct api_type *t = api_type_of_kind(obj_str(o, "apiVersion"), obj_str(o, "kind"));
	assert_non_null(t);
	assert_ok(api_decode(t, API_JSON_TEXT, o, NULL, NULL, &err), &err);
	assert_ok(api_decode(t, API_JSON_TEXT, want, NULL, NULL, &err), &err);
	if (obj_equal(o, want))
		return;
	CLEANUP(xfreep) char *x = json_text(want);
	CLEANUP(xfreep) char *y = json_text(o);
	fail_msg("want %s\ngot  %s", x, y);
}

static void each_line(const char *path, size_t min, void (*check)(struct str line))
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)4 << 20);
	assert_ok(file_read(path, &text, &err), &err);
	struct str rest = strbuf_str(&text), line;
	size_t n = 0;
	while (str_next(&rest, '\n', &line))
		if (line.len) {
			check(line);
			n++;
		}
	assert_true(n >= min);
}

static void test_protobuf__answers_of_a_real_server(void **state)
{
	(void)state;
	each_line("tests/golden/kube-api/protobuf.jsonl", 60, check_recorded);
}

/* Lists and Statuses, or the events of a watch one behind the other. */
static void check_answer(struct str line)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *c = NULL;
	assert_ok(json_parse(line, &c, &err), &err);
	const struct obj *events = obj_get(c, "events");
	if (!events) {
		check_encoded(c);
		return;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROTOBUF_BYTES_MAX);
	for (size_t i = 0; i < obj_len(events); i++)
		assert_true(protobuf_encode_event(obj_at(events, i), &b));
	CLEANUP(xfreep) char *hex = xmalloc(2 * b.len + 1);
	hex_encode(b.buf, b.len, hex);
	assert_true(obj_len(events) > 0);
	assert_string_equal(hex, obj_str(c, "hex"));
}

static void test_protobuf__lists_and_events(void **state)
{
	(void)state;
	each_line("tests/golden/kube-api/protobuf_answers.jsonl", 9, check_answer);
}

/* What has no type is answered otherwise, and what is too large is seen. */
static void test_protobuf__what_cannot_be_said(void **state)
{
	(void)state;
	static const char *const none[] = {"{}", "{\"apiVersion\":\"v1\",\"kind\":\"Nope\"}",
					   "{\"apiVersion\":\"a/v1\",\"kind\":\"List\"}",
					   "{\"kind\":\"PodList\"}"};
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		struct error err = ERROR_INIT;
		CLEANUP(obj_unrefp) struct obj *o = NULL, *event = obj_map();
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(PROTOBUF_BYTES_MAX);
		assert_ok(json_parse(str_of(none[i]), &o, &err), &err);
		assert_false(protobuf_encode(o, &b));
		assert_int_equal(b.len, 0);
		obj_set_str(event, "type", "ADDED");
		obj_set(event, "object", obj_ref(o));
		assert_false(protobuf_encode_event(event, &b));
	}
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *event = NULL;
	CLEANUP(strbuf_release) struct strbuf small = STRBUF_INIT(64);
	assert_ok(json_parse(STR("{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\","
				 "\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}}"),
			     &event, &err),
		  &err);
	assert_false(protobuf_encode_event(event, &small));
	assert_true(small.over);
}

/* Behind its magic, its type and its object a body may end: without the type it is of no kind. */
static void test_protobuf__every_cut_is_an_error_or_an_object(void **state)
{
	(void)state;
	static const size_t magic = 4, type = magic + 2 + 0x2b, all = type + 3 + 0xb5;
	size_t full = strlen(ROLEBINDING);
	for (size_t n = 0; n < full; n += 2) {
		struct error err = ERROR_INIT;
		struct obj *o = NULL;
		char hex[1024];
		memcpy(hex, ROLEBINDING, n);
		hex[n] = '\0';
		int r = decode(hex, &o, &err);
		bool whole = n / 2 == type || n / 2 == all || n / 2 == all + 2;
		assert_int_equal(r, whole ? 0 : n / 2 == magic ? -E_MEDIATYPE : -E_BADREQUEST);
		assert_true(!o == !whole);
		obj_unref(o);
	}
}

static void test_protobuf__refuses_other_kinds_and_damage(void **state)
{
	(void)state;
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	/* v1 Nope */
	assert_int_equal(decode("6b3873000a0a0a02763112044e6f7065", &o, &err), -E_MEDIATYPE);
	assert_int_equal(decode("7b7d", &o, &err), -E_BADREQUEST);
	assert_int_equal(decode("", &o, &err), -E_BADREQUEST);
	/* metadata as a varint */
	assert_int_equal(decode("6b3873000a0f0a0276311209436f6e6669674d617012020801", &o, &err),
			 -E_BADREQUEST);
	/* field numbers 0 and 536870912: of a message that has none of them, and in front of one */
	assert_int_equal(decode("6b3873000001", &o, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "field number"));
	assert_int_equal(decode("6b387300808080801001", &o, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "field number"));
	/* in the type: a length beyond the end, texts that are no UTF-8 */
	assert_int_equal(decode("6b3873000a020a05", &o, &err), -E_BADREQUEST);
	assert_int_equal(decode("6b3873000a030a01ff", &o, &err), -E_BADREQUEST);
	assert_int_equal(decode("6b3873000a0a0a027631120444ff7065", &o, &err), -E_BADREQUEST);
	assert_non_null(strstr(err.msg, "UTF-8"));
	/* a length beyond the end */
	assert_int_equal(decode("6b3873000affffffff0f", &o, &err), -E_BADREQUEST);
	assert_null(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protobuf__bodies_of_kubectl),
		cmocka_unit_test(test_protobuf__answers_of_a_real_server),
		cmocka_unit_test(test_protobuf__lists_and_events),
		cmocka_unit_test(test_protobuf__what_cannot_be_said),
		cmocka_unit_test(test_protobuf__every_cut_is_an_error_or_an_object),
		cmocka_unit_test(test_protobuf__refuses_other_kinds_and_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
