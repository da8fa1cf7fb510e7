/*
 * config_from: where more of a configuration comes from (--config-from, fleet.md 3.6). Pure.
 *
 *	from:
 *	- {configMap: {namespace: apps, name: web, key: config.yaml}}
 *	- {secret: {name: web}}
 *	- {resource: {apiVersion: v1, kind: Node, name: one}}
 *	- {sql: {path: apps.db, query: SELECT name, replicas FROM apps}}
 *	- {file: {path: more.yaml}}
 *
 * Each is a layer, later ones win (config.h). Of a ConfigMap or a Secret it is the document of its
 * key, or without one {KEY: TEXT}; a resource is the object as it is; rows are {"rows": [..]}. What
 * is not there is an error: a program would silently take a default for it.
 */
#ifndef ALM_SOURCE_CONFIG_FROM_H
#define ALM_SOURCE_CONFIG_FROM_H

#include "alm/source/config.h"

#define CONFIG_FROM_BYTES_MAX ((size_t)1 << 20)
#define CONFIG_FROM_MAX       (CONFIG_LAYERS_MAX - 2) /* the trigger's and --config-file's are two */

enum config_from_type { FROM_CONFIG_MAP, FROM_SECRET, FROM_RESOURCE, FROM_SQL, FROM_FILE };

struct config_from {
	enum config_from_type type;
	const char *path, *query; /* of sql and file; a path as written */
	/* of an object; ns NULL: the one of the run; key NULL: all of data */
	const char *api_version, *kind, *ns, *name, *key;
};

struct config_sources {
	struct config_from *items;
	size_t n;
};

/* YAML or JSON; lives in the arena. E_INVALID names the field; file begins every message. */
int config_from_read(struct str text, const char *file, struct arena *a, struct config_sources *ret,
		     struct error *err);
/* The same of a list that stands at a field, which begins every message. Borrows the list's texts. */
int config_from_parse(const struct obj *list, const char *field, struct arena *a,
		      struct config_sources *ret, struct error *err);
/* "Secret apps/web", "apps.db"; ns: where the object is. */
const char *config_from_text(const struct config_from *f, const char *ns, struct arena *a);
/* The layer of a live object, of any kind without metadata.managedFields and resourceVersion; name begins a message, which says nothing of a value. In the arena. */
int config_from_layer(const struct config_from *f, const struct obj *live, const char *name,
		      struct arena *a, const struct obj **ret, struct error *err);

#endif
