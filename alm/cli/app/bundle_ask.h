/* bundle_ask: a Bundle that a command asks for something, by a patch of its spec. */
#ifndef ALM_CLI_APP_BUNDLE_ASK_H
#define ALM_CLI_APP_BUNDLE_ASK_H

#include "alm/cli/session.h"

struct bundle_ask {
	struct cli *c;
	struct session *session;
	const char *name, *target;
	const struct obj *bundle;
};

/* Do the arguments name a Bundle, as "bundle/NAME" or "bundle NAME"? */
bool bundle_ask_names(const struct cli *c, const char **ret_name);
/* E_NOTFOUND for one that is not there. Released whatever it returns. */
int bundle_ask_open(struct cli *c, const char *name, struct bundle_ask *ret, struct error *err);
/* The one that the arguments name, by its name alone, too; E_USAGE. The same otherwise. */
int bundle_ask_open_one(struct cli *c, struct bundle_ask *ret, struct error *err);
void bundle_ask_release(struct bundle_ask *b);
/* A merge patch. only_tried: the server is asked whether it would take it, and stores nothing. */
int bundle_ask_patch(struct bundle_ask *b, const struct obj *patch, bool only_tried,
		     struct error *err);

#endif
