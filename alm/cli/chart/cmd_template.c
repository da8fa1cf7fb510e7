/* alm template: a drop-in for `helm template`. */

#include "alm/cli/chart/template_box.h"
#include "alm/cli/chart/template_run.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"

static int template_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	int r = template_args_parse(a, argc, argv, args, &msg);
	for (size_t i = 0; i < args->old.n; i++)
		term_error("%s\n", args->old.items[i]);
	if (r < 0) {
		term_error("Error: ");
		term_error_lines(strbuf_str(&msg));
		term_error("\n");
		return 1;
	}
	return template_box_run(a, args, template_run_args, BOX_DATA);
}

static const struct cmd_option options[] = {
	{"values", "FILE", "values; repeatable, the last one wins", 'f'},
	{"set", "KEY=VALUE",
	 "one value; --set-string, --set-json, --set-file and --set-literal, too", 0},
	{"namespace", "NS", "namespace of the release", 'n'},
	{"kube-version", "V", "the Kubernetes version that the chart is told", 0},
	{"api-versions", "G/V,...", "API versions that the chart is told", 'a'},
	{"show-only", "PATH", "only what this template gives", 's'},
	{"include-crds", NULL, "the definitions of crds/, too", 0},
	{"no-hooks", NULL, "without hooks; --skip-tests: without tests", 0},
	{"is-upgrade", NULL, "as an upgrade, no install", 0},
	{"output-dir", "DIR", "files instead of standard output", 0},
	{"skip-schema-validation", NULL, "values are not checked by the chart's schema", 0},
	{"render-subchart-notes", NULL, "notes of subcharts, too", 0},
	{"strict", NULL, "a missing value is an error", 0},
	{"helm-version", "3|4.1|4.2", "whose output it is (4.1)", 0},
	{"render-cpu", "DURATION", "processor time that rendering may take (60s)", 0},
	{"now", "TIME", "the time; with --seed the same chart and values give the same bytes", 0},
	{"seed", "TEXT", "the source of all randomness, keys and certificates included", 0},
	{0},
};

const struct cmd cmd_template = {
	.name = "template",
	.usage = "alm template [NAME] CHART [flags of helm template]",
	.examples = "alm template etcd ./etcd-operator -f values.yaml\n"
		    "alm template etcd etcd-operator-0.9.4.tgz --now 2026-01-01T00:00:00Z --seed x",
	.summary = "render a chart archive",
	.description =
		"Renders a chart as `helm template` does; CHART is a folder or a .tgz. Flags of\n"
		"helm that only concern a cluster or a network have no effect, or are refused.",
	.options = options,
	.main = template_main,
};
