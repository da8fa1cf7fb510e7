/*
 * toy: the smallest controller that can be wrong in every interesting way. For each ConfigMap
 * "a-NAME" it keeps a ConfigMap "b-NAME" with the same data.v, through the product's client,
 * informer and queue. It shows that the simulation finds bugs before the real controllers are
 * asked.
 */
#ifndef TESTS_SIM_TOY_H
#define TESTS_SIM_TOY_H

#include "tests/sim/world.h"

extern const struct program toy_program;

#endif
