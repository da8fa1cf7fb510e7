/* Whose objects are those of a plan: over all that two of them may be, judged by a plain table. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/meta.h"
#include "tests/lib/strategy_fake.h"

enum { ENTRIES = 2, WAYS = 54 };

static const struct resource config_maps = {"", "v1", "configmaps", "ConfigMap", true},
			     roles = {"rbac.authorization.k8s.io", "v1", "clusterroles",
				      "ClusterRole", false};

/* What one of them is, by its number. */
struct way {
	enum { PLAIN, CRD, NAMESPACE } what;
	enum { ABSENT, OURS, THEIRS } cached, live;
	bool served;
};

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct install_plan install;
	struct unit_entry entries[ENTRIES];
	struct way ways[ENTRIES];
	struct strategy_pass s;
};

static struct way way_of(unsigned n)
{
	return (struct way){n % 3, n / 3 % 3, n / 9 % 3, n / 27};
}

static const char *json_of(struct world *w, const char *name, int whose)
{
	return arena_fmt(w->f.a,
			 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			 "\"%s\",\"labels\":{\"app.coreos.com/app\":\"%s\"}}}",
			 name, whose == OURS ? "etcd" : "vault");
}

/* The first has a namespace, the second a group. */
static void set_entry(struct world *w, size_t i)
{
	static const char *const kinds[] = {NULL, "CustomResourceDefinition", "Namespace"};
	const struct way *y = &w->ways[i];
	const struct resource *r = i ? &roles : &config_maps;
	const char *name = i ? "b" : "a";
	w->entries[i] = (struct unit_entry){
		.object = view_fake_obj(&w->f, json_of(w, name, OURS)),
		.live = y->cached == ABSENT
				? NULL
				: view_fake_obj(&w->f, json_of(w, name, (int)y->cached)),
		.kind = kinds[y->what] ? kinds[y->what] : r->kind,
		.name = name,
		.ns = i ? NULL : "n",
		.is_crd = y->what == CRD,
		.resource = y->served ? r : NULL};
}

static void begin(struct world *w, unsigned a, unsigned b)
{
	*w = (struct world){.ways = {way_of(a), way_of(b)}};
	view_fake_init(&w->f);
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f, "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}}"),
		.name = "s",
		.version = "1.0.0"};
	w->app = (struct app){.name = "etcd",
			      .self_ref = "etcd.io",
			      .o = view_fake_obj(&w->f, "{\"metadata\":{\"name\":\"etcd\"}}")};
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	for (size_t i = 0; i < ENTRIES; i++)
		set_entry(w, i);
	w->install = (struct install_plan){
		.release = "etcd", .ns = "n", .entries = w->entries, .n = ENTRIES};
	w->s.install = &w->install;
}

static const char *key_of(struct world *w, size_t i)
{
	const struct unit_entry *e = &w->entries[i];
	return arena_fmt(w->f.a, "%s/%s/%s", e->kind, e->ns ? e->ns : "", e->name);
}

/* --- the table --- */

static bool is_asked(const struct way *y)
{
	return y->cached == ABSENT && y->what == PLAIN && y->served;
}

static bool is_foreign(const struct way *y)
{
	return y->cached == THEIRS || (is_asked(y) && y->live == THEIRS);
}

static void check_rows(struct world *w, const struct action *x)
{
	size_t n = 0;
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct unit_entry *e = &w->entries[i];
		if (!is_asked(&w->ways[i]))
			continue;
		const struct obj *row = obj_at(x->body, n++);
		assert_string_equal(obj_str(row, "key"), key_of(w, i));
		assert_string_equal(obj_str(row, "group"), e->resource->group);
		assert_string_equal(obj_str(row, "version"), "v1");
		assert_string_equal(obj_str(row, "kind"), e->kind);
		assert_string_equal(obj_str(row, "name"), e->name);
		assert_true(cstr_eq(obj_str(row, "namespace"), e->ns));
	}
	assert_int_equal(obj_len(x->body), n);
}

static void answer(struct world *w, const char *id)
{
	struct obj *found = obj_map();
	for (size_t i = 0; i < ENTRIES; i++)
		if (is_asked(&w->ways[i]) && w->ways[i].live != ABSENT)
			obj_set(found, key_of(w, i),
				obj_ref(view_fake_obj(&w->f, json_of(w, w->entries[i].name,
								     (int)w->ways[i].live))));
	stash_put(w->f.stash, id, NULL, STR_NONE, found, w->f.view.now_ns);
}

