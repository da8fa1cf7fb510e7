#include "alm/controllers/run.h"

#include <string.h>

#include "alm/base/map.h"
#include "alm/controllers/run_internal.h"

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

/* --- life --- */

struct run *run_new(const struct run_config *c)
{
	struct run *r = xcalloc(1, sizeof(*r));
	r->c = *c;
	r->units = map_new(run_unit_free);
	r->side = run_unit_side(r);
	r->tick = (struct timer){.fn = tick, .arg = r};
	struct manager_config mc = {.loop = c->loop,
				    .client = c->client,
				    .audit = c->audit,
				    .db = c->db,
				    .metrics = c->metrics,
				    .plugins = c->plugins,
				    .units = &r->side,
				    .brief = c->job.ends};
	r->manager = manager_new(&mc);
	return r;
}

void run_start(struct run *r)
{
	manager_start(r->manager);
	if (r->c.watch)
		run_watch_start(r);
	else if (!r->c.keyed)
		tick(r);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	loop_disarm(r->c.loop, &r->tick);
	run_watch_stop(r);
	manager_free(r->manager);
	map_free(r->units);
	xfree(r);
}
