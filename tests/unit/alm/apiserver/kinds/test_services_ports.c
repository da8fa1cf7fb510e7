/* test_services_ports.c: which ports of nodes a Service is given, and which it keeps. */
#include "alm/apiserver/kinds/services_ports.h"

#include <string.h>

#include "alm/apiserver/kinds/services.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "tests/lib/exchange_fake.h"
#include "tests/lib/test.h"

#define SERVICES "/api/v1/namespaces/default/services"

static struct obj *parse(const char *json)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(json), &o, &err), &err);
	return o;
}

/* What is kept or dropped of before, as text. */
static void expect(void (*change)(struct obj *spec, const struct obj *before), const char *before,
		   const char *after, const char *want)
{
	CLEANUP(obj_unrefp) struct obj *was = parse(before);
	CLEANUP(obj_unrefp) struct obj *is = parse(after);
	change(is, was);
	CLEANUP(xfreep) char *text = json_text(is);
	assert_string_equal(text, want);
}

#define PORT(name, more) "{\"name\":\"" name "\"" more "}"
#define OF(ports)        "{\"ports\":[" ports "]}"
#define AT(n)            ",\"nodePort\":" #n

static void test_services_ports__are_kept_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *want;
	} rows[] = {
		{OF(PORT("a", ",\"port\":1" AT(30001))), OF(PORT("a", ",\"port\":2")),
		 OF(PORT("a", ",\"port\":2" AT(30001)))},
		{OF(PORT("a", ",\"port\":1" AT(30001))), OF(PORT("b", ",\"port\":1")),
		 OF(PORT("b", ",\"port\":1"))},
		{OF(PORT("a", AT(30001))), OF(PORT("a", AT(30002))), OF(PORT("a", AT(30002)))},
		/* given to another one since */
		{OF(PORT("a", AT(30001))), OF(PORT("a", "") "," PORT("b", AT(30001))),
		 OF(PORT("a", "") "," PORT("b", AT(30001)))},
		/* one number over two protocols */
		{OF(PORT("a", AT(30001)) "," PORT("b", AT(30001))),
		 OF(PORT("a", "") "," PORT("b", "")),
		 OF(PORT("a", AT(30001)) "," PORT("b", AT(30001)))},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		expect(services_ports_keep, rows[i].before, rows[i].after, rows[i].want);
}

static void test_services_ports__go_where_none_is_new(void **state)
{
	(void)state;
	static const char before[] = OF(PORT("a", AT(30001)) "," PORT("b", AT(30002)));
	expect(services_ports_drop, before, OF(PORT("c", AT(30002))), OF(PORT("c", "")));
	expect(services_ports_drop, before, OF(PORT("a", AT(30001)) "," PORT("b", AT(30003))),
	       OF(PORT("a", AT(30001)) "," PORT("b", AT(30003))));
}

static int64_t node_port(const struct answer *a, size_t i)
{
	return obj_i64(obj_at(obj_path(a->json, "spec.ports"), i), "nodePort", 0);
}

static void test_services_ports__two_protocols_share_one(void **state)
{
	(void)state;
	struct apifake *f = apifake_new(NULL);
	struct answer a = apifake_do(
		f, "POST", SERVICES,
		"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"NodePort\",\"ports\":["
		"{\"name\":\"a\",\"port\":53},{\"name\":\"b\",\"port\":54},"
		"{\"name\":\"c\",\"port\":53,\"protocol\":\"UDP\"}]}}");
	assert_int_equal(a.status, 201);
	assert_int_equal(node_port(&a, 0), node_port(&a, 2));
	assert_int_not_equal(node_port(&a, 0), node_port(&a, 1));
	assert_in_range(node_port(&a, 1), SERVICES_PORT_MIN, SERVICES_PORT_MAX);
	apifake_free(f);
}

/* name, port, protocol, port of nodes */
#define ONE(name, number, protocol, node)                                      \
	"{\"name\":\"" name "\",\"port\":" #number ",\"protocol\":\"" protocol \
	"\",\"nodePort\":" #node "}"

/* Whatever the protocol; within a Service for one port, and where it is there already for any. */
static void test_services_ports__a_number_is_of_one_service(void **state)
{
	(void)state;
	static const struct {
		const char *method, *name, *ports;
		int status;
	} rows[] = {
		{"POST", "a", ONE("b", 80, "TCP", 30001), 201},
		{"POST", "b", ONE("a", 80, "UDP", 30001), 422},
		{"POST", "b", ONE("a", 80, "UDP", 30002) "," ONE("b", 81, "TCP", 30002), 422},
		{"POST", "b", ONE("a", 80, "UDP", 30002) "," ONE("b", 80, "TCP", 30002), 201},
		{"PUT", "b", ONE("a", 80, "UDP", 30002) "," ONE("b", 81, "TCP", 30002), 200},
		{"PUT", "b", ONE("a", 80, "UDP", 30002) "," ONE("b", 81, "UDP", 30002), 422},
		{"PUT", "b", ONE("a", 80, "UDP", 30001), 422},
		{"PUT", "b", ONE("a", 80, "UDP", 29999), 422},
		{"PUT", "b", ONE("a", 80, "UDP", 30003), 200},
	};
	struct apifake *f = apifake_new(NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 14);
		const char *target = rows[i].method[1] == 'O'
					     ? SERVICES
					     : arena_fmt(a, SERVICES "/%s", rows[i].name);
		struct answer answer = apifake_do(
			f, rows[i].method, target,
			arena_fmt(a,
				  "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"type\":\"NodePort\","
				  "\"ports\":[%s]}}",
				  rows[i].name, rows[i].ports));
		if (answer.status != rows[i].status)
			fail_msg("row %zu: %d %.*s", i, answer.status,
				 STR_ARG(str_clip(answer.body, 300)));
	}
	apifake_free(f);
}

/* One Service has all that there are: another one gets none, and is told so. */
static void test_services_ports__are_given_while_there_are_some(void **state)
{
	(void)state;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)1 << 20);
	struct apifake *f = apifake_new(NULL);
	strbuf_adds(&b,
		    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[");
	for (int i = SERVICES_PORT_MIN; i <= SERVICES_PORT_MAX; i++)
		strbuf_addf(&b, "{\"name\":\"p%d\",\"port\":%d},", i, i);
	b.buf[b.len - 1] = ']';
	strbuf_adds(&b, "}}");
	struct answer a = apifake_do(f, "POST", SERVICES, b.buf);
	assert_int_equal(a.status, 201);
	a = apifake_do(f, "POST", SERVICES,
		       "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{"
		       "\"port\":80}]}}");
	assert_int_equal(a.status, 422);
	assert_non_null(strstr(obj_str(a.json, "message"), "all ports are taken"));
	apifake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_services_ports__are_kept_by_name),
		cmocka_unit_test(test_services_ports__go_where_none_is_new),
		cmocka_unit_test(test_services_ports__two_protocols_share_one),
		cmocka_unit_test(test_services_ports__a_number_is_of_one_service),
		cmocka_unit_test(test_services_ports__are_given_while_there_are_some),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
