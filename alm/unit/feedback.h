/*
 * feedback: how far a unit is, in the words of a status: NotStarted, InProgress, Finished, Failed.
 * Pure, over a unit and the record of an attempt (unit_side.h), or of what was known before it.
 *
 * The same list is status.groups of a resource, and of the status that a Transition announces:
 *
 *	groups:
 *	- name: web
 *	  state: Failed
 *	  message: "step grafana/deployment.yaml: ImagePullBackOff: ..."   of the steps that failed, and
 *	                                             what was measured of those that are through, and how far a canary is
 */
#ifndef ALM_UNIT_FEEDBACK_H
#define ALM_UNIT_FEEDBACK_H

#include "alm/unit/unit_make.h"

/* The groups of all parts, in order; those that are made of an instance's objects only while they are InProgress or
 * Failed, as there may be 200 times all kinds: feedback_instances() tells the others. record NULL: nothing was begun.
 * One pass over what the record has. Owned. */
struct obj *feedback_groups(const struct unit *u, const struct obj *record);
/* [{name, state: NotStarted|InProgress|Ready|Failed|RollingBack|RolledBack, objects, message}] of its
 * instances (flat.h), in their order. Owned; NULL: it has none. */
struct obj *feedback_instances(const struct unit *u, const struct obj *record);
/* The canaries that are under way: [{object: "Deployment default/web", weight, state: Running|
 * AwaitingApproval|NoData|Ending}]. Owned; NULL: there is none. */
struct obj *feedback_canaries(const struct unit *u, const struct obj *record);
/* What the log and a webhook are told of an attempt: {phase: Running|RollingBack|Succeeded|RolledBack|
 * Failed, reason,
 * message, digest, groups}, without a time or a number of the attempt, so that one that changes
 * nothing says what was said before. NULL: nothing has begun yet. Owned. */
struct obj *feedback_status(const struct unit *u, const struct obj *record);
/* "first/one.yaml: Finished; second/two.yaml: InProgress": the steps whose state is another one than
 * before (NULL: none was). Arena. */
const char *feedback_changes(const struct obj *before, const struct obj *after, struct arena *a);
/* What the first step under way waits for, and until when it may; "": nothing. Arena, or the record's. */
const char *feedback_waits(const struct obj *record, struct arena *a);

#endif
