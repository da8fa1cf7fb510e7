/* The pipeline of alm run as a library: rolls one ConfigMap out onto the cluster of a kubeconfig. */
#include <stdio.h>

#include "alm/audit/audit.h"
#include "alm/client/client.h"
#include "alm/client/kubeconfig.h"
#include "alm/controllers/run.h"
#include "alm/obj/json.h"

#define OBJECT "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"embedded\"}}"

struct embed {
	struct loop *loop;
	int status;
};

/* What is to be there: the renderer. */
static void render(void *arg UNUSED, struct run_render *call)
{
	struct flat flat;
	struct error err = ERROR_INIT;
	struct obj *cm = NULL;
	const struct flat_place place = {.name = "cm", .file = "embed.c", .alone = true};
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = call->bundle,
				       .ns = "default",
				       .instance = call->instance,
				       .digest = run_digest};
	flat_init(&flat, call->a);
	if (json_parse(STR(OBJECT), &cm, &err) == 0 && flat_add(&flat, &place, cm, &err) == 0 &&
	    flat_sort(&flat, o.ns, &err) == 0)
		(void)unit_make(&flat, &o, &call->unit, &err);
	call->done(call, err.code ? &err : NULL);
}

static void said(void *arg UNUSED, const char *instance, const char *step, const char *state,
		 const char *message)
{
	printf("%s %s: %s %s\n", instance, step, state, message ? message : "");
}

static void ended(void *arg, const char *instance, const struct obj *record UNUSED,
		  const struct error *err)
{
	struct embed *e = arg;
	printf("%s: %s\n", instance, err ? err->msg : "rolled out");
	e->status = err ? 1 : 0;
	loop_stop(e->loop);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct kubeconfig_target to = {0};
	CLEANUP(loop_freep) struct loop *loop = loop_event_new();
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	CLEANUP(kubeconfig_freep) struct kubeconfig *kube = NULL;
	CLEANUP(transport_freep) struct transport *transport = NULL;
	CLEANUP(db_closep) struct db *db = NULL;
	struct audit *audit = NULL;
	const struct kubeconfig_sources from = {.path = argc > 1 ? argv[1] : "kubeconfig"};
	const struct db_config books = {.path = ":memory:", .layout = DB_LAYOUT};
	struct audit_config log = {.loop = loop};
	struct embed e = {loop, 1};
	if (kubeconfig_load(&from, &kube, &err) < 0 ||
	    kubeconfig_resolve(kube, NULL, false, a, &to, &err) < 0 ||
	    transport_curl_new(loop, &to.transport, &transport, &err) < 0 ||
	    db_open(&books, &db, &err) < 0)
		return printf("failed: %s\n", err.msg), 2;
	log.db = db;
	if (audit_open(&log, &audit, &err) < 0)
		return printf("failed: %s\n", err.msg), 2;
	CLEANUP(client_freep) struct client *client = client_new(loop, transport);
	const struct run_config c = {.loop = loop,
				     .client = client,
				     .audit = audit,
				     .db = db,
				     .bundle = "embed",
				     .job = {.inventory_ns = "alm-system"},
				     .render = render,
				     .said = said,
				     .ended = ended,
				     .arg = &e};
	struct run *run = run_new(&c);
	run_start(run);
	loop_run(loop);
	run_free(run);
	audit_close(audit);
	return e.status;
}
