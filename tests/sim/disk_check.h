/* disk_check: power loss at every operation of the disk, in every way (specs/reliability.md 4). */
#ifndef TESTS_SIM_DISK_CHECK_H
#define TESTS_SIM_DISK_CHECK_H

#include <stdint.h>

/* Prints a line a violation and one with the figures; returns the number of violations. */
uint64_t disk_check(uint64_t seed);

#endif
