/*
 * git_sim: the program git as the mirrors of Bundles call it, with a repository that a table has: a
 * branch whose commits follow each other, of which the world's file GIT_SIM_HEAD says how many are
 * pushed. Nothing is on a disk: whatever of a mirror is asked for, a fetch a moment ago has brought.
 */
#ifndef TESTS_SIM_GIT_SIM_H
#define TESTS_SIM_GIT_SIM_H

#include "alm/base/strbuf.h"
#include "alm/io/program.h"

#define GIT_SIM_PATH "/srv/web" /* of its url, file:///srv/web */
#define GIT_SIM_HEAD "git/head" /* "1": the first commit; it is not there: an empty repository */
#define GIT_SIM_OID  41

struct world;

/* A commit: name and text of each file, then NULL. The table ends with one that has no subject. */
struct git_sim_commit {
	const char *subject;
	const char *const *files;
};

/* Row of program_sim; arg is the world, whose scenario has the commits. */
int git_sim(void *arg, const struct program_call *call, struct strbuf *output,
	    struct strbuf *errors);
/* A program that has nothing to do: rm, mv. */
int git_sim_nothing(void *arg, const struct program_call *call, struct strbuf *output,
		    struct strbuf *errors);

/* How many are pushed. */
size_t git_sim_pushed(const struct world *w);
/* The name of the n-th, from 1. */
void git_sim_oid(size_t n, char ret[GIT_SIM_OID]);
/* Which it is; 0: none of the table. */
size_t git_sim_find(const struct world *w, const char *oid);

#endif
