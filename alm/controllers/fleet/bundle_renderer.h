/*
 * bundle_renderer: spec.renderer and spec.config of a Bundle: what makes objects of its files, and with which
 * configuration (fleet.md 3.5, 3.6). Pure. Texts are borrowed from the object.
 *
 *	renderer: {type: jsonnet, entrypoint: main.jsonnet, jpath: [lib], extStr: {region: eu}}
 *	config: {values: {replicas: 3}, from: [{secret: {namespace: apps, name: db}}]}
 *
 * Paths are from spec.source.git.path on, which is the tree of the program: nothing outside of it can be
 * imported. Of alm-runtime it may import config and cluster.
 *
 * Errors are E_INVALID and begin with the field: "spec.renderer.entrypoint: ...".
 */
#ifndef ALM_CONTROLLERS_FLEET_BUNDLE_RENDERER_H
#define ALM_CONTROLLERS_FLEET_BUNDLE_RENDERER_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/source/config_from.h"

#define BUNDLE_CONFIG_FROM "spec.config.from"

struct bundle_renderer {
	const char *entrypoint; /* of Jsonnet, a normal path; NULL: the files are manifests */
	const char *const *jpath;
	size_t n_jpath;
	const struct obj *ext_str;  /* {NAME: TEXT}; NULL: none */
	const struct obj *values;   /* of the configuration; NULL: none */
	struct config_sources from; /* ... of which these lie over them; objects alone */
};

int bundle_renderer_read(const struct obj *o, struct arena *a, struct bundle_renderer *ret,
			 struct error *err);

#endif
