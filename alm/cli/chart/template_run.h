/*
 * template_run: `helm template` from the command line to the text: a drop-in with the same flags,
 * output and errors. Writes files only with --output-dir.
 */
#ifndef ALM_CLI_CHART_TEMPLATE_RUN_H
#define ALM_CLI_CHART_TEMPLATE_RUN_H

#include "alm/cli/chart/template_args.h"

#define TEMPLATE_OUTPUT_MAX ((size_t)128 << 20)
#define TEMPLATE_ARENA_MAX  ((size_t)512 << 20)

/* The exit status: 0, 1, or 2 for wrong flags. out and err get what goes to standard output and
 * standard error. host gives time, zone and entropy. */
int template_run(struct arena *a, int argc, char **argv, const struct tmpl_host *host,
		 struct strbuf *out, struct strbuf *err);

/* The same from parsed flags. */
int template_run_args(struct arena *a, const struct template_args *given,
		      const struct tmpl_host *host, struct strbuf *out, struct strbuf *err);
/* A file of --output-dir and the folders above it. */
int template_write(const char *path, struct str text, struct error *err);

/* From parsed flags to the result; msg has the message without "Error: ". args->name becomes what
 * --name-template says. */
int template_render(struct arena *a, struct template_args *args, const struct tmpl_host *host,
		    struct render_result *ret, struct strbuf *msg);

#endif
