#include "tests/sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/obj/condition.h"
#include "alm/obj/json.h"
#include "tests/sim/edges.h"
#include "tests/sim/home.h"
#include "tests/sim/invariants.h"
#include "tests/sim/writes.h"

#define BODY_BYTES_MAX ((size_t)64 << 20)
#define RETRY_NS       NS_PER_S
#define WAIT_NS        (3 * NS_PER_HOUR) /* deadlines last longer while the clock stands behind */
#define SETTLE_NS      (30 * NS_PER_MIN) /* after the faults have stopped */
#define IDLE_NS        NS_PER_HOUR
/* The longest scenario of an hour needs 200 without faults, a week of ten apps 700; beside what each
 * start writes: ALM's definitions, of which there are seven. */
#define WRITES_MAX       3000
#define WRITES_PER_START 7
#define SCENARIO_NS      (12 * NS_PER_HOUR)

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list args;
	if (w->failed.code)
		return;
	va_start(args, fmt);
	error_vset(&w->failed, E_INTERNAL, fmt, args);
	va_end(args);
}

bool world_is_faultless(const struct world *w)
{
	return !faults_any(&w->faults) && w->point.what == POINT_NONE;
}

/* Files */

static void file_free(void *p)
{
	struct world_file *f = p;
	xfree(f->bytes);
	xfree(f);
}

void world_put_file(struct world *w, const char *name, struct str bytes)
{
	if (!bytes.ptr) {
		map_del(w->files, name);
		return;
	}
	struct world_file *f = xcalloc(1, sizeof(*f));
	f->bytes = xmemdup(bytes.ptr, bytes.len);
	f->n = bytes.len;
	f->mtime_ns = SIM_EPOCH_NS + w->sim.mono_ns + w->sim.wall_offset_ns;
	f->inode = ++w->n_files;
	map_set(w->files, name, f);
}

/* The server's side */

static void handle(void *arg, struct exchange *x)
{
	struct world *w = arg;
	apiserver_handle(w->server, x);
}

static bool server_is_frozen(void *arg)
{
	struct world *w = arg;
	return disk_is_off(w->disk, DRIVE_SERVER);
}

static int server_start(struct world *w, struct error *err)
{
	static const char *const groups[] = {"system:masters"};
	static const struct apiserver_token tokens[] = {
		{.token = WORLD_TOKEN, .user = "admin", .groups = groups, .n_groups = 1}};
	struct db_config dc = {.path = WORLD_DB, .vfs = "sim"};
	static const char *const anchor_files[] = {HOME_SERVER "/" HOME_ANCHOR, NULL};
	w->server_starts++;
	w->server_loop = loop_sim_new(&w->sim, "server");
	if (db_open(&dc, &w->db, err) < 0)
		return -err->code;
	struct audit_config ac = {.db = w->db,
				  .loop = w->server_loop,
				  .origin = "alm.local/5ca1ab1e5ca1ab1e",
				  .key_dir = HOME_SERVER,
				  .anchor_files = anchor_files};
	if (audit_open(&ac, &w->audit, err) < 0)
		return -err->code;
	if (audit_read_only(w->audit)) /* no crash takes what was acknowledged */
		world_fail(w, "%s", audit_read_only(w->audit));
	struct anchor *target = anchor_file_new(HOME_ANCHOR, HOME_SERVER);
	w->anchors = anchors_new(w->audit, w->server_loop, w->db, &target, 1);
	struct apiserver_config c = {
		.db = w->db,
		.loop = w->server_loop,
		.audit = w->audit,
		.tokens = tokens,
		.n_tokens = 1,
		.ca_pem = "",
		.address = "sim:6443",
		.simulate_workloads = w->scenario->simulate_workloads,
		.metrics = w->metrics,
	};
	if (apiserver_new(&c, &w->server, err) < 0)
		return -err->code;
	net_server_up(w->net, handle, w);
	return 0;
}

/* Frees the memory; the disk is off or is to be closed cleanly. */
static void server_free_all(struct world *w)
{
	net_server_down(w->net);
	apiserver_free(w->server);
	w->server = NULL;
	audit_close(w->audit);
	anchors_free(w->anchors);
	w->audit = NULL;
	w->anchors = NULL;
	db_close(w->db);
	w->db = NULL;
	net_server_gone(w->net);
	if (w->server_loop)
		loop_free(w->server_loop);
	w->server_loop = NULL;
}

