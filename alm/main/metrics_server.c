#include "alm/main/metrics_server.h"

#include <string.h>

#include "alm/base/log.h"

#define METRICS_LISTEN    "127.0.0.1:8080"
#define METRICS_BYTES_MAX ((size_t)16 << 20)

static void reply(struct exchange *x, int status, const char *type, struct str body)
{
	struct http_headers h = {0};
	http_header_add(&h, "Content-Type", type);
	exchange_reply(x, status, &h, body);
}

static void handle(void *arg, struct exchange *x)
{
	struct metrics *m = arg;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(METRICS_BYTES_MAX);
	if (!strcmp(x->request.path, "/healthz")) {
		reply(x, 200, "text/plain", STR("ok"));
		return;
	}
	if (strcmp(x->request.path, "/metrics") != 0) {
		reply(x, 404, "text/plain", STR("404 page not found\n"));
		return;
	}
	metrics_print(m, &body);
	reply(x, 200, "text/plain; version=0.0.4", strbuf_str(&body));
}

int metrics_server_start(struct loop *l, const char *listen, struct metrics *m, struct server **ret,
			 struct error *err)
{
	struct server_config c = {.listen = listen ? listen : METRICS_LISTEN,
				  .connections_max = 64};
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
