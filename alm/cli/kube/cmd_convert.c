/* cmd_convert: documents in the form of 2017 as those of today (crds/legacy.h), without a server. */
#include "alm/base/visible.h"
#include "alm/cli/cmds.h"
#include "alm/cli/kube/manifest.h"
#include "alm/cli/kube/write.h"
#include "alm/cli/term.h"
#include "alm/obj/json.h"
#include "alm/obj/yaml.h"

#define OUTPUT_MAX ((size_t)64 << 20)

static const struct cmd_option options[] = {
	{"filename", "FILE", "file, folder or - for standard input; may be given again", 'f'},
	{"output", "FORMAT", "yaml (default) or json", 'o'},
	{0},
};

static int run(struct cli *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(OUTPUT_MAX);
	const char *format = cli_value(c, "output");
	struct manifest m = {0};
	bool is_json = cstr_eq(format, "json");
	if (format && !is_json && !cstr_eq(format, "yaml"))
		return error_set(err, E_USAGE, "--output is yaml or json, not %s", format);
	int r = manifest_read(c, &m, err);
	for (size_t i = 0; i < m.n && r >= 0; i++) {
		r = write_modern(c, NULL, &m.items[i], err);
		if (r < 0)
			break;
		if (is_json) {
			json_print_pretty(m.items[i].o, 4, &b);
			strbuf_addc(&b, '\n');
		} else {
			if (i)
				visible_addf(&b, "---\n");
			yaml_print(m.items[i].o, &b);
		}
	}
	if (r >= 0)
		r = strbuf_check(&b, "the output", err);
	if (r >= 0)
		term_data(strbuf_str(&b));
	return r;
}

const struct cmd cmd_convert = {
	.name = "convert",
	.usage = "alm convert -f FILE...",
	.summary = "old documents in the form of today",
	.description =
		"Prints every object of -f; one in the form of 2017 (metadata.type, ownerRef, "
		"resources\nsuch as etcds.1.etcd.coreos.com, definitions of v1beta1) as this "
		"version stores it,\nwith a warning for each change on standard error. alm create "
		"and alm apply do the\nsame before they send; nothing is asked of a server here.",
	.examples = "alm convert -f old/ > new.yaml",
	.options = options,
	.args = {0, 0},
	.run = run,
};
