/* test_unit_canary.c: a canary on a view of plain tables: what is written beside the live Deployment and when, what is never touched, and when Prometheus is asked. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/run.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/unit/canary.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"
#include "tests/lib/unit_fixture.h"

#define PASSES_MAX 60
#define METRIC                                                                                \
	", success: [{prometheus: {address: 'https://p', query: q, interval: 10s, count: 2, " \
	"tokenSecretRef: {name: t}, successCondition: result < 0.1}}]"

struct world {
	struct unit_fixture x;
	const char *steps, *more; /* of the canary; of the step */
	const char *writes;       /* "apply web:2 web-canary:2*1" .. */
	const char *
		answers; /* of Prometheus, a letter each: 0 good, 1 bad, e error; the rest is good */
	size_t n_asked;
	size_t n_of_step;
	int64_t asked_ns; /* when it was asked last */
	const char *sick; /* names the Deployment that gets ready no more */
	struct view_ops ops;
	int (*live)(void *arg, const struct resource *r, const char *ns, const char *name,
		    struct obj **ret);
	size_t n_aborts; /* told */
};

static struct obj *read(struct world *w, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(w->x.a, o);
}

#define WEB                                                                                      \
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 3, "     \
	"selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: " \
	"{containers: [{name: c, image: 'web:%d'}]}}}}"

static struct unit *unit_of(struct world *w, int image)
{
	struct arena *a = w->x.a;
	struct error err = ERROR_INIT;
	struct flat flat;
	struct rollout *rollout = NULL;
	const struct flat_place p = {.name = "web.yaml", .file = "web.yaml", .alone = true};
	struct obj *text = read(
		w,
		arena_fmt(a,
			  "{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: "
			  "r}, spec: {rollback: {onFailure: None}, groups: [{steps: [{object: "
			  "web.yaml, action: Canary, "
			  "canary: {steps: [%s]}%s}]}]}}",
			  w->steps, w->more ? w->more : ""));
	assert_ok(rollout_parse(text, &(struct rollout_options){0}, a, &rollout, &err), &err);
	flat_init(&flat, a);
	assert_ok(flat_add(&flat, &p, obj_copy(read(w, arena_fmt(a, WEB, "web", image))), &err),
		  &err);
	assert_ok(flat_sort(&flat, "default", &err), &err);
	const struct unit_options o = {.hub = "cli",
				       .bundle = "b",
				       .instance = "i",
				       .ns = "default",
				       .rollout = rollout,
				       .rollout_text = text,
				       .digest = run_digest};
	struct unit *u;
	assert_ok(unit_make(&flat, &o, &u, &err), &err);
	return u;
}

static struct obj *live(struct world *w, const char *name)
{
	const char *text = map_get(w->x.f.live, arena_fmt(w->x.a, "Deployment/default/%s", name));
	return text ? obj_keep(w->x.a, obj_copy(view_fake_obj(&w->x.f, text))) : NULL;
}

/* "web:2*3": its image and replicas. */
static const char *text_of(struct world *w, const struct obj *o)
{
	const struct obj *c = obj_at(obj_path(o, "spec.template.spec.containers"), 0);
	return arena_fmt(w->x.a, "%s=%s*%lld", meta_name(o), obj_str(c, "image"),
			 (long long)obj_i64(o, "spec.replicas", 0));
}

static void roll(struct world *w, const char *name, int64_t available)
{
	static const char *const counts[] = {"status.replicas", "status.updatedReplicas",
					     "status.readyReplicas", "status.availableReplicas"};
	struct obj *o = live(w, name);
	for (size_t i = 0; o && i < ARRAY_LEN(counts); i++)
		obj_set_path(o, counts[i], obj_int(available));
	if (o)
		view_fake_live_obj(&w->x.f, o);
}

/* An informer has what is marked; a live read has all. */
static int marked(void *arg, const struct resource *r, const char *ns, const char *name,
		  struct obj **ret)
{
	const struct world *w = CONTAINER_OF(arg, struct world, x.f);
	int found = w->live(arg, r, ns, name, ret);
	if (found != 1 || !cstr_eq(r->kind, "Deployment") || meta_label(*ret, LABEL_BUNDLE))
		return found;
	obj_unref(*ret);
	return 0;
}

