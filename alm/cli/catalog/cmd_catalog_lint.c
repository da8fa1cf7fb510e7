/* `alm catalog lint`: the index, then every archive: what it renders to, and what its CRDs break.
 */
#include <stdlib.h>
#include <string.h>

#include "alm/base/map.h"
#include "alm/cli/catalog/cmd_catalog.h"
#include "alm/cli/catalog_source.h"
#include "alm/cli/progress.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/render/render_host.h"
#include "alm/render/render_job.h"
#include "alm/sources/inspect.h"
#include "alm/sources/source.h"
#include "catalog/lint/lint.h"

#define SEED            "0000000000000000000000000000000000000000000000000000000000000000"
#define INPUT_BYTES_MAX (SOURCE_ARCHIVE_BYTES_MAX + ((size_t)1 << 20))

struct linting {
	struct cli *c;
	struct catalog_source *source;
	struct lint lint;
	struct map *descriptors; /* text of alm.yaml by archive digest: where a field stands */
};

static void unref(void *p)
{
	obj_unref(p);
}

/* Time, seed and answers are always the same: lint says the same of the same catalog. */
static struct obj *request_of(const struct package_version *p)
{
	struct obj *o = obj_map();
	obj_set_str(o, "release", p->package);
	obj_set_str(o, "namespace", "default");
	obj_set(o, "values", obj_map());
	obj_set(o, "answers", obj_list());
	obj_set_str(o, "seed", SEED);
	obj_set_int(o, "now", 0);
	obj_set_str(o, "zone", "UTC");
	return o;
}

/* What the chart looks up does not exist. */
static void answer(struct obj *request, const struct obj *needs)
{
	for (size_t i = 0; i < obj_len(needs); i++) {
		struct obj *o = obj_copy_map(obj_at(needs, i));
		obj_set(o, "value", NULL);
		obj_append(obj_get_mut(request, "answers"), o);
	}
}

static int render_once(const struct obj *request, struct str archive, struct obj **ret,
		       struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(INPUT_BYTES_MAX);
	CLEANUP(strbuf_release) struct strbuf output = STRBUF_INIT(SANDBOX_OUTPUT_BYTES);
	json_print(request, &input);
	strbuf_addc(&input, 0);
	strbuf_addstr(&input, archive);
	if (render_job(strbuf_str(&input), &output, err) < 0)
		return -err->code;
	return json_parse(strbuf_str(&output), ret, err);
}

/* Rendered as the app would be without values of its own. Some charts want values: no error. */
static void lint_rendered(struct linting *x, const struct package_version *p, struct str archive)
{
	CLEANUP(obj_unrefp) struct obj *request = request_of(p);
	struct error err = ERROR_INIT;
	for (int round = 0; round < RENDER_ROUNDS_MAX; round++) {
		CLEANUP(obj_unrefp) struct obj *o = NULL;
		if (render_once(request, archive, &o, &err) < 0) {
			lint_add(&x->lint, LINT_WARN, "unsafe-object", p,
				 arena_fmt(x->c->arena, "not looked at: with its own values %s",
					   err.msg),
				 "give the chart defaults with which it renders");
			return;
		}
		lint_objects(&x->lint, p, o);
		if (!obj_len(obj_get(o, "needs")))
			return;
		answer(request, obj_get(o, "needs"));
	}
}

/* The definitions of the archive; NULL: it cannot be had, which is a finding. */
static struct obj *lint_archive(struct linting *x, const struct package_version *p)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(SOURCE_ARCHIVE_BYTES_MAX);
	CLEANUP(obj_unrefp) struct obj *entry = NULL;
	struct obj *crds = NULL;
	struct error err = ERROR_INIT;
	if (catalog_source_fetch(x->source, p, &bytes, &err) < 0 ||
	    inspect_rendered(strbuf_str(&bytes), &entry, &crds, &err) < 0) {
		lint_add(&x->lint, LINT_ERROR,
			 err.reason == REASON_DESCRIPTOR_MISMATCH ? "descriptor" : "digest", p,
			 arena_strdup(x->c->arena, err.msg),
			 "have the index made anew: alm catalog index");
		return NULL;
	}
	if (obj_has(entry, "descriptor"))
		map_set(x->descriptors, p->digest, obj_ref(obj_get(entry, "descriptor")));
	lint_rendered(x, p, strbuf_str(&bytes));
	return crds;
}

/* Highest version first, so the one above is what came before in this walk. */
static void lint_archives(struct linting *x, const struct catalog_index *index)
{
	CLEANUP(obj_unrefp) struct obj *above = NULL;
	struct progress progress;
	progress_start(&progress, index->n);
	for (size_t i = 0; i < index->n; i++) {
		const struct package_version *p = index->versions[i];
		const struct package_version *next = i ? index->versions[i - 1] : NULL;
		progress_step(&progress, arena_fmt(x->c->arena, "%s %.*s", p->package,
						   STR_ARG(p->version.text)));
		struct obj *crds = p->ambiguous || p->listed_only ? NULL : lint_archive(x, p);
		if (crds && above && !strcmp(next->package, p->package))
			lint_crds(&x->lint, p, crds, next, above);
		obj_unref(above);
		above = crds;
	}
	progress_end(&progress);
}

/* The line of alm.yaml that begins with the field; 0: it has none. */
static size_t line_of(const struct linting *x, const struct lint_finding *f)
{
	const struct obj *text =
		f->field && f->version ? map_get(x->descriptors, f->version->digest) : NULL;
	struct str rest = obj_as_str(text), line;
	for (size_t n = 1; text && str_next_line(&rest, &line); n++)
		if (str_has_prefix(line, str_of(f->field)))
			return n;
	return 0;
}

