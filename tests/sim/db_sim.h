/*
 * db_sim: a disk for SQLite in memory that keeps what was synced apart from what was only written
 * (reliability.md 4). Its VFS is called "sim"; one disk exists at a time.
 *
 * A power loss keeps none, all or a random part of the 512-byte sectors that were not synced; until
 * disk_power_on() every operation fails with an I/O error.
 */
#ifndef TESTS_SIM_DB_SIM_H
#define TESTS_SIM_DB_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/prng.h"

struct disk;

/* Files whose names begin so are on a drive of their own: the controllers' machine. */
#define DISK_CONTROLLER "controller"
enum drive { DRIVE_SERVER, DRIVE_CONTROLLER, DRIVES };

enum disk_keep { KEEP_NONE, KEEP_ALL, KEEP_RANDOM };
enum disk_fault { DISK_EIO, DISK_ENOSPC, DISK_SHORT_WRITE, DISK_FSYNC };

struct disk *disk_new(uint64_t seed);
void disk_free(struct disk *d);

void disk_power_off(struct disk *d, enum drive drive, enum disk_keep keep);
void disk_power_on(struct disk *d, enum drive drive);
bool disk_is_off(const struct disk *d, enum drive drive);

/* Operations are writes, truncates, syncs and deletes, from 1; commits are syncs of a WAL. */
uint64_t disk_ops(const struct disk *d);
uint64_t disk_commits(const struct disk *d);
/* Loses power before operation (or before, or after commit) n, on the drive
 * that meets it. 0: never. */
void disk_off_at_op(struct disk *d, uint64_t n, enum disk_keep keep);
void disk_off_at_commit(struct disk *d, uint64_t n, bool after, enum disk_keep keep);
/* Operation n fails, once. */
void disk_fail_at_op(struct disk *d, uint64_t n, enum disk_fault fault);

#endif
