#include "alm/controllers/run.h"

#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/log.h"
#include "alm/base/map.h"
#include "alm/client/informer.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define UNIT_BYTES_MAX ((size_t)512 << 20)
#define FAILING_PASSES 3                /* of an error that does not pass, in a row */
#define FAILING_NS     (2 * NS_PER_MIN) /* of one that may */
#define AGAIN_MIN_NS   NS_PER_MIN       /* what was rolled back is tried again */
#define AGAIN_MAX_NS   NS_PER_HOUR
#define WATCH_RETRY_NS (2 * NS_PER_S) /* until the kind is served */
#define INSTANCE_MAX   63             /* it is a label */
#define INSTANCE       "files"        /* of a run without watch */

/* One unit: what it is to be, and how far the attempt is. */
struct run_unit {
	struct run *r;
	char *key, *instance; /* "BUNDLE/INSTANCE" */
	struct unit_job job;
	struct arena *a;    /* of job.unit */
	struct obj *record; /* of this attempt; owned */
	struct obj *main;   /* the watched object; owned; NULL: none, or gone */
	struct obj *config; /* of its key; owned; NULL: none */
	struct run_render call;
	struct timer end;
	struct timer retry; /* of a watched object whose attempt failed */
	unsigned failed;    /* attempts in a row */
	unsigned failures;  /* reconciles in a row */
	unsigned tries;     /* of this unit that were rolled back, in a row */
	int64_t back_ns;    /* when the last one was */
	int64_t failing_since_ns;
	bool rendering, ended; /* ended: this attempt; at first, too */
	bool again;            /* it changed while an attempt was rendered */
	struct error err;
};

struct watched_kind;

struct run {
	struct run_config c;
	struct manager *manager;
	struct unit_side side;
	struct map *units; /* key -> struct run_unit */
	struct timer tick;
	struct discovery *discovery; /* of the watch */
	struct watched_kind *watched;
	size_t n_watched;
};

struct watched_kind {
	struct run *r;
	const struct keymap_resource *resource;
	struct informer *informer;
	struct timer retry;
};

static void digest(void *arg, const struct obj *o, char out[SHA256_HEX])
{
	(void)arg;
	if (!cstr_eq(meta_kind(o), "Secret")) {
		json_digest(o, out);
		return;
	}
	CLEANUP(obj_unrefp) struct obj *copy = obj_copy(o);
	struct obj *names = obj_list();
	const struct obj *data = obj_get(o, "data");
	OBJ_EACH (it, data)
		obj_append(names, obj_string(it.key));
	obj_set(copy, "data", names);
	json_digest(copy, out);
}

const struct unit_digest run_digest = {.fn = digest};

/* --- units --- */

static void unit_free(void *p)
{
	struct run_unit *u = p;
	loop_disarm(u->r->c.loop, &u->end);
	loop_disarm(u->r->c.loop, &u->retry);
	obj_unref(u->record);
	obj_unref(u->main);
	obj_unref(u->config);
	if (u->call.a)
		arena_free(u->call.a);
	if (u->a)
		arena_free(u->a);
	xfree(u->key);
	xfree(u->instance);
	xfree(u);
}

static void attempt_told(void *arg);
static void retry(void *arg);

static char *key_of(const struct run *r, const char *instance)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b, "%s/%s", r->c.bundle, instance);
	return strbuf_detach(&b);
}

static struct run_unit *unit_of(struct run *r, const char *instance)
{
	CLEANUP(xfreep) char *key = key_of(r, instance);
	struct run_unit *u = map_get(r->units, key);
	if (u)
		return u;
	u = xcalloc(1, sizeof(*u));
	u->r = r;
	u->key = xstrdup(key);
	u->instance = xstrdup(instance);
	u->job = r->c.job;
	u->job.watched = r->c.watch != NULL;
	u->ended = true;
	u->end = (struct timer){.fn = attempt_told, .arg = u};
	u->retry = (struct timer){.fn = retry, .arg = u};
	map_set(r->units, key, u);
	return u;
}

