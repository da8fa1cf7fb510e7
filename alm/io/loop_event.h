/* loop_event: for the other walls only, which hang their sockets on the same libevent base. */
#ifndef ALM_IO_LOOP_EVENT_H
#define ALM_IO_LOOP_EVENT_H

#include "alm/io/loop.h"

struct event_base;

/* Borrowed. l is one of loop_event_new(). */
struct event_base *loop_event_base(struct loop *l);

/* The callbacks that go on end soon, and timers and tasks have their turn: for who leaves work to libevent without posting any. */
void loop_slice(struct loop *l);

#endif
