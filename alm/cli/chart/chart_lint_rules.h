/*
 * chart_lint_rules: the rules of `helm lint`, in its words (4.1), one function for each of its
 * groups; chart_lint.c calls them and adds our own.
 */
#ifndef ALM_CLI_CHART_CHART_LINT_RULES_H
#define ALM_CLI_CHART_CHART_LINT_RULES_H

#include "alm/cli/chart/chart_lint.h"

void chart_lint_add(struct lint_report *r, enum chart_level level, const char *file,
		    const char *fmt, ...) PRINTF(4, 5);
/* A warning of ours. */
void chart_lint_add_own(struct lint_report *r, const char *file, const char *fmt, ...) PRINTF(3, 4);

/* Chart.yaml as it was written: what loading it cleans or fills in is not seen here. */
void chart_lint_yaml(struct lint_report *r, struct str text);
/* The dependencies of Chart.yaml against the charts in charts/. */
void chart_lint_dependencies(struct lint_report *r, const struct chart *c);
/* The templates of the root by the text they rendered to, each file once; false: one of them is not
 * YAML, which is reported. minor is that of the Kubernetes version that is aimed at. */
bool chart_lint_files(struct lint_report *r, const struct chart *c,
		      const struct render_result *result, int minor);
void chart_lint_crds(struct lint_report *r, const struct chart *c);

/* "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, ..."; NULL: it is not, in 1.minor.
 */
const char *chart_lint_deprecated(struct arena *a, struct str api_version, struct str kind,
				  int minor);

#endif
