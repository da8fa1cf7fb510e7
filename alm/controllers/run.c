#include "alm/controllers/run.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/controllers/run_internal.h"
#include "alm/engine/leader.h"

#define INSTANCE "files" /* of a run without watch */

/* --- triggers --- */

static void tick(void *arg)
{
	struct run *r = arg;
	struct run_unit *u = run_unit_of(r, INSTANCE);
	if (r->c.interval_ns)
		loop_arm(r->c.loop, &r->tick, r->c.interval_ns);
	if (u->ended) /* else the former one is at work */
		run_unit_begin(u);
}

/* Of a key, which may be any text. */
static const char *instance_of_key(const char *key, struct arena *a)
{
	char hex[SHA256_HEX], *text = arena_strdup(a, key);
	size_t n = strlen(text);
	bool same = n <= RUN_INSTANCE_MAX && char_is_alnum(text[0]) && char_is_alnum(text[n - 1]);
	for (size_t i = 0; i < n; i++)
		if (!char_is_alnum(text[i]) && text[i] != '.' && text[i] != '-' && text[i] != '_') {
			text[i] = '-';
			same = false;
		}
	if (same)
		return text;
	sha256_hex(str_of(key), hex);
	return arena_fmt(a, "k%.*s-%.8s", RUN_INSTANCE_MAX - 10, text, hex);
}

int run_key(struct run *r, const char *key, const struct obj *config, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *instance = instance_of_key(key, a);
	if (!r->manager)
		return 0;
	CLEANUP(xfreep) char *unit_key = run_unit_key(r, instance);
	if (!map_has(r->units, unit_key) && map_count(r->units) >= RUN_UNITS_MAX)
		return error_set(err, E_LIMIT, "more than %d keys: %.80s is left out",
				 RUN_UNITS_MAX, key);
	struct run_unit *u = run_unit_of(r, instance);
	if (!u->ended || u->rendering)
		return 0;
	obj_unref(u->config);
	u->config = config ? obj_copy(config) : NULL;
	run_unit_begin(u);
	return 0;
}

/* --- work: while the Lease is held --- */

static void begin(struct run *r)
{
	const struct run_config *c = &r->c;
	const struct manager_config mc = {.loop = c->loop,
					  .client = c->client,
					  .audit = c->audit,
					  .db = c->db,
					  .metrics = c->metrics,
					  .plugins = c->plugins,
					  .units = &r->side,
					  .brief = c->job.ends};
	r->units = map_new(NULL);
	r->manager = manager_new(&mc);
	manager_start(r->manager);
	if (c->watch)
		run_watch_start(r);
	else if (!c->keyed)
		tick(r);
}

/* What is not written yet is not written any more. */
static void cease(struct run *r)
{
	if (!r->manager)
		return;
	loop_disarm(r->c.loop, &r->tick);
	run_watch_stop(r);
	manager_free(STEAL(r->manager));
	for (const struct map_entry *e = map_first(r->units); e; e = map_next(e))
		run_unit_drop(e->value);
	map_free(STEAL(r->units));
}

static void on_elected(void *arg, int64_t epoch)
{
	struct run *r = arg;
	audit_set_epoch(r->c.audit, epoch);
	begin(r);
	if (r->c.leads)
		r->c.leads(r->c.arg, true);
}

static void on_lost(void *arg)
{
	struct run *r = arg;
	cease(r);
	if (r->c.leads)
		r->c.leads(r->c.arg, false);
}

static void on_waiting(void *arg, const char *holder)
{
	const struct run *r = arg;
	if (r->c.waits)
		r->c.waits(r->c.arg, holder);
}

static void on_failed(void *arg, const struct error *err)
{
	const struct run *r = arg;
	if (r->c.failing)
		r->c.failing(r->c.arg, err);
}

static void lead(struct run *r)
{
	CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&name, RUN_LEASE "%s", r->c.bundle);
	const struct leader_config lc = {.client = r->c.client,
					 .ns = r->c.job.inventory_ns,
					 .name = name.buf,
					 .identity = r->c.holder,
					 .on_elected = on_elected,
					 .on_lost = on_lost,
					 .on_waiting = on_waiting,
					 .on_failed = on_failed,
					 .is_dead = r->c.holder_is_dead,
					 .wait_ns = RUN_LOOK_NS,
					 .arg = r};
	r->leader = leader_new(&lc);
}

/* --- life --- */

struct run *run_new(const struct run_config *c)
{
	struct run *r = xcalloc(1, sizeof(*r));
	r->c = *c;
	LIST_INIT(&r->adrift);
	r->side = run_unit_side(r);
	r->tick = (struct timer){.fn = tick, .arg = r};
	return r;
}

void run_start(struct run *r)
{
	if (r->c.holder)
		lead(r);
	else
		begin(r);
}

void run_end(struct run *r, void (*done)(void *arg), void *arg)
{
	cease(r);
	if (r->leader)
		leader_resign(r->leader, done, arg);
	else
		done(arg);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	cease(r);
	while (!LIST_EMPTY(&r->adrift)) { /* whose renderer is gone */
		struct run_unit *u = LIST_FIRST(&r->adrift);
		LIST_REMOVE(u, link);
		run_unit_free(u);
	}
	leader_free(r->leader);
	xfree(r);
}
