/* exchange_fake: see exchange_fake.h. */
#include "tests/lib/exchange_fake.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alm/base/strbuf.h"
#include "alm/obj/json.h"

#define TURNS_MAX 2000

static const char token[] = "secret";

/* A loop on virtual time. */
struct fake_loop {
	struct loop loop;
	int64_t now;
	uint64_t seed;
};

struct fake_exchange {
	struct exchange x;
	struct apifake *fake;
	struct answer answer;
	struct strbuf body;
	struct http_headers headers;
	struct arena *arena; /* NULL once the exchange is over */
	struct arena *told;  /* of headers */
	struct obj *json;
	size_t clog, queued;
	bool is_lazy;
};

struct apifake {
	struct apifake_options options;
	struct fake_loop loop;
	struct db *db;
	struct audit *audit;
	struct apiserver *server;
	struct fake_exchange *exchanges[FAKE_ANSWERS_MAX];
	size_t n;
	struct http_headers extra; /* of the next request */
	const char *trusted;
	struct arena *spent; /* of exchanges that keep what another has */
	bool full[N_QUOTAS];
	bool next_is_lazy;
};

static int64_t loop_fake_now(struct loop *l)
{
	return CONTAINER_OF(l, struct fake_loop, loop)->now;
}

static void loop_fake_random(struct loop *l, void *buf, size_t n)
{
	struct fake_loop *f = CONTAINER_OF(l, struct fake_loop, loop);
	unsigned char *p = buf;
	for (size_t i = 0; i < n; i++) {
		f->seed = f->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		p[i] = (unsigned char)(f->seed >> 56);
	}
}

static void loop_fake_nothing(struct loop *l)
{
	(void)l;
}

static const struct loop_ops loop_fake_ops = {
	.now_ns = loop_fake_now,
	.mono_ns = loop_fake_now,
	.random = loop_fake_random,
	.wake = loop_fake_nothing,
	.free = loop_fake_nothing,
};

static void copy_headers(struct fake_exchange *e, const struct http_headers *h)
{
	struct arena *a = e->told;
	for (size_t i = 0; h && i < h->n; i++)
		http_header_add(&e->headers, arena_strdup(a, h->items[i].name),
				arena_strdup(a, h->items[i].value));
}

static void finish(struct fake_exchange *e)
{
	e->answer.ended = true;
	e->x.on_close = NULL;
}

static void fake_reply(struct exchange *x, int status, const struct http_headers *h,
		       struct str body)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	assert(e->answer.status == 0);
	e->answer.status = status;
	copy_headers(e, h);
	strbuf_addstr(&e->body, body);
	finish(e);
}

static void fake_begin(struct exchange *x, int status, const struct http_headers *h)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	e->answer.status = status;
	copy_headers(e, h);
}

static size_t fake_write(struct exchange *x, struct str chunk)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	assert(!e->answer.ended);
	strbuf_addstr(&e->body, chunk);
	e->queued += e->is_lazy ? chunk.len : 0;
	return e->clog + e->queued;
}

static void fake_end(struct exchange *x)
{
	finish(CONTAINER_OF(x, struct fake_exchange, x));
}

static void fake_cut(struct exchange *x)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	e->answer.cut = true;
	finish(e);
}

static enum quota_verdict fake_charge(struct exchange *x, enum quota_what what, size_t n)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	e->answer.charged[what] += n;
	return e->fake->full[what] ? QUOTA_USER_FULL : QUOTA_OK;
}

static void fake_discharge(struct exchange *x, enum quota_what what)
{
	CONTAINER_OF(x, struct fake_exchange, x)->answer.charged[what] = 0;
}

static void free_arena(void *arg)
{
	arena_free(arg);
}

/* What stood in the old memory goes with the next turn: whoever touches it then is found. */
static void fake_keep(struct exchange *x, struct arena *a)
{
	struct fake_exchange *e = CONTAINER_OF(x, struct fake_exchange, x);
	assert(e->answer.status && !e->answer.ended);
	arena_defer(e->arena, free_arena, e->fake->spent);
	e->fake->spent = e->arena;
	e->x.arena = e->arena = a;
	e->x.request = NULL;
	e->x.admitted = NULL;
}

static const struct exchange_ops fake_ops = {fake_reply, fake_begin,  fake_write,     fake_end,
					     fake_cut,   fake_charge, fake_discharge, fake_keep};

