#include "alm/cli/chart/template_run.h"

#include <string.h>

#include "alm/base/file.h"
#include "alm/base/map.h"
#include "alm/cli/chart/chart_dir.h"
#include "installers/chart/glob.h"

#define SHOW_PIECES_MAX 20000

/* ---- rendering ---- */

static int expand_name(struct arena *a, struct template_args *args, const struct tmpl_host *host,
		       struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(tmpl_set_freep) struct tmpl_set *set = tmpl_set_new(args->profile, false);
	int rc = tmpl_set_add(set, STR("name-template"), str_of(args->name_template), msg);
	if (rc < 0)
		return rc;
	CLEANUP(tmpl_run_freep) struct tmpl_run *run =
		tmpl_run_new(set, a, host, &tmpl_limits_default);
	rc = tmpl_run_file(run, STR("name-template"), VALUE_NONE, &out, msg);
	if (rc == 0)
		args->name = arena_text(a, out.buf, out.len);
	return rc;
}

static int load_chart(struct arena *a, const struct template_args *args, struct chart **ret,
		      struct strbuf *msg)
{
	if (args->chart_failure) {
		strbuf_adds(msg, args->chart_failure);
		return -E_NOTFOUND;
	}
	if (args->source)
		return chart_dir_parse(a, args->source, args->profile, ret, msg);
	return chart_dir_load(a, args->chart, args->profile, ret, msg);
}

int template_render(struct arena *a, struct template_args *args, const struct tmpl_host *host,
		    struct render_result *ret, struct strbuf *msg)
{
	struct vmap *values;
	struct chart *c;
	*ret = (struct render_result){0};
	if (args->kube_version && *args->kube_version &&
	    render_check_kube_version(str_of(args->kube_version), msg) < 0)
		return -E_INVALID;
	int rc = args->name_template ? expand_name(a, args, host, msg) : 0;
	if (rc >= 0)
		rc = template_args_values(a, args, &values, msg);
	if (rc >= 0)
		rc = load_chart(a, args, &c, msg);
	if (rc < 0)
		return rc;
	struct render_request rq = template_args_request(args);
	rq.values = values;
	rq.host = host;
	return render_chart(a, c, &rq, ret, msg);
}

/* ---- --show-only ---- */

/* The path in the first "# Source: CHART/PATH" line of a piece; false if there is none. */
static bool source_path(struct str piece, struct str *ret)
{
	struct str line, chart;
	while (str_next_line(&piece, &line)) {
		ptrdiff_t at = str_find(line, STR("# Source: "));
		if (at < 0)
			continue;
		struct str rest = str_skip(line, (size_t)at + strlen("# Source: "));
		if (str_cut(rest, '/', &chart, ret) && chart.len && ret->len)
			return true;
	}
	return false;
}

static int show_one(const char *pattern, struct str all, enum tmpl_profile profile,
		    struct strbuf *out, struct strbuf *msg)
{
	struct manifest_split s = manifest_split(all, profile);
	struct str piece, path;
	bool found = false;
	for (size_t n = 0; n < SHOW_PIECES_MAX && manifest_next(&s, &piece); n++) {
		bool match = false;
		if (!source_path(piece, &path) || glob_match(str_of(pattern), path, &match) < 0 ||
		    !match)
			continue;
		strbuf_addf(out, "---\n%.*s\n", STR_ARG(piece));
		found = true;
	}
	if (found)
		return 0;
	strbuf_addf(msg, "could not find template %s in chart", pattern);
	return -E_NOTFOUND;
}

static int show_only(const struct template_args *args, struct str all, struct strbuf *out,
		     struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(out->limit);
	for (size_t i = 0; i < args->show_only.n; i++) {
		int rc = show_one(args->show_only.items[i], all, args->profile, &b, msg);
		if (rc < 0)
			return rc;
	}
	strbuf_addstr(out, strbuf_str(&b));
	return 0;
}

/* ---- --output-dir ---- */

struct writer {
	struct arena *a;
	const struct template_io *io;
	struct map *texts; /* path -> struct strbuf, what the file holds so far */
	struct strbuf *out, *msg;
};

static void free_text(void *p)
{
	strbuf_release(p);
	xfree(p);
}

int template_write(const char *path, struct str text, struct error *err)
{
	CLEANUP(xfreep) char *folder = xstrdup(path);
	*strrchr(folder, '/') = 0;
	if (dir_make(folder, 0755, err) < 0)
		return -err->code;
	return file_write_atomic(path, text, 0644, err);
}

