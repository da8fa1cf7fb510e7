/*
 * config: the configuration of a renderer, in layers (fleet.md 3.6). Pure.
 *
 * The lowest layer is taken as it is; what lies over it is a merge patch (RFC 7396): maps merge,
 * lists and all else replace, null deletes.
 */
#ifndef ALM_SOURCE_CONFIG_H
#define ALM_SOURCE_CONFIG_H

#include "alm/obj/obj.h"

#define CONFIG_BYTES_MAX  ((size_t)4 << 20)
#define CONFIG_NODES_MAX  ((size_t)1 << 18)
#define CONFIG_LAYERS_MAX 64

struct config_layer {
	const char *name; /* of messages: a file, "Secret apps/web" */
	const struct obj *value;
};

/* One document of JSON (a name that ends in .json) or YAML, which is a map; owned. Errors begin with
 * the name and have the line. */
int config_parse(struct str text, const char *name, struct obj **ret, struct error *err);
/* Later ones win; a value that is absent is no layer. E_INVALID for one that is no map. Owned; NULL
 * if there is none. */
int config_merge(const struct config_layer *layers, size_t n, struct obj **ret, struct error *err);

#endif
