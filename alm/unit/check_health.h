/*
 * check_health: the health expressions of a package, for kinds that ALM does not know: JSONQL, asked
 * in the order failed, inProgress, current. Pure.
 *
 *	health:
 *	- kind: Cluster
 *	  apiVersion: postgresql.cnpg.io/v1       absent: of any group
 *	  failed: status.phase = 'Failed'
 *	  inProgress: status.phase = 'Setting up'
 *	  current: status.phase = 'Healthy'
 */
#ifndef ALM_UNIT_CHECK_HEALTH_H
#define ALM_UNIT_CHECK_HEALTH_H

#include "alm/obj/query/jsonql.h"

#define HEALTH_RULES_MAX 64

struct health_rule {
	const char *api_version, *kind;                /* api_version NULL: any */
	struct jsonql *failed, *in_progress, *current; /* NULL: not asked */
	const char *failed_text, *in_progress_text, *current_text;
};

struct health {
	struct health_rule *rules;
	size_t n;
};

/* Of a list at field ("health"), which begins every message; E_INVALID, E_LIMIT. Arena. */
int health_parse(const struct obj *list, const char *field, struct arena *a, struct health **ret,
		 struct error *err);

enum health_state { HEALTH_UNKNOWN, HEALTH_CURRENT, HEALTH_IN_PROGRESS, HEALTH_FAILED };

/* The first rule of the object's kind; HEALTH_UNKNOWN: no rule is. A status of a former generation
 * says nothing: in progress. ret_why: arena, NULL when current. */
enum health_state health_look(const struct health *h, const struct obj *live, int64_t now_ns,
			      struct arena *a, const char **ret_why);

#endif
