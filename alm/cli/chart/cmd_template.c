/* alm template: a drop-in for `helm template`. */

#include "alm/cli/chart/cmd_charts.h"
#include "alm/cli/chart/template_box.h"
#include "alm/cli/chart/template_run.h"
#include "alm/cli/term.h"

int cmd_template_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(strbuf_release) struct strbuf msg = STRBUF_INIT(STRBUF_SMALL);
	struct template_args *args = ARENA_NEW(a, struct template_args);
	if (template_args_parse(a, argc, argv, args, &msg) < 0) {
		term_error("Error: ");
		term_error_lines(strbuf_str(&msg));
		term_error("\n");
		return 1;
	}
	if (args->help) {
		template_run_args(a, args, NULL, &out, &msg);
		term_lines(strbuf_str(&out));
		return 0;
	}
	return template_box_run(a, args, template_run_args, BOX_DATA);
}
