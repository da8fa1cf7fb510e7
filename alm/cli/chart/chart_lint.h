/*
 * chart_lint: what `helm lint` checks, and what it does not: numbers that print as 1e+06, unknown
 * hooks, duplicate objects, keep policies of another value. Findings name the file.
 */
#ifndef ALM_CLI_CHART_CHART_LINT_H
#define ALM_CLI_CHART_CHART_LINT_H

#include "alm/cli/chart/template_args.h"

enum chart_level { LINT_INFO, LINT_WARNING, LINT_ERROR };

struct chart_finding {
	enum chart_level level;
	const char *file, *text;
	bool is_own; /* a warning that helm has not: --strict lets it pass, as helm lint would */
};

struct lint_report {
	struct arena *a;
	struct chart_finding *items;
	size_t n, cap;
};

/* The chart at args->chart with the values of args. Never fails: what cannot be read is a finding.
 */
void chart_lint(struct arena *a, const struct template_args *args, const struct tmpl_host *host,
		struct lint_report *ret);
const char *lint_level_name(enum chart_level level); /* "WARNING" */

#endif
