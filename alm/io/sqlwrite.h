/*
 * sqlwrite: one statement on an SQLite file of somebody else, which is there already. It is opened for
 * each statement: whoever puts another file in its place, or takes it away, is not written past.
 *
 * What is in its pages is not ours: no function or view that its schema names is trusted, nothing but
 * its tables is written, no other file is reached, and it ends after SQL_WRITE_STEPS.
 */
#ifndef ALM_IO_SQLWRITE_H
#define ALM_IO_SQLWRITE_H

#include "alm/base/error.h"

#define SQL_WRITE_BYTES ((size_t)64 << 10) /* of the statement */
#define SQL_WRITE_STEPS 5000000            /* of SQLite's machine: less than a second */

struct sqlwrite_value {
	const char *name; /* ":time"; ended by a NULL */
	const char *text; /* NULL: NULL */
	int64_t number;   /* if is_number */
	bool is_number;
};

/* Runs it: all, or nothing. E_NOTFOUND, E_INVALID for no database, a statement that is none, writes
 * nothing, is two, or names a parameter that is not among the values; E_UNAVAILABLE while another one
 * writes; E_LIMIT. */
int sqlwrite_run(const char *path, const char *statement, const struct sqlwrite_value *values,
		 struct error *err);
/* The same errors but for those of the tables' own rules, and nothing is written. */
int sqlwrite_check(const char *path, const char *statement, const struct sqlwrite_value *values,
		   struct error *err);

#endif
