/*
 * objects_check: what somebody did to the objects behind the log while the server was not running.
 *
 * After the start, in slices, every object is compared with what the log says of it, and every
 * object that the log knows is looked for (audit.md 12: objects = log). It does not delay the
 * start; /readyz and the log file tell what differs. Nothing is repaired: writing or deleting the
 * object through the API does that, and leaves a record.
 */
#ifndef ALM_APISERVER_STORE_OBJECTS_CHECK_H
#define ALM_APISERVER_STORE_OBJECTS_CHECK_H

#include "alm/apiserver/core.h"

struct objects_check;

/* Of a store that was just opened, before its first write. If the log cannot say what the objects
 * are (it is new, or they were written without it), it gets a record of them now. */
int objects_check_begin(struct apiserver *s, struct error *err);
/* Starts the comparison; NULL without a log. */
struct objects_check *objects_check_new(struct apiserver *s);
void objects_check_free(struct objects_check *c);
/* False while an object differs. NULL is fine. */
bool objects_check_ok(const struct objects_check *c);
/* "120 of 400 compared", "2 differ: ConfigMap a/b"; of c's life. */
const char *objects_check_text(struct objects_check *c);

#endif