static void check_verdict(struct world *w, enum ensured state)
{
	const char *why = obj_str(condition_find(w->s.conditions, "PlanReady"), "message");
	size_t n_foreign = 0, n_given = 0;
	for (size_t i = 0; i < ENTRIES; i++) {
		bool foreign = is_foreign(&w->ways[i]);
		const char *text = arena_fmt(w->f.a, "%s belongs to app vault", key_of(w, i));
		n_foreign += foreign;
		assert_int_equal(foreign, why && strstr(why, text));
		if (!foreign || !w->ways[i].served)
			continue;
		const char *run = obj_as_string(obj_at(w->s.steps, n_given++));
		assert_non_null(
			strstr(run, i ? "kubectl label clusterroles.rbac.authorization.k8s.io b app"
				      : "kubectl label configmaps a -n n app"));
		assert_non_null(strstr(run, "release-name=etcd"));
		assert_non_null(strstr(run, "release-namespace=n "));
	}
	assert_int_equal(obj_len(w->s.steps), n_given);
	assert_int_equal(state, n_foreign ? ENDED : DONE);
	assert_int_equal(w->s.phase, n_foreign ? PHASE_BLOCKED : PHASE_PENDING);
	assert_true(!n_foreign || cstr_eq(w->s.reason, "ObjectNotOwned"));
	if (n_foreign == 2)
		assert_non_null(strstr(why, "; "));
}

static void check_survey(unsigned a, unsigned b)
{
	struct world w;
	begin(&w, a, b);
	enum ensured state = strategy_survey(&w.s);
	if (is_asked(&w.ways[0]) || is_asked(&w.ways[1])) {
		const struct action *x = view_fake_work(&w.f, &survey_work);
		struct error err = ERROR_INIT;
		assert_int_equal(state, WAITING);
		assert_non_null(x);
		check_rows(&w, x);
		error_set(&err, E_UNAVAILABLE, "no");
		stash_put(w.f.stash, x->id, &err, STR_NONE, NULL, w.f.view.now_ns);
		w.s.plan = view_fake_plan(&w.f);
		assert_int_equal(strategy_survey(&w.s), WAITING); /* what failed is asked again */
		x = view_fake_work(&w.f, &survey_work);
		assert_non_null(x);
		answer(&w, x->id);
		w.s.plan = view_fake_plan(&w.f);
		state = strategy_survey(&w.s);
	}
	assert_null(view_fake_work(&w.f, &survey_work));
	check_verdict(&w, state);
	view_fake_release(&w.f);
}

static void test_strategy_survey__whose_it_is(void **state)
{
	(void)state;
	for (unsigned a = 0; a < WAYS; a++)
		for (unsigned b = 0; b < WAYS; b++)
			check_survey(a, b);
}

/* Of as many as a person reads; the message names them all. */
static void test_strategy_survey__steps_for_a_few(void **state)
{
	enum { MANY = 22 };
	(void)state;
	for (size_t n = 18; n <= MANY; n++) {
		struct world w;
		struct unit_entry many[MANY];
		begin(&w, 0, 0);
		for (size_t i = 0; i < n; i++) {
			const char *name = arena_fmt(w.f.a, "m%02zu", i);
			many[i] = (struct unit_entry){
				.object = view_fake_obj(&w.f, json_of(&w, name, OURS)),
				.live = view_fake_obj(&w.f, json_of(&w, name, THEIRS)),
				.kind = "ConfigMap",
				.name = name,
				.ns = "n",
				.resource = &config_maps};
		}
		w.install.entries = many;
		w.install.n = n;
		assert_int_equal(strategy_survey(&w.s), ENDED);
		assert_int_equal(obj_len(w.s.steps), n < 20 ? n : 20);
		for (size_t i = 0; i < n; i++)
			assert_non_null(strstr(w.s.message, many[i].name));
		view_fake_release(&w.f);
	}
}

/* --- is its kind served --- */

static const char crd[] =
	"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
	"\"metadata\":{\"name\":\"c\"},\"spec\":{\"group\":\"%s\",\"names\":{\"kind\":\"%s\"}}}";

