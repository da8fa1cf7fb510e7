/* test_builtin_check.c: of an update, what a former release has stored; the rest of it is in test_differs.c. */
#include "alm/apiserver/kinds/builtin_check.h"

#include "alm/apiserver/kinds/defaults.h"
#include "alm/obj/json.h"
#include "tests/lib/test.h"

struct update {
	const char *before, *after; /* specs; before is stored as it stands */
	const char *refused;        /* the field; NULL: none */
};

static struct obj *with_spec(const char *spec)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	assert_ok(json_parse(str_of(arena_fmt(a, "{\"spec\":%s}", spec)), &o, &err), &err);
	return o;
}

static void expect(const char *group, const char *plural, const struct update *u)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	CLEANUP(obj_unrefp) struct obj *was = with_spec(u->before);
	CLEANUP(obj_unrefp) struct obj *is = with_spec(u->after);
	struct field_errors e;
	field_errors_init(&e, a);
	defaults_set(is, group, plural);
	builtin_check(group, plural, is, was, &e);
	if (u->refused ? !e.n || !cstr_eq(e.items[0].path, u->refused) : e.n > 0)
		fail_msg("%s -> %s: %zu errors, %s", u->before, u->after, e.n,
			 e.n ? e.items[0].path : "none");
}

#define POD                                                                                    \
	"\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\"," \
	"\"image\":\"i:1\"}]}}"
#define JOB(condition)                                                                             \
	"{\"podFailurePolicy\":{\"rules\":[{\"action\":\"Ignore\",\"onPodConditions\":[{\"type\":" \
	"\"DisruptionTarget\"" condition "}]}]}," POD "}"

static void test_builtin_check__a_default_is_no_change_of_a_job(void **state)
{
	(void)state;
	static const struct update updates[] = {
		{JOB(""), JOB(",\"status\":\"True\""), NULL},
		{JOB(",\"status\":\"True\""), JOB(""), NULL},
		{JOB(",\"status\":\"\""), JOB(",\"status\":null"), NULL},
		{JOB(""), JOB(",\"status\":\"False\""), "spec.podFailurePolicy"},
		{JOB(",\"status\":\"False\""), JOB(""), "spec.podFailurePolicy"},
	};
	for (size_t i = 0; i < ARRAY_LEN(updates); i++)
		expect("batch", "jobs", &updates[i]);
}

#define CRON(more, job) \
	"{\"schedule\":\"* * * * *\"" more ",\"jobTemplate\":{\"spec\":{" job POD "}}}"
#define SELECTOR(value) "\"selector\":{\"matchLabels\":{\"a\":\"" value "\"}},"
#define MANUAL          "\"manualSelector\":true,"
#define PER_INDEX       "\"completionMode\":\"Indexed\",\"completions\":1,\"backoffLimitPerIndex\":-1,"
#define SUSPEND         ",\"suspend\":true"

static void test_builtin_check__a_stored_cron_job_can_be_suspended(void **state)
{
	(void)state;
	static const struct update updates[] = {
		{CRON("", SELECTOR("1")), CRON(SUSPEND, SELECTOR("1")), NULL},
		{CRON("", MANUAL), CRON(SUSPEND, MANUAL), NULL},
		{CRON("", PER_INDEX), CRON("", PER_INDEX "\"suspend\":true,"), NULL},
		{CRON("", ""), CRON("", PER_INDEX), "spec.jobTemplate.spec.backoffLimitPerIndex"},
		{CRON("", SELECTOR("1")), CRON("", SELECTOR("2")),
		 "spec.jobTemplate.spec.selector"},
		{CRON("", ""), CRON("", SELECTOR("1")), "spec.jobTemplate.spec.selector"},
		{CRON("", ""), CRON("", MANUAL), "spec.jobTemplate.spec.manualSelector"},
		{CRON("", SELECTOR("1")), CRON("", MANUAL SELECTOR("1")),
		 "spec.jobTemplate.spec.manualSelector"},
	};
	for (size_t i = 0; i < ARRAY_LEN(updates); i++)
		expect("batch", "cronjobs", &updates[i]);
}

#define PORTS(ports, label)                                 \
	"{\"podSelector\":{\"matchLabels\":{\"a\":\"" label \
	"\"}},\"ingress\":[{\"ports\":[{" ports "}]}]}"
#define NO_PORT "\"endPort\":90"
#define NAMED   "\"port\":\"http\",\"endPort\":90"
#define BEFORE  "\"port\":80,\"endPort\":10"
#define BEYOND  "\"port\":80,\"endPort\":70000"
#define FIELD   "spec.ingress[0].ports[0].endPort"

