#include "tests/lib/http_client.h"

#include <string.h>

#include "alm/base/clock.h"

static void on_head(void *arg, int status, const struct http_headers *h)
{
	struct result *r = arg;
	r->status = status;
	const char *type = http_header(h, "content-type");
	if (type)
		memccpy(r->type, type, 0, sizeof(r->type) - 1);
}

static void on_data(void *arg, struct str chunk)
{
	struct result *r = arg;
	strbuf_addstr(&r->body, chunk);
	r->n_chunks++;
}

static void on_done(void *arg, const struct error *err)
{
	struct result *r = arg;
	r->n_done++;
	if (err)
		r->err = *err;
}

const struct transport_events result_events = {.head = on_head, .data = on_data, .done = on_done};

struct call *call_start(struct transport *t, const struct transport_request *r, struct result *res)
{
	return transport_start(t, r, &result_events, res);
}

static void nothing(void *arg UNUSED)
{
}

bool turn_until(struct loop *l, const int *flag, int want)
{
	int64_t end = loop_mono(l) + 60 * NS_PER_S; /* a loaded machine */
	struct timer tick = {.fn = nothing};
	while (*flag < want && loop_mono(l) < end) {
		loop_arm(l, &tick, NS_PER_MS);
		loop_turn(l);
	}
	loop_disarm(l, &tick);
	return *flag >= want;
}

int call_wait(struct loop *l, struct transport *t, const char *method, const char *target,
	      struct str body, struct result *res)
{
	struct transport_request r = {.method = method, .target = target, .body = body};
	int before = res->n_done;
	strbuf_clear(&res->body);
	res->status = 0;
	res->err.code = 0;
	call_start(t, &r, res);
	return turn_until(l, &res->n_done, before + 1) ? res->status : -1;
}
