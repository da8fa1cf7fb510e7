/*
 * template_args: the flags of `helm template`, and what they load: values files, --set-file. The
 * same for `alm template` and for the tests of recorded cases.
 */
#ifndef ALM_CLI_CHART_TEMPLATE_ARGS_H
#define ALM_CLI_CHART_TEMPLATE_ARGS_H

#include "installers/render.h"

#define TEMPLATE_ARGS_MAX 1000
#define TEMPLATE_FILE_MAX ((size_t)16 << 20) /* of -f and --set-file */

struct template_list {
	const char **items;
	size_t n, cap;
};

/* The files that a run opens besides the chart: -f, --set-file, and those of --output-dir; and
 * where its output goes. */
struct template_io {
	int (*read)(void *ctx, const char *path, struct strbuf *b, struct error *err);
	int (*write)(void *ctx, const char *path, struct str text, struct error *err);
	void (*put)(void *ctx, struct str text); /* output in pieces; NULL: all at the end */
	void *ctx;
};

struct chart_source;

struct template_args {
	const struct template_io *io; /* NULL: the file system */
	/* The chart, read already; NULL: it is read from its path. chart_failure: why it could not
	 * be, told when its turn comes. */
	struct chart_source *source;
	const char *chart_failure;
	const char *name, *chart; /* positional; name may be NULL */
	const char *ns, *kube_version, *name_template, *output_dir;
	const char *seed;           /* of all randomness; NULL: the machine's */
	int64_t now_ns;             /* 0: the machine's */
	int render_cpu_s;           /* 0: RENDER_CPU_S */
	struct template_list words; /* all that are no flags */
	struct template_list old;   /* "Flag --atomic has been deprecated, ...", as helm says it */
	enum tmpl_profile profile;
	bool include_crds, no_hooks, skip_tests, is_upgrade, skip_schema, subchart_notes, strict,
		debug, use_release_name, generate_name, quiet; /* of lint */
	const char *lint_output; /* of lint, too: "json", "yaml"; NULL: text */
	struct template_list values, set, set_string, set_json, set_file, set_literal, api_versions,
		show_only;
};

/* E_USAGE "unknown flag: --x". Texts are borrowed from argv or live in the arena. */
int template_args_parse(struct arena *a, int argc, char **argv, struct template_args *ret,
			struct strbuf *msg);
/* The same, whatever the words are: they are in words alone. */
int template_args_parse_words(struct arena *a, int argc, char **argv, struct template_args *ret,
			      struct strbuf *msg);
/* Reads the -f files and combines all sources. */
int template_args_values(struct arena *a, const struct template_args *args, struct vmap **ret,
			 struct strbuf *msg);
/* The request, without values and host. */
struct render_request template_args_request(const struct template_args *args);

#endif