static void check(int r, const struct error *err)
{
	if (r < 0) {
		fprintf(stderr, "exchange_fake: %s\n", err->msg);
		abort();
	}
}

static void open_server(struct apifake *f)
{
	static const char *const groups[] = {"system:masters", "system:authenticated"};
	static const char *const dev[] = {"system:authenticated"};
	const struct apiserver_token tokens[] = {{token, "admin", "1", groups, 2},
						 {"alice", "alice", "2", dev, 1}};
	struct error err = ERROR_INIT;
	if (f->options.with_audit) {
		struct audit_config ac = {
			.db = f->db, .loop = &f->loop.loop, .key_dir = f->options.key_dir};
		check(audit_open(&ac, &f->audit, &err), &err);
	}
	struct apiserver_config c = {.db = f->db,
				     .loop = &f->loop.loop,
				     .audit = f->audit,
				     .tokens = tokens,
				     .n_tokens = 2,
				     .account_key = f->options.account_key,
				     .account_old_key = f->options.account_old_key,
				     .ca_pem = "",
				     .address = "127.0.0.1:6443",
				     .simulate_workloads = f->options.simulate,
				     .own_controllers = f->options.own_controllers,
				     .dial = f->options.dial};
	check(apiserver_new(&c, &f->server, &err), &err);
	apifake_run(f);
}

struct apifake *apifake_new(const struct apifake_options *o)
{
	struct apifake *f = xcalloc(1, sizeof(*f));
	struct error err = ERROR_INIT;
	if (o)
		f->options = *o;
	f->loop.now = INT64_C(1893571200) * 1000000000;
	f->loop.seed = 1;
	loop_init(&f->loop.loop, &loop_fake_ops);
	struct db_config dc = {.path = f->options.path ? f->options.path : ":memory:"};
	check(db_open(&dc, &f->db, &err), &err);
	open_server(f);
	return f;
}

static void exchange_release(struct fake_exchange *e)
{
	strbuf_release(&e->body);
	obj_unref(e->json);
	arena_free(e->arena);
	arena_free(e->told);
	xfree(e);
}

static void close_server(struct apifake *f)
{
	apiserver_free(f->server);
	audit_close(f->audit);
	f->server = NULL;
	f->audit = NULL;
}

void apifake_free(struct apifake *f)
{
	if (!f)
		return;
	close_server(f);
	for (size_t i = 0; i < f->n; i++)
		if (!f->exchanges[i]->answer.ended)
			apifake_close(f, i);
	db_close(f->db);
	loop_release(&f->loop.loop);
	arena_free(f->spent);
	for (size_t i = 0; i < f->n; i++)
		exchange_release(f->exchanges[i]);
	xfree(f);
}

void apifake_forget(struct apifake *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->exchanges[i]->answer.ended)
			exchange_release(f->exchanges[i]);
		else
			f->exchanges[kept++] = f->exchanges[i];
	}
	f->n = kept;
}

void apifake_restart(struct apifake *f)
{
	close_server(f);
	open_server(f);
}

void apifake_rekey(struct apifake *f, const char *key, const char *old_key)
{
	f->options.account_key = key;
	f->options.account_old_key = old_key;
}

void apifake_run(struct apifake *f)
{
	for (int i = 0; i < TURNS_MAX; i++) {
		int64_t next = loop_next_deadline(&f->loop.loop);
		if (next > f->loop.now)
			return;
		loop_run_due(&f->loop.loop);
		arena_free(STEAL(f->spent));
	}
	fprintf(stderr, "exchange_fake: the loop does not come to rest\n");
	abort();
}

void apifake_advance(struct apifake *f, int64_t ns)
{
	int64_t end = f->loop.now + ns;
	for (int i = 0; i < TURNS_MAX; i++) {
		int64_t next = loop_next_deadline(&f->loop.loop);
		if (next > end)
			break;
		if (next > f->loop.now)
			f->loop.now = next;
		loop_run_due(&f->loop.loop);
		arena_free(STEAL(f->spent));
	}
	f->loop.now = end;
	apifake_run(f);
}

void apifake_header(struct apifake *f, const char *name, const char *value)
{
	assert(http_header_add(&f->extra, name, value));
}

void apifake_trust(struct apifake *f, const char *audit_id)
{
	f->trusted = audit_id;
}

