/* `alm crd check OLD NEW`: the CRD gate on files, charts and clusters (lifecycle.md 3). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alm/cli/cmds.h"
#include "alm/cli/crd/crd_source.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/term.h"
#include "alm/client/client.h"
#include "alm/io/http.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"
#include "catalog/gate/gate_report.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define PAGE       500
#define QUERY_MAX  ((size_t)1 << 20)
#define REFUSED    3

static const struct cmd_option options[] = {
	{"objects", "FILE", "objects to judge the change by: a file, a folder or -", 0},
	{"output", "FORMAT", "table, json, yaml, sarif", 'o'},
	{0},
};

struct pages {
	struct session *s;
	struct gate_report *report;
	char *next;
	size_t n;
	bool terminal;
	struct error err;
};

static void page_read(void *arg, const struct client_reply *reply)
{
	struct pages *p = arg;
	const struct obj *items = obj_get(reply->body, "items");
	const char *next = obj_str(reply->body, "metadata.continue");
	loop_stop(session_loop(p->s));
	if (reply->err)
		p->err = *reply->err;
	for (size_t i = 0; !reply->err && i < obj_len(items); i++)
		gate_report_object(p->report, obj_at(items, i));
	p->n += obj_len(items);
	if (p->terminal && obj_len(items))
		term_error("\r\033[K%zu objects read", p->n);
	xfree(p->next);
	p->next = !reply->err && next && *next ? xstrdup(next) : NULL;
}

/* All objects of one definition, through one version; one page is in memory. */
static int read_live(struct session *s, struct gate_report *r, const struct obj *crd,
		     const char *version, struct error *err)
{
	const struct resource kind = {.group = obj_str(crd, "spec.group"),
				      .version = version,
				      .plural = obj_str(crd, "spec.names.plural"),
				      .kind = obj_str(crd, "spec.names.kind"),
				      .namespaced =
					      cstr_eq(obj_str(crd, "spec.scope"), "Namespaced")};
	struct pages p = {.s = s, .report = r, .terminal = isatty(STDERR_FILENO)};
	do {
		CLEANUP(arena_freep) struct arena *a = arena_new(QUERY_MAX);
		const char *query = arena_fmt(a, "limit=%d", PAGE);
		if (p.next)
			query = arena_fmt(a, "%s&continue=%s", query,
					  url_encode(str_of(p.next), a));
		client_list(session_client(s), &kind, NULL, query, page_read, &p);
		loop_run(session_loop(s));
	} while (p.next);
	if (p.terminal && p.n)
		term_error("\r\033[K");
	return p.err.code ? error_copy(err, &p.err) : 0;
}

static int read_cluster(struct session *s, struct gate_report *r, struct error *err)
{
	for (size_t i = 0; i < gate_report_crds(r); i++) {
		const char *const *through;
		const struct obj *crd = gate_report_crd(r, i);
		size_t n = gate_report_versions(r, i, &through);
		for (size_t k = 0; crd && k < n; k++) {
			int rc = read_live(s, r, crd, through[k], err);
			if (rc < 0)
				return error_wrap(err, "objects of %s",
						  obj_str(crd, "metadata.name"));
		}
	}
	return 0;
}

static int print_report(const struct gate_report *r, const char *format, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	if (!format || strcmp(format, "table") == 0) {
		gate_report_text(r, &b);
	} else if (strcmp(format, "json") == 0 || strcmp(format, "yaml") == 0) {
		o = gate_report_json(r);
	} else if (strcmp(format, "sarif") == 0) {
		o = gate_report_sarif(r);
	} else {
		return error_set(err, E_USAGE, "-o %s: want table, json, yaml or sarif", format);
	}
	if (o && strcmp(format, "yaml") == 0) {
		yaml_print(o, &b);
	} else if (o) {
		json_print_pretty(o, 4, &b);
		strbuf_addc(&b, '\n');
	}
	term_table(strbuf_str(&b));
	return strbuf_check(&b, "report", err);
}

static int judge(struct cli *c, struct session **s, const struct crd_source *before,
		 struct gate_report *r, struct error *err)
{
	const char *file = cli_value(c, "objects");
	struct crd_source objects = {0};
	int rc = 0;
	if (file)
		rc = crd_source_read(c, file, s, &objects, err);
	else if (before->live)
		rc = read_cluster(*s, r, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < objects.n; i++)
		gate_report_object(r, objects.items[i]);
	gate_report_finish(r, file || before->live);
	return 0;
}

static int check_run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	CLEANUP(gate_report_freep) struct gate_report *r = NULL;
	struct crd_source before, after;
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
	if (rc >= 0)
		rc = judge(c, &s, &before, r, err);
	if (rc >= 0)
		rc = print_report(r, cli_value(c, "output"), err);
	if (rc >= 0 && gate_report_outcome(r) == FINDING_REFUSE)
		c->exit_code = REFUSED;
	return rc;
}

const struct cmd cmd_crd_check = {
	.name = "check",
	.usage = "alm crd check OLD NEW [--objects FILE] [-o FORMAT]",
	.examples = "alm crd check old/crds new/crds\nalm crd check live: chart.tgz -o sarif",
	.summary = "tell what a change of CRDs would break",
	.description =
		"OLD and NEW are files, folders, charts, live:NAME or live:. Of a chart\n"
		"count crds/, also of subcharts, and what its templates define with its own "
		"values.\n"
		"Without objects, what only objects can prove wrong is a warning. A live OLD\n"
		"is judged by the objects of the cluster. Rules (CEL) are evaluated here. Where\n"
		"a converter makes the versions, each object is wanted in each of them. Ends\n"
		"with 3 if anything is refused.",
	.options = options,
	.args = {2, 2},
	.run = check_run,
};
