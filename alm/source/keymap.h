/*
 * keymap: what a trigger on resources watches (--trigger.resource.config), and which main object a
 * change of another one concerns (fleet.md 3.3). Pure.
 *
 * A key is "NAMESPACE/NAME", of a cluster-scoped object "NAME". The main resource's is taken as it
 * is; others go through their keyTransformations in order: keep must match, drop must not, replace
 * (the default) makes the whole key anew of its first match; without a match it stays. RE2, not
 * anchored; regex is (.*) and replacement $1 unless said otherwise.
 *
 *	mainResource: grafana
 *	resources:
 *	- {name: grafana, apiVersion: monitoring.coreos.com/v1, kind: Grafana}
 *	- name: deployment
 *	  apiVersion: apps/v1
 *	  kind: Deployment
 *	  selector: {matchLabels: {app: grafana}}
 *	  keyTransformations:
 *	  - {action: keep, regex: "/grafana-"}
 *	  - {regex: "([^/]*)/grafana-(.*)", replacement: $1/$2}
 */
#ifndef ALM_SOURCE_KEYMAP_H
#define ALM_SOURCE_KEYMAP_H

#include "alm/obj/obj.h"
#include "alm/obj/query/selector.h"

#define KEYMAP_BYTES_MAX     ((size_t)1 << 20)
#define KEYMAP_RESOURCES_MAX 32
#define KEYMAP_RULES_MAX     32 /* transformations of a resource */
#define KEYMAP_KEY_MAX       512

struct regex;

enum keymap_action { KEYMAP_REPLACE, KEYMAP_KEEP, KEYMAP_DROP };

struct keymap_rule {
	enum keymap_action action;
	struct regex *regex;
	const char *replacement;
};

struct keymap_resource {
	const char *name, *api_version, *kind;
	const char *ns;            /* NULL: every namespace */
	struct selector *selector; /* NULL: all objects */
	struct keymap_rule *rules;
	size_t n_rules;
};

struct keymap {
	struct keymap_resource *resources, *main;
	size_t n;
};

/* A file of YAML or JSON; all of it lives in the arena. E_INVALID names the field and what is wanted;
 * name begins every message. */
int keymap_read(struct str text, const char *name, struct arena *a, struct keymap **ret,
		struct error *err);

/* The key of the main object that a change of this one concerns; NULL: of none. E_LIMIT for a rule
 * that takes too long, or makes a key that is too long. Of the arena. */
int keymap_key(const struct keymap *k, const struct keymap_resource *r, const char *key,
	       struct arena *a, const char **ret, struct error *err);

#endif
