/* alm lint CHART...: helm lint's checks and our own, each chart in a sandboxed child. */
#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/chart/chart_dir.h"
#include "alm/cli/chart/chart_lint.h"
#include "alm/cli/chart/template_box.h"
#include "alm/cli/chart/template_run.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

enum { LINT_OK, LINT_FAILED, LINT_WARNED = 10 }; /* exit statuses; a child that dies has failed */

/* What only lint has, taken out of argv. */
struct options {
	bool quiet, subcharts;
	const char *output; /* "json", "yaml"; NULL: text */
};

/* -o FORMAT, -oFORMAT, --output FORMAT and their forms with =. */
static bool take_output(int argc, char **argv, int *i, struct options *ret)
{
	struct str arg = str_of(argv[*i]), value = STR_NONE;
	bool is_long =
		str_has_prefix(arg, STR("--output")) && !str_has_prefix(arg, STR("--output-"));
	if (!is_long && !str_has_prefix(arg, STR("-o")))
		return false;
	value = str_skip(arg, is_long ? strlen("--output") : strlen("-o"));
	if (value.len && value.ptr[0] == '=')
		value = str_skip(value, 1);
	ret->output = value.len ? value.ptr : *i + 1 < argc ? argv[++*i] : "";
	return true;
}

static int take_options(int argc, char **argv, struct options *ret)
{
	int n = 0;
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--quiet"))
			ret->quiet = true;
		else if (!strcmp(argv[i], "--with-subcharts"))
			ret->subcharts = true;
		else if (take_output(argc, argv, &i, ret))
			continue;
		else
			argv[n++] = argv[i];
	}
	return n;
}

/* Texts of helm's rules have lines of their own. */
static void add_finding(struct strbuf *out, const struct chart_finding *f)
{
	visible_addf(out, "[%s] %s: ", lint_level_name(f->level), f->file);
	visible_add_lines(out, str_of(f->text));
	strbuf_addc(out, '\n');
}

static void add_text(const struct template_args *args, const struct lint_report *report,
		     struct strbuf *out)
{
	visible_addf(out, "==> Linting %s\n", args->chart);
	for (size_t i = 0; i < report->n; i++)
		if (!args->quiet || report->items[i].level != LINT_INFO)
			add_finding(out, &report->items[i]);
	strbuf_addc(out, '\n');
}

static void add_document(const struct template_args *args, const struct lint_report *report,
			 struct strbuf *out)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = obj_list();
	size_t n_errors = 0, n_warnings = 0;
	for (size_t i = 0; i < report->n; i++) {
		const struct chart_finding *f = &report->items[i];
		struct obj *x = obj_map();
		obj_set_str(x, "level",
			    f->level == LINT_ERROR     ? "error"
			    : f->level == LINT_WARNING ? "warning"
						       : "info");
		obj_set_str(x, "file", f->file);
		obj_set_str(x, "message", f->text);
		obj_append(list, x);
		n_errors += f->level == LINT_ERROR;
		n_warnings += f->level == LINT_WARNING;
	}
	obj_set_str(o, "chart", args->chart);
	obj_set_int(o, "errors", (int64_t)n_errors);
	obj_set_int(o, "warnings", (int64_t)n_warnings);
	obj_set(o, "findings", list);
	if (cstr_eq(args->lint_output, "yaml")) {
		visible_addf(out, "---\n");
		yaml_print(o, out);
	} else {
		json_print_pretty(o, 4, out);
		strbuf_addc(out, '\n');
	}
}

