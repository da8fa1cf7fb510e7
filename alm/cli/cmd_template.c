/* alm template: a drop-in for `helm template`. */
#include <stdio.h>
#include <stdlib.h>

#include "alm/cli/cmd_charts.h"
#include "alm/cli/template_run.h"
#include "alm/io/loop.h"
#include "alm/io/zones.h"

static int entropy(void *ctx, void *out, size_t len)
{
	loop_random(ctx, out, len);
	return 0;
}

int cmd_template_main(int argc, char **argv)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(TEMPLATE_ARENA_MAX);
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	CLEANUP(strbuf_release) struct strbuf err = STRBUF_INIT(TEMPLATE_OUTPUT_MAX);
	struct loop *loop = loop_event_new();
	const char *zone = getenv("TZ");
	const struct tmpl_host host = {.now_ns = loop_now(loop),
				       .zone = zone && *zone ? zone : "UTC",
				       .entropy = entropy,
				       .zone_bytes = zones_read,
				       .ctx = loop};
	int code = template_run(a, argc, argv, &host, &out, &err);
	loop_free(loop);
	(void)fwrite(err.buf, 1, err.len, stderr);
	(void)fwrite(out.buf, 1, out.len, stdout);
	return fflush(stdout) ? 1 : code;
}