static void program_start(struct world *w);
static void program_stop(struct world *w);

void world_crash_server(struct world *w, enum disk_keep keep)
{
	trace_event(&w->sim.trace, TRACE_STORY, "world", "crash", "server", STR_NONE);
	disk_power_off(w->disk, DRIVE_SERVER, keep);
	if (w->together)
		program_stop(w);
	server_free_all(w);
	disk_power_on(w->disk, DRIVE_SERVER);
	struct error err = ERROR_INIT;
	/* Power may be lost again, or the disk fail, while it comes up; then it is started once
	 * more. */
	for (int i = 0; i < 3; i++) {
		if (server_start(w, &err) == 0) {
			if (w->together)
				program_start(w);
			return;
		}
		server_free_all(w);
		disk_power_on(w->disk, DRIVE_SERVER);
	}
	world_fail(w, "server does not start again: %s", err.msg);
}

/* The controllers' side */

/* In one process both sides share the loop, too. */
static void program_start(struct world *w)
{
	struct net_client c = {.name = "alm", .token = WORLD_TOKEN, .faulty = true};
	if (!w->scenario->program)
		return;
	w->program_starts++;
	w->program_loop = w->together ? w->server_loop : loop_sim_new(&w->sim, "program");
	if (!w->together)
		loop_sim_set_ahead(w->program_loop, w->program_ahead_ns);
	w->program_transport = transport_sim_new(w->net, w->program_loop, &c);
	w->program = w->scenario->program->start(w, w->program_loop, w->program_transport);
}

static void program_stop(struct world *w)
{
	if (!w->program_loop)
		return;
	if (w->program)
		w->scenario->program->stop(w->program);
	transport_free(w->program_transport);
	if (!w->together)
		loop_free(w->program_loop);
	w->program_loop = NULL;
	w->program_transport = NULL;
	w->program = NULL;
}

void world_crash_program(struct world *w, enum disk_keep keep)
{
	if (!w->scenario->program)
		return;
	if (w->together) {
		world_crash_server(w, keep);
		return;
	}
	trace_event(&w->sim.trace, TRACE_STORY, "world", "crash", "program", STR_NONE);
	disk_power_off(w->disk, DRIVE_CONTROLLER, keep);
	program_stop(w);
	disk_power_on(w->disk, DRIVE_CONTROLLER);
	for (int i = 0; i < 3 && !w->program; i++) {
		program_start(w);
		if (w->program)
			return;
		program_stop(w);
		disk_power_on(w->disk, DRIVE_CONTROLLER);
	}
	world_fail(w, "the program does not start again");
}

static bool controller_is_broken(struct world *w)
{
	struct db *db = w->program && w->scenario->program->db
				? w->scenario->program->db(w->program)
				: NULL;
	return disk_is_off(w->disk, DRIVE_CONTROLLER) || (db && db_is_broken(db));
}

/* The user */

static void user_go(struct world *w, int64_t after_ns)
{
	loop_arm(w->user_loop, &w->user_timer, after_ns);
}

static void user_next(struct world *w)
{
	w->next_action++;
	w->user_waits_since = w->sim.mono_ns;
	const struct user_action *a = &w->scenario->actions[w->next_action];
	if (a->target)
		user_go(w, a->after_ns);
}

static void user_data(void *arg, struct str chunk)
{
	struct world *w = arg;
	strbuf_addstr(&w->user_body, chunk);
}

static void user_head(void *arg, int status, const struct http_headers *h UNUSED)
{
	struct world *w = arg;
	w->user_status = status;
}

static bool action_is_done(const struct user_action *a, int status)
{
	bool ok = status >= 200 && status < 300;
	switch (a->verb) {
	case DO_CREATE:
		return ok || status == 409;
	case DO_DELETE:
		return ok || status == 404;
	case DO_GONE:
		return status == 404;
	case DO_PATCH:
	case DO_APPEAR:
		return ok;
	case DO_UNTIL:
	case DO_FILE:
	case DO_CALL:
		break;
	}
	return true;
}

