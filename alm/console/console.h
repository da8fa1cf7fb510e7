/*
 * console: the web console at /ui (story.md 11), one static page without data.
 *
 * The page is open to everybody and holds nothing: what it shows it asks of the API with the
 * reader's own token, and it approves with the request that `alm approve` sends. So the rights are
 * those of the API, and the server keeps no session.
 */
#ifndef ALM_CONSOLE_CONSOLE_H
#define ALM_CONSOLE_CONSOLE_H

#include "alm/io/server.h"

#define CONSOLE_PATH "/ui"

/* Answers x and returns true if its path is /ui or one below; else x is untouched. */
bool console_handle(struct exchange *x);

#endif
