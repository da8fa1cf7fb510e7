#include "alm/main/git_hooks.h"

#include <string.h>
#include <sys/queue.h>

#include "alm/base/log.h"
#include "alm/base/mem.h"
#include "alm/io/metrics.h"

#define PATH "/hooks/git"

struct pending {
	TAILQ_ENTRY(pending) link;
	struct git_hooks *h;
	struct exchange *x;
	struct git_hook hook;
	struct manager_hook *at_work; /* NULL: it is refused, and waits to be told */
	struct timer refused;
	int64_t since_ns;
};

struct git_hooks {
	struct loop *loop;
	struct git_hooks_config c;
	struct server *server;
	struct manager *manager;
	TAILQ_HEAD(, pending) pending;
	size_t n_pending;
	int64_t paid_at_ns; /* when the bucket is full again */
};

static void count(struct git_hooks *h, const char *labels)
{
	metric_add(metrics_counter(h->c.metrics, "alm_git_hooks_total",
				   "Pushes that servers of git told of.", labels),
		   1);
}

static void answer(struct exchange *x, int status, const char *text)
{
	struct http_headers headers = {0};
	http_header_add(&headers, "Content-Type", "text/plain");
	if (status == 429 || status == 503)
		http_header_add(&headers, "Retry-After", "1");
	exchange_reply(x, status, &headers, str_of(text));
}

static void refused(struct git_hooks *h, struct exchange *x, const char *why)
{
	log_warn("a hook of git is refused", "peer", x->request->peer, "why", why);
	count(h, "result=\"refused\"");
}

/* --- one that is under way --- */

static void pending_free(struct pending *p)
{
	struct git_hooks *h = p->h;
	manager_hook_cancel(p->at_work);
	loop_disarm(h->loop, &p->refused);
	TAILQ_REMOVE(&h->pending, p, link);
	h->n_pending--;
	xfree(p);
}

static void end(struct pending *p, int status, const char *text)
{
	struct exchange *x = p->x;
	pending_free(p);
	answer(x, status, text);
}

static void on_close(void *arg)
{
	pending_free(arg);
}

static void tell_refused(void *arg)
{
	end(arg, 401, "no Bundle takes this push with this signature\n");
}

/* All of them after the same time: it does not tell what was wrong. */
static void refuse(struct pending *p)
{
	int64_t left = p->since_ns + HOOKS_REFUSED_NS - loop_mono(p->h->loop);
	loop_arm(p->h->loop, &p->refused, left > 0 ? left : 0);
}

static void judged(void *arg, size_t n_taken, bool failed)
{
	struct pending *p = arg;
	p->at_work = NULL;
	if (n_taken) {
		count(p->h, "result=\"taken\"");
		end(p, 202, "read now\n");
		return;
	}
	refused(p->h, p->x, failed ? "Secrets cannot be read" : "no Bundle takes it");
	refuse(p);
}

static struct pending *begin(struct git_hooks *h, struct exchange *x)
{
	struct pending *p = xcalloc(1, sizeof(*p));
	p->h = h;
	p->x = x;
	p->since_ns = loop_mono(h->loop);
	p->refused = (struct timer){.fn = tell_refused, .arg = p};
	p->hook = (struct git_hook){
		.body = x->request->body,
		.signature = http_header(&x->request->headers, "X-Hub-Signature-256"),
		.token = http_header(&x->request->headers, "X-Gitlab-Token")};
	x->on_close = on_close;
	x->on_close_arg = p;
	TAILQ_INSERT_TAIL(&h->pending, p, link);
	h->n_pending++;
	return p;
}

/* --- requests --- */

static void handle(void *arg, struct exchange *x)
{
	struct git_hooks *h = arg;
	struct error err = ERROR_INIT;
	if (x->request->body.len > GIT_HOOK_BYTES_MAX) {
		refused(h, x, "its body is too large");
		answer(x, 413, "at most 1 MiB\n");
		return;
	}
	if (!h->manager || h->n_pending == HOOKS_MAX) {
		answer(x, 503, "nobody acts here now\n");
		return;
	}
	struct pending *p = begin(h, x);
	if (git_hook_read(&p->hook, x->arena, &err) < 0) {
		refused(h, x, err.msg);
		end(p, 400, "the JSON of a push with its repository is wanted\n");
		return;
	}
	p->at_work = manager_hook_start(h->manager, &p->hook, judged, p);
}

/* A bucket of HOOKS_BURST that HOOKS_A_SECOND flow into. */
static bool may_come(struct git_hooks *h)
{
	const int64_t each = NS_PER_S / HOOKS_A_SECOND;
	int64_t now = loop_mono(h->loop);
	int64_t paid = h->paid_at_ns > now ? h->paid_at_ns : now;
	if (paid + each > now + HOOKS_BURST * each)
		return false;
	h->paid_at_ns = paid + each;
	return true;
}

static bool is_too_long(const struct http_headers *headers)
{
	const char *text = http_header(headers, "Content-Length");
	int64_t n = 0;
	return text && (!str_parse_i64(str_of(text), &n) || n > (int64_t)GIT_HOOK_BYTES_MAX);
}

/* What is refused whoever says it is refused before its body comes. */
static bool admit(void *arg, struct exchange *x, struct server_client *ret UNUSED)
{
	struct git_hooks *h = arg;
	const struct http_request *r = x->request;
	if (strcmp(r->path, PATH) != 0) {
		answer(x, 404, "404 page not found\n");
	} else if (strcmp(r->method, "POST") != 0) {
		answer(x, 405, "POST is wanted\n");
	} else if (!may_come(h)) {
		count(h, "result=\"limited\"");
		answer(x, 429, "too many\n");
	} else if (is_too_long(&r->headers)) {
		refused(h, x, "its body is too large");
		answer(x, 413, "at most 1 MiB\n");
	} else {
		return true;
	}
	return false;
}

/* --- life --- */

int git_hooks_start(struct loop *l, const struct git_hooks_config *config, struct git_hooks **ret,
		    struct error *err)
{
	struct server_config c = {.listen = config->listen,
				  .admit = admit,
				  .hosts = config->hosts,
				  .n_hosts = config->n_hosts,
				  .anonymous_max = HOOKS_MAX};
	*ret = NULL;
	if (!c.listen)
		return 0;
	struct git_hooks *h = xcalloc(1, sizeof(*h));
	h->loop = l;
	h->c = *config;
	TAILQ_INIT(&h->pending);
	if (server_listen(l, &c, handle, h, &h->server, err) < 0) {
		xfree(h);
		return error_wrap(err, "--hooks-listen");
	}
	*ret = h;
	return 0;
}

static void end_all(struct git_hooks *h)
{
	struct pending *p, *next;
	for (p = TAILQ_FIRST(&h->pending); p; p = next) {
		next = TAILQ_NEXT(p, link);
		end(p, 503, "nobody acts here now\n");
	}
}

void git_hooks_set(struct git_hooks *h, struct manager *m)
{
	if (!h)
		return;
	if (!m)
		end_all(h);
	h->manager = m;
}

const char *git_hooks_address(const struct git_hooks *h)
{
	return server_address(h->server);
}

void git_hooks_free(struct git_hooks *h)
{
	if (!h)
		return;
	end_all(h);
	server_free(h->server);
	xfree(h);
}