static int write_piece(struct writer *w, const char *dir, const char *path, struct str text)
{
	struct error err = ERROR_INIT;
	const char *full = arena_fmt(w->a, "%s/%s", dir, path);
	struct strbuf *b = map_get(w->texts, full);
	if (!b) {
		b = xcalloc(1, sizeof(*b));
		strbuf_init(b, TEMPLATE_OUTPUT_MAX);
		map_set(w->texts, full, b);
	}
	strbuf_addf(b, "---\n# Source: %s\n%.*s\n", path, STR_ARG(text));
	int rc = w->io ? w->io->write(w->io->ctx, full, strbuf_str(b), &err)
		       : template_write(full, strbuf_str(b), &err);
	if (rc < 0) {
		strbuf_adds(w->msg, err.msg);
		return -err.code;
	}
	strbuf_addf(w->out, "wrote %s\n", full);
	return 0;
}

static int write_files(struct arena *a, const struct template_args *args,
		       const struct render_result *r, struct strbuf *out, struct strbuf *msg)
{
	CLEANUP(map_freep) struct map *texts = map_new(free_text);
	struct writer w = {.a = a, .io = args->io, .texts = texts, .out = out, .msg = msg};
	/* CRDs are outside the folder of the release, as helm has them */
	const char *dir = args->use_release_name
				  ? arena_fmt(a, "%s/%s", args->output_dir,
					      args->name ? args->name : "release-name")
				  : args->output_dir;
	int rc = 0;
	for (size_t i = 0; args->include_crds && rc == 0 && i < r->n_crds; i++)
		rc = write_piece(&w, args->output_dir, r->crds[i].path, r->crds[i].text);
	for (size_t i = 0; rc == 0 && i < r->n_documents; i++)
		rc = write_piece(&w, dir, r->documents[i].path, r->documents[i].text);
	for (size_t i = 0; !args->no_hooks && rc == 0 && i < r->n_hooks; i++)
		if (!(args->skip_tests && (r->hooks[i].events & HOOK_TEST)))
			rc = write_piece(&w, dir, r->hooks[i].path, r->hooks[i].text);
	/* Nothing is left to be shown: Helm then finds no template. */
	if (rc == 0 && args->show_only.n)
		return show_only(args, STR(""), out, msg);
	strbuf_addc(out, '\n');
	return rc;
}

/* ---- the command ---- */

static int print(struct arena *a, const struct template_args *args, const struct render_result *r,
		 struct strbuf *out, struct strbuf *msg)
{
	struct render_print options = {.crds = args->include_crds,
				       .no_hooks = args->no_hooks,
				       .skip_tests = args->skip_tests};
	if (args->output_dir)
		return write_files(a, args, r, out, msg);
	if (!args->show_only.n) {
		options.put = args->io ? args->io->put : NULL;
		options.ctx = args->io ? args->io->ctx : NULL;
		render_print(r, &options, out);
		return 0;
	}
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(out->limit);
	render_print(r, &options, &all);
	return show_only(args, strbuf_str(&all), out, msg);
}

/* --debug: what was rendered, though it is not YAML. */
static void print_broken(const struct template_args *args, const struct render_result *r,
			 struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(out->limit);
	CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(STRBUF_SMALL);
	for (size_t i = 0; i < r->n_files; i++) {
		const struct render_file *f = &r->files[i];
		if (str_trim(f->text).len && !str_has_suffix(f->path, STR("NOTES.txt")))
			strbuf_addf(&all, "---\n# Source: %.*s\n%.*s\n", STR_ARG(f->path),
				    STR_ARG(f->text));
	}
	if (args->show_only.n)
		show_only(args, strbuf_str(&all), out, &ignored);
	else
		strbuf_addstr(out, strbuf_str(&all));
}

int template_run(struct arena *a, int argc, char **argv, const struct tmpl_host *host,
		 struct strbuf *out, struct strbuf *err)
{
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	if (template_args_parse(a, argc, argv, args, &msg) < 0) {
		strbuf_addf(err, "Error: %.*s\n", STR_ARG(strbuf_str(&msg)));
		return 1;
	}
	return template_run_args(a, args, host, out, err);
}

int template_run_args(struct arena *a, const struct template_args *given,
		      const struct tmpl_host *host, struct strbuf *out, struct strbuf *err)
{
	struct template_args *args = arena_memdup(a, given, sizeof(*given));
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct render_result result = {0};
	int rc = template_render(a, args, host, &result, &msg);
	for (size_t i = 0; args->source && i < args->source->links.n; i++)
		strbuf_addf(err, "%s\n", args->source->links.items[i].log);
	for (size_t i = 0; i < result.warnings.n; i++)
		strbuf_addf(err, "%s\n", result.warnings.items[i].log);
	if (rc == 0)
		rc = print(a, args, &result, out, &msg);
	if (rc == 0)
		return 0;
	if (args->debug && result.failed_late)
		print_broken(args, &result, out);
	strbuf_addf(err, "Error: %.*s%s\n", STR_ARG(strbuf_str(&msg)),
		    result.failed_late && !args->debug
			    ? "\n\nUse --debug flag to render out invalid YAML"
			    : "");
	return 1;
}
