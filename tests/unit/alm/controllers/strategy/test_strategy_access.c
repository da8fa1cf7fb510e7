/* test_strategy_access.c: what an app's account may: what no right helps against, when it is asked and asked again, what is done
 * with the answer, and what an upgrade takes more. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/controllers/strategy/strategy_access.h"
#include "alm/controllers/strategy/strategy_steps.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "tests/lib/strategy_fake.h"

#define USER   "system:serviceaccount:alm-system:app-web"
#define SETTLE (5 * NS_PER_S)
#define ROLE(name, verbs)                                                                      \
	"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " name \
	"}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [" verbs "]}]}"
#define STRATEGY(name, uid)                                                    \
	"{apiVersion: opinstaller.coreos.com/v1beta1, kind: InstallStrategy, " \
	"metadata: {name: " name ", uid: " uid "}}"
#define MAP "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: 'n'}}"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref, former;
	struct install_plan install;
	struct strategy_pass s;
};

static struct obj *yaml(struct world *w, const char *text)
{
	struct error err = ERROR_INIT;
	struct obj *o = NULL;
	assert_ok(yaml_parse_one(str_of(text), &o, &err), &err);
	return obj_keep(w->f.a, o);
}

static struct obj *doc_of(struct world *w, const char *object)
{
	return yaml(w, arena_fmt(w->f.a,
				 "{namespace: 'n', release: web, objects: [{stage: 3, digest: d, "
				 "object: %s}]}",
				 object));
}

static void pass(struct world *w)
{
	w->s = strategy_fake(&w->f, &w->app, &w->ref);
	w->s.install = &w->install;
}

static void begin(struct world *w, const char *object, bool is_default)
{
	*w = (struct world){0};
	view_fake_init(&w->f);
	w->f.settings.rights_settle_ns = SETTLE;
	w->app = (struct app){.name = "web", .self_ref = "web.io"};
	w->app.o = yaml(w, "{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: "
			   "web, uid: w}}");
	w->app.account.user = USER;
	w->app.account.is_default = is_default;
	w->ref = (struct strategy_ref){
		.o = yaml(w, STRATEGY("s", "u")), .name = "s", .version = "2.0.0"};
	w->install = (struct install_plan){
		.doc = doc_of(w, object), .release = "web", .ns = "n", .version = "2.0.0"};
	pass(w);
}

static void assert_blocked(const struct world *w, const char *why)
{
	assert_int_equal(w->s.phase, PHASE_BLOCKED);
	assert_string_equal(w->s.reason, "Forbidden");
	if (!strstr(w->s.message, why))
		fail_msg("%s is not in %s", why, w->s.message);
}

/* --- what no right helps against --- */

static void test_strategy_access__what_nobody_may(void **state)
{
	static const struct {
		const char *object, *why; /* NULL: the server is asked */
	} rows[] = {
		{MAP, NULL},
		{ROLE("web", "get"), NULL},
		{ROLE("'alm:x'", "get"), "ClusterRole alm:x: roles with names of alm: are ALM's"},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: 'alm:x', namespace: 'n'}}",
		 NULL},
		{"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: "
		 "{name: web}, roleRef: {name: 'alm:app-namespace'}}",
		 "ClusterRoleBinding web: roles with names of alm: are ALM's own"},
		{"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: "
		 "{name: web}, roleRef: {name: view}}",
		 NULL},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: 'a/b', namespace: 'n'}}",
		 "ConfigMap has a name that is none"},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '..'}}",
		 "ConfigMap has a name that is none"},
		{"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
		 "{name: apps.app.coreos.com}, spec: {group: app.coreos.com, names: {kind: App, "
		 "plural: apps}}}",
		 "group app.coreos.com is ALM's own"},
		{"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
		 "{name: cs.x.io}, spec: {group: x.io, names: {kind: C, plural: cs}}}",
		 NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, rows[i].object, true);
		enum ensured is = strategy_review(&w.s);
		if (is != (rows[i].why ? ENDED : WAITING))
			fail_msg("row %zu: %d %s", i, (int)is, w.s.message ? w.s.message : "");
		assert_int_equal(view_fake_works(&w.f, &review_work), !rows[i].why);
		if (rows[i].why)
			assert_blocked(&w, rows[i].why);
		view_fake_release(&w.f);
	}
}

