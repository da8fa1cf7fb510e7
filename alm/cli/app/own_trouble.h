/* own_trouble: why no Pod of ALM is ready, in one line, from what the cluster says. PURE. */
#ifndef ALM_CLI_APP_OWN_TROUBLE_H
#define ALM_CLI_APP_OWN_TROUBLE_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

/* NULL: nothing there says it (yet). A text of the arena, with the remedy where there is one; it has foreign
 * words. deployment, claim of the log, pods (a PodList): borrowed, each NULL if it is not there
 * or may not be read. */
const char *own_trouble(const struct obj *deployment, const struct obj *claim,
			const struct obj *pods, struct arena *a);

#endif
