/* `alm crd diff OLD NEW`: every change of definitions in words, harmless ones too. */

#include "alm/cli/cmds.h"
#include "alm/cli/crd/crd_source.h"
#include "alm/cli/term.h"
#include "catalog/gate/gate_report.h"

#define OUTPUT_MAX ((size_t)64 << 20)

static int diff_run(struct cli *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(gate_report_freep) struct gate_report *r = NULL;
	struct crd_source before, after;
	bool data;
	if (cli_output_data(c, &data, err) < 0)
		return -err->code;
	int rc = crd_source_read(c, c->args[0], &s, &before, err);
	if (rc >= 0)
		rc = crd_source_read(c, c->args[1], &s, &after, err);
	if (rc < 0)
		return rc;
	const struct gate_report_input in = {.before = before.items,
					     .n_before = before.n,
					     .after = after.items,
					     .n_after = after.n};
	rc = gate_report_new(&in, &r, err);
	if (rc < 0)
		return rc;
	if (data) {
		CLEANUP(obj_unrefp) struct obj *o = gate_report_changes(r);
		return cli_print_data(c, o, err);
	}
	gate_report_diff(r, &b);
	term_table(strbuf_str(&b));
	return strbuf_check(&b, "report", err);
}

static const struct cmd_option options[] = {
	CLI_OUTPUT_OPTION,
	{0},
};

const struct cmd cmd_crd_diff = {
	.name = "diff",
	.usage = "alm crd diff OLD NEW [-o json]",
	.examples = "alm crd diff live:etcds.etcd.coreos.com chart.tgz",
	.summary = "tell in words what differs between CRDs",
	.description = "OLD and NEW are files, folders, charts, live:NAME or live:. Of a chart\n"
		       "count crds/, also of subcharts, and what its templates define with its own "
		       "values.",
	.options = options,
	.args = {2, 2},
	.run = diff_run,
};