/* --- the end of an attempt --- */

static void begin(struct run_unit *u);

/* 1, 2, 4 .. 60 minutes. */
static int64_t pause_after(unsigned n)
{
	int64_t wait = AGAIN_MIN_NS;
	for (unsigned i = 1; i < n && wait < AGAIN_MAX_NS; i++)
		wait *= 2;
	return wait < AGAIN_MAX_NS ? wait : AGAIN_MAX_NS;
}

static void retry(void *arg)
{
	begin(arg);
}

static void attempt_told(void *arg)
{
	struct run_unit *u = arg;
	struct run *r = u->r;
	const char *state = obj_str(u->record, "state"), *reason = obj_str(u->record, "reason");
	if (!u->err.code && !cstr_eq(state, "Succeeded")) {
		bool back = cstr_eq(state, "RolledBack"), named = !cstr_eq(reason, "StepFailed");
		reason = back ? state : reason;
		named = named || back;
		error_set(&u->err,
			  obj_flag(u->record, "refused", false) ? E_REFUSED : E_UNAVAILABLE,
			  "%s%s%s", named ? reason : "", named ? ": " : "",
			  obj_str(u->record, "message"));
	}
	bool gone = u->job.deleting && !u->err.code && !u->main;
	r->c.ended(r->c.arg, u->instance, u->record, u->err.code ? &u->err : NULL);
	u->failed = u->err.code ? u->failed + 1 : 0;
	if (u->again)
		begin(u);
	else if (gone)
		map_del(r->units, u->key);
	else if (u->failed && r->c.watch) /* no tick begins it */
		loop_arm(r->c.loop, &u->retry, pause_after(u->failed));
}

/* Told in a turn of its own: nobody is in the middle of something. */
static void attempt_ended(struct run_unit *u, const struct error *err)
{
	if (u->ended)
		return;
	u->ended = true;
	if (err)
		u->err = *err;
	loop_arm(u->r->c.loop, &u->end, 0);
}

/* --- attempts --- */

/* What was rolled back is not tried at every tick: its pods would come and go for ever. After 1, 2,
 * 4 .. 60 minutes, or when something else is rendered. A command that runs once tries. */
static bool is_held(struct run_unit *u, const struct unit *next)
{
	int64_t now = loop_mono(u->r->c.loop);
	bool goes_on = u->r->c.interval_ns || u->r->c.watch || u->r->c.keyed;
	bool same = cstr_eq(obj_str(u->record, "digest"), next->digest);
	if (!same || !goes_on || !cstr_eq(obj_str(u->record, "state"), "RolledBack")) {
		u->tries = same ? u->tries : 0;
		return false;
	}
	return now - u->back_ns < pause_after(u->tries);
}

static void rendered(struct run_render *call, const struct error *err)
{
	struct run_unit *u = CONTAINER_OF(call, struct run_unit, call);
	struct arena *a = STEAL(call->a);
	u->rendering = false;
	if (err) {
		arena_free(a);
		attempt_ended(u, err);
		return;
	}
	bool held = is_held(u, call->unit);
	if (u->a)
		arena_free(u->a);
	u->a = a;
	u->job.unit = call->unit;
	u->job.main = u->main;
	if (held) { /* the unit before is kept meanwhile */
		attempt_ended(u, NULL);
	} else {
		obj_unref(STEAL(u->record));
		u->job.record = NULL;
		u->job.attempt++;
	}
	manager_notice_unit(u->r->manager, u->key);
}

/* What is deleted needs no renderer, which may fail by now: nothing is to be there. */
static void render_nothing(struct run_unit *u)
{
	struct error err = ERROR_INIT;
	struct flat none;
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = u->r->c.bundle,
				       .instance = u->instance,
				       .ns = "default",
				       .digest = run_digest};
	flat_init(&none, u->call.a);
	int rc = unit_make(&none, &o, &u->call.unit, &err);
	rendered(&u->call, rc < 0 ? &err : NULL);
}

