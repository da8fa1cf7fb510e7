/*
 * db_failing: a database of which one chosen call fails, once, for tests that let each fail in turn:
 *
 *	db_failing_watch(db);
 *	db_failing_begin(db, 0, false);	none fails
 *	int n = (the work, db_failing_end());	how many there are
 *	for (int at = 1; at <= n; at++) {
 *		db_failing_begin(db, at, false);
 *		...
 *		db_failing_end();
 *	}
 *
 * A call is a statement as it begins, and once more at its first row: the one after it may fail, too. ROLLBACK is none:
 * undoing has no answer.
 */
#ifndef TESTS_LIB_DB_FAILING_H
#define TESTS_LIB_DB_FAILING_H

#include <stdbool.h>

struct db;

/* Of one database at a time; for as long as it is open. */
void db_failing_watch(struct db *d);
/* at: which call fails, from 1; 0: none. prepares: what is counted is that statements are made, not that they run. */
void db_failing_begin(struct db *d, int at, bool prepares);
/* No call fails from now on. How many there were. */
int db_failing_end(void);
const char *db_failing_sql(void); /* of the one that failed last */

#endif
