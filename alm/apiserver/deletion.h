/* deletion: one DELETE of one object: what is asked of it first, and what of it stays. */
#ifndef ALM_APISERVER_DELETION_H
#define ALM_APISERVER_DELETION_H

#include "alm/apiserver/mutation.h"

/* Deletes the object of m as opt says. m->text is the state after it, m->removed tells if it is
 * gone. */
int deletion_run(struct mutation *m, const struct delete_options *opt, struct error *err);

#endif
