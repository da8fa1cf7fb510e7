/* strategy_fake: a pass over a strategy that has just begun, of unit tests; what it has in all of them. */
#ifndef TESTS_LIB_STRATEGY_FAKE_H
#define TESTS_LIB_STRATEGY_FAKE_H

#include "alm/controllers/strategy/strategy_steps.h"
#include "tests/lib/view_fake.h"

struct strategy_pass strategy_fake(struct view_fake *f, struct app *app, struct strategy_ref *ref);

#endif
