/* operators: the real controllers as a program of the simulation, as `alm up` and `alm controller`
 * run them. */
#ifndef TESTS_SIM_OPERATORS_H
#define TESTS_SIM_OPERATORS_H

#include "tests/sim/world.h"

extern const struct program operators_program;

#endif