/* What was written is told; what is there gets ready, unless it is sick. */
static void note(struct world *w)
{
	struct arena *a = w->x.a;
	for (const struct action *x = w->x.f.plan.head; x; x = x->next) {
		w->n_aborts += x->type == ACT_ROW && cstr_eq(x->reason, "CanaryAborted");
		if (!cstr_eq(x->resource.kind, "Deployment"))
			continue;
		if (x->type == ACT_APPLY || x->type == ACT_CREATE) {
			w->writes = arena_fmt(a, "%s%s ", w->writes, text_of(w, x->body));
			struct obj *inventory = view_fake_obj(
				&w->x.f, map_get(w->x.f.live, "ConfigMap/alm-system/inv.b.i"));
			/* not over one that came meanwhile */
			if (strstr(x->name, "-canary") && live(w, x->name))
				assert_non_null(x->uid);
			/* whatever is made is named before */
			assert_non_null(strstr(obj_str(inventory, "data.objects"),
					       arena_fmt(a, " default %s ", x->name)));
		} else if (x->type == ACT_DELETE) {
			w->writes = arena_fmt(a, "%s-%s ", w->writes, x->name);
			/* the next run need not look for it as for one that may come back */
			const struct inventory_line line = {.api_version = "apps/v1",
							    .kind = "Deployment",
							    .ns = "default",
							    .name = x->name};
			const struct obj *deleted = obj_get(w->x.job.record, "deleted");
			assert_int_equal(obj_len(deleted), 1);
			assert_true(obj_has(deleted, inventory_id(&line, a)));
		}
	}
}

static void answer(struct world *w)
{
	const struct action *x = view_fake_work(&w->x.f, &prometheus_work);
	if (!x)
		return;
	char how = '0';
	assert_string_equal(obj_str(x->body, "secret"), "t");
	if (w->answers && *w->answers)
		how = *w->answers++;
	int64_t now = w->x.f.view.now_ns;
	if (w->n_asked % w->n_of_step) /* not the first one of a step */
		assert_in_range(now - w->asked_ns, 10 * NS_PER_S, 12 * NS_PER_S);
	w->asked_ns = now;
	w->n_asked++;
	if (how == 'e') {
		struct error err = ERROR_INIT;
		error_set(&err, E_UNAVAILABLE, "nobody answers");
		stash_put(w->x.f.stash, x->id, &err, STR_NONE, NULL, now);
		return;
	}
	view_fake_outcome(&w->x.f, x->id,
			  arena_fmt(w->x.a,
				    "{\"text\":\"{\\\"status\\\":\\\"success\\\",\\\"data\\\":{"
				    "\\\"resultType\\\":"
				    "\\\"scalar\\\",\\\"result\\\":[1,\\\"0.%s\\\"]}}\"}",
				    how == '1' ? "5" : "01"));
}

static const char *turn(struct world *w)
{
	const char *how = unit_fixture_pass(&w->x);
	bool reads = view_fake_works(&w->x.f, &survey_work) > 0;
	note(w);
	answer(w);
	view_fake_survey(&w->x.f);
	view_fake_perform(&w->x.f);
	if (!cstr_eq(w->sick, "web"))
		roll(w, "web", 3);
	if (!cstr_eq(w->sick, "web-canary"))
		roll(w, "web-canary", obj_i64(live(w, "web-canary"), "spec.replicas", 0));
	assert_in_range(w->x.f.plan.requeue_after_ns, 0, NS_PER_HOUR);
	if (!reads) /* what was read live is old */
		w->x.f.view.now_ns += NS_PER_S;
	return how;
}

static const char *run(struct world *w, int image)
{
	const char *how = "Running";
	w->x.job.unit = unit_of(w, image);
	w->x.job.attempt++;
	w->x.job.record = NULL;
	w->writes = "";
	for (size_t i = 0; i < PASSES_MAX && (i < 2 || unit_record_is_open(w->x.job.record)); i++)
		how = turn(w);
	return how;
}

/* web:1 runs. */
static void begin(struct world *w, const char *steps, const char *more)
{
	*w = (struct world){.steps = steps, .more = more, .n_of_step = 2};
	unit_fixture_init(&w->x, 0);
	w->ops = *w->x.f.view.ops;
	w->live = w->ops.live;
	w->ops.live = marked;
	w->x.f.view.ops = &w->ops;
	assert_string_equal(run(w, 1), "Succeeded");
	assert_string_equal(w->writes, "web=web:1*3 ");
}

static const char *message(const struct world *w)
{
	const char *text = obj_str(w->x.job.record, "message");
	return text ? text : "";
}

static void test_unit_canary__beside_the_live_one_then_it(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}, {weight: 50}, {weight: 100}", NULL);
	assert_string_equal(run(&w, 2), "Succeeded");
	assert_string_equal(w.writes, "web-canary=web:2*1 web-canary=web:2*3 web=web:2*3 "
				      "-web-canary ");
	assert_null(live(&w, "web-canary"));
	assert_string_equal(run(&w, 2), "Succeeded");
	assert_string_equal(w.writes, "");
	unit_fixture_release(&w.x);
}

