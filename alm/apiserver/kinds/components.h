/* components: ComponentStatus, which tells what a server consists of: here of the process that answers, and its store. Not stored. */
#ifndef ALM_APISERVER_KINDS_COMPONENTS_H
#define ALM_APISERVER_KINDS_COMPONENTS_H

#include "alm/apiserver/listing.h"

bool components_are(const struct kind *k);
/* One by its name, of the arena. E_NOTFOUND. */
int components_get(struct request *r, struct text **ret, struct error *err);
/* Those that the options select, whatever their limit and revision. */
void components_select(struct request *r, const struct list_options *l, struct listing *ret);

#endif
