/*
 * Extensions of SQLite that Debian builds into its archive and nothing here uses: full-text search 3 and 5, R*Tree.
 * A connection calls these when it is opened; that they are defined here leaves 340 kB of the archive out of the program.
 * Where the program takes SQLite from the shared library they are not called.
 */

#include <sqlite3.h>

int sqlite3Fts3Init(sqlite3 *db);
int sqlite3Fts5Init(sqlite3 *db);
int sqlite3RtreeInit(sqlite3 *db);

int sqlite3Fts3Init(sqlite3 *db)
{
	(void)db;
	return SQLITE_OK;
}

int sqlite3Fts5Init(sqlite3 *db)
{
	(void)db;
	return SQLITE_OK;
}

int sqlite3RtreeInit(sqlite3 *db)
{
	(void)db;
	return SQLITE_OK;
}
