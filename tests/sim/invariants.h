/* invariants: what must hold at the end of every run, whatever befell it. */
#ifndef TESTS_SIM_INVARIANTS_H
#define TESTS_SIM_INVARIANTS_H

#include "alm/base/error.h"

struct world;

int invariants_check(struct world *w, struct error *err);

#endif
