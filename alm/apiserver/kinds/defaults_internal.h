/* defaults_internal: the rows of defaults, for defaults.c and defaults_platform.c. */
#ifndef ALM_APISERVER_KINDS_DEFAULTS_INTERNAL_H
#define ALM_APISERVER_KINDS_DEFAULTS_INTERNAL_H

#include "alm/apiserver/kinds/defaults.h"

/* A field that is absent gets the JSON, if the other field has this value ("": is absent too). */
struct default_rule {
	const char *path, *json, *if_path, *if_value;
};

struct default_kind {
	const char *group, *plural;
	const struct default_rule *rules; /* in an object with a spec */
	void (*set)(struct obj *o);       /* what no rule says */
};

const struct default_kind *defaults_of_platform(size_t *ret_n);

void defaults_of_whole_pod(struct obj *spec);

bool default_is_absent(const struct obj *v);
void defaults_apply(struct obj *o, const struct default_rule *rules); /* o may be no map, or NULL */
/* The member, if it is one; else NULL. */
struct obj *default_list(struct obj *o, const char *key);
struct obj *default_map(struct obj *o, const char *key);

#endif
