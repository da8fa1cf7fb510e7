/*
 * pod_log: which container of which Pod tells why a Job failed, or what it did, and what of its log is shown. Pure.
 */
#ifndef ALM_UNIT_POD_LOG_H
#define ALM_UNIT_POD_LOG_H

#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define POD_LOG_LINES 10   /* of the end are shown */
#define POD_LOG_BYTES 1000 /* of them */

struct pod_log_source {
	const char *pod, *container; /* borrowed from the list */
	const char *reason;          /* why it ended: "OOMKilled", "Error"; NULL: it is not said */
	bool previous;               /* it was started again since */
};

/* Of the newest Pod that has one, the first container that ended with an error; well: the first that ended
 * without one, init containers apart. False: none did, and no log tells more. */
bool pod_log_find(const struct obj *pods, bool well, struct pod_log_source *ret);
/* Its last lines as one, "first | second", as messages are: without empty ones and what a terminal would obey.
 * Nothing for an empty one. */
void pod_log_print(struct str text, struct strbuf *b);

#endif
