/* The pipeline of alm run as a library: embed KUBECONFIG DIR [ROLLOUT]; without DIR one ConfigMap of its own. */
#include <stdio.h>

#include "alm/controllers/run_host.h"
#include "alm/obj/json.h"

#define OBJECT "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"embedded\"}}"

/* What is to be there: the renderer. */
static int make(struct run_render *call, struct error *err)
{
	struct flat flat;
	struct obj *cm = NULL;
	const struct flat_place place = {.name = "cm", .file = "embed.c", .alone = true};
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = call->bundle,
				       .instance = call->instance,
				       .ns = "default",
				       .digest = run_digest};
	flat_init(&flat, call->a);
	if (json_parse(STR(OBJECT), &cm, err) < 0 || flat_add(&flat, &place, cm, err) < 0 ||
	    flat_sort(&flat, o.ns, err) < 0)
		return -err->code;
	return unit_make(&flat, &o, &call->unit, err);
}

static void render(void *arg, struct run_render *call)
{
	char **argv = arg;
	struct error err = ERROR_INIT;
	int r = argv[2] ? run_host_render(call, argv[2], argv[3], "default", &err)
			: make(call, &err);
	call->done(call, r < 0 ? &err : NULL);
}

static void said(void *arg UNUSED, const char *instance, const char *step, const char *state,
		 const char *message)
{
	printf("%s %s: %s %s\n", instance, step, state, message ? message : "");
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	CLEANUP(run_host_freep) struct run_host *host = NULL;
	const struct run_host_config to = {.kubeconfig.path = argc > 1 ? argv[1] : "kubeconfig"};
	const struct run_config c = {.bundle = "embed",
				     .job = RUN_JOB_INIT,
				     .render = render,
				     .said = said,
				     .arg = argv};
	if (run_host_open(&to, &host, &err) < 0)
		return printf("failed: %s\n", err.msg), 2;
	int r = run_host_once(host, &c, &err);
	printf("%s: %s\n", c.bundle, r < 0 ? err.msg : "rolled out");
	return r < 0;
}