static void test_strategy_survey__a_kind_that_nobody_serves(void **state)
{
	static const struct {
		const char *group, *kind; /* what the plan defines, "": nothing */
		bool is_crd;              /* else what it has looks like one */
		const char *answer;       /* NULL: it is not asked */
		bool is_blocked;
	} rows[] = {
		{"g.io", "Thing", true, NULL, false},
		{"g.io", "Thing", false, "[{\"error\":\"no\"}]", true},
		{"h.io", "Thing", true, "[{\"error\":\"no\"}]", true},
		{"g.io", "Other", true, "[{\"error\":\"no\"}]", true},
		{"", "", true, "[{\"error\":\"no\"}]", true},
		{"", "", true, "[{\"value\":{}}]", false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, 28, 27); /* one definition, one object, both served */
		w.entries[0].object =
			view_fake_obj(&w.f, arena_fmt(w.f.a, crd, rows[i].group, rows[i].kind));
		w.entries[1].object =
			view_fake_obj(&w.f, "{\"apiVersion\":\"g.io/v1\",\"kind\":\"Thing\","
					    "\"metadata\":{\"name\":\"b\"}}");
		w.entries[1].kind = "Thing";
		w.entries[1].ns = "n";
		w.entries[0].is_crd = rows[i].is_crd;
		assert_int_equal(strategy_ensure_kinds(&w.s), DONE);
		w.entries[1].resource = NULL;
		if (rows[i].is_crd) /* definitions themselves are not asked about */
			w.entries[0].resource = NULL;
		enum ensured is = strategy_ensure_kinds(&w.s);
		const struct action *x = view_fake_work(&w.f, &ask_work);
		assert_int_equal(x != NULL, rows[i].answer != NULL);
		if (x) {
			const struct obj *need = obj_at(x->body, 0);
			assert_int_equal(is, WAITING);
			assert_int_equal(w.s.phase, PHASE_PENDING);
			assert_string_equal(obj_str(need, "apiVersion"), "g.io/v1");
			assert_string_equal(obj_str(need, "kind"), "Thing");
			assert_string_equal(obj_str(need, "name"), "b");
			assert_string_equal(obj_str(need, "namespace"), "n");
			view_fake_outcome(&w.f, x->id, rows[i].answer);
			w.s.plan = view_fake_plan(&w.f);
			is = strategy_ensure_kinds(&w.s);
		}
		assert_int_equal(is, rows[i].is_blocked ? ENDED : DONE);
		assert_int_equal(w.s.phase, rows[i].is_blocked ? PHASE_BLOCKED : PHASE_PENDING);
		assert_int_equal(obj_len(w.s.steps), rows[i].is_blocked);
		assert_int_equal(w.f.plan.requeue_after_ns, rows[i].is_blocked ? 10 * NS_PER_S : 0);
		if (rows[i].is_blocked) {
			assert_string_equal(w.s.reason, "KindNotServed");
			assert_non_null(strstr(w.s.message, "g.io/v1"));
			w.f.view.now_ns += 11 * NS_PER_S; /* somebody may have brought it */
			w.s.plan = view_fake_plan(&w.f);
			assert_int_equal(strategy_ensure_kinds(&w.s), WAITING);
		}
		view_fake_release(&w.f);
	}
}

static void test_strategy_survey__nothing_is_decided_before_all_is_known(void **state)
{
	(void)state;
	for (unsigned unknown = 0; unknown < 1 << ENTRIES; unknown++) {
		struct world w;
		begin(&w, 27, 27);
		w.s.phase = PHASE_AWAITING;
		for (size_t i = 0; i < ENTRIES; i++)
			w.entries[i].unknown = unknown >> i & 1;
		assert_int_equal(strategy_await_informers(&w.s), unknown ? WAITING : DONE);
		assert_int_equal(w.s.phase, unknown ? PHASE_PENDING : PHASE_AWAITING);
		view_fake_release(&w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_survey__whose_it_is),
		cmocka_unit_test(test_strategy_survey__steps_for_a_few),
		cmocka_unit_test(test_strategy_survey__a_kind_that_nobody_serves),
		cmocka_unit_test(test_strategy_survey__nothing_is_decided_before_all_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
