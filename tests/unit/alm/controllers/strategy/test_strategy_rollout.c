/* test_strategy_rollout.c: a Rollout that an app names: which one it is, what becomes of a plan by it, and in which order its
 * objects are applied. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_rollout.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "tests/lib/strategy_fake.h"

#define ROLLOUT(name, groups)                                                             \
	"{\"apiVersion\":\"app.coreos.com/v1alpha1\",\"kind\":\"Rollout\",\"metadata\":{" \
	"\"name\":\"" name "\",\"uid\":\"x\"},\"spec\":{\"groups\":" groups "}}"
#define STEP(object, action) "{\"object\":\"" object "\",\"action\":\"" action "\"}"
#define GOOD                                                                                 \
	"[{\"name\":\"first\",\"steps\":[" STEP(                                             \
		"templates/a.yaml",                                                          \
		"CreateOrUpdate") "]},{"                                                     \
				  "\"name\":\"last\",\"steps\":[" STEP("templates/b.yaml!1", \
								       "CreateIfNotExist") "]}]"
#define LOST "[{\"name\":\"g\",\"steps\":[" STEP("templates/lost.yaml", "CreateOrUpdate") "]}]"

enum { MAPS = 3, PASSES_MAX = 20 };

static const char *const names[MAPS] = {"a", "b0", "b1"};
static const char *const paths[MAPS] = {"web/templates/a.yaml", "web/templates/b.yaml",
					"web/templates/b.yaml"};

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct install_plan install;
	struct strategy_pass s;
	struct obj *doc, *rendered;
	const char *status; /* of the strategy */
};

static struct obj *yaml(struct world *w, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(w->f.a, o);
}

/* spec of the AppType and of the strategy. */
static void begin(struct world *w, const char *app, const char *own)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->app = (struct app){.name = "web", .self_ref = "web.io"};
	w->app.o = yaml(w, arena_fmt(w->f.a, "{metadata: {name: web, uid: w}, spec: %s}", app));
	w->ref = (struct strategy_ref){
		.o = yaml(w, arena_fmt(w->f.a,
				       "{apiVersion: opinstaller.coreos.com/v1beta1, kind: "
				       "InstallStrategy, metadata: {name: s, uid: u}, spec: %s}",
				       own)),
		.name = "s",
		.version = "1.0.0"};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
}

static void test_strategy_rollout__which_one(void **state)
{
	static const char bad[] = "[{\"name\":\"g\",\"steps\":[" STEP("x", "Foo") "]}]";
	static const struct {
		const char *app, *own;
		const char *found; /* NULL: none */
		const char *why;   /* NULL: it goes on */
	} rows[] = {
		{"{}", "{}", NULL, NULL},
		{"{rolloutRef: {name: good}}", "{}", "good", NULL},
		{"{}", "{rolloutRef: {name: good}}", "good", NULL},
		{"{rolloutRef: {name: bad}}", "{rolloutRef: {name: good}}", "good", NULL},
		{"{rolloutRef: {name: lost}}", "{}", NULL, "there is no Rollout lost; create it"},
		{"{rolloutRef: {name: bad}}", "{}", "bad", "Rollout bad: spec.groups[0].steps[0]"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].app, rows[i].own);
		view_fake_put(&w.f, WATCH_ROLLOUT, ROLLOUT("good", GOOD));
		view_fake_put(&w.f, WATCH_ROLLOUT, arena_fmt(w.f.a, ROLLOUT("bad", "%s"), bad));
		assert_int_equal(strategy_find_rollout(&w.s), rows[i].why ? ENDED : DONE);
		assert_true(cstr_eq(w.s.rollout ? meta_name(w.s.rollout) : NULL, rows[i].found));
		assert_int_equal(w.s.phase, rows[i].why ? PHASE_BLOCKED : PHASE_PENDING);
		if (rows[i].why) {
			assert_string_equal(w.s.reason, "RolloutInvalid");
			if (!strstr(w.s.message, rows[i].why))
				fail_msg("row %zu: %s", i, w.s.message);
		}
		view_fake_release(&w.f);
	}
}

/* --- the plan --- */

static struct obj *row_of(struct world *w, struct obj *o, int stage)
{
	struct obj *row = obj_map();
	(void)w;
	obj_set_int(row, "stage", stage);
	obj_set_str(row, "digest", "d");
	obj_set(row, "object", obj_ref(o));
	return row;
}

