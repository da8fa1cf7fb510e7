/* install_wait: what became of an app that was just created: as long as it takes, but no longer
 * than somebody has to do something. */
#ifndef ALM_CLI_APP_INSTALL_WAIT_H
#define ALM_CLI_APP_INSTALL_WAIT_H

#include "alm/cli/session.h"

struct install_wait {
	struct cli *c;
	struct session *s;
	const struct obj *app; /* as it was created */
	const char *catalog, *package;
	int64_t end_ns; /* of loop_mono() */
	bool wait;      /* until it is installed, not only resolved */
	bool grant;     /* what it lacks is given, each once: its namespace, then its rights */
	bool has_namespace, has_rights;
	int64_t settled_ns; /* of loop_mono(): ALM has seen by then what was given last; 0: nothing
			     */
};

/* The Catalog once it was read for the first time; E_UNAVAILABLE with its reason if it cannot be,
 * E_NOTFOUND if there is none. */
int install_wait_catalog(struct cli *c, struct session *s, const char *name, int64_t end_ns,
			 const struct obj **ret, struct error *err);
/* 0: resolved, or installed; or it waits for somebody: then what and the next step were printed and
 * the exit code is set. E_NOTFOUND: the catalog has no such package or version, and the app was
 * deleted again. */
int install_wait_app(struct install_wait *w, struct error *err);

#endif
