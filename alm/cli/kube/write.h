/* write: what create, apply and delete share: query, namespace, the line that is printed. */
#ifndef ALM_CLI_KUBE_WRITE_H
#define ALM_CLI_KUBE_WRITE_H

#include "alm/cli/kube/manifest.h"
#include "alm/cli/session.h"

typedef int (*write_fn)(struct cli *c, struct session *s, const struct manifest_item *m,
			struct error *err);

/* Reads -f, opens the session, runs fn for every object; goes on after a refused object and
 * returns the first error, the others are printed. */
int write_each(struct cli *c, struct session **s, struct manifest *m, write_fn fn,
	       struct error *err);
/* --dry-run: server or none. Another word is E_USAGE: nothing is written that somebody only wanted to
 * see. */
int write_check_dry(const struct cli *c, struct error *err);
bool write_is_dry(const struct cli *c);
/* A document in the form of 2017 becomes the one of today (crds/legacy.h), with a warning for each
 * change on standard error; an instance only if the server does not know its kind as it is. s NULL:
 * no server is asked; else a definition gets the versions that the one on the server has besides. */
int write_modern(struct cli *c, struct session *s, struct manifest_item *m, struct error *err);
/* "fieldManager=X&fieldValidation=Strict[&dryRun=All][&more]" */
const char *write_query(struct cli *c, const char *manager, const char *more);
/* The object's own, else the session's; NULL for cluster-scoped. */
const char *write_namespace(const struct session *s, const struct resource *r, const struct obj *o);
/* The object without what a server sets and no manifest may have, so that what `get -o yaml`
 * printed can be written; of one that is to be created without its former identity, too. In the
 * arena. */
const struct obj *write_manifest(struct cli *c, const struct obj *o, bool is_new);
/* "apptype.app.coreos.com/etcd created", or what -o says. */
int write_print(struct cli *c, const struct obj *o, const char *verb, struct error *err);

#endif
