#include "tests/sim/runner.h"

#include <stdio.h>
#include <string.h>

#include "alm/controllers/run.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "alm/obj/yaml.h"
#include "alm/unit/inventory.h"
#include "crds/marks.h"
#include "tests/sim/digest.h"

#define AGAIN_NS    (5 * NS_PER_S)
#define INTERVAL_NS (20 * NS_PER_S)
#define SWEEP_NS    (5 * NS_PER_S)
#define ARENA_MAX   ((size_t)64 << 20)
#define PIECE_BYTES ((size_t)280) /* of an inventory: a line has 130 */

enum trigger { ONEOFF, INTERVAL, RESOURCE, SWEEP };

struct runner {
	struct world *w;
	struct loop *loop;
	enum trigger trigger;
	struct client *client;
	struct db *db;
	struct audit *audit;
	struct arena *a;
	struct run_watch watch;
	struct unit_sweep sweep;
	struct run *run;
	struct timer again;
	const char *by;  /* its objects say so in data.by; NULL: they do not */
	char holder[32]; /* of the Lease; "": none is taken */
	bool leads;
	uint64_t seen; /* the state of the files that succeeded; + 1 */
	uint64_t at;   /* that the attempt is of */
	unsigned runs;
};

static const char keymap[] =
	"mainResource: grafana\n"
	"resources:\n"
	"- {name: grafana, kind: Grafana, apiVersion: monitoring.coreos.com/v1}\n"
	"- name: configmap\n"
	"  kind: ConfigMap\n"
	"  apiVersion: v1\n"
	"  namespace: default\n"
	"  keyTransformations:\n"
	"  - {action: drop, regex: '/kube-'}\n"
	"  - {regex: '([a-z]+)/([a-z]+)-.*', replacement: $1/$2}\n";

/* --- what is to be there --- */

static int add(struct flat *flat, const char *by, const char *name, struct str text,
	       struct error *err)
{
	struct obj *o = NULL;
	const struct flat_place p = {.name = name, .file = name, .alone = true};
	if (yaml_parse_one(text, &o, err) < 0)
		return -err->code;
	if (by)
		obj_set_path(o, "data.by", obj_string(by));
	return flat_add(flat, &p, o, err);
}

static int add_files(const struct runner *x, struct flat *flat, const struct obj **ret_rollout,
		     struct error *err)
{
	for (const struct map_entry *e = map_first(x->w->files); e; e = map_next(e)) {
		const struct world_file *f = e->value;
		struct obj *o = NULL;
		if (!cstr_has_prefix(e->key, RUN_DIR "/"))
			continue;
		const char *name = e->key + sizeof(RUN_DIR);
		if (!strcmp(name, "rollout.yaml")) {
			if (yaml_parse_one(str_n(f->bytes, f->n), &o, err) < 0)
				return -err->code;
			*ret_rollout = obj_keep(flat->a, o);
		} else if (add(flat, x->by, arena_strdup(flat->a, name), str_n(f->bytes, f->n),
			       err) < 0) {
			return -err->code;
		}
	}
	return 0;
}

/* "a b" makes ConfigMaps NAME-a and NAME-b, whose value is spec.value. */
static int add_parts(const struct obj *main, struct flat *flat, struct error *err)
{
	struct arena *a = flat->a;
	const char *text = obj_str(main, "spec.parts"), *value = obj_str(main, "spec.value");
	struct str rest = str_of(text ? text : ""), part;
	while (rest.len) {
		(void)str_cut(rest, ' ', &part, &rest);
		const char *manifest =
			arena_fmt(a,
				  "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%.*s}, "
				  "data: {v: \"%s\"}}",
				  meta_name(main), STR_ARG(part), value ? value : "");
		if (add(flat, NULL, arena_strndup(a, part.ptr, part.len), str_of(manifest), err) <
		    0)
			return -err->code;
	}
	return 0;
}

