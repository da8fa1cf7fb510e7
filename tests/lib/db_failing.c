#include "tests/lib/db_failing.h"

#include <stdio.h>
#include <string.h>

#include "alm/io/db_internal.h"

static struct failing {
	int n, at;  /* calls so far; which of them fails; 0: none */
	void *rows; /* of which statement a row came last */
	bool due;
	bool prepares;
	char sql[160];
} failing;

static void count(const char *sql)
{
	if (++failing.n != failing.at)
		return;
	failing.due = true;
	(void)snprintf(failing.sql, sizeof(failing.sql), "%s", sql ? sql : "");
}

static int traced(unsigned what, void *arg, void *statement, void *text)
{
	(void)arg;
	(void)text;
	const char *sql = sqlite3_sql(statement);
	if (failing.prepares)
		return 0;
	if (what == SQLITE_TRACE_ROW && failing.rows == statement)
		return 0;
	failing.rows = what == SQLITE_TRACE_ROW ? statement : NULL;
	if (sql && !strcmp(sql, "ROLLBACK"))
		return 0;
	count(sql);
	return 0;
}

/* Asked by SQLite for each part of a statement that it makes. */
static int authorized(void *arg, int action, const char *first, const char *second, const char *db,
		      const char *trigger)
{
	(void)arg;
	(void)second;
	(void)db;
	(void)trigger;
	bool begins = action == SQLITE_SELECT || action == SQLITE_INSERT ||
		      action == SQLITE_UPDATE || action == SQLITE_DELETE || action == SQLITE_PRAGMA;
	if (!failing.prepares || !begins)
		return SQLITE_OK;
	count(first);
	bool now = failing.due;
	failing.due = false;
	return now ? SQLITE_DENY : SQLITE_OK;
}

/* Asked by SQLite between the steps of a statement: nonzero ends it as an error. */
static int interrupted(void *arg)
{
	(void)arg;
	bool now = failing.due;
	failing.due = false;
	return now;
}

void db_failing_watch(struct db *d)
{
	failing = (struct failing){0};
	sqlite3_trace_v2(d->conn, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW, traced, NULL);
	sqlite3_set_authorizer(d->conn, authorized, NULL);
	sqlite3_progress_handler(d->conn, 1, interrupted, NULL);
}

void db_failing_begin(struct db *d, int at, bool prepares)
{
	if (prepares)
		map_clear(d->statements);
	failing = (struct failing){.at = at, .prepares = prepares};
}

int db_failing_end(void)
{
	failing.at = 0;
	failing.due = false;
	return failing.n;
}

const char *db_failing_sql(void)
{
	return failing.sql;
}
