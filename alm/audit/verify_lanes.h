/*
 * verify_lanes: a log that is verified by all cores. Processes of their own (lane.h) read and hash the
 * rows by turns, a page each, and one more has the file of the database checked; who verifies gets the
 * same rows in the same order as from his own reading, so there is one judge for both, and one report.
 */
#ifndef ALM_AUDIT_VERIFY_LANES_H
#define ALM_AUDIT_VERIFY_LANES_H

#include "alm/audit/verify_parts.h"

#define VERIFY_LANES_MAX      8
#define VERIFY_ROWS_OF_A_LANE 1024 /* before it is another one's turn */

/* For one verify_log(); owned by the command, and made before it opens any database. */
/* NULL: one process does it all, as there is but one core, or no further process. n 0: by the cores. */
struct verify_lanes *verify_lanes_new(size_t n);
void verify_lanes_free(struct verify_lanes *l);
DEFINE_FREEP(verify_lanes)
/* Whether they may still be asked: they read a log once. NULL: no. */
bool verify_lanes_ready(const struct verify_lanes *l);
/* The rows behind one and up to another of the database with this path, and whether its file is checked. */
int verify_lanes_begin(struct verify_lanes *l, const char *path, int64_t after, int64_t to,
		       bool with_file, struct error *err);
/* 1: the next row; 0: that was all. */
int verify_lanes_next(struct verify_lanes *l, struct row_digest *ret, struct error *err);
/* What verify_file() finds. 1: it is in the report; 0: they were not asked for it. */
int verify_lanes_file(struct verify_lanes *l, struct verify_report *rep, struct error *err);

#endif
