/* git_sim: git with a table (git_table.h), of which the world's file GIT_SIM_HEAD says how many are pushed. */
#ifndef TESTS_SIM_GIT_SIM_H
#define TESTS_SIM_GIT_SIM_H

#include "tests/lib/git_table.h"

#define GIT_SIM_PATH "/srv/web" /* of its url, file:///srv/web */
#define GIT_SIM_HEAD "git/head" /* "1": the first commit; it is not there: an empty repository */

struct world;

/* Row of program_sim; arg is the world, whose scenario has the commits. */
int git_sim(void *arg, const struct program_call *call, struct strbuf *output,
	    struct strbuf *errors);
/* How many are pushed. */
size_t git_sim_pushed(const struct world *w);
/* Which it is; 0: none of the table. */
size_t git_sim_find(const struct world *w, const char *oid);

#endif