static int make(const struct runner *x, struct run_render *call, struct error *err)
{
	struct flat flat;
	struct rollout *rollout = NULL;
	const struct obj *text = NULL;
	const struct rollout_options options = {.file = "rollout.yaml"};
	flat_init(&flat, call->a);
	int r = call->main ? add_parts(call->main, &flat, err) : add_files(x, &flat, &text, err);
	if (r < 0 || flat_sort(&flat, "default", err) < 0 ||
	    (text && rollout_parse(text, &options, call->a, &rollout, err) < 0))
		return -err->code;
	const struct unit_options o = {.hub = RUN_HUB,
				       .bundle = call->bundle,
				       .instance = call->instance,
				       .ns = "default",
				       .rollout = rollout,
				       .rollout_text = text,
				       .digest = run_digest};
	return unit_make(&flat, &o, &call->unit, err);
}

static void on_render(void *arg, struct run_render *call)
{
	struct runner *x = arg;
	struct error err = ERROR_INIT;
	x->at = x->w->n_files + map_count(x->w->files) + 1;
	int r = make(x, call, &err);
	call->done(call, r < 0 ? &err : NULL);
}

/* --- the run --- */

static void start(struct runner *x);

static bool is_over(const struct runner *x)
{
	return x->seen == x->w->n_files + map_count(x->w->files) + 1;
}

/* As CI does: what failed, or has changed, is run anew. */
static void look(void *arg)
{
	struct runner *x = arg;
	loop_arm(x->loop, &x->again, AGAIN_NS);
	if (x->at || is_over(x))
		return;
	run_free(STEAL(x->run));
	start(x);
}

static void on_ended(void *arg, const char *instance, const struct obj *record,
		     const struct error *err)
{
	struct runner *x = arg;
	CLEANUP(xfreep) char *text = record ? json_text(record) : NULL;
	trace_event(&x->w->sim.trace, TRACE_WIRE, "run", err ? "failed" : "ended",
		    instance ? instance : "",
		    err    ? str_of(err->msg)
		    : text ? str_of(text)
			   : STR_NONE);
	if (!err)
		x->seen = x->at;
	x->at = 0;
}

static void on_said(void *arg, const char *instance, const char *step, const char *state,
		    const char *message)
{
	struct runner *x = arg;
	struct trace *t = &x->w->sim.trace;
	trace_event(t, TRACE_WIRE, "run", state ? state : "", step ? step : "",
		    str_of(message ? message : ""));
	trace_event(t, TRACE_WIRE, "run", "of", instance ? instance : "", STR_NONE);
}

static void on_leads(void *arg, bool held)
{
	struct runner *x = arg;
	x->leads = held;
}

static void start(struct runner *x)
{
	/* Inventories in ConfigMaps of a line each; or of four, which then become smaller. */
	static const size_t bytes[] = {
		[ONEOFF] = PIECE_BYTES, [INTERVAL] = PIECE_BYTES, [RESOURCE] = 0, [SWEEP] = 0};
	bool repeats = x->trigger == INTERVAL || x->trigger == SWEEP;
	bool large = x->trigger == ONEOFF && x->runs++ % 2 == 0;
	const struct run_config c = {
		.loop = x->loop,
		.client = x->client,
		.audit = x->audit,
		.db = x->db,
		.bundle = RUN_BUNDLE,
		.watch = x->trigger == RESOURCE ? &x->watch : NULL,
		.interval_ns = repeats ? INTERVAL_NS : 0,
		.job = {.inventory_ns = SYSTEM_NAMESPACE,
			.inventory_bytes = large ? 3 * PIECE_BYTES : bytes[x->trigger],
			.max_deletes = 10,
			.touches = true,
			.sweep = x->trigger == SWEEP ? &x->sweep : NULL,
			.ends = x->trigger == ONEOFF,
			.keeps = x->trigger != ONEOFF},
		.holder = *x->holder ? x->holder : NULL,
		.leads = on_leads,
		.render = on_render,
		.ended = on_ended,
		.said = on_said,
		.arg = x};
	x->run = run_new(&c);
	run_start(x->run);
}

/* What it has recorded dies with it. */
static void runner_digest(void *p, struct trace *t)
{
	digest_db(t, "runner", ((struct runner *)p)->db);
}

static void runner_stop(void *p)
{
	struct runner *x = p;
	if (!x)
		return;
	loop_disarm(x->loop, &x->again);
	run_free(x->run);
	client_free(x->client);
	audit_close(x->audit);
	db_close(x->db);
	arena_free(x->a);
	xfree(x);
}

