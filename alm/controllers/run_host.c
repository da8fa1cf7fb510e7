#include "alm/controllers/run_host.h"

#include <string.h>

#include "alm/audit/audit.h"
#include "alm/base/file.h"
#include "alm/client/client.h"
#include "alm/controllers/run_internal.h"
#include "alm/io/db.h"
#include "alm/io/loop_event.h"
#include "alm/io/process_id.h"
#include "alm/obj/yaml.h"
#include "alm/render/tree_read.h"

#define TEXTS_BYTES ((size_t)64 << 20) /* certificates and keys of the kubeconfig */
#define LEASE_TRIES \
	6 /* that fail before it is held: of a server that may come back half a minute */
#define LOG_NAME "alm.db" /* by which alm audit finds one in its folder */

struct run_host {
	struct arena *a;
	struct loop *loop;
	struct transport *transport;
	struct client *client;
	struct db *db;
	struct audit *audit;
	const char *holder;
};

/* --- parts --- */

/* Beside another name they may be those of another log. */
static char *folder_of_log(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!file || strcmp(slash ? slash + 1 : file, LOG_NAME) != 0)
		return NULL;
	if (!slash)
		return xstrdup(".");
	return slash == file ? xstrdup("/") : xstrndup(file, (size_t)(slash - file));
}

int run_log_open(struct loop *l, const char *file, struct db **ret_db, struct audit **ret,
		 struct error *err)
{
	CLEANUP(xfreep) char *folder = folder_of_log(file);
	CLEANUP(db_closep) struct db *db = NULL;
	const struct db_config dc = {.path = file ? file : ":memory:", .layout = DB_LAYOUT};
	struct audit *log = NULL;
	if (db_open(&dc, &db, err) < 0)
		return -err->code;
	const struct audit_config ac = {
		.loop = l, .db = db, .family = AUDIT_FAMILY_RUN, .key_dir = folder};
	if (audit_open(&ac, &log, err) < 0)
		return -err->code;
	const char *why = audit_read_only(log);
	if (why) {
		(void)error_set(err, E_ALTERED, "%s", why);
		audit_close(log);
		return -err->code;
	}
	*ret_db = STEAL(db);
	*ret = log;
	return 0;
}

int run_rollout_open(const struct rollout_options *options, struct arena *a, struct rollout **ret,
		     const struct obj **ret_text, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(ROLLOUT_BYTES_MAX);
	struct obj *o = NULL;
	if (file_read_input(options->file, &b, err) < 0 ||
	    rollout_read(strbuf_str(&b), options, a, ret, err) < 0 ||
	    yaml_parse_one(strbuf_str(&b), &o, err) < 0)
		return -err->code;
	*ret_text = obj_keep(a, o);
	return 0;
}

/* --- the host --- */

static int connect_to(struct run_host *h, const struct run_host_config *c, struct error *err)
{
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = NULL;
	struct kubeconfig_target to = {0};
	if (kubeconfig_load(&c->kubeconfig, &k, err) < 0 ||
	    kubeconfig_resolve(k, c->context, false, h->a, &to, err) < 0 ||
	    kubeconfig_refuse_exec(&to, err) < 0 ||
	    transport_curl_new(h->loop, &to.transport, &h->transport, err) < 0)
		return -err->code;
	h->client = client_new(h->loop, h->transport);
	return 0;
}

int run_host_open(const struct run_host_config *c, struct run_host **ret, struct error *err)
{
	CLEANUP(run_host_freep) struct run_host *h = xcalloc(1, sizeof(*h));
	h->a = arena_new(TEXTS_BYTES);
	h->loop = loop_event_new();
	h->holder = process_id(h->loop, h->a);
	if (connect_to(h, c, err) < 0 || run_log_open(h->loop, c->log, &h->db, &h->audit, err) < 0)
		return -err->code;
	*ret = STEAL(h);
	return 0;
}

void run_host_free(struct run_host *h)
{
	if (!h)
		return;
	audit_close(h->audit);
	db_close(h->db);
	client_free(h->client);
	transport_free(h->transport);
	loop_free(h->loop);
	arena_free(h->a);
	xfree(h);
}

struct loop *run_host_loop(const struct run_host *h)
{
	return h->loop;
}