/* A Deployment of that name which is another's is neither changed nor deleted. */
static void test_unit_canary__another_of_its_name_is_left_alone(void **state)
{
	(void)state;
	for (int labelled = 0; labelled < 2; labelled++) {
		struct world w;
		begin(&w, "{weight: 25}", NULL);
		struct obj *o = read(&w, arena_fmt(w.x.a, WEB, "web-canary", 7));
		obj_set_path(o, "metadata.namespace", obj_string("default"));
		obj_set_path(o, "metadata.uid", obj_string("theirs"));
		if (labelled) { /* of another instance of this bundle: an informer shows it */
			meta_set_label(o, LABEL_BUNDLE, "b");
			meta_set_annotation(o, ANNOTATION_OWNER_ID, "cli.b.other");
		}
		view_fake_live_obj(&w.x.f, o);
		assert_string_equal(run(&w, 2), "Failed");
		assert_string_equal(w.writes, "");
		assert_non_null(strstr(message(&w), "ObjectNotOwned"));
		w.n_aborts = 0;
		assert_string_equal(run(&w, 1), "Succeeded"); /* nothing is to be tried */
		assert_string_equal(w.writes, "");
		assert_int_equal(w.n_aborts, 0);
		assert_string_equal(text_of(&w, live(&w, "web-canary")), "web-canary=web:7*3");
		assert_string_equal(text_of(&w, live(&w, "web")), "web=web:1*3");
		unit_fixture_release(&w.x);
	}
}

static void test_unit_canary__nothing_is_tried_beside_what_does_not_run(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", NULL);
	w.sick = "web";
	roll(&w, "web", 0);
	assert_string_equal(run(&w, 2), "Failed");
	assert_string_equal(w.writes, "");
	assert_non_null(strstr(message(&w), "PrimaryNotHealthy"));
	unit_fixture_release(&w.x);
}

/* Of a run that was killed: other Pods go first; the same ones go on. */
static void test_unit_canary__what_was_left_goes_first(void **state)
{
	(void)state;
	static const struct {
		int image;
		bool going;
		const char *want;
	} rows[] = {{3, false, "-web-canary web-canary=web:2*1 web=web:2*3 -web-canary "},
		    {2, false, "web-canary=web:2*1 web=web:2*3 -web-canary "}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "{weight: 25}", NULL);
		struct obj *o = obj_keep(
			w.x.a, canary_object(read(&w, arena_fmt(w.x.a, WEB, "web", rows[i].image)),
					     "default", 1));
		obj_set_path(o, "metadata.uid", obj_string("left"));
		meta_set_label(o, LABEL_BUNDLE, "b");
		meta_set_annotation(o, ANNOTATION_OWNER_ID, "cli.b.i");
		view_fake_live_obj(&w.x.f, o);
		assert_string_equal(run(&w, 2), "Succeeded");
		assert_string_equal(w.writes, rows[i].want);
		unit_fixture_release(&w.x);
	}
}

/* Foreground deletion takes its time: nothing is applied to what goes. */
static void test_unit_canary__one_that_is_being_deleted_is_waited_for(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", NULL);
	struct obj *o = obj_keep(
		w.x.a, canary_object(read(&w, arena_fmt(w.x.a, WEB, "web", 2)), "default", 1));
	obj_set_path(o, "metadata.uid", obj_string("left"));
	obj_set_path(o, "metadata.deletionTimestamp", obj_string("2023-11-14T22:13:20Z"));
	meta_set_label(o, LABEL_BUNDLE, "b");
	meta_set_annotation(o, ANNOTATION_OWNER_ID, "cli.b.i");
	view_fake_live_obj(&w.x.f, o);
	assert_string_equal(run(&w, 2), "Running");
	assert_string_equal(w.writes, "");
	CLEANUP(xfreep) char *told = json_text(w.x.job.record);
	assert_non_null(strstr(told, ": web-canary is being changed"));
	view_fake_gone(&w.x.f, "Deployment", "default", "web-canary");
	for (size_t i = 0; i < PASSES_MAX && unit_record_is_open(w.x.job.record); i++)
		turn(&w);
	assert_string_equal(w.writes, "web-canary=web:2*1 web=web:2*3 -web-canary ");
	unit_fixture_release(&w.x);
}

