/*
 * home: the working directory of a world, for what is on no simulated disk: keys, audit.head and
 * anchors, which lose nothing. One at a time; a forked world has a copy.
 */
#ifndef TESTS_SIM_HOME_H
#define TESTS_SIM_HOME_H

#include "alm/base/error.h"

#define HOME_SERVER  "server" /* its folders */
#define HOME_PROGRAM "program"
#define HOME_ANCHOR  "anchor" /* a file of the server's */

char *home_make(struct error *err); /* owned; NULL: an error */
int home_enter(const char *home, struct error *err);
int home_copy(const char *home, char **ret, struct error *err); /* owned, not entered */
void home_remove(char *home); /* of the world that is in it; consumes; NULL is fine */

#endif
