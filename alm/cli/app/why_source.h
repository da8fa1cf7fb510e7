/*
 * why_source: where `alm why` and `alm why-not` get their facts: the status of a live AppType; a
 * decision of the audit log, made again from what it read (--at); catalogs and manifests
 * (--offline). All give an AppType that catalog/resolve/resolve_doc.h prints.
 */
#ifndef ALM_CLI_APP_WHY_SOURCE_H
#define ALM_CLI_APP_WHY_SOURCE_H

#include "alm/cli/cli.h"
#include "alm/obj/obj.h"

struct why_facts {
	const struct obj *apptype;
	const char *revision; /* of its catalog, or NULL */
	const char *seq;      /* of the decision, or NULL */
	const char *waiting;  /* live: version that waits for approval, or NULL */
	/* Live: what overview.h says of versions that can be installed, by their candidates, and are
	 * held all the same: blocked, failed, stalled; or NULL. */
	const struct obj *held;
	bool offline;
};

/* As the options say. version: the one asked about, or NULL. Everything lives in the arena of the
 * command. */
int why_facts_read(struct cli *c, const char *app, const char *version, struct why_facts *ret,
		   struct error *err);
/* The entry of held of that version; NULL: none. */
const struct obj *why_held(const struct why_facts *f, const char *version);

#endif
