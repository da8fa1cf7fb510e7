/* eventttl: Events live an hour after their last write. Checked once a minute while there are any;
 * after a restart the hour begins again. */
#ifndef ALM_APISERVER_LOOPS_EVENTTTL_H
#define ALM_APISERVER_LOOPS_EVENTTTL_H

#include "alm/apiserver/core.h"

#define EVENT_TTL_NS NS_PER_HOUR

struct event_ttl *event_ttl_new(struct apiserver *s);
void event_ttl_free(struct event_ttl *e);

#endif