/* One that is there and marked for somebody else has its remedy. */
static void test_strategy_access__a_definition_of_another_app(void **state)
{
	static const char crd[] = "{apiVersion: apiextensions.k8s.io/v1, kind: "
				  "CustomResourceDefinition, metadata: {name: cs.x.io}, spec: "
				  "{group: x.io, names: {kind: C, plural: cs}}}";
	(void)state;
	for (int is_default = 0; is_default < 2; is_default++) {
		struct world w;
		begin(&w, crd, is_default);
		view_fake_put(&w.f, WATCH_CRD,
			      "{\"metadata\":{\"name\":\"cs.x.io\",\"annotations\":{"
			      "\"app.coreos.com/owner\":\"vault.io\"}}}");
		assert_int_equal(strategy_review(&w.s), is_default ? ENDED : WAITING);
		assert_int_equal(obj_len(w.s.steps), is_default);
		if (is_default) {
			assert_blocked(&w, "CRD cs.x.io is marked for vault.io, not for web.io");
			assert_non_null(strstr(obj_as_string(obj_at(w.s.steps, 0)),
					       "kubectl annotate crd cs.x.io"));
		}
		view_fake_release(&w.f);
	}
}

/* --- the review --- */

struct given {
	const char *denied; /* NULL: the question failed */
	int64_t age_s;
	bool other;               /* rights have changed since */
	int64_t since_s, wrote_s; /* before now a right changed, and ALM wrote one; 0: never */
};

struct wanted {
	bool asks;
	enum ensured state;
	bool is_blocked;
};

/* What is right, in words of its own: an answer that may be old is asked for again; a no that may come from a server
 * that has not seen the rights yet is not told. */
static struct wanted judge(const struct given *g)
{
	bool no = !g->denied || *g->denied;
	bool fresh = (g->since_s && g->since_s < 5) || (g->wrote_s && g->wrote_s < 5);
	int64_t wait_s = !no ? 60 : fresh ? 1 : g->denied ? 3600 : 60;
	if (g->other || g->age_s < 0 || g->age_s >= wait_s)
		return (struct wanted){true, WAITING, false};
	if (!no)
		return (struct wanted){false, DONE, false};
	if (g->denied && fresh)
		return (struct wanted){false, WAITING, false};
	return (struct wanted){false, ENDED, true};
}

static void put_answer(struct world *w, const char *id, const struct given *g)
{
	struct error err = ERROR_INIT;
	struct obj *o = obj_map();
	int64_t now = w->f.view.now_ns;
	if (g->denied)
		obj_set(o, "denied", obj_ref(yaml(w, arena_fmt(w->f.a, "[%s]", g->denied))));
	obj_set_int(o, "rightsVersion", (int64_t)account_rights_version(&w->f.view) + g->other);
	if (g->since_s)
		obj_set_int(o, "rightsSince", now - g->since_s * NS_PER_S);
	error_set(&err, E_FORBIDDEN, "alm may not impersonate");
	stash_put(w->f.stash, id, g->denied ? NULL : &err, STR_NONE, o, now - g->age_s * NS_PER_S);
}

