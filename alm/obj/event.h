/* event: a core Event of ALM about an object, as it is sent to a server. */
#ifndef ALM_OBJ_EVENT_H
#define ALM_OBJ_EVENT_H

#include "alm/base/arena.h"
#include "alm/obj/obj.h"

#define EVENT_MESSAGE_MAX \
	1024 /* of events.k8s.io, in bytes; a longer one is refused there, and cut here */

struct event_text {
	const char *type;    /* "Normal", "Warning" */
	const char *reason;  /* CamelCase */
	const char *message; /* NULL or "": the reason */
	/* Makes the name, with the object's name and uid: what is written twice with the same one is one
	 * Event. */
	const char *tail;
};

/* The namespace of the Event of an object: that of cluster-scoped ones is default. Borrows. */
const char *event_namespace(const struct obj *about);
/* Owned. about has a name and a uid. */
struct obj *event_about(const struct obj *about, const struct event_text *t, int64_t now_ns);

#endif
