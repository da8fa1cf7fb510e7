/* test_strategy_approval.c: who approved, as the status and the log tell it. */
#include "tests/lib/test.h"

#include <string.h>

#include "alm/controllers/strategy/strategy_approve.h"
#include "tests/lib/view_fake.h"

#define STRATEGY(by)                                                                          \
	"{\"apiVersion\":\"o/v1\",\"kind\":\"InstallStrategy\",\"metadata\":{\"name\":\"s\"," \
	"\"uid\":\"u\",\"managedFields\":[{\"manager\":\"kubectl-edit\",\"time\":"            \
	"\"2030-01-02T08:00:00Z\",\"fieldsV1\":{\"f:spec\":{\"f:approved\":{}}}}]},"          \
	"\"spec\":{\"approved\":true,\"approvedPlan\":\"sha256:x\"" by "}}"

struct world {
	struct view_fake f;
	struct app app;
	struct strategy_ref ref;
	struct strategy_pass s;
};

static void note(struct world *w, const char *strategy, bool embedded)
{
	memset(w, 0, sizeof(*w));
	view_fake_init(&w->f);
	w->f.settings.approver_is_requester = embedded;
	w->app = (struct app){.name = "etcd",
			      .mode = "Manual",
			      .o = view_fake_obj(&w->f, "{\"spec\":{\"upgrade\":{"
							"\"approveFirst\":true}}}")};
	w->ref = (struct strategy_ref){
		.o = view_fake_obj(&w->f, strategy), .name = "s", .version = "2.0.0"};
	w->s = (struct strategy_pass){
		.v = &w->f.view, .plan = &w->f.plan, .app = &w->app, .ref = &w->ref};
	strategy_note_approval(&w->s);
}

static void is_by(struct world *w, const char *by, const char *trust, const char *actor,
		  const char *via)
{
	const struct action *row = view_fake_action(&w->f, ACT_ROW, NULL, NULL);
	assert_string_equal(obj_str(w->s.approval, "by"), by);
	assert_string_equal(obj_str(w->s.approval, "trust"), trust);
	assert_non_null(row);
	assert_string_equal(row->actor, actor);
	assert_string_equal(row->actor_via, via);
	view_fake_release(&w->f);
}

static void test_strategy_approval__the_embedded_server_knows_who(void **state)
{
	(void)state;
	struct world w;
	note(&w, STRATEGY(",\"approvedBy\":\"alice\""), true);
	is_by(&w, "alice", "authenticated", "alice", "kubectl-edit");
}

static void test_strategy_approval__elsewhere_a_claim_is_told_as_one(void **state)
{
	(void)state;
	struct world w;
	note(&w, STRATEGY(",\"approvedBy\":\"ciso@corp\""), false);
	is_by(&w, "ciso@corp (claimed by manager kubectl-edit)", "managedFields", "ciso@corp",
	      "kubectl-edit");
	note(&w, STRATEGY(""), false);
	is_by(&w, "kubectl-edit", "managedFields", "kubectl-edit", "kubectl-edit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strategy_approval__the_embedded_server_knows_who),
		cmocka_unit_test(test_strategy_approval__elsewhere_a_claim_is_told_as_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
