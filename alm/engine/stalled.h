/*
 * stalled: how a reconcile that fails again and again shows on its object. Pure.
 *
 * The condition is Stalled=True, by the convention of kstatus (sigs.k8s.io/cli-utils): "the
 * controller has encountered an error during the reconcile, or has made insufficient progress". It
 * is there only while that holds, so tools that know nothing of ALM (kubectl wait
 * --for=condition=Stalled, Flux, Argo CD) read it rightly; Ready stays what it was, as what runs
 * may run well. On a CRD, whose conditions are not ours, it is app.coreos.com/Stalled.
 *
 * The reason is the class of the error, from one table with the next step. The message is the error
 * as it was when the reason came: neither counts nor clock nor a wording that changes makes a
 * write.
 */
#ifndef ALM_ENGINE_STALLED_H
#define ALM_ENGINE_STALLED_H

#include "alm/engine/plan.h"

/* Before it is reported: that many failures in a row, over that time. A stale view or a restart of the
 * server is over by then. */
#define STALLED_FAILURES 4
#define STALLED_NS       (5 * NS_PER_S)

/* "Forbidden"; the same for all errors that the same step helps against. */
const char *stalled_reason(int code);
/* What a person does about it: "COMMAND # why"; "" for a reason that is none. */
const char *stalled_next(const char *kind, const char *name, const char *reason, struct arena *a);
/* The type of the condition on this object. */
const char *stalled_type(const struct obj *o);

/* WAITING: the plan has the status write that shows the error, with its Event. */
enum ensured stalled_begin(struct plan *p, const struct obj *o, const struct error *err,
			   int64_t now_ns);
/* The same of the one that takes the condition away. */
enum ensured stalled_end(struct plan *p, const struct obj *o);
/* For an object whose status cannot be written: an entry, and the Event that follows it. */
void stalled_note(struct plan *p, const struct obj *o, const struct error *err);

#endif