static int lint(struct arena *a, const struct template_args *args, const struct tmpl_host *host,
		struct strbuf *out, struct strbuf *errors)
{
	struct lint_report report;
	size_t n_errors = 0, n_warnings = 0, n_strict = 0;
	(void)errors;
	chart_lint(a, args, host, &report);
	for (size_t i = 0; i < report.n; i++) {
		n_errors += report.items[i].level == LINT_ERROR;
		n_warnings += report.items[i].level == LINT_WARNING;
		n_strict += report.items[i].level == LINT_WARNING && !report.items[i].is_own;
	}
	if (args->lint_output)
		add_document(args, &report, out);
	else if (!args->quiet || n_errors || n_warnings)
		add_text(args, &report, out);
	if (n_errors || (args->strict && n_strict))
		return LINT_FAILED;
	return n_warnings ? LINT_WARNED : LINT_OK;
}

/* The charts in charts/, folders and archives, as deep as they are. */
static void add_subcharts(struct arena *a, struct template_list *charts)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	size_t n = charts->n;
	for (size_t i = 0; i < n; i++) {
		struct chart_source s;
		strbuf_clear(&msg);
		if (chart_dir_read(a, charts->items[i], &s, &msg) < 0 || !s.is_dir)
			continue;
		for (size_t k = 0; k < s.files.n && charts->n < TEMPLATE_ARGS_MAX; k++) {
			struct str path = str_of(s.files.items[k].path), dir, base;
			if (!str_has_prefix(path, STR("charts/")) ||
			    !str_rcut(path, '/', &dir, &base))
				continue;
			if (str_is(base, "Chart.yaml"))
				path = dir;
			else if (!str_has_suffix(base, STR(".tgz")))
				continue;
			charts->items[charts->n++] =
				arena_fmt(a, "%s/%.*s", charts->items[i], STR_ARG(path));
		}
	}
}

/* A chart each in an arena of its own, which the child copies. */
static int lint_one(const struct template_args *from, const char *chart)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	*args = *from;
	args->chart = chart;
	return template_box_run(a, args, lint, BOX_TEXT);
}

static void tell_total(size_t n, size_t failed)
{
	if (failed)
		term_error("Error: %zu chart(s) linted, %zu chart(s) failed\n", n, failed);
	else
		term_print("%zu chart(s) linted, 0 chart(s) failed\n", n);
}

static int lint_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	struct options options = {0};
	size_t failed = 0, warned = 0;
	argc = take_options(argc, argv, &options);
	if (template_args_parse_words(a, argc, argv, args, &msg) < 0 || !args->words.n) {
		term_error("%s\n", msg.len ? msg.buf : "\"lint\" requires at least 1 argument");
		term_error("see alm lint --help\n");
		return 2;
	}
	if (options.output && strcmp(options.output, "json") != 0 &&
	    strcmp(options.output, "yaml") != 0) {
		term_error("alm: -o %s: want json or yaml\n", options.output);
		return 2;
	}
	args->lint_output = options.output;
	args->quiet = options.quiet || options.output;
	if (options.subcharts)
		add_subcharts(a, &args->words);
	for (size_t i = 0; i < args->words.n; i++) {
		int status = lint_one(args, args->words.items[i]);
		failed += status == LINT_FAILED;
		warned += status == LINT_WARNED;
	}
	if (!args->lint_output && (failed || warned || !args->quiet))
		tell_total(args->words.n, failed);
	return failed > 0;
}

static const struct cmd_option options_of_lint[] = {
	{"strict", NULL, "warnings of helm lint fail, too", 0},
	{"quiet", NULL, "only what is wrong", 0},
	{"with-subcharts", NULL, "the charts in charts/, too", 0},
	{"values", "FILE", "values; as all flags of alm template", 'f'},
	{"output", "FORMAT", "json or yaml: a document for each chart", 'o'},
	{0},
};

const struct cmd cmd_lint = {
	.name = "lint",
	.usage = "alm lint CHART... [--strict] [--quiet] [--with-subcharts] [-o json] [flags of "
		 "alm template]",
	.examples = "alm lint ./etcd-operator\nalm lint etcd-operator-0.9.4.tgz -o json",
	.summary = "check a chart",
	.description = "What helm lint reports, and our own rules; exit 1 if there are errors.",
	.options = options_of_lint,
	.main = lint_main,
};
