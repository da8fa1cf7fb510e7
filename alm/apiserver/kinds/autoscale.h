/*
 * autoscale: autoscaling/v1 HorizontalPodAutoscaler <-> v2, in which they are stored. What v1 has no field for stands in
 * annotations (autoscaling.alpha.kubernetes.io/metrics, behavior, current-metrics, conditions), in the form of v1's own types and,
 * of behavior, of Go's: the text is the one a real server makes. An annotation that does not decode is left out, as there; one of
 * more than AUTOSCALE_NODES_MAX maps and lists is not read, and its writer is to be refused. Pure.
 */
#ifndef ALM_APISERVER_KINDS_AUTOSCALE_H
#define ALM_APISERVER_KINDS_AUTOSCALE_H

#include "alm/apiserver/kinds/kinds.h"

#define AUTOSCALE_NODES_MAX 1024

bool autoscaler_is_v1(const struct kind *k);
/* In place; parts that others may hold are replaced, not changed. apiVersion is left to the caller. */
void autoscaler_to_v1(struct obj *o);
void autoscaler_from_v1(struct obj *o);
/* minReplicas, and the target of v1: what else has defaults has them in v2 alone. */
void autoscaler_default_v1(struct obj *o);
/* The annotation of o that is not read for its size, of those that are a client's to write there: in the status, or
 * besides it; NULL: none is. */
const char *autoscaler_too_much(const struct obj *o, bool is_status);
/* Annotations of these names are the conversion's own: a client's are dropped, in either version. */
void autoscaler_forget(struct obj *o);
/* The status that stands in annotations is what before (NULL: none) has, whatever o says; both as v1. */
void autoscaler_keep_status(struct obj *o, const struct obj *before);
/* And the rest of what they have, where the status is written. */
void autoscaler_keep_spec(struct obj *o, const struct obj *before);

#endif