void run_host_lend(const struct run_host *h, struct run_config *c)
{
	c->loop = h->loop;
	c->client = h->client;
	c->audit = h->audit;
	c->db = h->db;
	c->holder = h->holder;
	c->holder_is_dead = process_id_is_dead;
}

/* --- one attempt --- */

struct attempt {
	const struct run_config *c;
	struct loop *loop;
	struct error err;
	struct run_tries tries;
	bool ended, over;
	bool turns; /* the loop runs: only then it is to be stopped */
};

static void turn(struct attempt *x)
{
	x->turns = true;
	loop_run(x->loop);
	x->turns = false;
}

static void render(void *arg, struct run_render *call)
{
	const struct attempt *x = arg;
	x->c->render(x->c->arg, call);
}

static void said(void *arg, const char *instance, const char *step, const char *state,
		 const char *message)
{
	const struct attempt *x = arg;
	if (x->c->said)
		x->c->said(x->c->arg, instance, step, state, message);
}

static void ended(void *arg, const char *instance, const struct obj *record,
		  const struct error *err)
{
	struct attempt *x = arg;
	if (x->c->ended)
		x->c->ended(x->c->arg, instance, record, err);
	if (err)
		x->err = *err;
	x->ended = true;
	loop_stop(x->loop);
}

static void waits(void *arg, const char *holder)
{
	const struct attempt *x = arg;
	if (x->c->waits)
		x->c->waits(x->c->arg, holder);
}

static void leads(void *arg, bool held)
{
	struct attempt *x = arg;
	run_tries_lead(&x->tries, held);
	if (x->c->leads)
		x->c->leads(x->c->arg, held);
}

void run_tries_lead(struct run_tries *t, bool held)
{
	*t = (struct run_tries){.held = held};
}

bool run_tries_fail(struct run_tries *t, const struct error *err)
{
	bool stays = error_retry(err->code) == RETRY_NEVER || err->code == E_FORBIDDEN ||
		     err->code == E_UNAUTHORIZED;
	return stays || (!t->held && ++t->failures >= LEASE_TRIES);
}

static void failing(void *arg, const struct error *err)
{
	struct attempt *x = arg;
	if (x->c->failing)
		x->c->failing(x->c->arg, err);
	if (!run_tries_fail(&x->tries, err))
		return;
	x->err = *err;
	x->ended = true;
	loop_stop(x->loop);
}

static void over(void *arg)
{
	struct attempt *x = arg;
	x->over = true;
	if (x->turns)
		loop_stop(x->loop);
}

int run_host_once(struct run_host *h, const struct run_config *c, struct error *err)
{
	struct attempt x = {.c = c, .loop = h->loop, .err = ERROR_INIT};
	struct run_config own = *c;
	run_host_lend(h, &own);
	own.job.ends = true;
	own.render = render;
	own.said = said;
	own.ended = ended;
	own.waits = waits;
	own.failing = failing;
	own.leads = leads;
	own.arg = &x;
	CLEANUP(run_freep) struct run *run = run_new(&own);
	run_start(run);
	turn(&x);
	if (!x.ended)
		(void)error_set(&x.err, E_UNAVAILABLE, "%s was stopped before its end", c->bundle);
	run_end(run, over, &x);
	while (!x.over)
		turn(&x);
	return x.err.code ? error_copy(err, &x.err) : 0;
}

/* --- a folder --- */

int run_host_render(struct run_render *call, const char *dir, const char *rollout_file,
		    const char *ns, struct error *err)
{
	const struct rollout_options file = {.file = rollout_file};
	struct unit_options o = {.hub = RUN_HUB,
				 .bundle = call->bundle,
				 .instance = call->instance,
				 .ns = ns,
				 .digest = run_digest};
	struct files files = {.a = call->a};
	struct rollout *rollout = NULL;
	struct flat flat;
	flat_init(&flat, call->a);
	if (tree_read_dir(dir, &files, err) < 0 || files_flat(&files, ns, &flat, err) < 0 ||
	    (rollout_file && run_rollout_open(&file, call->a, &rollout, &o.rollout_text, err) < 0))
		return -err->code;
	o.rollout = rollout;
	return unit_make(&flat, &o, &call->unit, err);
}