static void check_review(const struct given *g)
{
	struct world w;
	const struct wanted want = judge(g);
	begin(&w, MAP, true);
	assert_int_equal(strategy_review(&w.s), WAITING);
	const struct action *x = view_fake_work(&w.f, &review_work);
	assert_non_null(x);
	assert_true(x->rights_version == account_rights_version(&w.f.view));
	assert_int_equal(x->rights_since_ns, 0);
	put_answer(&w, x->id, g);
	const char *id = x->id;
	pass(&w);
	w.s.account.changed_ns = g->wrote_s ? w.f.view.now_ns - g->wrote_s * NS_PER_S : 0;
	enum ensured is = strategy_review(&w.s);
	x = view_fake_work(&w.f, &review_work);
	if (is != want.state || (x != NULL) != want.asks ||
	    (w.s.phase == PHASE_BLOCKED) != want.is_blocked)
		fail_msg("%s, %d s old%s, since %d, %d: %d", g->denied ? g->denied : "failed",
			 (int)g->age_s, g->other ? ", of other rights" : "", (int)g->since_s,
			 (int)g->wrote_s, (int)is);
	if (x) {
		assert_string_equal(x->id, id);
		int64_t now = w.f.view.now_ns; /* of an answer that came late, they may be older */
		int64_t since = g->since_s ? now - g->since_s * NS_PER_S : 0;
		assert_true(x->rights_since_ns == (g->other ? now : since));
	} else if (want.state != DONE) { /* somebody looks again */
		assert_true(w.f.plan.requeue_after_ns > 0);
	}
	view_fake_release(&w.f);
}

static void test_strategy_access__when_it_is_asked(void **state)
{
	static const char *const answers[] = {"", "0", NULL};
	static const int64_t ages[] = {-1, 0, 1, 4, 59, 60, 3599, 3600},
			     sinces[] = {0, 1, 4, 5, 100};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		for (size_t k = 0; k < ARRAY_LEN(ages); k++)
			for (size_t n = 0; n < ARRAY_LEN(sinces) * ARRAY_LEN(sinces) * 2; n++)
				check_review(&(struct given){.denied = answers[i],
							     .age_s = ages[k],
							     .other = n & 1,
							     .since_s = sinces[n / 2 % 5],
							     .wrote_s = sinces[n / 10]});
}

/* What a person reads: which right, how many, and what gives them. */
static void test_strategy_access__what_is_told(void **state)
{
	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		struct world w;
		const struct given g = {.denied = failed ? NULL : "0, 99, -1, x", .age_s = 0};
		begin(&w, MAP, true);
		(void)strategy_review(&w.s);
		put_answer(&w, view_fake_work(&w.f, &review_work)->id, &g);
		pass(&w);
		assert_int_equal(strategy_review(&w.s), ENDED);
		const char *step = obj_as_string(obj_at(w.s.steps, 0));
		if (failed) {
			assert_blocked(&w, "ALM may not act as " USER ": alm may not impersonate");
			assert_int_equal(obj_len(w.s.steps), 1);
			assert_non_null(strstr(step, "--verb=impersonate"));
		} else {
			assert_blocked(&w, USER " lacks 1 of the ");
			assert_blocked(&w, " rights that web 2.0.0 takes, first: ");
			assert_int_equal(obj_len(w.s.steps), 2);
			assert_string_equal(step, "alm rbac web | kubectl apply -f -");
			const char *manifest = obj_as_string(obj_at(w.s.steps, 1));
			assert_true(cstr_has_prefix(manifest, "kubectl apply -f - <<'END'\n"));
			assert_non_null(strstr(manifest, "\n---\n"));
			assert_true(cstr_has_suffix(manifest, "END"));
		}
		view_fake_release(&w.f);
	}
}

/* --- lookups --- */

