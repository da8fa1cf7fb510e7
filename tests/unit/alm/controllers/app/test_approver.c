/* Is spec.approvedBy who approved: only with deploy/approver.yaml, as it stands, in time. */
#include "tests/lib/test.h"

#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/controllers/app/approver.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "tests/lib/view_fake.h"

#define APPROVED "2030-01-02T08:00:10Z"
#define STRATEGY                                                                    \
	"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\",\"uid\":\"u\"," \
	"\"generation\":2,\"managedFields\":[{\"manager\":\"kubectl\",\"time\":"    \
	"\"" APPROVED "\",\"fieldsV1\":{\"f:spec\":{\"f:approvedBy\":{}}}}]},"      \
	"\"spec\":{\"approved\":true,\"approvedBy\":\"alice\"}}"
#define WEBHOOK_ID "approver-webhook:u:2"
#define OLD        "2030-01-02T08:00:00Z"
#define YOUNG      "2030-01-02T08:00:08Z"

static int64_t time_of(const char *text)
{
	int64_t ns;
	assert_true(clock_parse(str_of(text), &ns));
	return ns;
}

struct world {
	struct view_fake f;
	const struct obj *strategy;
};

static void setup(struct world *w)
{
	view_fake_init(&w->f);
	w->f.settings.foreign = true;
	w->strategy = view_fake_obj(&w->f, STRATEGY);
}

/* What the server has of the file, written then; PATH set to value, if any. */
static void answer_of(struct world *w, const char *file, const char *made, const char *written,
		      const char *path, const char *value)
{
	struct error err = ERROR_INIT;
	struct yaml_documents docs = {0};
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);
	struct obj *found = obj_map();
	assert_ok(file_read(file, &text, &err), &err);
	assert_ok(yaml_parse(strbuf_str(&text), &docs, &err), &err);
	for (size_t i = 0; i < docs.n; i++) {
		struct obj *o = obj_copy(docs.items[i].value), *fields = NULL;
		const char *entries =
			obj_has(o, "webhooks")
				? "[{\"manager\":\"alm\",\"fieldsV1\":{\"f:webhooks\":{}}}]"
				: "[{\"manager\":\"alm\",\"fieldsV1\":{\"f:spec\":{}}}]";
		assert_ok(json_parse(str_of(entries), &fields, &err), &err);
		obj_set_str(obj_at_mut(fields, 0), "time", written);
		obj_set_path(o, "metadata.creationTimestamp", obj_string(made));
		obj_set_path(o, "metadata.managedFields", fields);
		if (path && !i)
			obj_set_path(o, path, obj_string(value));
		obj_set(found, obj_str(o, "kind"), o);
	}
	bool webhook = obj_has(found, "ValidatingWebhookConfiguration");
	stash_put(w->f.stash, webhook ? WEBHOOK_ID : "approver:u:2", NULL, STR_NONE, found,
		  w->f.view.now_ns);
	yaml_documents_release(&docs);
}

static void answer(struct world *w, const char *made, const char *written, const char *path,
		   const char *value)
{
	answer_of(w, "deploy/approver.yaml", made, written, path, value);
}

static enum approver_answer known(const struct world *w)
{
	return approver_is_known(&w->f.view, w->strategy);
}

static void test_approver__it_asks_live_and_believes_the_policy(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	assert_int_equal(known(&w), APPROVER_ASKED);
	approver_ask(&w.f.view, w.strategy, &w.f.plan);
	struct action *x = view_fake_work(&w.f, &survey_work);
	assert_non_null(x);
	assert_string_equal(x->id, "approver:u:2");
	assert_int_equal(obj_len(x->body), 2);
	answer(&w, OLD, OLD, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_KNOWN);
	view_fake_release(&w.f);
}