/* Three objects of two files, and a definition beside them. */
static void render(struct world *w)
{
	struct obj *rows = obj_list(), *objects = obj_list(), *files = obj_list();
	struct obj *crd = yaml(w, "{apiVersion: apiextensions.k8s.io/v1, kind: "
				  "CustomResourceDefinition, metadata: {name: c}, spec: {group: "
				  "x.io, names: {kind: C}}}");
	w->doc = obj_keep(w->f.a, obj_map());
	w->rendered = obj_keep(w->f.a, obj_map());
	obj_append(rows, row_of(w, crd, UNIT_GROUP_CRD));
	for (size_t i = 0; i < MAPS; i++) {
		struct obj *o =
			yaml(w, arena_fmt(w->f.a,
					  "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, "
					  "namespace: 'n'}, data: {x: y}}",
					  names[i]));
		obj_append(rows, row_of(w, o, UNIT_GROUP_FIRST));
		obj_append(objects, obj_ref(o));
		obj_append(files, obj_string(paths[i]));
	}
	obj_set(w->rendered, "objects", objects);
	obj_set(w->rendered, "paths", files);
	obj_set(w->rendered, "crds", obj_list());
	obj_append(obj_get_mut(w->rendered, "crds"), obj_ref(crd));
	obj_set(w->rendered, "crdPaths", obj_list());
	obj_append(obj_get_mut(w->rendered, "crdPaths"), obj_string("web/crds/c.yaml"));
	obj_set_str(w->doc, "namespace", "n");
	obj_set(w->doc, "objects", rows);
}

static void lay_out(struct world *w, const char *groups)
{
	begin(w, "{rolloutRef: {name: r}}", "{}");
	render(w);
	view_fake_put(&w->f, WATCH_ROLLOUT, arena_fmt(w->f.a, ROLLOUT("r", "%s"), groups));
	assert_int_equal(strategy_find_rollout(&w->s), DONE);
}

/* What a step creates once, or never, is not kept as it is applied; definitions and the rest are. */
static void test_strategy_rollout__what_becomes_of_a_plan(void **state)
{
	static const struct {
		const char *key;
		bool passing;
	} want[MAPS + 1] = {{"crds/c.yaml", false},
			    {"templates/a.yaml", false},
			    {"templates/b.yaml!0", false},
			    {"templates/b.yaml!1", true}};
	struct world w;
	(void)state;
	lay_out(&w, GOOD);
	assert_null(strategy_lay_out(&w.s, w.doc, w.rendered));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct obj *row = obj_at(obj_get(w.doc, "objects"), i);
		assert_true(cstr_eq(obj_str(row, "key"), want[i].key));
		assert_int_equal(obj_flag(row, "passing", false), want[i].passing);
	}
	const struct obj *kept = obj_get(w.doc, "rollout");
	assert_true(cstr_eq(meta_api_version(kept), "app.coreos.com/v1alpha1"));
	assert_true(cstr_eq(meta_kind(kept), "Rollout"));
	assert_true(cstr_eq(meta_name(kept), "r"));
	assert_null(meta_uid(kept)); /* another one that says the same is the same plan */
	assert_true(obj_equal(obj_get(kept, "spec"), obj_get(w.s.rollout, "spec")));
	view_fake_release(&w.f);

	lay_out(&w, LOST);
	const char *why = strategy_lay_out(&w.s, w.doc, w.rendered);
	assert_true(why && strstr(why, "templates/lost.yaml"));
	view_fake_release(&w.f);

	begin(&w, "{}", "{}"); /* without one nothing is said of files */
	render(&w);
	assert_null(strategy_lay_out(&w.s, w.doc, w.rendered));
	assert_false(obj_has(w.doc, "rollout"));
	assert_null(obj_str(obj_at(obj_get(w.doc, "objects"), 1), "key"));
	view_fake_release(&w.f);
}

/* --- the walk --- */

static void install(struct world *w)
{
	lay_out(w, GOOD);
	assert_null(strategy_lay_out(&w->s, w->doc, w->rendered));
	w->install = (struct install_plan){
		.doc = w->doc, .release = "web", .ns = "n", .version = "1.0.0"};
}

