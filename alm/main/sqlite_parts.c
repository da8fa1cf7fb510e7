/*
 * Extensions of SQLite that Debian builds into its archive and nothing here uses: full-text search 3 and 5, R*Tree.
 * A connection calls these when it is opened; that they are defined here leaves 295 kB of the archive out of the program.
 * Where the program takes SQLite from the shared library they are not called.
 */

#include <stddef.h>

struct sqlite3;
int sqlite3Fts3Init(struct sqlite3 *db);
int sqlite3Fts5Init(struct sqlite3 *db);
int sqlite3RtreeInit(struct sqlite3 *db);

/* 0 is SQLITE_OK, 1 SQLITE_ERROR. */
int sqlite3Fts3Init(struct sqlite3 *db)
{
	return db == NULL;
}

int sqlite3Fts5Init(struct sqlite3 *db)
{
	return db == NULL;
}

int sqlite3RtreeInit(struct sqlite3 *db)
{
	return db == NULL;
}