/* Every step asks anew, as often as it is said and not sooner than the interval. */
static void test_unit_canary__each_step_is_measured(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}, {weight: 50}", METRIC);
	w.n_asked = 0; /* by the first version */
	assert_string_equal(run(&w, 2), "Succeeded");
	assert_string_equal(w.writes, "web-canary=web:2*1 web-canary=web:2*3 web=web:2*3 "
				      "-web-canary ");
	assert_int_equal(w.n_asked, 6); /* what has taken its place, too */
	unit_fixture_release(&w.x);
}

/* What it says of the second step ends it there, and the live one was never written. */
static void test_unit_canary__a_bad_figure_ends_it(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}, {weight: 50}", METRIC);
	w.n_asked = 0;
	w.answers = "001";
	assert_string_equal(run(&w, 2), "Failed");
	assert_string_equal(w.writes, "web-canary=web:2*1 web-canary=web:2*3 -web-canary ");
	assert_int_equal(w.n_asked, 3);
	assert_int_equal(w.n_aborts, 1);
	assert_non_null(strstr(message(&w), "CanaryAborted: AnalysisFailed"));
	assert_string_equal(text_of(&w, live(&w, "web")), "web=web:1*3");
	unit_fixture_release(&w.x);
}

/* No answer is no figure: it is asked again, and what came before counts no less. */
static void test_unit_canary__no_answer_is_no_figure(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", METRIC);
	w.n_asked = 0;
	w.n_of_step = 3;
	w.answers = "0e0";
	assert_string_equal(run(&w, 2), "Succeeded");
	assert_int_equal(w.n_asked, 3 + 2);
	unit_fixture_release(&w.x);
}

/* What the step waits for beside figures is said of what takes its place. */
static void test_unit_canary__other_checks_are_not_of_it(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", ", success: [{wait: \"metadata.name = 'web'\"}]");
	assert_string_equal(run(&w, 2), "Succeeded");
	assert_string_equal(w.writes, "web-canary=web:2*1 web=web:2*3 -web-canary ");
	unit_fixture_release(&w.x);
}

/* The time of the step ends it in each of its parts, and it goes. */
static void test_unit_canary__it_goes_when_the_time_is_over(void **state)
{
	(void)state;
	static const struct {
		const char *sick, *writes, *message;
	} rows[] = {
		{"web-canary", "web-canary=web:2*1 -web-canary ", "ProgressDeadline"},
		{"web", "web-canary=web:2*1 web=web:2*3 -web-canary ", "web"},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, "{weight: 25}", ", timeout: 20s");
		w.sick = rows[i].sick;
		assert_string_equal(run(&w, 2), "Failed");
		assert_string_equal(w.writes, rows[i].writes);
		assert_non_null(strstr(message(&w), rows[i].message));
		assert_null(live(&w, "web-canary"));
		unit_fixture_release(&w.x);
	}
}

/* It is told why nobody could be asked. */
static void test_unit_canary__who_never_answers_ends_it(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", METRIC);
	w.n_asked = 0;
	w.n_of_step = 100;
	w.answers = "eeeeeeeeeeeeeeeeeeee";
	assert_string_equal(run(&w, 2), "Running"); /* held: no data are no bad ones */
	CLEANUP(xfreep) char *told = json_text(w.x.job.record);
	assert_non_null(strstr(told, "nobody answers"));
	unit_fixture_release(&w.x);
}

/* Who says that no figures are needed says it of the live one, too: nobody answers, and it ends all the same. */
static void test_unit_canary__what_is_skipped_is_not_asked_afterwards(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", METRIC);
	w.answers = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
	assert_string_equal(run(&w, 2), "Running");
	assert_string_equal(w.writes, "web-canary=web:2*1 ");
	struct obj *c = live(&w, "web-canary");
	meta_set_annotation(c, CANARY_SKIP, "we have looked");
	view_fake_live_obj(&w.x.f, c);
	w.n_asked = 0;
	for (size_t i = 0; i < PASSES_MAX && unit_record_is_open(w.x.job.record); i++)
		turn(&w);
	assert_string_equal(obj_str(w.x.job.record, "state"), "Succeeded");
	assert_string_equal(w.writes, "web-canary=web:2*1 web=web:2*3 -web-canary ");
	assert_int_equal(w.n_asked, 0);
	unit_fixture_release(&w.x);
}

/* As a Bundle says it: approved at the weight alone; skipped, it is not measured; aborted, it goes, and
 * what has no canary yet begins none. */
