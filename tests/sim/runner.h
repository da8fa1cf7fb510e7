/*
 * runner: the engine of `alm run` as a program of the simulation: the manifests are the files
 * RUN_DIR/NAME of the world, or for each object of kind Grafana what its spec.parts names. It is
 * what the command is but for the renderer's child: a run that failed is begun again, as by CI.
 */
#ifndef TESTS_SIM_RUNNER_H
#define TESTS_SIM_RUNNER_H

#include "tests/sim/world.h"

#define RUN_DIR    "/run"
#define RUN_BUNDLE "web"

extern const struct program runner_oneoff, runner_interval, runner_resource;

/* At an interval, and what nobody has declared in the namespace default goes (unit_sweep.c). */
extern const struct program runner_sweep;

/* Two of them at an interval, "one" and "two", with a Lease: data.by of each object names who made it
 * so. The one that has the Lease is killed; another process of it is there 20 s later. */
extern const struct program runner_pair;
void runner_pair_kill(struct world *w);
/* The run is killed; another one is there at once. Not of a pair. */
void runner_kill(struct world *w);

/* Whatever is written is in the inventory by then; whatever is deleted is ours; at rest both agree.
 * Scenario's observe and, as the first of its converged(), the last. */
void runner_observe(struct world *w, const struct http_request *r, bool faulty);
int runner_at_rest(struct world *w, struct error *err);

#endif
