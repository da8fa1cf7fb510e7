/* admit: what single built-in kinds demand beyond metadata (kube-api.md 14). */
#ifndef ALM_APISERVER_ADMIT_H
#define ALM_APISERVER_ADMIT_H

#include "alm/apiserver/mutation.h"

/* Defaults and derived fields of m->after, in place; before ownership is tracked. */
void admit_default(struct mutation *m);
/* After ownership was tracked: fields that belong to nobody. */
void admit_late(struct mutation *m);
/* ret: where the parts of what is added to e begin (builtin_check.h); stays as it is where there are none. */
struct check_parts;
void admit_validate(struct mutation *m, struct check_parts *ret, struct field_errors *e);
/* May the object be deleted at all? */
int admit_delete(struct mutation *m, struct error *err);
/* Extra state of an object that is marked for deletion. True if it stays until a controller of ours
 * removes it. */
bool admit_mark(struct mutation *m);

#endif