/* A child that was to look at the version again has died or said nonsense: until it is asked once more
 * the version is Blocked, and who approves it just then does so later. */
static bool is_blocked_for_a_moment(const struct world *w)
{
	const uint64_t *n = w->faults.n;
	return n[FAULT_CHILD_KILLED] + n[FAULT_CHILD_GARBAGE] + n[FAULT_CHILD_LATE] &&
	       strstr(w->user_body.buf, "the version is Blocked, there is nothing to approve");
}

/* What no repetition heals. */
static bool action_is_refused(const struct world *w, const struct user_action *a, int status)
{
	return (a->verb == DO_CREATE || a->verb == DO_PATCH) &&
	       (status == 400 || status == 422 || status == 403 || status == 415) &&
	       !is_blocked_for_a_moment(w);
}

bool world_has(const struct obj *o, const char *field_is_value)
{
	char field[256];
	struct str name, value;
	struct condition c;
	if (!str_cut(str_of(field_is_value), '=', &name, &value))
		return false;
	snprintf(field, sizeof(field), "%.*s", STR_ARG(name));
	const struct obj *found = obj_path(o, field);
	if (field[0] == '@')
		return condition_get(o, field + 1, &c) ? str_is(value, c.reason) : !value.len;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BODY_BYTES_MAX);
	if (obj_as_string(found))
		strbuf_adds(&text, obj_as_string(found));
	else if (found)
		json_print(found, &text);
	return str_eq(strbuf_str(&text), value);
}

static bool body_has(struct world *w, const char *field_is_value)
{
	struct error err;
	CLEANUP(obj_unrefp) struct obj *o = NULL;
	return json_parse(strbuf_str(&w->user_body), &o, &err) == 0 && world_has(o, field_is_value);
}

/* What the last answer tells of the object's state. */
static const char *status_text(const struct world *w)
{
	const char *from = strstr(w->user_body.buf, "\"status\":{");
	return from ? from : w->user_body.buf;
}

static void user_done(void *arg, const struct error *err)
{
	struct world *w = arg;
	const struct user_action *a = &w->scenario->actions[w->next_action];
	if (err)
		w->user_status = 0;
	bool is_done = a->verb == DO_UNTIL ? w->user_status == 200 && body_has(w, a->body)
					   : action_is_done(a, w->user_status);
	if (action_is_refused(w, a, w->user_status))
		world_fail(w, "action %zu, %s: %d %s", w->next_action, a->target, w->user_status,
			   w->user_body.buf);
	else if (w->sim.mono_ns - w->user_waits_since > WAIT_NS)
		world_fail(w, "action %zu, %s: not %s after hours, but %d %s", w->next_action,
			   a->target, a->body ? a->body : "done", w->user_status, status_text(w));
	else if (is_done)
		user_next(w);
	else
		user_go(w, RETRY_NS);
}

static const struct transport_events user_events = {
	.head = user_head, .data = user_data, .done = user_done};

static void user_act(void *arg)
{
	static const char *const methods[] = {"POST", "PATCH", "DELETE", "GET", "GET", "GET"};
	struct world *w = arg;
	const struct user_action *a = &w->scenario->actions[w->next_action];
	if (a->verb == DO_FILE || a->verb == DO_CALL) {
		if (a->verb == DO_CALL)
			a->fn(w);
		else
			world_put_file(w, a->target, str_of(a->body));
		user_next(w);
		return;
	}
	struct transport_request r = {.method = methods[a->verb],
				      .target = a->target,
				      .body = a->verb <= DO_PATCH ? str_of(a->body) : STR_NONE,
				      .timeout_ns = 30 * NS_PER_S};
	if (a->body && a->verb <= DO_PATCH)
		http_header_add(&r.headers, "Content-Type",
				a->verb == DO_PATCH ? "application/merge-patch+json"
						    : "application/json");
	strbuf_clear(&w->user_body);
	w->user_status = 0;
	transport_start(w->user_transport, &r, &user_events, w);
}

