/*
 * package_build: a chart folder to an archive NAME-VERSION.tgz: same input, same bytes. What
 * `alm package build DIR [--version V] -o OUTDIR` does (story.md 2, 3).
 */
#ifndef ALM_CLI_CHART_PACKAGE_BUILD_H
#define ALM_CLI_CHART_PACKAGE_BUILD_H

#include "alm/base/hash.h"
#include "installers/chart/chart.h"

struct package_built {
	const char *path;
	char sha256[SHA256_HEX];
	const char *app_type; /* of alm.yaml; NULL if it has none */
	const char *provides; /* "etcds.etcd.coreos.com/v1,v2"; NULL if there is none */
};

/* version NULL: that of Chart.yaml. The text of alm.yaml goes into the annotation
 * app.coreos.com/package as well. Everything lives in the arena. */
int package_build(struct arena *a, const char *dir, const char *version, const char *out_dir,
		  struct package_built *ret, struct error *err);

#endif
