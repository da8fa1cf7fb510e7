/* events: what may befall a change on its way from a watch to a client, and the stream be whole. */
#ifndef TESTS_SIM_EVENTS_H
#define TESTS_SIM_EVENTS_H

#include "alm/base/str.h"

/* Is next a later state of the object of frame, so that a client that is told of next alone has
 * missed nothing that is still so? */
bool events_supersede(struct str frame, struct str next);

#endif
