/* test_strategy_keep.c: of several objects that drifted, which is told to be repaired and which is left. */
#include "tests/lib/test.h"

#include "alm/controllers/app/controllers.h"
#include "alm/controllers/strategy/strategy_objects.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/engine/controller.h"
#include "alm/engine/repairs.h"
#include "alm/obj/condition.h"
#include "tests/lib/view_fake.h"

#define APP                                                                              \
	"{\"apiVersion\":\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"metadata\":{" \
	"\"name\":\"web\",\"uid\":\"a\"},\"spec\":{\"type\":\"io.ops\"}}"
#define STRATEGY                                                                             \
	"{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\",\"kind\":\"InstallStrategy\","   \
	"\"metadata\":{\"name\":\"s\",\"uid\":\"s1\",\"ownerReferences\":[{\"apiVersion\":"  \
	"\"app.coreos.com/v1beta1\",\"kind\":\"AppType\",\"name\":\"web\",\"uid\":\"a\"}]}," \
	"\"spec\":{\"appTypeRef\":{\"name\":\"web\"},\"version\":\"1.0.0\",\"strategy\":{"   \
	"\"namespace\":\"n\"}},\"status\":{\"phase\":\"Succeeded\"}}"
#define OBJECT                                                                         \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"," \
	"\"namespace\":\"n\"},\"data\":{\"x\":\"%s\"}}"

static const struct resource config_maps = {.group = "",
					    .version = "v1",
					    .plural = "configmaps",
					    .kind = "ConfigMap",
					    .namespaced = true};

struct world {
	struct view_fake f;
	struct strategy_pass s;
	struct install_plan install;
	struct unit_entry entries[2];
};

/* Two objects that somebody has changed. */
static void begin(struct world *w)
{
	static const char *const names[] = {"a", "b"};
	view_fake_init(&w->f);
	view_fake_put(&w->f, WATCH_APPTYPE, APP);
	view_fake_put(&w->f, WATCH_STRATEGY, STRATEGY);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		w->entries[i] = (struct unit_entry){
			.object = view_fake_obj(&w->f, arena_fmt(w->f.a, OBJECT, names[i], "ours")),
			.live = view_fake_obj(&w->f, arena_fmt(w->f.a, OBJECT, names[i], "theirs")),
			.digest = "d",
			.kind = "ConfigMap",
			.name = names[i],
			.ns = "n",
			.resource = &config_maps};
	w->install = (struct install_plan){.doc = obj_keep(w->f.a, obj_map()),
					   .release = "web",
					   .ns = "n",
					   .entries = w->entries,
					   .n = 2};
	w->s = (struct strategy_pass){.v = &w->f.view,
				      .plan = view_fake_plan(&w->f),
				      .app = app_load(&w->f.view, "web"),
				      .was = PHASE_SUCCEEDED,
				      .phase = PHASE_SUCCEEDED,
				      .conditions = obj_keep(w->f.a, obj_list()),
				      .install = &w->install,
				      .revision = 1};
	w->s.ref = app_strategy(w->s.app, "1.0.0");
	assert_non_null(w->s.ref);
}

/* It was put back so often that it is left for an hour. */
static void fight(struct world *w, const char *name)
{
	for (int i = 0; i < REPAIRS_MAX; i++)
		repairs_note(w->f.stash, &config_maps, "n", name, w->f.view.now_ns);
}

/* What the entry says to have drifted; "": there is none. */
static const char *told(const struct world *w)
{
	for (const struct action *x = w->f.plan.head; x; x = x->next)
		if (x->type == ACT_ROW && cstr_eq(x->reason, "Drifted"))
			return obj_str(x->body, "what");
	return "";
}

#define LEFT " changed; not repaired: " REPAIRS_WHY

static void test_strategy_keep__the_one_that_is_repaired_is_told(void **state)
{
	(void)state;
	static const struct {
		bool fought[2];
		const char *what, *reason, *message;
	} rows[] = {
		{{false, false}, "ConfigMap n/a changed", "FieldsChanged", "ConfigMap n/a changed"},
		{{true, false}, "ConfigMap n/b changed", "DriftNotRepaired", "ConfigMap n/a" LEFT},
		{{false, true}, "ConfigMap n/a changed", "DriftNotRepaired", "ConfigMap n/b" LEFT},
		{{true, true}, "", "DriftNotRepaired", "ConfigMap n/a" LEFT},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w);
		for (size_t k = 0; k < ARRAY_LEN(w.entries); k++)
			if (rows[i].fought[k])
				fight(&w, w.entries[k].name);
		assert_int_equal(strategy_repair(&w.s), DONE);
		for (size_t k = 0; k < ARRAY_LEN(w.entries); k++)
			assert_int_equal(
				view_fake_action(&w.f, ACT_APPLY, NULL, w.entries[k].name) != NULL,
				!rows[i].fought[k]);
		assert_string_equal(told(&w), rows[i].what);
		const struct obj *o = condition_find(w.s.conditions, "Drifted");
		assert_non_null(o);
		assert_string_equal(obj_str(o, "reason"), rows[i].reason);
		assert_string_equal(obj_str(o, "message"), rows[i].message);
		view_fake_release(&w.f);
	}
}

