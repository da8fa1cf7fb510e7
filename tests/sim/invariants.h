/* invariants: what must hold at the end of every run, whatever befell it. */
#ifndef TESTS_SIM_INVARIANTS_H
#define TESTS_SIM_INVARIANTS_H

#include <stdint.h>

#include "alm/base/error.h"

struct world;

/* Records of all logs: at rest there is no more of them. */
int64_t invariants_rows(struct world *w);
/* Of a program at rest in the middle of a run: what is shown is what is recorded, and the logs verify and
 * replay. */
int invariants_agree(struct world *w, struct error *err);
int invariants_check(struct world *w, struct error *err);

#endif
