#include "alm/io/metrics_server.h"

#include <string.h>

#include "alm/base/log.h"
#include "alm/obj/json.h"

#define METRICS_LISTEN    "127.0.0.1:8080"
#define METRICS_BYTES_MAX ((size_t)16 << 20)

struct metrics_server {
	struct metrics_server_config c;
	struct server *server;
};

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

static void reply_ready(const struct metrics_server *s, struct exchange *x)
{
	const char *missing = s->c.not_ready ? s->c.not_ready(s->c.arg) : NULL;
	reply(x, missing ? 503 : 200, "text/plain", missing ? str_of(missing) : STR("ok"));
}

/* Everything is answered at the head. */
static bool answer(void *arg, struct exchange *x, struct server_client *ret UNUSED)
{
	const struct metrics_server *s = arg;
	const char *path = x->request->path;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(METRICS_BYTES_MAX);
	if (!strcmp(path, "/healthz")) {
		reply(x, 200, "text/plain", STR("ok"));
	} else if (!strcmp(path, "/readyz")) {
		reply_ready(s, x);
	} else if (!strcmp(path, "/metrics")) {
		count_parses(s->c.metrics);
		metrics_print(s->c.metrics, &body);
		reply(x, 200, "text/plain; version=0.0.4", strbuf_str(&body));
	} else {
		reply(x, 404, "text/plain", STR("404 page not found\n"));
	}
	return false;
}

static void handle(void *arg UNUSED, struct exchange *x)
{
	exchange_cut(x); /* never comes here */
}

int metrics_server_start(struct loop *l, const struct metrics_server_config *config,
			 struct metrics_server **ret, struct error *err)
{
	struct server_config c = {.listen = config->listen ? config->listen : METRICS_LISTEN,
				  .admit = answer,
				  .hosts = config->hosts,
				  .n_hosts = config->n_hosts,
				  .anonymous_max = 64};
	*ret = NULL;
	if (!strcmp(c.listen, "off"))
		return 0;
	struct metrics_server *s = xcalloc(1, sizeof(*s));
	s->c = *config;
	int r = server_listen(l, &c, handle, s, &s->server, err);
	if (r >= 0) {
		*ret = s;
		return 0;
	}
	xfree(s);
	if (config->listen)
		return error_wrap(err, "--metrics-listen");
	/* nobody asked for it: a reason to say so, none to stop */
	log_warn("no metrics are served; choose another address with --metrics-listen", "error",
		 err->msg);
	*err = ERROR_INIT;
	return 0;
}

const char *metrics_server_address(const struct metrics_server *s)
{
	return server_address(s->server);
}

void metrics_server_free(struct metrics_server *s)
{
	if (!s)
		return;
	server_free(s->server);
	xfree(s);
}
