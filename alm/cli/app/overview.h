/*
 * overview: what `alm status` says of all apps: where each stands, what it waits for and what a
 * person can do about it. Pure: objects in, one document out, which is printed as text or JSON.
 */
#ifndef ALM_CLI_APP_OVERVIEW_H
#define ALM_CLI_APP_OVERVIEW_H

#include "alm/base/arena.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct overview_input {
	/* lists, as the server gives them; bundles NULL: it has none */
	const struct obj *apps, *strategies, *catalogs, *bundles;
	const char *only;       /* this app alone; NULL: all */
	int64_t now_ns;         /* for what is told as left */
	const char *server;     /* what it suffers from; NULL: nothing */
	const char *controller; /* why nobody works for it (own_lease.h); NULL: somebody does */
};

/*
 * {server: what it suffers from, if anything, controller: why none works, apps: [{name, installed, available, mode, ready,
 * state, message, waits: [...]}], catalogs: [{name, reason, message}], bundles: [{name, state,
 * revision, message, orphans: [{what, text}]}]}: of the catalogs only those in trouble. A wait is {what, version, reason, message, next: [...]}: next are commands in order,
 * "# what they do" behind; an empty one goes on by itself. Owned.
 */
struct obj *overview_new(const struct overview_input *in, struct arena *a);
void overview_print(const struct obj *overview, struct arena *a, struct strbuf *b);

#endif
