/* disk_check: power loss at every operation of the disk, in every way (reliability.md 4). */
#ifndef TESTS_SIM_DISK_CHECK_H
#define TESTS_SIM_DISK_CHECK_H

#include <stdint.h>

#include "alm/base/error.h"
#include "alm/base/hash.h"
#include "tests/sim/db_sim.h"

/* One operation, and what it meets. */
struct disk_case {
	uint64_t op;
	int mode; /* power loss that keeps 0: nothing, 1: all, 2..5: a random part; 6..9: an error
		   * of enum disk_fault */
	uint64_t seed;
};

struct disk *disk_case_disk(const struct disk_case *c); /* new, armed */
/* The process has ended, or the power went; the disk is whole again. */
void disk_case_restart(struct disk *d, const struct disk_case *c);

/* Plays a case on a new disk, and says with how many operations, of which those up to *ret_before
 * need no case. Negative: a violation. */
typedef int (*disk_play_fn)(const struct disk_case *c, uint64_t *ret_before, uint64_t *ret_ops,
			    struct error *err);
/* Every operation in every mode; of these pairs only every n-th. Prints a line a violation and one with the
 * number of violations. digest: how many operations each took joins it. */
uint64_t disk_cases(const char *what, uint64_t seed, uint64_t every, struct sha256 *digest,
		    disk_play_fn play);

/* Transactions of one table. */
uint64_t disk_check(uint64_t seed, uint64_t every, struct sha256 *digest);
/* upgrade_check.c: the first start of this alm on the folder of one with the layout before. */
uint64_t upgrade_check(uint64_t seed, uint64_t every, struct sha256 *digest);

#endif