/* At once, or in the middle of one of the next commits. */
static void lose_power(struct world *w)
{
	enum disk_keep keep = (enum disk_keep)prng_below(&w->prng, 3);
	uint64_t n = prng_below(&w->prng, 6);
	if (n == 0)
		world_crash_server(w, keep);
	else
		disk_off_at_commit(w->disk, disk_commits(w->disk) + n, prng_chance(&w->prng, 500),
				   keep);
}

static void set_clocks_apart(struct world *w, int64_t ns)
{
	w->program_ahead_ns = ns;
	if (w->program_loop && !w->together)
		loop_sim_set_ahead(w->program_loop, ns);
}

/* A story of days has as many crashes as one of hours. */
static uint64_t seconds_between(const struct world *w)
{
	int64_t n = w->scenario->lasts_ns / SCENARIO_NS;
	return n > 1 ? (uint64_t)n : 1;
}

/* What befalls processes, by the second. */
static void on_second(void *arg)
{
	struct world *w = arg;
	struct faults *f = &w->faults;
	loop_arm(w->world_loop, &w->second, NS_PER_S);
	if (w->n_seconds++ % seconds_between(w))
		return;
	if (fault_strikes(f, FAULT_CRASH_CLIENT))
		world_crash_program(w, KEEP_ALL);
	if (fault_strikes(f, FAULT_CRASH_SERVER))
		world_crash_server(w, KEEP_ALL); /* the kernel keeps what was written */
	if (fault_strikes(f, FAULT_POWER_LOSS))
		lose_power(w);
	uint64_t op = disk_ops(w->disk) + 1 + prng_below(&w->prng, 20);
	enum disk_fault disk_fault = (enum disk_fault)prng_below(&w->prng, 4);
	if (fault_strikes(f, FAULT_DISK_ERROR))
		disk_fail_at_op(w->disk, op, disk_fault);
	int64_t jump = ((int64_t)prng_below(&w->prng, 2 * 86400) - 86400) * NS_PER_S;
	if (fault_strikes(f, FAULT_CLOCK_JUMP))
		w->sim.wall_offset_ns = jump;
	if (fault_strikes_later(f, FAULT_CLOCKS_APART))
		set_clocks_apart(w, ((int64_t)prng_below(&f->later, 7200) - 3600) * NS_PER_S);
	if (fault_strikes_later(f, FAULT_REVOKED))
		net_revoke(w->net, (int64_t)(1 + prng_below(&f->later, 40)) * NS_PER_S);
}

static void observe(void *arg, const struct http_request *r, bool faulty)
{
	struct world *w = arg;
	writes_observe(w, r, faulty);
	if (w->scenario->observe)
		w->scenario->observe(w, r, faulty);
	if (faulty && w->scenario->program && w->scenario->program->observe)
		w->scenario->program->observe(w, r);
}

/* Life */

void world_arm_point(struct world *w)
{
	const struct fault_point *p = &w->point;
	net_set_point(w->net, p);
	static const enum disk_keep keeps[] = {KEEP_NONE, KEEP_ALL, KEEP_RANDOM};
	if (p->at_commit && p->what != POINT_NONE)
		disk_off_at_commit(w->disk, p->n, p->what == POINT_CRASH_AFTER,
				   keeps[(w->sim.seed + p->n) % 3]);
}

/* A version whose archive nobody could read twice is not listed until it is read again, and soaks anew then:
 * what is to be installed on Saturday would not be. */
static void leave_the_clock(struct faults *f)
{
	static const enum fault_id moved[] = {FAULT_CLOCK_JUMP, FAULT_CLOCKS_APART,
					      FAULT_CHILD_KILLED, FAULT_CHILD_GARBAGE};
	for (size_t i = 0; i < ARRAY_LEN(moved); i++)
		f->per_mille[moved[i]] = 0;
}