static void test_builtin_check__a_stored_network_policy_can_be_changed(void **state)
{
	(void)state;
	static const struct update updates[] = {
		{PORTS(NO_PORT, "1"), PORTS(NO_PORT, "2"), NULL},
		{PORTS(NAMED, "1"), PORTS(NAMED, "2"), NULL},
		{PORTS(BEFORE, "1"), PORTS(BEFORE, "2"), NULL},
		{PORTS(BEYOND, "1"), PORTS(BEYOND, "2"), NULL},
		{PORTS(NO_PORT, "1"), PORTS("\"endPort\":91", "1"), FIELD},
		{PORTS(BEFORE, "1"), PORTS("\"port\":80,\"endPort\":11", "1"), FIELD},
		{PORTS(BEFORE, "1"), PORTS(NAMED, "1"), FIELD},
		{PORTS("\"port\":80", "1"), PORTS(BEYOND, "1"), FIELD},
	};
	for (size_t i = 0; i < ARRAY_LEN(updates); i++)
		expect("networking.k8s.io", "networkpolicies", &updates[i]);
}

/* What was there before is walked in as much memory as a request has. */
#define BACKEND(host, port)                                                \
	"{\"rules\":[{\"host\":\"" host                                    \
	"\",\"http\":{\"paths\":[{\"path\":\"/\",\"pathType\":\"Prefix\"," \
	"\"backend\":{\"service\":{\"name\":\"s\",\"port\":{" port "}}}}]}}]}"

static void test_builtin_check__a_stored_ingress_can_be_changed(void **state)
{
	(void)state;
	static const struct update updates[] = {
		{BACKEND("a.b", "\"name\":\"HTTP_PORT\""), BACKEND("c.d", "\"name\":\"HTTP_PORT\""),
		 NULL},
		{BACKEND("a.b", "\"number\":70000"), BACKEND("c.d", "\"number\":70000"), NULL},
		{BACKEND("a.b", ""), BACKEND("c.d", ""), NULL},
		{BACKEND("a.b", "\"number\":80"), BACKEND("a.b", "\"number\":70000"),
		 "spec.rules[0].http.paths[0].backend.service.port.number"},
	};
	for (size_t i = 0; i < ARRAY_LEN(updates); i++)
		expect("networking.k8s.io", "ingresses", &updates[i]);
}

/* Of what is judged by single fields nothing is, where none of these parts changes. */
static void test_builtin_check__a_part_that_stays_is_not_judged(void **state)
{
	(void)state;
#define CLASS(amount, more)                                                             \
	"{\"handler\":\"h\",\"overhead\":{\"podFixed\":{\"cpu\":\"" amount              \
	"\"}},\"scheduling\":{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"," \
	"\"tolerationSeconds\":1}" more "]}}"
	static const struct {
		const char *after;
		size_t n; /* errors */
	} rows[] = {{CLASS("1", ""), 0},
		    {CLASS("2", ""), 0},
		    {CLASS("1", ",{\"key\":\"k\",\"operator\":\"x\"}"), 1}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
		CLEANUP(obj_unrefp) struct obj *was = NULL, *is = NULL;
		struct error err = ERROR_INIT;
		struct field_errors e;
		assert_ok(json_parse(str_of(CLASS("1", "")), &was, &err), &err);
		assert_ok(json_parse(str_of(rows[i].after), &is, &err), &err);
		field_errors_init(&e, a);
		builtin_check("node.k8s.io", "runtimeclasses", is, was, &e);
		assert_int_equal(e.n, rows[i].n);
	}
}

static void test_builtin_check__a_large_deployment_is_refused(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_REQUEST_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *was = with_spec("{\"template\":{\"spec\":{}}}");
	CLEANUP(obj_unrefp) struct obj *is = NULL;
	struct obj *list = obj_list();
	struct field_errors e;
	for (int i = 0; i < 20000; i++) {
		struct obj *t = obj_map();
		obj_set_str(t, "key", arena_fmt(a, "key-%d", i));
		obj_set_str(t, "operator", "Exists");
		obj_set_str(t, "effect", "NoExecute");
		obj_append(list, t);
	}
	obj_set_path(was, "spec.template.spec.tolerations", list);
	is = obj_copy(was);
	obj_set_path(is, "spec.minReadySeconds", obj_int(-1));
	field_errors_init(&e, a);
	builtin_check("apps", "deployments", is, was, &e);
	assert_string_equal(e.items[e.n - 1].path, "spec.minReadySeconds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtin_check__a_default_is_no_change_of_a_job),
		cmocka_unit_test(test_builtin_check__a_stored_cron_job_can_be_suspended),
		cmocka_unit_test(test_builtin_check__a_stored_network_policy_can_be_changed),
		cmocka_unit_test(test_builtin_check__a_stored_ingress_can_be_changed),
		cmocka_unit_test(test_builtin_check__a_part_that_stays_is_not_judged),
		cmocka_unit_test(test_builtin_check__a_large_deployment_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
