/* What is asked about a workload that is waited for, how often, and what of the answers a check is told; the log of a Job. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/unit/unit_check.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"
#include "tests/lib/view_fake.h"

#define DEPLOYMENT                                                                          \
	"{\"apiVersion\":\"apps/"                                                           \
	"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"web\",\"namespace\":"                \
	"\"n\",\"generation\":1,\"uid\":\"u\",\"annotations\":{\"deployment.kubernetes.io/" \
	"revision\":\"1\"}},\"spec\":{\"replicas\":1%s},\"status\":{"                       \
	"\"observedGeneration\":1}}"
#define SELECTOR ",\"selector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define POD                                                                                      \
	"{\"value\":{\"items\":[{\"metadata\":{\"name\":\"p\",\"uid\":\"p\","                    \
	"\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"uid\":\"r\",\"controller\":true}]},"    \
	"\"status\":{\"containerStatuses\":[{\"name\":\"m\",\"state\":{\"waiting\":{\"reason\":" \
	"\"ImagePullBackOff\",\"message\":\"no such image\"}}}]}}]}}"
#define SETS                                                                                   \
	"{\"value\":{\"items\":[{\"metadata\":{\"name\":\"rs\",\"uid\":\"r\",\"annotations\":" \
	"{\"deployment.kubernetes.io/revision\":\"1\"},\"ownerReferences\":[{\"kind\":"        \
	"\"Deployment\",\"uid\":\"u\",\"controller\":true}]}}]}}"

#define NEW_POD                                                                               \
	"{\"value\":{\"items\":[{\"metadata\":{\"name\":\"p\",\"uid\":\"p\","                 \
	"\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"uid\":\"r\",\"controller\":true}]}," \
	"\"status\":{}}]}}"
#define EVENTS                                                                            \
	"{\"value\":{\"items\":[{\"reason\":\"FailedMount\",\"message\":\"no volume\","   \
	"\"involvedObject\":{\"uid\":\"p\"},\"firstTimestamp\":\"2023-11-14T22:13:20Z\"," \
	"\"lastTimestamp\":\"2023-11-14T22:19:00Z\"}]}}"

struct fixture {
	struct view_fake f;
	struct unit_job job;
	struct unit_entry entry;
	struct unit_pass s;
	struct obj *record, *live;
};

static void begin(struct fixture *x, const char *kind, const char *selector)
{
	*x = (struct fixture){.job = {.attempt = 1}};
	view_fake_init(&x->f);
	x->live = view_fake_obj(&x->f, arena_fmt(x->f.a, DEPLOYMENT, kind, selector));
	x->record = obj_keep(x->f.a, obj_map());
	obj_set_int(x->record, "sinceNs", x->f.view.now_ns);
	x->entry = (struct unit_entry){
		.object = x->live, .live = x->live, .kind = kind, .name = "web", .ns = "n"};
	x->s = (struct unit_pass){.v = &x->f.view,
				  .plan = view_fake_plan(&x->f),
				  .key = "b/i",
				  .job = &x->job,
				  .entries = &x->entry,
				  .n = 1};
}

static struct check_result look(struct fixture *x)
{
	static const struct unit_step step = {.name = "s", .action = ACTION_CREATE_OR_UPDATE};
	struct check_result r = {0};
	x->s.plan = view_fake_plan(&x->f);
	unit_check(&x->s, &step, 0, x->live, x->record, &r);
	return r;
}

static const struct action *asked(struct fixture *x)
{
	return view_fake_work(&x->f, &ask_work);
}

/* What has Pods, and says which; anything else is only looked at again in time. */
static void test_unit_check__what_is_asked(void **state)
{
	static const struct {
		const char *kind, *selector;
		bool asks;
	} rows[] = {{"Deployment", SELECTOR, true},
		    {"StatefulSet", SELECTOR, true},
		    {"Deployment", "", false},
		    {"Other", SELECTOR, false}};
	static const char *const kinds[] = {"Pod", "ReplicaSet", "Event"};
	static const char *const versions[] = {"v1", "apps/v1", "v1"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		begin(&x, rows[i].kind, rows[i].selector);
		if (!strcmp(rows[i].kind, "Other")) /* by itself it would be ready */
			obj_set_path(x.live, "status.observedGeneration", obj_int(0));
		struct check_result r = look(&x);
		assert_int_equal(r.state, CHECK_WAITING);
		const struct action *a = asked(&x);
		assert_int_equal(a != NULL, rows[i].asks);
		assert_true(x.f.plan.requeue_after_ns > 0);
		if (rows[i].asks)
			assert_int_equal(x.f.plan.requeue_after_ns, ROLLOUT_POLL_INTERVAL);
		for (size_t k = 0; a && k < ARRAY_LEN(kinds); k++) {
			const struct obj *need = obj_at(a->body, k);
			assert_true(cstr_eq(obj_str(need, "kind"), kinds[k]));
			assert_true(cstr_eq(obj_str(need, "apiVersion"), versions[k]));
			assert_true(cstr_eq(obj_str(need, "namespace"), "n"));
			const char *want = k < 2 ? "app in (web)" : NULL; /* Events of all */
			assert_true(cstr_eq(obj_str(need, "selector"), want));
		}
		view_fake_release(&x.f);
	}
}