static const struct {
	const char *steer, *how, *writes, *message;
	const char *more;
} steered[] = {
	{"{approve: {weight: 25, reason: fine, by: alice}}", "Succeeded",
	 "web-canary=web:2*1 web=web:2*3 -web-canary ", "", NULL},
	{"{approve: {weight: 50, reason: fine}}", "Running", "web-canary=web:2*1 ",
	 "waits for approval: alm approve bundle/b --canary --reason TEXT", NULL},
	{"{skip: {reason: hurry}}", "Succeeded", "web-canary=web:2*1 web=web:2*3 -web-canary ", "",
	 METRIC},
	{"{abort: {reason: enough, by: bob}}", "Failed", "",
	 "\"reason\":\"Aborted\",\"message\":\"enough (claimed by bob)\"", NULL},
};

static void test_unit_canary__what_a_bundle_says_of_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steered); i++) {
		struct world w;
		begin(&w, "{weight: 25, approval: Manual}", steered[i].more);
		w.n_asked = 0;
		w.x.job.is_steered = true;
		w.x.job.steer = read(&w, steered[i].steer);
		assert_string_equal(run(&w, 2), steered[i].how);
		assert_string_equal(w.writes, steered[i].writes);
		assert_int_equal(w.n_asked, 0);
		CLEANUP(xfreep) char *text = json_text(w.x.job.record);
		if (!strstr(text, steered[i].message))
			fail_msg("row %zu: %s", i, text);
		/* aborted, no step begins */
		if (!*steered[i].writes)
			assert_int_equal(obj_len(obj_get(w.x.job.record, "steps")), 0);
		unit_fixture_release(&w.x);
	}
}

/* In the middle of it: the canary goes, the live one was never written. */
static void test_unit_canary__aborted_in_the_middle(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25, approval: Manual}", NULL);
	assert_string_equal(run(&w, 2), "Running");
	assert_non_null(live(&w, "web-canary"));
	w.x.job.steer = read(&w, "{abort: {reason: enough, by: bob}}");
	for (size_t i = 0; i < PASSES_MAX && unit_record_is_open(w.x.job.record); i++)
		(void)turn(&w);
	assert_string_equal(obj_str(w.x.job.record, "state"), "Failed");
	assert_string_equal(obj_str(w.x.job.record, "reason"), "Aborted");
	assert_string_equal(w.writes, "web-canary=web:2*1 -web-canary ");
	assert_non_null(strstr(message(&w), "CanaryAborted: Aborted: enough (claimed by bob)"));
	assert_string_equal(text_of(&w, live(&w, "web")), "web=web:1*3");
	unit_fixture_release(&w.x);
}

/* It was good, and what takes its place is not ready: it goes, and nobody is told that it was aborted. */
static void test_unit_canary__aborted_once_it_was_good(void **state)
{
	(void)state;
	struct world w;
	begin(&w, "{weight: 25}", NULL);
	w.sick = "web";
	assert_string_equal(run(&w, 2), "Running");
	assert_string_equal(w.writes, "web-canary=web:2*1 web=web:2*3 ");
	w.x.job.steer = read(&w, "{abort: {reason: enough, by: bob}}");
	for (size_t i = 0; i < PASSES_MAX && unit_record_is_open(w.x.job.record); i++)
		(void)turn(&w);
	assert_string_equal(obj_str(w.x.job.record, "reason"), "Aborted");
	assert_string_equal(w.writes, "web-canary=web:2*1 web=web:2*3 -web-canary ");
	assert_int_equal(w.n_aborts, 0);
	assert_non_null(strstr(message(&w), "Aborted: enough (claimed by bob)"));
	assert_null(strstr(message(&w), "CanaryAborted"));
	unit_fixture_release(&w.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unit_canary__beside_the_live_one_then_it),
		cmocka_unit_test(test_unit_canary__another_of_its_name_is_left_alone),
		cmocka_unit_test(test_unit_canary__nothing_is_tried_beside_what_does_not_run),
		cmocka_unit_test(test_unit_canary__what_was_left_goes_first),
		cmocka_unit_test(test_unit_canary__one_that_is_being_deleted_is_waited_for),
		cmocka_unit_test(test_unit_canary__each_step_is_measured),
		cmocka_unit_test(test_unit_canary__a_bad_figure_ends_it),
		cmocka_unit_test(test_unit_canary__no_answer_is_no_figure),
		cmocka_unit_test(test_unit_canary__what_is_skipped_is_not_asked_afterwards),
		cmocka_unit_test(test_unit_canary__other_checks_are_not_of_it),
		cmocka_unit_test(test_unit_canary__it_goes_when_the_time_is_over),
		cmocka_unit_test(test_unit_canary__who_never_answers_ends_it),
		cmocka_unit_test(test_unit_canary__what_a_bundle_says_of_it),
		cmocka_unit_test(test_unit_canary__aborted_in_the_middle),
		cmocka_unit_test(test_unit_canary__aborted_once_it_was_good),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
