/* alm lint CHART: helm lint's checks and our own. */
#include <stdio.h>

#include "alm/cli/chart_lint.h"
#include "alm/cli/cmd_charts.h"
#include "alm/cli/template_run.h"
#include "alm/io/loop.h"
#include "alm/io/zones.h"

static int entropy(void *ctx, void *out, size_t len)
{
	loop_random(ctx, out, len);
	return 0;
}

int cmd_lint_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	struct lint_report report;
	size_t errors = 0, warnings = 0;
	if (template_args_parse(a, argc, argv, args, &msg) < 0 || args->help) {
		fprintf(args->help ? stdout : stderr,
			"%s%susage: alm lint CHART [--strict] [flags of alm template]\n", msg.buf,
			msg.len ? "\n" : "");
		return args->help ? 0 : 2;
	}
	struct loop *loop = loop_event_new();
	const struct tmpl_host host = {.now_ns = loop_now(loop),
				       .zone = "UTC",
				       .entropy = entropy,
				       .zone_bytes = zones_read,
				       .ctx = loop};
	chart_lint(a, args, &host, &report);
	loop_free(loop);
	printf("==> Linting %s\n", args->chart);
	for (size_t i = 0; i < report.n; i++) {
		const struct lint_finding *f = &report.items[i];
		errors += f->level == LINT_ERROR;
		warnings += f->level == LINT_WARNING;
		printf("[%s] %s: %s\n", lint_level_name(f->level), f->file, f->text);
	}
	bool failed = errors || (args->strict && warnings);
	printf("\n1 chart(s) linted, %d chart(s) failed\n", failed);
	return failed;
}
