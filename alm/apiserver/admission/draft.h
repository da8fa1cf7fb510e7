/* draft: an object on its way through what may change it (webhooks, policies), between a request and its validation: m->after is
 * how they see it. */
#ifndef ALM_APISERVER_ADMISSION_DRAFT_H
#define ALM_APISERVER_ADMISSION_DRAFT_H

#include "alm/apiserver/admission/asked.h"
#include "alm/apiserver/mutation.h"

/* A copy of m->after; of the arena. */
struct obj *draft_of(const struct mutation *m);
/* Behind all of them: what none of them can change is as it was before. */
void draft_complete(struct mutation *m, const struct obj *before);
/* m->after becomes what one made of it, who saw it as that. E_INTERNAL: it is no object of its kind. */
int draft_take(struct mutation *m, const struct asked *asked, const struct asked_as *as,
	       struct obj *made, struct error *err);
/* An unknown field of a built-in kind is refused, too. */
int draft_take_strictly(struct mutation *m, const struct asked *asked, const struct asked_as *as,
			struct obj *made, struct error *err);

#endif
