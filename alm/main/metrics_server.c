#include "alm/main/metrics_server.h"

#include <string.h>

#include "alm/base/log.h"
#include "alm/obj/json.h"

#define METRICS_LISTEN    "127.0.0.1:8080"
#define METRICS_BYTES_MAX ((size_t)16 << 20)

static void reply(struct exchange *x, int status, const char *type, struct str body)
{
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", type);
	exchange_reply(x, status, &h, body);
}

static void count_parses(struct metrics *m)
{
	struct metric *c = metrics_counter(m, "alm_json_parses_total",
					   "JSON documents that this program has read.", NULL);
	metric_add(c, json_parses() - (uint64_t)metric_value(c));
}

/* Everything is answered at the head. */
static bool answer(void *arg, struct exchange *x, struct server_client *ret UNUSED)
{
	struct metrics *m = arg;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(METRICS_BYTES_MAX);
	if (!strcmp(x->request.path, "/healthz")) {
		reply(x, 200, "text/plain", STR("ok"));
		return false;
	}
	if (strcmp(x->request.path, "/metrics") != 0) {
		reply(x, 404, "text/plain", STR("404 page not found\n"));
		return false;
	}
	count_parses(m);
	metrics_print(m, &body);
	reply(x, 200, "text/plain; version=0.0.4", strbuf_str(&body));
	return false;
}

static void handle(void *arg UNUSED, struct exchange *x)
{
	exchange_cut(x); /* never comes here */
}

int metrics_server_start(struct loop *l, const char *listen, const struct allowed_hosts *hosts,
			 struct metrics *m, struct server **ret, struct error *err)
{
	struct server_config c = {.listen = listen ? listen : METRICS_LISTEN,
				  .admit = answer,
				  .hosts = hosts->names,
				  .n_hosts = hosts->n,
				  .anonymous_max = 64};
	*ret = NULL;
	if (!strcmp(c.listen, "off"))
		return 0;
	int r = server_listen(l, &c, handle, m, ret, err);
	if (r < 0 && listen)
		return error_wrap(err, "--metrics-listen");
	if (r < 0) /* nobody asked for it: a reason to say so, none to stop */
		log_warn("no metrics are served; choose another address with --metrics-listen",
			 "error", err->msg);
	*err = ERROR_INIT;
	return 0;
}
