/* digest: what a run has come to at its end joins its trace: every row of both databases (objects, their history,
 * audit rows), the metrics, and what only its program keeps. */
#ifndef TESTS_SIM_DIGEST_H
#define TESTS_SIM_DIGEST_H

#include "tests/sim/world.h"

void digest_world(struct world *w);
/* Every row of every table, as text. NULL: nothing. */
void digest_db(struct trace *t, const char *name, struct db *db);

#endif
