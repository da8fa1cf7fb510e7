/*
 * git_table: the program git as the mirrors of Bundles call it, with a repository that a table has: a
 * branch whose commits follow each other, of which so many are pushed. Nothing is on a disk: whatever
 * of a mirror is asked for, a fetch a moment ago has brought.
 */
#ifndef TESTS_LIB_GIT_TABLE_H
#define TESTS_LIB_GIT_TABLE_H

#include "alm/base/strbuf.h"
#include "alm/io/program.h"

#define GIT_TABLE_OID 41

/* A commit: name and text of each file, then NULL. The table ends with one that has no subject. */
struct git_table_commit {
	const char *subject;
	const char *const *files;
};

struct git_table {
	const struct git_table_commit *commits;
	size_t pushed;    /* of them; 0: an empty repository */
	const char *says; /* the server, instead of an answer, with status 128; NULL: it answers */
	size_t asked;     /* how often for its head */
};

/* Row of program_fake; arg is the table. */
int git_table(void *arg, const struct program_call *call, struct strbuf *output,
	      struct strbuf *errors);
/* A program that has nothing to do: rm, mv. */
int git_table_nothing(void *arg, const struct program_call *call, struct strbuf *output,
		      struct strbuf *errors);

/* The name of the n-th, from 1. */
void git_table_oid(size_t n, char ret[GIT_TABLE_OID]);
/* Which it is; 0: none of the table. */
size_t git_table_find(const struct git_table *t, const char *oid);

#endif
