/* live_gate_answer: what a live gate found, as the answer that live_gate.h describes. Private to
 * live_gate.c. */
#ifndef ALM_LIVE_LIVE_GATE_ANSWER_H
#define ALM_LIVE_LIVE_GATE_ANSWER_H

#include "alm/obj/obj.h"
#include "catalog/gate/gate.h"

struct live_gate_found {
	const struct gate *gate;
	const struct obj *request, *planned;
	const struct obj *before; /* NULL: no such definition */
	int64_t took_ns;
};

/* Owned. */
struct obj *live_gate_answer(const struct live_gate_found *g);
/* Of a schema that the gate cannot read: it is refused, never waved through. No gate is needed. */
struct obj *live_gate_unreadable(const struct live_gate_found *g, const struct error *err);

#endif
