/*
 * writes: what must hold at every write that a program sends, whatever fault made it late or sent it
 * twice. World asks before the server sees the request; what is at rest asks writes_at_rest().
 *
 *	fenced    a change names the version that it was decided from, or is applied with a mark of whose
 *	          it is; a deletion names the uid, and that of ALM's engine the version, too
 *	owned     nothing is deleted, and nothing applied over, that carries no mark of ALM's, or that
 *	          of another app
 *	kept      no custom resource is deleted, and no definition that has some
 *	recorded  a status that carries a transitionSeq has its row in the log
 */
#ifndef TESTS_SIM_WRITES_H
#define TESTS_SIM_WRITES_H

#include "tests/sim/world.h"

/* The log of the program that writes; of one process it is the server's. */
struct db *program_log(struct world *w);

void writes_observe(struct world *w, const struct http_request *r, bool faulty);
int writes_at_rest(struct world *w, struct error *err);

#endif