/* Not again before its time; then with what is known meanwhile. */
static void test_unit_check__how_often(void **state)
{
	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		struct fixture x;
		struct error err = ERROR_INIT;
		begin(&x, "Deployment", SELECTOR);
		(void)look(&x);
		assert_non_null(asked(&x));
		const char *id = arena_strdup(x.f.a, asked(&x)->id);
		error_set(&err, E_FORBIDDEN, "no");
		stash_put(x.f.stash, id, failed ? &err : NULL, STR_NONE, failed ? NULL : obj_list(),
			  x.f.view.now_ns);
		(void)look(&x);
		assert_null(asked(&x));
		x.f.view.now_ns += ROLLOUT_POLL_INTERVAL - 1;
		(void)look(&x);
		assert_null(asked(&x));
		x.f.view.now_ns += 1;
		(void)look(&x);
		assert_non_null(asked(&x));
		assert_string_equal(asked(&x)->id, id);
		view_fake_release(&x.f);
	}
}

/* Each of the three answers is what the check is told of that kind. */
static void test_unit_check__what_the_answers_say(void **state)
{
	static const struct {
		const char *answers, *reason;
		bool fails;
	} rows[] = {
		{"[" POD "," SETS ",{\"value\":{\"items\":[]}}]", "ImagePull", true},
		{"[" NEW_POD "," SETS "," EVENTS "]", "FailedMount", true},
		{"[" NEW_POD "," SETS ",{\"error\":\"no\"}]", NULL, false},
		{"[{\"error\":\"no\"}," SETS ",{\"value\":{\"items\":[]}}]", NULL, false},
		{"[" POD ",{\"error\":\"no\"},{\"value\":{\"items\":[]}}]", NULL, false},
		{"[" SETS "," POD ",{\"value\":{\"items\":[]}}]", NULL, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		begin(&x, "Deployment", SELECTOR);
		(void)look(&x);
		const char *id = arena_strdup(x.f.a, asked(&x)->id);
		struct check_result r = {0};
		for (int n = 0; n < 200 && r.state != CHECK_FAILED; n++) {
			view_fake_outcome(&x.f, id, rows[i].answers);
			r = look(&x);
			x.f.view.now_ns += ROLLOUT_POLL_INTERVAL;
		}
		bool is_right = rows[i].fails ? r.state == CHECK_FAILED && r.reason &&
							strstr(r.reason, rows[i].reason)
					      : !r.reason || (!strstr(r.reason, "ImagePull") &&
							      !strstr(r.reason, "FailedMount"));
		if (!is_right)
			fail_msg("row %zu: %s: %s", i, r.reason ? r.reason : "waits",
				 r.message ? r.message : "");
		view_fake_release(&x.f);
	}
}

static void test_unit_check__the_log_of_a_job(void **state)
{
	static const struct {
		const char *answer, *text, *reason;
	} rows[] = {
		{"{\"pod\":\"p\",\"container\":\"m\",\"reason\":\"OOMKilled\",\"text\":\"boom\"}",
		 "; the end of its log (pod p, container m): boom", "OOMKilled"},
		{"{\"pod\":\"p\",\"container\":\"m\",\"text\":\"\"}", "", NULL},
		{"{}", "", NULL},
		{NULL, "; its log cannot be read: not allowed", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;
		struct error err = ERROR_INIT;
		struct job_log log;
		begin(&x, "Job", SELECTOR);
		assert_int_equal(unit_read_log(&x.s, x.live, i & 1, &log), WAITING);
		assert_int_equal(x.f.plan.n, 1);
		const struct action *a = x.f.plan.head;
		assert_true(cstr_eq(obj_str(a->body, "selector"), "app in (web)"));
		assert_true(cstr_eq(obj_str(a->body, "namespace"), "n"));
		assert_int_equal(obj_flag(a->body, "well", false), i & 1);
		error_set(&err, E_FORBIDDEN, "not allowed");
		stash_put(x.f.stash, a->id, rows[i].answer ? NULL : &err, STR_NONE,
			  rows[i].answer ? obj_ref(view_fake_obj(&x.f, rows[i].answer)) : NULL,
			  x.f.view.now_ns);
		x.s.plan = view_fake_plan(&x.f);
		assert_int_equal(unit_read_log(&x.s, x.live, i & 1, &log), DONE);
		assert_int_equal(x.f.plan.n, 0);
		assert_string_equal(log.text, rows[i].text);
		assert_true(cstr_eq(log.reason, rows[i].reason));
		view_fake_release(&x.f);
	}
	struct fixture x;
	struct job_log log;
	begin(&x, "Other", ""); /* it does not say which its Pods are */
	assert_int_equal(unit_read_log(&x.s, x.live, false, &log), DONE);
	assert_string_equal(log.text, "");
	assert_null(log.reason);
	assert_int_equal(x.f.plan.n, 0);
	view_fake_release(&x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_check__what_is_asked),
		cmocka_unit_test(test_unit_check__how_often),
		cmocka_unit_test(test_unit_check__what_the_answers_say),
		cmocka_unit_test(test_unit_check__the_log_of_a_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
