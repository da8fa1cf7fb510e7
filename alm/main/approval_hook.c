#include "alm/main/approval_hook.h"

#include "alm/base/log.h"
#include "alm/controllers/app/approval_review.h"
#include "alm/controllers/app/approver.h"
#include "alm/main/injected_server.h"
#include "alm/obj/json.h"

#define PATH        "/approvals"
#define NAMES_BYTES ((size_t)16 << 10)
#define BODY_NS     (5 * NS_PER_S) /* the API server itself waits for 10 s */

/* Who calls is not asked, so all calls share these; each is served in one turn of the loop. */
static const struct quota_limit limits[N_QUOTAS] = {
	[QUOTA_CONNECTIONS] = {64, 64, 0},
	[QUOTA_REQUESTS] = {32, 32, 0},
	[QUOTA_BODY_BYTES] = {32 * QUOTA_MIB, 32 * QUOTA_MIB, 0},
	[QUOTA_QUEUE_BYTES] = {QUOTA_MIB, QUOTA_MIB, 0},
};

struct approval_hook {
	struct arena *arena;
	struct injected_server front;
};

static void answer(struct exchange *x, int status, const char *type, const char *text)
{
	struct http_headers headers = {0};
	http_header_add(&headers, "Content-Type", type);
	exchange_reply(x, status, &headers, str_of(text));
}

static bool admit(void *arg UNUSED, struct exchange *x, struct server_client *ret UNUSED)
{
	if (!cstr_eq(x->request->path, PATH))
		answer(x, 404, "text/plain", "404 page not found\n");
	else if (!cstr_eq(x->request->method, "POST"))
		answer(x, 405, "text/plain", "POST is wanted\n");
	else
		return true;
	return false;
}

static void handle(void *arg UNUSED, struct exchange *x)
{
	struct error err = ERROR_INIT;
	CLEANUP(obj_unrefp) struct obj *review = NULL, *verdict = NULL;
	if (json_parse(x->request->body, &review, &err) < 0 ||
	    approval_review(review, &verdict, &err) < 0) {
		log_warn("a call of the webhook is no review", "peer", x->request->peer, "why",
			 err.msg);
		answer(x, 400, "text/plain", arena_fmt(x->arena, "%s\n", err.msg));
		return;
	}
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(NAMES_BYTES);
	json_print(verdict, &b);
	answer(x, 200, "application/json", b.buf);
}

int approval_hook_check(struct loop *l, const char *listen, const char *records_listen,
			struct error *err)
{
	if (!listen)
		return 0;
	if (cstr_eq(listen, records_listen) && !cstr_has_suffix(listen, ":0"))
		return error_set(err, E_USAGE,
				 "--webhook-listen and --records-listen are both %s: each has its "
				 "own certificates, and wants an address of its own",
				 listen);
	return server_probe(l, listen, err) < 0 ? error_wrap(err, "--webhook-listen") : 0;
}

int approval_hook_start(const struct approval_hook_config *config, struct approval_hook **ret,
			struct error *err)
{
	const struct injected_server_config c = {.client = config->client,
						 .data_dir = config->data_dir,
						 .ca_name = "webhook-ca",
						 .place = &injected_ca_webhooks,
						 .object = APPROVER_WEBHOOK,
						 .host = APPROVAL_HOOK_HOST,
						 .hosts = config->hosts,
						 .n_hosts = config->n_hosts,
						 .listen = config->listen,
						 .admit = admit,
						 .body_max = APPROVAL_REVIEW_BYTES_MAX,
						 .body_ns = BODY_NS,
						 .limits = limits};
	*ret = NULL;
	if (!config->listen)
		return 0;
	struct approval_hook *h = xcalloc(1, sizeof(*h));
	h->arena = arena_new(NAMES_BYTES);
	if (injected_server_start(&h->front, &c, h->arena, handle, h, err) < 0) {
		approval_hook_free(h);
		return error_wrap(err, "--webhook-listen");
	}
	*ret = h;
	return 0;
}

void approval_hook_lead(struct approval_hook *h, bool leads)
{
	if (h)
		injected_server_lead(&h->front, leads);
}

const char *const *approval_hook_bundle(const struct approval_hook *h)
{
	return h ? injected_ca_bundle(h->front.ca) : NULL;
}

const char *approval_hook_address(const struct approval_hook *h)
{
	return server_address(h->front.server);
}

void approval_hook_free(struct approval_hook *h)
{
	if (!h)
		return;
	injected_server_release(&h->front);
	arena_free(h->arena);
	xfree(h);
}
