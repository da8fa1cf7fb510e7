/*
 * template_box: the sandboxed child in which `alm template` and `alm lint` look into a chart
 * (charts.md 11). Files that the command line names, time zones and what --output-dir writes
 * are opened by the parent, at the wish of the child.
 */
#ifndef ALM_CLI_CHART_TEMPLATE_BOX_H
#define ALM_CLI_CHART_TEMPLATE_BOX_H

#include "alm/base/strbuf.h"
#include "alm/cli/chart/template_args.h"

/* In the child: args->source or args->chart_failure is what the parent read. Returns the exit
 * status. */
typedef int (*template_box_fn)(struct arena *a, const struct template_args *args,
			       const struct tmpl_host *host, struct strbuf *out,
			       struct strbuf *errors);

/* What the standard output of the child is: manifests for another program, or lines for a reader.
 */
enum box_output { BOX_DATA, BOX_TEXT };

/* Writes both outputs; a child that dies is reported on stderr, and is 1. */
int template_box_run(struct arena *a, struct template_args *args, template_box_fn fn,
		     enum box_output output);

#endif
