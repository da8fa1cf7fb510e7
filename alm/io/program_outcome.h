/* program_outcome: what the report of a supervisor means. Private to program.c. */
#ifndef ALM_IO_PROGRAM_OUTCOME_H
#define ALM_IO_PROGRAM_OUTCOME_H

#include "alm/io/program_child.h"

/* 0: it ended by itself, with the status of the report. E_NOTFOUND, E_NOTALLOWED, E_UNSUPPORTED, E_IO:
 * it did not begin; E_LIMIT, E_INTERNAL: it was ended. path names it in messages. */
int program_outcome(const char *path, const struct program_limits *limits,
		    const struct program_report *report, struct error *err);

#endif
