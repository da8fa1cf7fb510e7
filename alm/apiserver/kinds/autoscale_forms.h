/* autoscale_forms: the parts of a HorizontalPodAutoscaler that v1 has no field for, in the form of its annotations and in that of
 * v2; but for one, for autoscale.c alone. Pure. */
#ifndef ALM_APISERVER_KINDS_AUTOSCALE_FORMS_H
#define ALM_APISERVER_KINDS_AUTOSCALE_FORMS_H

#include "alm/obj/obj.h"

/* A field of a source of metrics, in both. */
struct autoscale_member {
	const char *source, *v1, *v2;
	const char *zero; /* what v1 shows, and takes, where there is none; NULL: nothing */
};

extern const struct autoscale_member autoscale_asked[], autoscale_seen[]; /* of spec, of status */

/* References and selectors, as Go prints them: members in the order of the type, labels by name. Owned. */
struct obj *autoscale_in_order(const struct obj *v);
struct obj *autoscale_parsed(const char *text); /* NULL: text is NULL or no JSON */
/* One metric in the other form; NULL: it has none. */
struct obj *autoscale_metric_as(const struct obj *metric, const struct autoscale_member *m,
				bool to_v1);
/* Which kind of target it is says v2 alone. */
void autoscale_name_targets(struct obj *metric);
/* With Go's names, all of them, or with v2's, those that are set. */
struct obj *autoscale_behavior_as(const struct obj *from, bool to_go);
struct obj *autoscale_condition_as_go(const struct obj *c);

#endif