/* by, n: of a Lease; NULL: none is taken. */
static struct runner *runner_new(struct world *w, struct loop *l, struct transport *t,
				 enum trigger trigger, const char *by, unsigned n)
{
	struct error err = ERROR_INIT;
	struct runner *x = xcalloc(1, sizeof(*x));
	const struct db_config dc = {.path = ":memory:"};
	x->w = w;
	x->loop = l;
	x->trigger = trigger;
	x->by = by;
	if (by)
		(void)snprintf(x->holder, sizeof(x->holder), "%s-%u", by, n);
	x->client = client_new(l, t);
	x->a = arena_new(ARENA_MAX);
	x->watch.touches = true;
	struct obj *namespaces = obj_keep(x->a, obj_list());
	obj_append(namespaces, obj_string("default"));
	x->sweep = (struct unit_sweep){.namespaces = namespaces,
				       .interval_ns = SWEEP_NS,
				       .grace_ns = 2 * SWEEP_NS,
				       .max_deletes = 10};
	x->again = (struct timer){.fn = look, .arg = x};
	struct audit_config ac = {.loop = l};
	int r = db_open(&dc, &x->db, &err);
	ac.db = x->db;
	if (r < 0 || audit_open(&ac, &x->audit, &err) < 0 ||
	    keymap_read(str_of(keymap), "keymap", x->a, &x->watch.map, &err) < 0) {
		world_fail(w, "runner: %s", err.msg);
		return NULL;
	}
	start(x);
	if (trigger == ONEOFF)
		loop_arm(l, &x->again, AGAIN_NS);
	return x;
}

static void *start_oneoff(struct world *w, struct loop *l, struct transport *t)
{
	return runner_new(w, l, t, ONEOFF, NULL, 0);
}

static void *start_interval(struct world *w, struct loop *l, struct transport *t)
{
	return runner_new(w, l, t, INTERVAL, NULL, 0);
}

static void *start_resource(struct world *w, struct loop *l, struct transport *t)
{
	return runner_new(w, l, t, RESOURCE, NULL, 0);
}

void runner_kill(struct world *w)
{
	struct runner *x = w->program;
	if (!x) /* it has crashed by itself */
		return;
	run_free(STEAL(x->run));
	x->at = 0;
	start(x);
}

static void *start_sweep(struct world *w, struct loop *l, struct transport *t)
{
	return runner_new(w, l, t, SWEEP, NULL, 0);
}

const struct program runner_sweep = {
	.start = start_sweep, .stop = runner_stop, .digest = runner_digest};
const struct program runner_oneoff = {
	.start = start_oneoff, .stop = runner_stop, .digest = runner_digest};
const struct program runner_interval = {
	.start = start_interval, .stop = runner_stop, .digest = runner_digest};
const struct program runner_resource = {
	.start = start_resource, .stop = runner_stop, .digest = runner_digest};

/* --- two of them --- */

#define DEAD_NS (20 * NS_PER_S) /* then another process of it is there */

/* On two machines, for one bundle, and they want two things. */
struct pair {
	struct world *w;
	struct loop *loop;
	struct transport *transports[2];
	struct runner *x[2];
	struct timer again;
};

static void begin_one(struct pair *p, size_t i)
{
	static const char *const names[] = {"one", "two"};
	if (!p->x[i])
		p->x[i] = runner_new(p->w, p->loop, p->transports[i], INTERVAL, names[i],
				     ++p->w->runners);
}

static void pair_again(void *arg)
{
	begin_one(arg, 0);
	begin_one(arg, 1);
}

static void *start_pair(struct world *w, struct loop *l, struct transport *t)
{
	const struct net_client other = {.name = "alm2", .token = WORLD_TOKEN, .faulty = true};
	struct pair *p = xcalloc(1, sizeof(*p));
	*p = (struct pair){.w = w, .loop = l, .again = {.fn = pair_again, .arg = p}};
	p->transports[0] = t;
	p->transports[1] = transport_sim_new(w->net, l, &other);
	begin_one(p, 0);
	loop_arm(l, &p->again, NS_PER_S);
	return p;
}

static void pair_digest(void *arg, struct trace *t)
{
	struct pair *p = arg;
	for (size_t i = 0; i < 2; i++)
		if (p->x[i])
			runner_digest(p->x[i], t);
}

static void stop_pair(void *arg)
{
	struct pair *p = arg;
	loop_disarm(p->loop, &p->again);
	runner_stop(p->x[0]);
	runner_stop(p->x[1]);
	transport_free(p->transports[1]);
	xfree(p);
}