#define MARKED                                                                                  \
	"{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"a\",%s\"labels\":{"    \
	"\"app.coreos.com/app\":\"web\",\"app.coreos.com/strategy\":\"s\","                     \
	"\"app.kubernetes.io/managed-by\":\"Helm\"},\"annotations\":{"                          \
	"\"app.coreos.com/applied\":\"d\",\"app.coreos.com/owner\":\"web.io.ops\","             \
	"\"helm.sh/resource-policy\":\"keep\",\"app.coreos.com/crd-version\":\"1.0.0\","        \
	"\"meta.helm.sh/release-name\":\"web\",\"meta.helm.sh/release-namespace\":\"n\"},"      \
	"\"ownerReferences\":[{\"apiVersion\":\"opinstaller.coreos.com/v1beta1\","              \
	"\"kind\":\"InstallStrategy\",\"name\":\"s\",\"uid\":\"s1\"}]},\"spec\":{\"group\":\"%" \
	"s\"}}"
#define OF_OBJECT                                                 \
	"example.com/v1", "Web", "\"namespace\":\"n\",",          \
		"\"app.kubernetes.io/managed-by\":\"kustomize\"", \
		"\"meta.helm.sh/release-name\":\"other\""
#define OF_CRD                                                         \
	"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "", \
		"\"app.coreos.com/owner\":\"of.another\",\"helm.sh/resource-policy\":\"delete\""
#define OF_CHART                                                                             \
	"{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"a\",%s\"labels\":{" \
	"%s},\"annotations\":{%s}},\"spec\":{\"group\":\"ours\"}}"

/* Nothing remembers what was applied: a controller has just started. */
static void test_strategy_keep__marks_that_took_the_charts_place_are_no_drift(void **state)
{
	(void)state;
	static const struct {
		const char *version, *kind, *ns, *label, *annotation, *is;
		bool crd;
	} rows[] = {
		{OF_OBJECT, "ours", false},
		{OF_OBJECT, "theirs", false},
		{OF_CRD, "ours", true},
		{OF_CRD, "theirs", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w);
		struct unit_entry *e = &w.entries[0];
		e->object = view_fake_obj(&w.f,
					  arena_fmt(w.f.a, OF_CHART, rows[i].version, rows[i].kind,
						    rows[i].ns, rows[i].label, rows[i].annotation));
		e->live = view_fake_obj(&w.f, arena_fmt(w.f.a, MARKED, rows[i].version,
							rows[i].kind, rows[i].ns, rows[i].is));
		e->kind = rows[i].kind;
		e->is_crd = e->keep = rows[i].crd;
		assert_int_equal(strategy_holds(&w.s, e), cstr_eq(rows[i].is, "ours"));
		e->live = NULL;
		assert_false(strategy_holds(&w.s, e));
		view_fake_release(&w.f);
	}
}

#define TURNED(type, status) \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"It\",\"message\":\"d\"}"
#define DRIFTED TURNED("Drifted", "True")

/* Once all is as planned, whatever turns with that, such as that what was missing is ready. */
static void test_strategy_keep__a_repair_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *repaired, *reason;
		enum phase phase;
	} rows[] = {
		{"[" DRIFTED "]", "[]", "d", "DriftRepaired", PHASE_SUCCEEDED},
		{"[" DRIFTED "," TURNED("Available", "False") "]",
		 "[" TURNED("Available", "True") "]", "d", "DriftRepaired", PHASE_SUCCEEDED},
		{"[" DRIFTED "]", "[" TURNED("Available", "False") "]", "d", "DriftRepaired",
		 PHASE_SUCCEEDED},
		{"[" DRIFTED "]", "[]", "d", "Superseded", PHASE_SUPERSEDED},
		{"[" TURNED("Available", "False") "]", "[" TURNED("Available", "True") "]", NULL,
		 "It", PHASE_SUCCEEDED},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		struct error err = ERROR_INIT;
		begin(&w);
		struct obj *live = obj_keep(w.f.a, obj_copy(w.s.ref->o));
		obj_set_path(live, "status.conditions",
			     obj_ref(view_fake_obj(&w.f, rows[i].before)));
		struct strategy_ref ref = {.o = live, .name = "s", .version = "1.0.0"};
		w.s.ref = &ref;
		w.s.phase = rows[i].phase;
		w.s.conditions = view_fake_obj(&w.f, rows[i].after);
		w.s.repaired = rows[i].repaired;
		w.f.pass = &w.s;
		const struct step *step = strategy_controller.steps;
		while (step[1].fn)
			step++;
		assert_ok(step->fn(&w.f.view, "s", &w.f.plan, &err), &err);
		const struct action *x = view_fake_action(&w.f, ACT_STATUS, NULL, NULL);
		assert_non_null(x);
		assert_string_equal(x->reason, rows[i].reason);
		if (cstr_eq(x->reason, "DriftRepaired"))
			assert_string_equal(x->message, "d: repaired");
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_keep__a_repair_is_told),
		cmocka_unit_test(test_strategy_keep__marks_that_took_the_charts_place_are_no_drift),
		cmocka_unit_test(test_strategy_keep__the_one_that_is_repaired_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
