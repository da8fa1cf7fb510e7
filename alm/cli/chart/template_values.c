/* template_values: what the flags of template_args.h load: the values, and the request to render. */
#include <stddef.h>

#include "alm/base/file.h"
#include "alm/cli/chart/template_args.h"

static int template_args_read(const struct template_args *args, const char *path, struct strbuf *b,
			      struct error *err)
{
	return args->io ? args->io->read(args->io->ctx, path, b, err)
			: file_read_input(path, b, err);
}

/* Go's words for a file that cannot be read. */
static int read_text(struct arena *a, const struct template_args *args, const char *path,
		     struct str *ret, struct strbuf *msg)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TEMPLATE_FILE_MAX);
	struct error err = ERROR_INIT;
	if (template_args_read(args, path, &b, &err) < 0) {
		if (err.code == E_NOTFOUND)
			strbuf_addf(msg, "open %s: no such file or directory", path);
		else
			strbuf_adds(msg, err.msg);
		return -err.code;
	}
	*ret = str_n(arena_text(a, b.buf, b.len), b.len);
	return 0;
}

static int read_set_file(void *ctx, struct arena *a, struct str path, struct str *ret_text,
			 struct strbuf *msg)
{
	return read_text(a, ctx, arena_text(a, path.ptr, path.len), ret_text, msg);
}

int template_args_values(struct arena *a, const struct template_args *args, struct vmap **ret,
			 struct strbuf *msg)
{
	struct template_args copy = *args;
	const struct setpath_files reader = {.read = read_set_file, .ctx = &copy};
	struct values_file *files = ARENA_ARRAY(a, struct values_file, args->values.n + 1);
	for (size_t i = 0; i < args->values.n; i++) {
		files[i].name = args->values.items[i];
		int rc = read_text(a, args, files[i].name, &files[i].text, msg);
		if (rc < 0)
			return rc;
		if (str_has_prefix(files[i].text, STR("\xef\xbb\xbf")))
			files[i].text = str_skip(files[i].text, 3);
	}
	const struct values_sources s = {
		.files = files,
		.n_files = args->values.n,
		.json = args->set_json.items,
		.n_json = args->set_json.n,
		.typed = args->set.items,
		.n_typed = args->set.n,
		.string = args->set_string.items,
		.n_string = args->set_string.n,
		.file = args->set_file.items,
		.n_file = args->set_file.n,
		.literal = args->set_literal.items,
		.n_literal = args->set_literal.n,
		.reader = &reader,
	};
	return values_combine(a, &s, args->profile, ret, msg);
}

struct render_request template_args_request(const struct template_args *args)
{
	return (struct render_request){
		.profile = args->profile,
		.name = str_of(args->name),
		.ns = str_of(args->ns),
		.is_upgrade = args->is_upgrade,
		.strict = args->strict,
		.skip_schema = args->skip_schema,
		.subchart_notes = args->subchart_notes,
		.kube_version = str_of(args->kube_version),
		.api_versions = args->api_versions.items,
		.n_api_versions = args->api_versions.n,
	};
}
