/* get_watch: `alm get -w`: what changes after a list, until it is stopped, as kubectl prints it. */
#ifndef ALM_CLI_KUBE_GET_WATCH_H
#define ALM_CLI_KUBE_GET_WATCH_H

#include "alm/cli/kube/printer.h"
#include "alm/cli/kube/targets.h"

struct get_watch {
	struct cli *c;
	struct session *s;
	const struct printer *printer;
	const struct target *target;
	const char *version; /* resourceVersion of the list */
	struct obj *columns; /* columnDefinitions of its table; NULL: the first event has them */
	bool headers, all, events; /* events: each with its type */
};

/* Goes on where a server ended the watch; an error is one that a new watch does not help. */
int get_watch_run(struct get_watch *w, struct error *err);

#endif