static void test_approver__not_one_that_is_weaker_late_or_absent(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	answer(&w, OLD, OLD, "spec.failurePolicy", "Ignore");
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	answer(&w, OLD, OLD, "spec.paramKind", "x");
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	answer(&w, OLD, OLD, "metadata.deletionTimestamp", OLD);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	answer(&w, YOUNG, YOUNG, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	answer(&w, OLD, YOUNG, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	stash_put(w.f.stash, "approver:u:2", NULL, STR_NONE, obj_map(), w.f.view.now_ns);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	view_fake_release(&w.f);
}

static void test_approver__the_server_of_alm_ties_it(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.f.settings.kube_version = "v1.33.0+alm1";
	assert_int_equal(known(&w), APPROVER_KNOWN);
	view_fake_release(&w.f);
}

/* key of the first webhook set to value, if any. */
static enum approver_answer webhook(struct world *w, const char *path, const char *value)
{
	struct obj *found = obj_map(), *o, *hooks;
	answer_of(w, "deploy/approval-webhook.yaml", OLD, OLD, NULL, NULL);
	const struct outcome *out = view_outcome(&w->f.view, WEBHOOK_ID);
	o = obj_copy(obj_get(out->value, "ValidatingWebhookConfiguration"));
	hooks = obj_get_mut(o, "webhooks");
	obj_set_path(obj_at_mut(hooks, 0), "clientConfig.caBundle", obj_string("eA=="));
	if (path)
		obj_set_path(obj_at_mut(hooks, 0), path, obj_string(value));
	obj_set(found, "ValidatingWebhookConfiguration", o);
	stash_put(w->f.stash, WEBHOOK_ID, NULL, STR_NONE, found, w->f.view.now_ns);
	return known(w);
}

static void test_approver__a_webhook_of_ours_ties_it_too(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	const char *ca = "eA==";
	w.f.settings.approval_ca = &ca;
	approver_ask(&w.f.view, w.strategy, &w.f.plan);
	assert_int_equal(view_fake_works(&w.f, &survey_work), 2);
	stash_put(w.f.stash, "approver:u:2", NULL, STR_NONE, obj_map(), w.f.view.now_ns);
	assert_int_equal(webhook(&w, NULL, NULL), APPROVER_KNOWN);
	assert_int_equal(webhook(&w, "clientConfig.service.port", "8443"), APPROVER_KNOWN);
	assert_int_equal(webhook(&w, "clientConfig.service.name", "other"), APPROVER_CLAIMED);
	assert_int_equal(webhook(&w, "clientConfig.url", "https://example.com"), APPROVER_CLAIMED);
	assert_int_equal(webhook(&w, "failurePolicy", "Ignore"), APPROVER_CLAIMED);
	assert_int_equal(webhook(&w, "matchConditions", "x"), APPROVER_CLAIMED);
	assert_int_equal(webhook(&w, "clientConfig.caBundle", "b3RoZXI="), APPROVER_CLAIMED);
	answer_of(&w, "deploy/approval-webhook.yaml", OLD, YOUNG, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	answer_of(&w, "deploy/approval-webhook.yaml", OLD, OLD, "webhooks", "");
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	view_fake_release(&w.f);
}

/* --- what happened between --- */

#define BEFORE "approver:u:before"

/* The answer, as it is at that generation; uid of it. */
static void stands(struct world *w, const char *id, int64_t generation, const char *uid)
{
	answer(w, OLD, OLD, NULL, NULL);
	struct obj *found = obj_copy(view_outcome(&w->f.view, "approver:u:2")->value);
	static const char *const kinds[] = {"ValidatingAdmissionPolicy",
					    "ValidatingAdmissionPolicyBinding"};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct obj *o = obj_copy(obj_get(found, kinds[i]));
		obj_set_path(o, "metadata.generation", obj_int(generation));
		obj_set_path(o, "metadata.uid", obj_string(uid));
		obj_set(found, kinds[i], o);
	}
	stash_put(w->f.stash, id, NULL, STR_NONE, found, w->f.view.now_ns);
}

/* Loosened, used and restored, with managedFields that say of nothing: its generation is the server's. */
static void test_approver__one_that_was_changed_is_seen_before_the_approval(void **state)
{
	(void)state;
	static const struct {
		int64_t before, after; /* generations; before 0: nobody has looked */
		const char *uid;       /* of before; it is "p" after */
		enum approver_answer want;
	} rows[] = {
		{0, 1, NULL, APPROVER_KNOWN},   /* as it was made */
		{0, 3, NULL, APPROVER_CLAIMED}, /* who knows when */
		{3, 3, "p", APPROVER_KNOWN},
		{1, 3, "p", APPROVER_CLAIMED}, /* loosened, restored */
		{1, 1, "o", APPROVER_CLAIMED}, /* deleted, made again */
		{1, 1, "p", APPROVER_KNOWN},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;
		setup(&w);
		w.f.view.now_ns = time_of(APPROVED);
		if (rows[i].before)
			stands(&w, BEFORE, rows[i].before, rows[i].uid);
		stands(&w, "approver:u:2", rows[i].after, "p");
		if (known(&w) != rows[i].want)
			print_error("row %zu\n", i);
		assert_int_equal(known(&w), rows[i].want);
		view_fake_release(&w.f);
	}
}

/* Changed by who then approves, and seen only afterwards. */
static void test_approver__a_look_after_the_approval_is_none(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	w.f.view.now_ns = time_of(APPROVED) + 1;
	stands(&w, BEFORE, 3, "p");
	stands(&w, "approver:u:2", 3, "p");
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	view_fake_release(&w.f);
}

static void test_approver__it_looks_while_an_approval_is_waited_for(void **state)
{
	(void)state;
	struct world w;
	setup(&w);
	approver_look(&w.f.view, w.strategy, &w.f.plan);
	assert_string_equal(view_fake_work(&w.f, &survey_work)->id, BEFORE);
	stands(&w, BEFORE, 1, "p");
	approver_look(&w.f.view, w.strategy, view_fake_plan(&w.f));
	assert_int_equal(view_fake_works(&w.f, &survey_work), 0);
	w.f.view.now_ns += APPROVER_LOOK_NS;
	approver_look(&w.f.view, w.strategy, view_fake_plan(&w.f));
	assert_int_equal(view_fake_works(&w.f, &survey_work), 1);
	w.f.settings.foreign = false; /* who approves is known there by itself */
	approver_look(&w.f.view, w.strategy, view_fake_plan(&w.f));
	assert_int_equal(view_fake_works(&w.f, &survey_work), 0);
	view_fake_release(&w.f);
}

/* What may not be read of the one says nothing of the other, and is told with the rule that is missing. */
static void test_approver__a_right_that_is_missing_is_named(void **state)
{
	(void)state;
	struct world w;
	struct error err = ERROR_INIT;
	const char *ca = "eA==";
	setup(&w);
	w.f.settings.approval_ca = &ca;
	assert_null(approver_trouble(&w.f.view, w.strategy));
	error_set(&err, E_FORBIDDEN, "you may not");
	stash_put(w.f.stash, WEBHOOK_ID, &err, STR_NONE, NULL, w.f.view.now_ns);
	assert_int_equal(known(&w), APPROVER_ASKED); /* the policy may hold */
	answer(&w, OLD, OLD, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_KNOWN);
	answer(&w, YOUNG, YOUNG, NULL, NULL);
	assert_int_equal(known(&w), APPROVER_CLAIMED);
	assert_string_equal(approver_trouble(&w.f.view, w.strategy),
			    "nobody knows whether spec.approvedBy is who approved, as "
			    "validatingwebhookconfigurations approvals.opinstaller.coreos.com "
			    "cannot be read: you may not; rule \"get\" on it is in ClusterRole "
			    "alm-controller-webhook of deploy/manifests");
	view_fake_release(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_approver__it_asks_live_and_believes_the_policy),
		cmocka_unit_test(test_approver__not_one_that_is_weaker_late_or_absent),
		cmocka_unit_test(test_approver__the_server_of_alm_ties_it),
		cmocka_unit_test(test_approver__a_webhook_of_ours_ties_it_too),
		cmocka_unit_test(test_approver__one_that_was_changed_is_seen_before_the_approval),
		cmocka_unit_test(test_approver__a_look_after_the_approval_is_none),
		cmocka_unit_test(test_approver__it_looks_while_an_approval_is_waited_for),
		cmocka_unit_test(test_approver__a_right_that_is_missing_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