static void test_strategy_access__what_a_template_may_not_read(void **state)
{
	static const struct {
		int64_t age_s, since_s;
		bool other, asks, is_blocked;
	} rows[] = {
		{0, 0, false, false, true},  {59, 0, false, false, true},
		{60, 0, false, true, false}, {0, 0, true, true, false},
		{0, 2, false, false, false}, {1, 3, false, true, false},
		{0, 5, false, false, true},  {30, 40, false, false, true},
	};
	static const char needs[] = "[{apiVersion: v1, kind: Secret, name: s, namespace: 'n'}]";
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, MAP, true);
		int64_t now = w.f.view.now_ns;
		struct obj *list = yaml(
			&w, "[{value: {}}, {apiVersion: v1, kind: Secret, name: s, namespace: 'n', "
			    "denied: true, error: web may not get secrets}]");
		struct obj *denied = obj_at_mut(list, 1);
		obj_set_int(denied, "rightsVersion",
			    (int64_t)account_rights_version(&w.f.view) + rows[i].other);
		if (rows[i].since_s)
			obj_set_int(denied, "rightsSince", now - rows[i].since_s * NS_PER_S);
		const struct outcome o = {.value = list, .at_ns = now - rows[i].age_s * NS_PER_S};
		enum ensured is = strategy_ensure_lookups(&w.s, "look", yaml(&w, needs), &o);
		const struct action *x = view_fake_work(&w.f, &ask_work);
		if (is != (rows[i].is_blocked ? ENDED : WAITING) || (x != NULL) != rows[i].asks)
			fail_msg("row %zu: %d", i, (int)is);
		if (x) {
			assert_string_equal(x->id, "look");
			assert_true(cstr_eq(obj_str(obj_at(x->body, 0), "kind"), "Secret"));
			int64_t since = rows[i].since_s ? now - rows[i].since_s * NS_PER_S : 0;
			assert_true(x->rights_since_ns == (rows[i].other ? now : since));
		} else
			assert_true(w.f.plan.requeue_after_ns > 0);
		if (rows[i].is_blocked) {
			const char *step = obj_as_string(obj_at(w.s.steps, 0));
			assert_blocked(&w, "lookup: web may not get secrets");
			assert_non_null(strstr(step, "secrets"));
			assert_non_null(strstr(step, "get"));
			assert_non_null(strstr(step, "resourceNames"));
		}
		view_fake_release(&w.f);
	}
	struct world w;
	begin(&w, MAP, true);
	const struct outcome good = {.value = yaml(&w, "[{value: {}}]")};
	assert_int_equal(strategy_ensure_lookups(&w.s, "look", yaml(&w, needs), &good), DONE);
	assert_int_equal(w.f.plan.n, 0);
	view_fake_release(&w.f);
}

/* The right that is missing, by the name of the kind or all of it, where it has a namespace or none. */
static void test_strategy_access__which_right_a_template_takes(void **state)
{
	static const struct {
		const char *need;
		const char *has[3];
	} rows[] = {
		{"{apiVersion: apps/v1, kind: Deployment, name: '', namespace: 'n', denied: true}",
		 {"apps", "deployments", "list"}},
		{"{apiVersion: apps/v1, kind: Deployment, name: d, namespace: 'n', denied: true}",
		 {"kind: RoleBinding", "deployments", "get"}},
		{"{apiVersion: v1, kind: Namespace, name: 'n', namespace: 'n', denied: true}",
		 {"kind: ClusterRoleBinding", "namespaces", "get"}},
		{"{apiVersion: x.io/v1, kind: Lost, name: 'n', denied: true}", {NULL}},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, MAP, true);
		struct obj *list = obj_keep(w.f.a, obj_list());
		struct obj *need = obj_copy(yaml(&w, rows[i].need));
		obj_set_int(need, "rightsVersion", (int64_t)account_rights_version(&w.f.view));
		obj_append(list, need);
		const struct outcome o = {.value = list, .at_ns = w.f.view.now_ns};
		assert_int_equal(strategy_ensure_lookups(&w.s, "look", list, &o), ENDED);
		const char *step = obj_as_string(obj_at(w.s.steps, 0));
		assert_int_equal(step != NULL, rows[i].has[0] != NULL);
		for (size_t k = 0; step && k < ARRAY_LEN(rows[i].has); k++)
			if (!strstr(step, rows[i].has[k]))
				fail_msg("%s is not in %s", rows[i].has[k], step);
		view_fake_release(&w.f);
	}
}

