/* chart_data: what templates see as "." (charts.md 5): one data map per chart. */
#ifndef INSTALLERS_CHART_CHART_DATA_H
#define INSTALLERS_CHART_CHART_DATA_H

#include "installers/chart/chart.h"

/* A version as given: "v1.29.3-gke.1" has normal "v1.29.3", major "1", minor "29". */
struct kube_version {
	struct str text, normal, major, minor;
};
int kube_version_parse(struct arena *a, struct str text, struct kube_version *ret,
		       struct strbuf *msg);
const char *kube_version_default(enum tmpl_profile profile);

/* []string typed as common.VersionSet: the built-in list and more. */
struct value chart_api_versions(struct arena *a, bool built_in, const char *const *more,
				size_t n_more);

struct value chart_data_release(struct arena *a, struct str name, struct str ns, int revision,
				bool is_upgrade);

/* The data map of a chart; Subcharts is empty. */
struct vmap *chart_data(struct arena *a, const struct chart *c, enum tmpl_profile profile,
			struct vmap *values, struct value release, struct value capabilities);

#endif