/* One reconcile, with what the one before left in the status; what it writes is done. */
static enum ensured pass(struct world *w, struct strbuf *told)
{
	struct obj *o = obj_keep(w->f.a, obj_copy_map(w->ref.o));
	struct obj *status = obj_copy_map(obj_get(o, "status"));
	if (w->s.course)
		obj_set(status, "rollout", obj_ref(w->s.course));
	obj_set(o, "status", status);
	w->ref.o = o;
	const struct obj *rollout = w->s.rollout;
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.rollout = rollout;
	w->s.install = &w->install;
	w->s.was = w->s.phase = PHASE_INSTALLING;
	enum ensured state = strategy_roll_out(&w->s);
	for (const struct action *x = w->f.plan.head; x; x = x->next)
		if (x->type <= ACT_DELETE)
			strbuf_addf(told, "%s%s", told->len ? " " : "", x->name);
	view_fake_survey(&w->f);
	view_fake_perform(&w->f);
	w->f.view.now_ns += 3 * NS_PER_S;
	return state;
}

static enum ensured run(struct world *w, struct strbuf *told)
{
	enum ensured state = WAITING;
	for (int i = 0; i < PASSES_MAX && state == WAITING; i++)
		state = pass(w, told);
	return state;
}

static void check_group(const struct world *w, size_t i, const char *name, const char *state)
{
	CLEANUP(obj_unrefp) struct obj *status = obj_map();
	strategy_set_rollout(&w->s, status);
	const struct obj *group = obj_at(obj_get(status, "groups"), i);
	if (!cstr_eq(obj_str(group, "name"), name) || !cstr_eq(obj_str(group, "state"), state)) {
		CLEANUP(xfreep) char *text = json_text(status);
		fail_msg("%s", text);
	}
	assert_int_equal(obj_i64(obj_get(status, "rollout"), "revision", 0), w->s.revision);
}

/* First what no step names, then each group when the one before is through; the definition is none of it. */
static void test_strategy_rollout__in_its_order(void **state)
{
	struct world w;
	CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	install(&w);
	assert_int_equal(pass(&w, &told), WAITING);
	assert_true(cstr_eq(obj_str(condition_find(w.s.conditions, "Applied"), "reason"),
			    told.len ? "Installing" : NULL));
	assert_int_equal(run(&w, &told), DONE);
	assert_string_equal(told.buf, "b0 a b1");
	for (size_t i = 0; i < MAPS; i++) {
		const char *text = map_get(w.f.live, arena_fmt(w.f.a, "ConfigMap/n/%s", names[i]));
		assert_non_null(text);
		assert_non_null(strstr(text, "\"app.coreos.com/app\":\"web\""));
	}
	strbuf_clear(&told);
	assert_int_equal(run(&w, &told), DONE); /* and then nothing more */
	assert_int_equal(told.len, 0);
	view_fake_release(&w.f);
}

/* What is somebody else's ends it, before anything of it is written. */
static void test_strategy_rollout__what_is_somebody_elses(void **state)
{
	struct world w;
	CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	install(&w);
	view_fake_live(&w.f, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			     "\"a\",\"namespace\":\"n\",\"uid\":\"z\",\"labels\":{"
			     "\"app.coreos.com/app\":\"vault\"}}}");
	assert_int_equal(run(&w, &told), ENDED);
	assert_string_equal(told.buf, "b0");
	assert_int_equal(w.s.phase, PHASE_FAILED);
	assert_string_equal(w.s.reason, "StepFailed");
	assert_non_null(strstr(w.s.message, "ObjectNotOwned: it belongs to app vault"));
	view_fake_release(&w.f);
}

/* A stored plan whose Rollout cannot be read any more, by a newer ALM, say. */
static void test_strategy_rollout__one_that_cannot_be_read(void **state)
{
	struct world w;
	CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	install(&w);
	obj_set(w.doc, "rollout", obj_map());
	assert_int_equal(pass(&w, &told), ENDED);
	assert_int_equal(told.len, 0);
	assert_string_equal(w.s.reason, "RolloutInvalid");
	view_fake_release(&w.f);
}

/* What no informer has told yet may be there. */
static void test_strategy_rollout__not_before_all_is_known(void **state)
{
	struct world w;
	CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT(STRBUF_SMALL);
	(void)state;
	install(&w);
	w.f.blind = true;
	assert_int_equal(run(&w, &told), WAITING);
	assert_int_equal(told.len, 0);
	w.f.blind = false;
	assert_int_equal(run(&w, &told), DONE);
	check_group(&w, 2, "first", "Finished");
	check_group(&w, 3, "last", "Finished");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_rollout__which_one),
		cmocka_unit_test(test_strategy_rollout__what_becomes_of_a_plan),
		cmocka_unit_test(test_strategy_rollout__in_its_order),
		cmocka_unit_test(test_strategy_rollout__what_is_somebody_elses),
		cmocka_unit_test(test_strategy_rollout__one_that_cannot_be_read),
		cmocka_unit_test(test_strategy_rollout__not_before_all_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
