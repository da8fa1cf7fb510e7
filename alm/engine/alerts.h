/*
 * alerts: the alerts of lifecycle.md 4.6, sent to an Alertmanager (--alertmanager URL).
 *
 * What fires follows from the objects alone, so an alert ends with its cause or its object. All that fire are posted together to api/v2/alerts: a second after a change and then
 * each minute, with endsAt five minutes ahead; one that is over is posted once more with endsAt
 * now. A post that fails delays nothing: the next one is a minute later.
 */
#ifndef ALM_ENGINE_ALERTS_H
#define ALM_ENGINE_ALERTS_H

#include "alm/client/client.h"
#include "alm/io/metrics.h"

/* With alerts in one post; those of further objects are reported when others are over. */
#define ALERT_OBJECTS_MAX 1000

/* What an object fires: an owned list of maps {labels, annotations, startsAt}, empty for one in
 * order. Pure. */
typedef struct obj *(*alerts_of_fn)(const struct obj *o);

struct alerts;

/* c speaks to the Alertmanager; m may be NULL. Borrows both. */
struct alerts *alerts_new(struct client *c, alerts_of_fn of, struct metrics *m);
/* An object as the cache now has it, or, with gone, as it was last. a may be NULL. */
void alerts_update(struct alerts *a, const struct obj *o, bool gone);
/* Forgets all without a word: another controller reports from now on. a may be NULL. */
void alerts_forget(struct alerts *a);
void alerts_free(struct alerts *a);
DEFINE_FREEP(alerts)

#endif