/* Other rights are another question: an answer is of its own plan. */
static void test_strategy_access__each_plan_has_its_question(void **state)
{
	static const char *const objects[] = {MAP, ROLE("web", "get"), ROLE("web", "list")};
	const char *ids[ARRAY_LEN(objects)];
	struct world w[ARRAY_LEN(objects)];
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		begin(&w[i], objects[i], true);
		assert_int_equal(strategy_review(&w[i].s), WAITING);
		const struct action *x = view_fake_work(&w[i].f, &review_work);
		assert_non_null(x);
		assert_true(obj_len(x->body) > 0);
		ids[i] = x->id;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	}
	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		view_fake_release(&w[i].f);
}

/* --- what an upgrade gives more --- */

static void store(struct world *w, const struct strategy_ref *ref, int64_t revision,
		  const char *object)
{
	struct plan *p = view_fake_plan(&w->f);
	assert_int_equal(install_plan_store(p, ref, revision, "inputs", doc_of(w, object)), DONE);
	for (const struct action *x = p->head; x; x = x->next) {
		CLEANUP(xfreep) char *secret = json_text(x->body);
		view_fake_put(&w->f, WATCH_PLAN_SECRET, secret);
	}
}

static void test_strategy_access__what_an_upgrade_takes_more(void **state)
{
	static const struct {
		const char *was;  /* NULL: nothing is installed */
		int64_t revision; /* of what is; 0: of another version */
		const char *text;
	} rows[] = {
		{NULL, 0, ""},
		{ROLE("web", "get"), 0, "adds 1 permission: list configmaps"},
		{ROLE("web", "get"), 1, "adds 1 permission: list configmaps"},
		{ROLE("web", "get, list"), 0, ""},
		{MAP, 0, "adds 1 permission: get,list configmaps"},
		{MAP, 2, "adds 1 permission: get,list configmaps"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		begin(&w, ROLE("web", "get, list"), true);
		w.former = (struct strategy_ref){.o = yaml(&w, STRATEGY("f", "f")),
						 .name = "f",
						 .version = "1.0.0",
						 .revision = 1};
		bool itself = rows[i].revision;
		if (rows[i].was)
			store(&w, itself ? &w.ref : &w.former, itself ? rows[i].revision : 1,
			      rows[i].was);
		w.app.installed = !rows[i].was ? NULL : itself ? &w.ref : &w.former;
		pass(&w);
		w.s.revision = 3;
		assert_int_equal(strategy_review(&w.s), WAITING);
		const char *text = strategy_permissions_text(&w.s);
		if (*rows[i].text ? !cstr_has_prefix(text, rows[i].text) : *text)
			fail_msg("row %zu: %s", i, text);
		assert_int_equal(obj_len(w.s.permissions),
				 rows[i].text[0] ? rows[i].text[5] - '0' : 0);
		view_fake_release(&w.f);
	}
}

static void test_strategy_access__a_few_are_named(void **state)
{
	static const char *const texts[] = {"",
					    "adds 1 permission: p",
					    "adds 2 permissions: p; p",
					    NULL,
					    NULL,
					    "adds 5 permissions: p; p; p; p; p",
					    "adds 6 permissions: p; p; p; p; p; ..."};
	struct world w;
	(void)state;
	begin(&w, MAP, true);
	struct obj *list = obj_keep(w.f.a, obj_list());
	w.s.permissions = list;
	for (size_t n = 0; n < ARRAY_LEN(texts); n++) {
		if (texts[n])
			assert_string_equal(strategy_permissions_text(&w.s), texts[n]);
		obj_append(list, obj_string("p"));
	}
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_access__what_nobody_may),
		cmocka_unit_test(test_strategy_access__a_definition_of_another_app),
		cmocka_unit_test(test_strategy_access__when_it_is_asked),
		cmocka_unit_test(test_strategy_access__what_is_told),
		cmocka_unit_test(test_strategy_access__what_a_template_may_not_read),
		cmocka_unit_test(test_strategy_access__which_right_a_template_takes),
		cmocka_unit_test(test_strategy_access__each_plan_has_its_question),
		cmocka_unit_test(test_strategy_access__what_an_upgrade_takes_more),
		cmocka_unit_test(test_strategy_access__a_few_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