int world_init(struct world *w, const struct scenario *s, uint64_t seed, enum trace_level level,
	       struct error *err)
{
	sim_init(&w->sim, seed, level);
	prng_init(&w->faults.prng, seed, "faults");
	prng_init(&w->faults.events, seed, "events");
	prng_init(&w->faults.later, seed, "later");
	prng_init(&w->faults.answers, seed, "answers");
	prng_init(&w->prng, seed, "world");
	w->scenario = s;
	w->faults.on = true;
	if (s->by_clock)
		leave_the_clock(&w->faults);
	w->net = net_new(&w->sim, &w->faults);
	w->disk = disk_new(seed);
	net_server_watch(w->net, server_is_frozen, w);
	net_observe(w->net, observe, w);
	w->metrics = metrics_new();
	w->files = map_new(file_free);
	w->user_deleted = map_new(xfree);
	strbuf_init(&w->user_body, BODY_BYTES_MAX);
	w->world_loop = loop_sim_new(&w->sim, "world");
	w->second = (struct timer){.fn = on_second, .arg = w};
	w->home = home_make(err);
	if (!w->home || home_enter(w->home, err) < 0)
		return -err->code;
	if (s->setup)
		s->setup(w);
	if (server_start(w, err) < 0)
		return -err->code;
	/* Commits of the first start are no points: it has not acknowledged anything yet. */
	world_arm_point(w);
	w->user_loop = loop_sim_new(&w->sim, "user");
	struct net_client user = {.name = "user", .token = WORLD_TOKEN};
	w->user_transport = transport_sim_new(w->net, w->user_loop, &user);
	w->user_timer = (struct timer){.fn = user_act, .arg = w};
	program_start(w);
	if (s->actions[0].target)
		user_go(w, s->actions[0].after_ns);
	loop_arm(w->world_loop, &w->second, NS_PER_S);
	return 0;
}

void world_free(struct world *w)
{
	program_stop(w);
	transport_free(w->user_transport);
	if (w->user_loop)
		loop_free(w->user_loop);
	server_free_all(w);
	metrics_free(w->metrics);
	loop_free(w->world_loop);
	net_free(w->net);
	disk_free(w->disk);
	map_free(w->files);
	map_free(w->user_deleted);
	strbuf_release(&w->user_body);
	xfree(w->noted);
	home_remove(w->home);
	sim_release(&w->sim);
}

/* Running */

static void after_step(struct world *w)
{
	if (disk_is_off(w->disk, DRIVE_SERVER))
		world_crash_server(w, KEEP_NONE); /* what it keeps is decided already */
	else if (w->db && db_is_broken(w->db))
		world_crash_server(w, KEEP_ALL);
	if (controller_is_broken(w))
		world_crash_program(w, KEEP_ALL);
	if (net_crash_due(w->net))
		world_crash_program(w, KEEP_ALL);
}

/* Writes without end: also against three times what they should be, so that a run without a fault
 * comes to what is wrong in the end, see writes_are_few(). */
static void check_writes(struct world *w)
{
	uint64_t n = net_stats(w->net)->writes;
	uint64_t max = WRITES_MAX + WRITES_PER_START * (uint64_t)w->program_starts;
	if (!faults_any(&w->faults) && w->scenario->writes)
		max = 3 * w->scenario->writes;
	if (n > max)
		world_fail(w, "%llu writes and no end", (unsigned long long)n);
}

int world_run_for(struct world *w, int64_t ns, struct error *err)
{
	int64_t until = w->sim.mono_ns + ns;
	for (;;) {
		if (w->before_turn)
			w->before_turn(w, w->hook_arg);
		if (w->failed.code || !sim_step(&w->sim, until))
			break;
		after_step(w);
		check_writes(w);
	}
	if (w->sim.livelock)
		world_fail(w, "livelock: 100,000 turns without time passing");
	return w->failed.code ? error_copy(err, &w->failed) : 0;
}

struct got {
	int status;
	bool done;
	struct strbuf body;
};

static void got_head(void *arg, int status, const struct http_headers *h UNUSED)
{
	((struct got *)arg)->status = status;
}

static void got_data(void *arg, struct str chunk)
{
	strbuf_addstr(&((struct got *)arg)->body, chunk);
}

static void got_done(void *arg, const struct error *err UNUSED)
{
	((struct got *)arg)->done = true;
}