void runner_pair_kill(struct world *w)
{
	struct pair *p = w->program;
	for (size_t i = 0; p && i < 2; i++)
		if (p->x[i] && p->x[i]->leads) {
			runner_stop(STEAL(p->x[i]));
			loop_arm(p->loop, &p->again, DEAD_NS);
		}
}

const struct program runner_pair = {.start = start_pair, .stop = stop_pair, .digest = pair_digest};

/* --- what holds --- */

/* part: "objects", or "late": what was deleted, and may come back */
static bool is_named(struct world *w, const char *instance, const char *name, const char *part,
		     struct arena *a)
{
	const char *line = arena_fmt(a, " default %s ", name);
	for (unsigned n = 1; n <= INVENTORY_PIECES_MAX; n++) {
		const char *path =
			arena_fmt(a, "/configmaps/" SYSTEM_NAMESPACE "/inv%s." RUN_BUNDLE ".%s",
				  n > 1 ? arena_fmt(a, "-%u", n) : "", instance);
		const struct obj *piece = world_stored(w, path, a);
		const char *lines = obj_str(obj_get(piece, "data"), part);
		if (!piece)
			return false;
		if (lines && strstr(lines, line))
			return true;
	}
	return false;
}

static const char *store_key(const struct http_request *r, struct arena *a)
{
	static const char maps[] = "/api/v1/namespaces/default/configmaps/";
	return cstr_has_prefix(r->path, maps)
		       ? arena_fmt(a, "/configmaps/default/%s", r->path + sizeof(maps) - 1)
		       : NULL;
}

void runner_observe(struct world *w, const struct http_request *r, bool faulty)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	CLEANUP(obj_unrefp) struct obj *body = NULL;
	struct error ignored;
	const char *key = store_key(r, a);
	if (!faulty || !key) /* the user's */
		return;
	const char *name = strrchr(key, '/') + 1;
	if (!strcmp(r->method, "DELETE")) {
		const struct obj *o = world_stored(w, key, a);
		if (!str_contains(r->body, STR("\"uid\"")))
			world_fail(w, "DELETE %s names no uid", r->path);
		if (o && !cstr_eq(meta_label(o, LABEL_BUNDLE), RUN_BUNDLE) &&
		    str_contains(r->body, str_of(meta_uid(o))))
			world_fail(w, "DELETE %s, which is somebody else's", r->path);
		return;
	}
	if (strcmp(r->method, "PATCH") != 0 || json_parse(r->body, &body, &ignored) < 0)
		return;
	/* one that names a version may come late, and is refused */
	const char *instance =
		meta_resource_version(body) ? NULL : meta_label(body, LABEL_INSTANCE);
	if (instance && !is_named(w, instance, name, "objects", a) &&
	    !is_named(w, instance, name, "late", a))
		world_fail(w, "PATCH %s, and no inventory names it", r->path);
}

/* What has our marks is in an inventory, and the other way round. */
int runner_at_rest(struct world *w, struct error *err)
{
	CLEANUP(arena_freep) struct arena *a = arena_new(ARENA_MAX);
	struct obj *list = NULL;
	size_t lines = 0, marked = 0;
	if (world_get(w, "/api/v1/configmaps?labelSelector=app.coreos.com/bundle%3D" RUN_BUNDLE,
		      &list, err) != 200)
		return error_set(err, E_INTERNAL, "no list of ConfigMaps");
	obj_keep(a, list);
	for (size_t i = 0; i < obj_len(obj_get(list, "items")); i++) {
		const struct obj *o = obj_at(obj_get(list, "items"), i);
		const char *text = obj_str(obj_get(o, "data"), "objects");
		if (cstr_eq(meta_namespace(o), SYSTEM_NAMESPACE)) {
			for (; text && *text; text++)
				lines += *text == '\n';
			continue;
		}
		marked++;
		if (!is_named(w, meta_label(o, LABEL_INSTANCE), meta_name(o), "objects", a))
			return error_set(err, E_INTERNAL, "%s is in no inventory", meta_name(o));
	}
	return lines == marked ? 0
			       : error_set(err, E_INTERNAL,
					   "the inventories name %zu objects, there are %zu", lines,
					   marked);
}
