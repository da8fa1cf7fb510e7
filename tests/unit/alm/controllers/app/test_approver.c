/* Is spec.approvedBy who approved: only with deploy/approver.yaml, as it stands, in time. */
#include "tests/lib/test.h"

#include "alm/base/file.h"
#include "alm/controllers/app/approver.h"
#include "alm/controllers/work/works.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "tests/lib/view_fake.h"

#define STRATEGY                                                                       \
	"{\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\",\"uid\":\"u\","    \
	"\"generation\":2,\"managedFields\":[{\"manager\":\"kubectl\",\"time\":"       \
	"\"2030-01-02T08:00:10Z\",\"fieldsV1\":{\"f:spec\":{\"f:approvedBy\":{}}}}]}," \
	"\"spec\":{\"approved\":true,\"approvedBy\":\"alice\"}}"
#define OLD   "2030-01-02T08:00:00Z"
#define YOUNG "2030-01-02T08:00:08Z"

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
	stash_put(w->f.stash, "approver:u:2", NULL, STR_NONE, found, w->f.view.now_ns);
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
	const struct outcome *out = view_outcome(&w->f.view, "approver:u:2");
	o = obj_copy(obj_get(out->value, "ValidatingWebhookConfiguration"));
	hooks = obj_get_mut(o, "webhooks");
	obj_set_path(obj_at_mut(hooks, 0), "clientConfig.caBundle", obj_string("eA=="));
	if (path)
		obj_set_path(obj_at_mut(hooks, 0), path, obj_string(value));
	obj_set(found, "ValidatingWebhookConfiguration", o);
	stash_put(w->f.stash, "approver:u:2", NULL, STR_NONE, found, w->f.view.now_ns);
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
	assert_int_equal(obj_len(view_fake_work(&w.f, &survey_work)->body), 3);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_approver__it_asks_live_and_believes_the_policy),
		cmocka_unit_test(test_approver__not_one_that_is_weaker_late_or_absent),
		cmocka_unit_test(test_approver__the_server_of_alm_ties_it),
		cmocka_unit_test(test_approver__a_webhook_of_ours_ties_it_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