int world_send(struct world *w, const char *method, const char *target, const char *body,
	       struct obj **ret, struct error *err)
{
	static const struct transport_events events = {
		.head = got_head, .data = got_data, .done = got_done};
	struct got g = {.body = STRBUF_INIT(BODY_BYTES_MAX)};
	struct transport_request r = {.method = method, .target = target, .body = str_of(body)};
	if (body)
		http_header_add(&r.headers, "Content-Type", "application/merge-patch+json");
	struct call *call = transport_start(w->user_transport, &r, &events, &g);
	int64_t until = w->sim.mono_ns + NS_PER_MIN;
	while (!g.done && sim_step(&w->sim, until))
		after_step(w);
	if (!g.done) /* an answer that comes later has no room any more */
		transport_cancel(w->user_transport, call);
	int result = g.done ? g.status : error_set(err, E_TIMEOUT, "%s: no answer", target);
	if (result == 200 && json_parse(strbuf_str(&g.body), ret, err) < 0)
		result = -err->code;
	strbuf_release(&g.body);
	return result;
}

int world_get(struct world *w, const char *target, struct obj **ret, struct error *err)
{
	return world_send(w, "GET", target, NULL, ret, err);
}

static bool user_is_through(const struct world *w)
{
	return !w->scenario->actions[w->next_action].target;
}

/* What the controllers decided, for the reader of a failed run. */
void world_tell(struct world *w, const char *query)
{
	static const char sql[] = "SELECT seq || ' ' || time || ' ' || type || ' ' || reason || ' "
				  "' || name || ' ' || "
				  "coalesce(json_extract(body, '$.to'), '') || ' ' || "
				  "coalesce(json_extract(body, '$.message'), json_extract(body, "
				  "'$.source.subject'), '') FROM audit"
				  " WHERE type NOT IN ('Write', 'Plan')";
	struct db *own = w->program && w->scenario->program->db
				 ? w->scenario->program->db(w->program)
				 : NULL;
	struct error err = ERROR_INIT;
	struct stmt *s;
	if (!w->db || db_prepare(query || !own ? w->db : own, query ? query : sql, &s, &err) < 0)
		return;
	while (stmt_step(s, &err) > 0)
		printf("# log: %.*s\n", STR_ARG(stmt_text(s, 0)));
}

int world_run(struct world *w, struct error *err)
{
	/* The story, with faults. */
	int64_t most = w->scenario->lasts_ns ? w->scenario->lasts_ns : SCENARIO_NS;
	while (!user_is_through(w) && w->sim.mono_ns < most)
		if (world_run_for(w, NS_PER_S, err) < 0)
			return -err->code;
	if (!user_is_through(w))
		return error_set(err, E_TIMEOUT, "the user is not through after %lld hours",
				 (long long)(most / NS_PER_HOUR));
	if (world_run_for(w, NS_PER_MIN, err) < 0)
		return -err->code;
	/* The faults stop: the contract of reliability.md 1 begins. */
	w->faults.on = false;
	disk_fail_at_op(w->disk, 0, DISK_EIO);
	disk_off_at_commit(w->disk, 0, false, KEEP_NONE);
	w->sim.wall_offset_ns = 0;
	set_clocks_apart(w, 0);
	net_revoke(w->net, 0);
	bool once = w->point.what != POINT_NONE; /* hundreds of runs, each with one fault only */
	if (world_run_for(w, once ? SETTLE_NS / 3 : SETTLE_NS, err) < 0)
		return -err->code;
	net_reset_idle(w->net);
	w->rows_at_rest = invariants_rows(w);
	if (world_run_for(w, once ? IDLE_NS / 4 : IDLE_NS, err) < 0)
		return -err->code;
	int r = edges_note(w, err);
	return r < 0 ? r : invariants_check(w, err);
}

const struct obj *world_stored(struct world *w, const char *name, struct arena *a)
{
	static const char newest[] = "SELECT CAST(value AS TEXT), deleted FROM objects"
				     " WHERE name = ? ORDER BY id DESC LIMIT 1";
	struct stmt *s;
	struct error ignored;
	struct obj *o = NULL;
	if (!w->db || db_prepare(w->db, newest, &s, &ignored) < 0)
		return NULL;
	stmt_bind_cstr(s, 1, name);
	if (stmt_step(s, &ignored) > 0 && !stmt_int(s, 1))
		(void)json_parse(stmt_text(s, 0), &o, &ignored);
	stmt_reset(s);
	return obj_keep(a, o);
}
