#include "tests/lib/strategy_fake.h"

struct strategy_pass strategy_fake(struct view_fake *f, struct app *app, struct strategy_ref *ref)
{
	return (struct strategy_pass){.v = &f->view,
				      .plan = view_fake_plan(f),
				      .app = app,
				      .ref = ref,
				      .was = PHASE_PENDING,
				      .phase = PHASE_PENDING,
				      .conditions = obj_keep(f->a, obj_list()),
				      .steps = obj_keep(f->a, obj_list()),
				      .revision = 1};
}