static void begin(struct run_unit *u)
{
	struct run *r = u->r;
	if (!u->ended || u->rendering) {
		u->again = true;
		return;
	}
	loop_disarm(r->c.loop, &u->retry);
	u->again = u->ended = false;
	u->err = ERROR_INIT;
	u->failures = 0;
	u->rendering = true;
	u->job.deleting = r->c.watch && (!u->main || meta_is_deleting(u->main));
	u->call = (struct run_render){.a = arena_new(UNIT_BYTES_MAX),
				      .main = u->main,
				      .config = u->config,
				      .bundle = r->c.bundle,
				      .instance = u->instance,
				      .done = rendered};
	if (u->job.deleting)
		render_nothing(u);
	else
		r->c.render(r->c.arg, &u->call);
}

/* --- the side --- */

static const struct unit_job *side_job(void *arg, const char *key)
{
	const struct run *r = arg;
	const struct run_unit *u = map_get(r->units, key);
	return u && u->job.unit ? &u->job : NULL;
}

static void side_each(void *arg, void (*fn)(void *fn_arg, const char *key), void *fn_arg)
{
	const struct run *r = arg;
	for (const struct map_entry *e = map_first(r->units); e; e = map_next(e))
		fn(fn_arg, e->key);
}

static void tell_steps(const struct run_unit *u, const char *prefix, const struct obj *steps,
		       const struct obj *old)
{
	const struct run_config *c = &u->r->c;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(UINT32_MAX);
	OBJ_EACH (it, steps) {
		const char *state = obj_str(it.value, "state"), *name = strchr(it.key, ' ');
		if (cstr_eq(state, obj_str(obj_get(old, it.key), "state")))
			continue;
		const char *why = obj_str(it.value, "message"), *note = obj_str(it.value, "note");
		strbuf_clear(&b);
		strbuf_addf(&b, "%s%s", prefix, name ? name + 1 : it.key);
		c->said(c->arg, u->instance, b.buf, state, why ? why : note);
	}
}

static void side_record(void *arg, const char *key, const struct obj *record)
{
	const struct run *r = arg;
	struct run_unit *u = map_get(r->units, key);
	if (!u || obj_i64(record, "attempt", 0) != u->job.attempt)
		return;
	if (cstr_eq(obj_str(record, "state"), "RolledBack") &&
	    !cstr_eq(obj_str(u->record, "state"), "RolledBack")) {
		u->tries++;
		u->back_ns = loop_mono(r->c.loop);
	}
	tell_steps(u, "", obj_get(record, "steps"), obj_get(u->record, "steps"));
	tell_steps(u, "rollback: ", obj_path(record, "back.steps"),
		   obj_path(u->record, "back.steps"));
	obj_unref(u->record);
	u->record = obj_copy(record);
	u->job.record = u->record;
	/* While the next one is rendered the former one is kept, and says so. */
	if (!u->rendering && !unit_record_is_open(record))
		attempt_ended(u, NULL);
}

/* What the server says to a write is in the record. What it says to a read is seen here alone. */
static void side_passed(void *arg, const char *key, const struct error *err)
{
	const struct run *r = arg;
	struct run_unit *u = map_get(r->units, key);
	int64_t now = loop_mono(r->c.loop);
	if (!u || u->rendering)
		return;
	if (!err) {
		u->failures = 0;
		return;
	}
	if (!u->failures++)
		u->failing_since_ns = now;
	bool stays = error_retry(err->code) == RETRY_NEVER || err->code == E_FORBIDDEN ||
		     err->code == E_UNAUTHORIZED;
	if ((stays && u->failures >= FAILING_PASSES) || now - u->failing_since_ns >= FAILING_NS)
		attempt_ended(u, err);
}

/* --- triggers --- */

static void tick(void *arg)
{
	struct run *r = arg;
	struct run_unit *u = unit_of(r, INSTANCE);
	if (r->c.interval_ns)
		loop_arm(r->c.loop, &r->tick, r->c.interval_ns);
	if (u->ended) /* else the former one is at work */
		begin(u);
}

