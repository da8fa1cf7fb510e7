/* edges: which transitions of strategies and apps the runs have made, as lines of a file: the
 * tables of alm/controllers/app/phases.c are compared with it (test_sim.sh). */
#ifndef TESTS_SIM_EDGES_H
#define TESTS_SIM_EDGES_H

#include "alm/base/error.h"

struct world;

/* Every run of this process and of those it forks adds its lines to the file. False: errno. */
bool edges_open(const char *path);
/* "InstallStrategy Pending Installing": of each Transition row in the logs of the world. Nothing
 * without edges_open(). */
int edges_note(struct world *w, struct error *err);
/* The tables, one such line an edge. */
void edges_print(void);

#endif