static void print_finding(const struct linting *x, const struct lint_finding *f)
{
	size_t line = line_of(x, f);
	term_print("%s", f->where);
	if (line)
		term_print(":alm.yaml:%zu", line);
	term_print(": %s %s: %s\n    remedy: %s\n", f->level == LINT_ERROR ? "error" : "warning",
		   f->rule, f->text, f->remedy);
}

static int by_version(const void *a, const void *b)
{
	const struct lint_finding *x = *(const struct lint_finding *const *)a;
	const struct lint_finding *y = *(const struct lint_finding *const *)b;
	int r = (x->version != NULL) - (y->version != NULL);
	if (!r && x->version)
		r = strcmp(x->version->package, y->version->package);
	if (!r && x->version)
		r = version_cmp(&y->version->version, &x->version->version);
	return r ? r : (x > y) - (x < y);
}

static const struct lint_finding **sorted(const struct linting *x)
{
	const struct lint *l = &x->lint;
	const struct lint_finding **list = ARENA_ARRAY(l->a, const struct lint_finding *, l->n + 1);
	for (size_t i = 0; i < l->n; i++)
		list[i] = &l->items[i];
	qsort(list, l->n, sizeof(struct lint_finding *), by_version);
	return list;
}

static struct obj *finding_obj(const struct linting *x, const struct lint_finding *f)
{
	struct obj *o = obj_map();
	size_t line = line_of(x, f);
	obj_set_str(o, "level", f->level == LINT_ERROR ? "error" : "warning");
	obj_set_str(o, "rule", f->rule);
	obj_set_str(o, "file", f->where);
	if (line)
		obj_set_int(o, "descriptorLine", (int64_t)line);
	if (f->version) {
		obj_set_str(o, "package", f->version->package);
		obj_set(o, "version", obj_stringn(f->version->version.text));
	}
	obj_set_str(o, "message", f->text);
	obj_set_str(o, "remedy", f->remedy);
	return o;
}

static int print_data(const struct linting *x, const struct catalog_index *index, struct error *err)
{
	CLEANUP(obj_unrefp) struct obj *o = obj_map();
	struct obj *list = obj_list();
	const struct lint *l = &x->lint;
	const struct lint_finding **all = sorted(x);
	for (size_t i = 0; i < l->n; i++)
		obj_append(list, finding_obj(x, all[i]));
	obj_set_int(o, "packages", (int64_t)index->n_packages);
	obj_set_int(o, "versions", (int64_t)index->n);
	obj_set_int(o, "errors", (int64_t)l->n_errors);
	obj_set_int(o, "warnings", (int64_t)l->n_warnings);
	obj_set(o, "findings", list);
	obj_set_int(o, "findingsOmitted", (int64_t)(l->n_errors + l->n_warnings - l->n));
	return cli_print_data(x->c, o, err);
}

static void print_findings(const struct linting *x)
{
	const struct lint *l = &x->lint;
	const struct lint_finding **all = sorted(x);
	for (size_t i = 0; i < l->n; i++)
		print_finding(x, all[i]);
	if (l->n_errors + l->n_warnings > l->n)
		term_print("and %zu more\n", l->n_errors + l->n_warnings - l->n);
}

static const char *plural_s(size_t n)
{
	return n == 1 ? "" : "s";
}

static int lint_run(struct cli *c, struct error *err)
{
	CLEANUP(catalog_source_freep) struct catalog_source *s = NULL;
	CLEANUP(map_freep) struct map *descriptors = map_new(unref);
	bool data;
	if (cli_output_data(c, &data, err) < 0 || catalog_source_read(c, c->args[0], &s, err) < 0)
		return -err->code;
	const struct catalog_index *x = catalog_source_index(s);
	struct linting l = {
		.c = c, .source = s, .lint = lint_new(c->arena), .descriptors = descriptors};
	lint_index(&l.lint, x);
	if (!cli_flag(c, "quick"))
		lint_archives(&l, x);
	c->exit_code = l.lint.n_errors ? 1 : 0;
	if (data)
		return print_data(&l, x, err);
	print_findings(&l);
	term_print("%zu package%s, %zu version%s: %zu error%s, %zu warning%s\n", x->n_packages,
		   plural_s(x->n_packages), x->n, plural_s(x->n), l.lint.n_errors,
		   plural_s(l.lint.n_errors), l.lint.n_warnings, plural_s(l.lint.n_warnings));
	return 0;
}

static const struct cmd_option options[] = {
	{"quick", NULL, "the index alone, without opening the archives", 0},
	CLI_OUTPUT_OPTION,
	CATALOG_SOURCE_OPTIONS,
	{0},
};

const struct cmd cmd_catalog_lint = {
	.name = "lint",
	.usage = "alm catalog lint SOURCE [--quick] [-o json]",
	.examples = "alm catalog lint /var/lib/alm/catalog",
	.summary = "check every entry and archive, and the versions against each other",
	.description =
		"Errors: version, duplicate, digest, descriptor, provides, drop-in-minor, "
		"crd-break,\n"
		"edge-backwards. Warnings: dead-end, several-heads, shadowed, requires-nobody,\n"
		"two-providers, unsafe-object. Each names the file, the line of alm.yaml and a "
		"remedy.\n"
		"Exit status 1: there are errors.",
	.options = options,
	.args = {1, 1},
	.run = lint_run,
};