/* "NS.NAME"; one that is too long for a label ends in its hash. */
static const char *instance_of(const char *ns, const char *name, struct arena *a)
{
	char hex[SHA256_HEX];
	const char *text = ns && *ns ? arena_fmt(a, "%s.%s", ns, name) : name;
	if (strlen(text) <= INSTANCE_MAX)
		return text;
	sha256_hex(str_of(text), hex);
	return arena_fmt(a, "%.*s-%.8s", INSTANCE_MAX - 9, text, hex);
}

/* Of a key, which may be any text. */
static const char *instance_of_key(const char *key, struct arena *a)
{
	char hex[SHA256_HEX], *text = arena_strdup(a, key);
	size_t n = strlen(text);
	bool same = n <= INSTANCE_MAX && char_is_alnum(text[0]) && char_is_alnum(text[n - 1]);
	for (size_t i = 0; i < n; i++)
		if (!char_is_alnum(text[i]) && text[i] != '.' && text[i] != '-' && text[i] != '_') {
			text[i] = '-';
			same = false;
		}
	if (same)
		return text;
	sha256_hex(str_of(key), hex);
	return arena_fmt(a, "k%.*s-%.8s", INSTANCE_MAX - 10, text, hex);
}

int run_key(struct run *r, const char *key, const struct obj *config, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *instance = instance_of_key(key, a);
	CLEANUP(xfreep) char *unit_key = key_of(r, instance);
	if (!map_has(r->units, unit_key) && map_count(r->units) >= RUN_UNITS_MAX)
		return error_set(err, E_LIMIT, "more than %d keys: %.80s is left out",
				 RUN_UNITS_MAX, key);
	struct run_unit *u = unit_of(r, instance);
	if (!u->ended || u->rendering)
		return 0;
	obj_unref(u->config);
	u->config = config ? obj_copy(config) : NULL;
	begin(u);
	return 0;
}

static struct obj *object_of(const struct informer_object *io)
{
	CLEANUP(strbuf_release) struct strbuf room = STRBUF_INIT(UINT32_MAX);
	struct error err;
	struct obj *o = NULL;
	return json_parse(informer_text(io, &room), &o, &err) < 0 ? NULL : o;
}

/* A status that we write ourselves, and our finalizer, begin nothing. */
static bool is_other(const struct obj *was, const struct obj *is)
{
	return !was || !is || meta_generation(was) != meta_generation(is) ||
	       !cstr_eq(meta_uid(was), meta_uid(is)) ||
	       meta_is_deleting(was) != meta_is_deleting(is);
}

static bool is_watched(const struct keymap_resource *k, const struct obj *o)
{
	return o && (!k->ns || cstr_eq(k->ns, meta_namespace(o))) &&
	       (!k->selector || selector_matches(k->selector, obj_path(o, "metadata.labels")));
}

/* now: owned; NULL: it is gone, or not of the watch any more. */
static void main_changed(struct run *r, const struct informer_object *io, struct obj *now)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *instance = instance_of(io->ns, io->name, a);
	CLEANUP(xfreep) char *key = key_of(r, instance);
	bool known = map_has(r->units, key);
	if (!known && now && map_count(r->units) >= RUN_UNITS_MAX)
		log_warn("too many objects: this one is left out", "object", instance);
	if (!known && (!now || map_count(r->units) >= RUN_UNITS_MAX)) {
		obj_unref(now);
		return;
	}
	struct run_unit *u = unit_of(r, instance);
	bool other = is_other(u->main, now);
	obj_unref(u->main);
	u->main = now;
	u->job.main = now;
	if (other)
		begin(u);
	else
		manager_notice_unit(r->manager, u->key);
}