size_t apifake_send(struct apifake *f, const char *method, const char *target,
		    const char *content_type, const char *body)
{
	assert(f->n < FAKE_ANSWERS_MAX);
	struct fake_exchange *e = xcalloc(1, sizeof(*e));
	struct str path, query;
	e->fake = f;
	e->arena = arena_new((size_t)64 << 20);
	e->told = arena_new((size_t)64 << 20);
	strbuf_init(&e->body, (size_t)256 << 20);
	e->answer.headers = &e->headers;
	e->x.ops = &fake_ops;
	e->x.arena = e->arena;
	str_cut(str_of(target), '?', &path, &query);
	struct http_request *r = e->x.request = ARENA_NEW(e->arena, struct http_request);
	r->method = arena_strdup(e->arena, method);
	r->path = arena_strndup(e->arena, path.ptr, path.len);
	r->query = arena_strndup(e->arena, query.ptr ? query.ptr : "", query.len);
	r->peer = "127.0.0.1:50000";
	r->trusted_audit_id = f->trusted;
	r->body = body ? str_n(arena_strdup(e->arena, body), strlen(body)) : STR("");
	if (!http_header(&f->extra, "Authorization"))
		http_header_add(&r->headers, "Authorization", "Bearer secret");
	if (!http_header(&f->extra, "User-Agent"))
		http_header_add(&r->headers, "User-Agent", "test/1");
	if (body)
		http_header_add(&r->headers, "Content-Type",
				content_type ? content_type : "application/json");
	for (size_t i = 0; i < f->extra.n; i++)
		http_header_add(&r->headers, arena_strdup(e->arena, f->extra.items[i].name),
				arena_strdup(e->arena, f->extra.items[i].value));
	f->extra.n = 0;
	f->trusted = NULL;
	e->is_lazy = f->next_is_lazy;
	f->next_is_lazy = false;
	f->exchanges[f->n++] = e;
	struct server_client who; /* as behind a socket, where the head comes first */
	if (apiserver_admit(f->server, &e->x, &who))
		apiserver_handle(f->server, &e->x);
	return f->n - 1;
}

size_t apifake_bytes(struct apifake *f, size_t n)
{
	return f->exchanges[n]->body.len;
}

size_t apifake_kept(struct apifake *f, size_t n)
{
	return arena_bytes(f->exchanges[n]->arena);
}

struct answer apifake_answer(struct apifake *f, size_t n)
{
	struct fake_exchange *e = f->exchanges[n];
	struct error err = ERROR_INIT;
	e->answer.body = strbuf_str(&e->body);
	if (e->answer.ended && !e->json && json_parse(e->answer.body, &e->json, &err) == 0)
		e->answer.json = e->json;
	return e->answer;
}

struct answer apifake_do_type(struct apifake *f, const char *method, const char *target,
			      const char *content_type, const char *body)
{
	size_t n = apifake_send(f, method, target, content_type, body);
	apifake_run(f);
	return apifake_answer(f, n);
}

struct answer apifake_do(struct apifake *f, const char *method, const char *target,
			 const char *body)
{
	return apifake_do_type(f, method, target, NULL, body);
}

void apifake_close(struct apifake *f, size_t n)
{
	struct fake_exchange *e = f->exchanges[n];
	if (e->x.on_close && !e->answer.ended)
		e->x.on_close(e->x.on_close_arg);
	e->x.on_close = NULL;
	e->answer.ended = true;
	/* Its memory goes with it: whoever touches it now is found. */
	arena_free(e->arena);
	e->arena = NULL;
	e->headers.n = 0;
}

void apifake_clog(struct apifake *f, size_t n, size_t bytes)
{
	f->exchanges[n]->clog = bytes;
}

size_t apifake_send_lazy(struct apifake *f, const char *method, const char *target)
{
	f->next_is_lazy = true;
	return apifake_send(f, method, target, NULL, NULL);
}

void apifake_fill(struct apifake *f, enum quota_what what, bool full)
{
	f->full[what] = full;
}

bool apifake_drain(struct apifake *f, size_t n)
{
	struct exchange *x = &f->exchanges[n]->x;
	f->exchanges[n]->queued = 0;
	if (f->exchanges[n]->answer.ended || !x->on_writable)
		return false;
	x->on_writable(x->on_writable_arg);
	return true;
}

struct loop *apifake_loop(struct apifake *f)
{
	return &f->loop.loop;
}

struct apiserver *apifake_server(struct apifake *f)
{
	return f->server;
}

struct audit *apifake_audit(struct apifake *f)
{
	return f->audit;
}

struct db *apifake_db(struct apifake *f)
{
	return f->db;
}