/* An object that a main one is made of, too: it is looked at again. */
static void other_changed(struct run *r, const struct keymap_resource *k,
			  const struct informer_object *io)
{
	struct error err = ERROR_INIT;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
	const char *main = NULL,
		   *key = *io->ns ? arena_fmt(a, "%s/%s", io->ns, io->name) : io->name;
	if (keymap_key(r->c.watch->map, k, key, a, &main, &err) < 0) {
		log_warn("no key of a main object", "object", key, "error", err.msg);
		return;
	}
	struct str ns, name;
	if (!main)
		return;
	bool namespaced = str_cut(str_of(main), '/', &ns, &name);
	const char *instance =
		namespaced ? instance_of(arena_strndup(a, ns.ptr, ns.len), name.ptr, a) : main;
	CLEANUP(xfreep) char *unit_key = key_of(r, instance);
	struct run_unit *u = map_get(r->units, unit_key);
	if (u)
		begin(u);
}

/* Its status is nothing that a run is made of. */
static bool is_same(const struct informer_object *before, const struct informer_object *after)
{
	CLEANUP(obj_unrefp) struct obj *was = before ? object_of(before) : NULL;
	CLEANUP(obj_unrefp) struct obj *is = after ? object_of(after) : NULL;
	return was && is && meta_generation(is) && !is_other(was, is);
}

static void watched_changed(void *arg, enum informer_change change,
			    const struct informer_object *before,
			    const struct informer_object *after)
{
	const struct watched_kind *w = arg;
	const struct informer_object *io = after ? after : before;
	struct obj *o = object_of(io);
	(void)change;
	bool watched = is_watched(w->resource, o);
	if (w->resource == w->r->c.watch->map->main) {
		main_changed(w->r, io, after && watched ? STEAL(o) : NULL);
	} else if (watched && !is_same(before, after)) {
		other_changed(w->r, w->resource, io);
	}
	obj_unref(o);
}

static void find_watched(void *arg);

static void watched_found(void *arg, const struct resource *found, const struct error *err)
{
	struct watched_kind *w = arg;
	struct run *r = w->r;
	if (err) {
		log_warn("waiting for the server to serve a kind", "kind", w->resource->kind,
			 "error", err->msg);
		w->retry = (struct timer){.fn = find_watched, .arg = w};
		loop_arm(r->c.loop, &w->retry, WATCH_RETRY_NS);
		return;
	}
	struct informer_config c = {
		.client = r->c.client, .resource = *found, .changed = watched_changed, .arg = w};
	w->informer = informer_new(&c);
	informer_start(w->informer);
}

static void find_watched(void *arg)
{
	struct watched_kind *w = arg;
	struct str group = STR(""), version = str_of(w->resource->api_version);
	if (str_find_char(version, '/') >= 0)
		(void)str_cut(version, '/', &group, &version);
	CLEANUP(xfreep) char *g = str_dup(group), *v = str_dup(version);
	discovery_require_kind(w->r->discovery, g, v, w->resource->kind, watched_found, w);
}

static void start_watching(struct run *r)
{
	struct keymap *map = r->c.watch->map;
	r->discovery = discovery_new(r->c.client);
	r->n_watched = map->n;
	r->watched = xcalloc(map->n, sizeof(*r->watched));
	for (size_t i = 0; i < map->n; i++) {
		r->watched[i] = (struct watched_kind){.r = r, .resource = &map->resources[i]};
		find_watched(&r->watched[i]);
	}
}

/* --- life --- */

struct run *run_new(const struct run_config *c)
{
	struct run *r = xcalloc(1, sizeof(*r));
	r->c = *c;
	r->units = map_new(unit_free);
	r->side = (struct unit_side){.job = side_job,
				     .each = side_each,
				     .record = side_record,
				     .passed = side_passed,
				     .arg = r};
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
		start_watching(r);
	else if (!r->c.keyed)
		tick(r);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	loop_disarm(r->c.loop, &r->tick);
	for (size_t i = 0; i < r->n_watched; i++) {
		loop_disarm(r->c.loop, &r->watched[i].retry);
		informer_free(r->watched[i].informer);
	}
	xfree(r->watched);
	discovery_free(r->discovery);
	manager_free(r->manager);
	map_free(r->units);
	xfree(r);
}
