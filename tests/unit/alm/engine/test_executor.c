/* The executor's bounds: how many renders at once, and what becomes of a plan that finds no room.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "alm/audit/audit.h"
#include "alm/audit/disk_watch.h"
#include "alm/base/clock.h"
#include "alm/controllers/app/keys.h"
#include "alm/controllers/work/works.h"
#include "alm/engine/executor.h"
#include "alm/engine/tries.h"
#include "alm/engine/view.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"
#include "tests/lib/work_fixture.h"

#define RUNS (RENDERS_MAX + 3)

struct fixture {
	struct work_fixture w;
	int64_t free_mib;
	struct work_host host;
	struct render_call *calls[RUNS]; /* under way, the first first */
	struct sandbox sandbox;          /* that of the renders: nothing runs in it */
	size_t n_calls, n_fetches, n_cancelled;
	enum run_result results[RUNS];
	int codes[RUNS];
	size_t n_done;
};

static void host_render(void *arg, struct str archive, const struct obj *request,
			struct render_call *call)
{
	struct fixture *f = arg;
	(void)archive;
	(void)request;
	f->calls[f->n_calls++] = call;
	call->sandbox = &f->sandbox;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): of sandbox_ops */
static void count_cancel(struct sandbox *s, struct sandbox_run *run)
{
	struct fixture *f = CONTAINER_OF(s, struct fixture, sandbox);
	(void)run;
	f->n_cancelled++;
}

static const struct sandbox_ops sandbox_ops = {.cancel = count_cancel};

static void host_fetch(void *arg, const char *digest, fetched_fn done, void *done_arg)
{
	struct fixture *f = arg;
	(void)digest;
	f->n_fetches++;
	done(done_arg, STR("archive"), NULL);
}

static void ended(void *arg, const char *controller, const char *key, enum run_result result,
		  int64_t requeue_after_ns, const struct error *err)
{
	struct fixture *f = arg;
	(void)controller;
	(void)key;
	(void)requeue_after_ns;
	f->codes[f->n_done] = err ? err->code : 0;
	f->results[f->n_done++] = result;
}

static int64_t free_bytes(void *arg)
{
	const struct fixture *f = arg;
	return f->free_mib << 20;
}

static void observed(void *arg, const struct resource *r, const struct obj *o)
{
	(void)arg;
	(void)r;
	(void)o;
}

static void setup_as(struct fixture *f, bool same_process)
{
	const struct executor_host host = {.observed = observed};
	*f = (struct fixture){.free_mib = 1000, .sandbox = {&sandbox_ops}};
	f->host = (struct work_host){.render = host_render, .fetch = host_fetch, .arg = f};
	const struct work_fixture_config c = {.same_process = same_process,
					      .host = &host,
					      .work_host = &f->host,
					      .free_bytes = free_bytes,
					      .free_bytes_arg = f};
	work_fixture_init_with(&f->w, &c);
}

static void setup(struct fixture *f)
{
	setup_as(f, true);
}

static void teardown(struct fixture *f)
{
	work_fixture_drop(&f->w);
}

/* The plan of a strategy that is to be rendered: its archive, then the render. */
static void start(struct fixture *f, size_t i)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	char key[32];
	plan_init(&p, a);
	snprintf(key, sizeof(key), "k%zu", i);
	struct action *fetch = plan_work(&p, &fetch_work, "archive:d");
	fetch->key = "d";
	struct action *render = plan_work(&p, &render_work, arena_fmt(a, "render:%zu", i));
	render->key = "archive:d";
	struct obj *body = obj_keep(a, obj_map());
	obj_set(body, "apiVersions", obj_list());
	render->body = body;
	executor_start(f->w.executor, "strategy", key, &p, a, ended, f);
	loop_fake_settle(f->w.loop);
}

static void finish_first(struct fixture *f, const struct error *err)
{
	struct render_call *call = f->calls[0];
	f->n_calls--;
	memmove(f->calls, f->calls + 1, f->n_calls * sizeof(f->calls[0]));
	call->sandbox = NULL;
	call->done(call->arg, err ? NULL : obj_map(), err);
	loop_fake_settle(f->w.loop);
}

static void test_executor__one_render_over_the_bound_waits_for_room(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (size_t i = 0; i < RENDERS_MAX; i++)
		start(&f, i);
	assert_int_equal(f.n_calls, RENDERS_MAX);
	assert_int_equal(executor_room(f.w.executor, &render_work), 0);
	assert_int_equal(f.n_done, 0);
	/* it holds nothing while it waits, and has fetched nothing in vain */
	start(&f, RENDERS_MAX);
	assert_int_equal(f.n_done, 1);
	assert_int_equal(f.results[0], RUN_WAITS);
	assert_int_equal(f.codes[0], 0);
	assert_int_equal(f.n_fetches, RENDERS_MAX);
	/* room comes with the end of a run */
	finish_first(&f, NULL);
	assert_int_equal(f.results[1], RUN_CHANGED);
	assert_int_equal(executor_room(f.w.executor, &render_work), 1);
	start(&f, RENDERS_MAX);
	assert_int_equal(f.n_done, 2);
	assert_int_equal(f.n_calls, RENDERS_MAX);
	while (f.n_calls)
		finish_first(&f, NULL);
	assert_int_equal(executor_room(f.w.executor, &render_work), RENDERS_MAX);
	assert_int_equal(executor_running(f.w.executor), 0);
	teardown(&f);
}

/* That the sandbox is full says nothing of the chart: no outcome, another attempt. */
static void test_executor__a_full_sandbox_is_no_failure_of_the_chart(void **state)
{
	(void)state;
	struct fixture f;
	struct error err;
	setup(&f);
	start(&f, 0);
	error_set(&err, E_TOOMANY, "1024 sandboxed runs wait already");
	finish_first(&f, &err);
	assert_int_equal(f.codes[0], E_TOOMANY);
	assert_null(stash_get(f.w.stash, "render:0"));
	assert_int_equal(executor_room(f.w.executor, &render_work), RENDERS_MAX);
	start(&f, 0);
	error_set(&err, E_INVALID, "no such template");
	finish_first(&f, &err);
	assert_int_equal(f.codes[1], 0);
	assert_int_equal(stash_get(f.w.stash, "render:0")->code, E_INVALID);
	teardown(&f);
}

static void test_executor__a_plan_forgets_what_is_used(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	start(&f, 0);
	finish_first(&f, NULL);
	assert_non_null(stash_get(f.w.stash, "render:0"));
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	plan_add(&p, ACT_FORGET)->id = "render:0";
	executor_start(f.w.executor, "strategy", "k0", &p, a, ended, &f);
	loop_fake_settle(f.w.loop);
	assert_null(stash_get(f.w.stash, "render:0"));
	teardown(&f);
}

/* What one custom resource has under "items" is its own, whatever that is; a list's have a kind. */
static void test_executor__items_of_one_object_stay_as_they_are(void **state)
{
	(void)state;
	static const char needs[] =
		"[{\"apiVersion\":\"s.io/v1\",\"kind\":\"Cart\",\"name\":\"c\"},"
		"{\"apiVersion\":\"s.io/v1\",\"kind\":\"Cart\"}]";
	struct error err;
	struct fixture f;
	struct obj *body;
	setup(&f);
	fake_answer(f.w.transport, "GET", "/api", 200, "{\"items\":[]}");
	fake_answer(f.w.transport, "GET", "/apis", 200,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":"
		    "\"s.io\"},\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":"
		    "\"carts\",\"responseKind\":{\"kind\":\"Cart\"},\"scope\":\"Cluster\","
		    "\"verbs\":[\"get\"]}]}]}]}");
	fake_answer(f.w.transport, "GET", "/apis/s.io/v1/carts/c", 200,
		    "{\"kind\":\"Cart\",\"items\":[\"soap\",{\"n\":1}]}");
	fake_answer(f.w.transport, "GET", "/apis/s.io/v1/carts", 200,
		    "{\"kind\":\"CartList\",\"items\":[{\"metadata\":{\"name\":\"c\"}}]}");
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	p.as = "system:serviceaccount:alm-system:app-x";
	assert_ok(json_parse(str_of(needs), &body, &err), &err);
	plan_lookup(&p, "lookup:0", obj_keep(a, body));
	executor_start(f.w.executor, "strategy", "k0", &p, a, ended, &f);
	loop_fake_settle(f.w.loop);
	assert_int_equal(f.n_done, 1);
	struct str found = stash_get(f.w.stash, "lookup:0")->text;
	assert_true(str_contains(
		found, STR("\"value\":{\"kind\":\"Cart\",\"items\":[\"soap\",{\"n\":1}]}")));
	assert_true(str_contains(found, STR("{\"metadata\":{\"name\":\"c\"},\"kind\":\"Cart\","
					    "\"apiVersion\":\"s.io/v1\"}")));
	teardown(&f);
}

static void test_executor__on_a_full_disk_everything_waits(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.free_mib = 10;
	start(&f, 0);
	loop_fake_run(f.w.loop, NS_PER_MIN);
	assert_int_equal(f.n_fetches, 0);
	assert_int_equal(f.n_done, 0);
	f.free_mib = 100;
	loop_fake_run(f.w.loop, NS_PER_MIN);
	assert_int_equal(f.n_fetches, 1);
	assert_int_equal(f.n_calls, 1);
	finish_first(&f, NULL);
	assert_int_equal(f.results[0], RUN_CHANGED);
	teardown(&f);
}

/* The lease is lost: what renders for this executor must not call it back. */
static void test_executor__renders_end_with_it(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	start(&f, 0);
	start(&f, 1);
	start(&f, 2);
	finish_first(&f, NULL);
	assert_int_equal(f.n_calls, 2);
	executor_free(STEAL(f.w.executor));
	assert_int_equal(f.n_cancelled, 2);
	teardown(&f);
}

/* --- failures of one action (audit.md 3) --- */

#define MAP_PATH   "/api/v1/namespaces/n/configmaps/c*"
#define OTHER_PATH "/apis/x.example/v1/namespaces/n/configmaps/c*"
#define MAP_RESOURCE                                                                         \
	"[{\"resource\":\"configmaps\",\"responseKind\":{\"kind\":\"ConfigMap\"},\"scope\":" \
	"\"Namespaced\",\"verbs\":[\"get\",\"patch\"]}]"

/* One attempt to write a ConfigMap with this value; the server answers so. */
static void attempt_of(struct fixture *f, const char *api, const char *value, int status)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	struct obj *o = meta_skeleton(api, "ConfigMap", "n", "c");
	obj_set_path(o, "data.key", obj_string(value));
	obj_set_path(o, "metadata.resourceVersion", obj_stringf("%zu", f->n_done));
	p.as = "system:serviceaccount:alm-system:app-x";
	plan_apply(&p, o, 0, false);
	fake_answer(f->w.transport, "PATCH", cstr_eq(api, "v1") ? MAP_PATH : OTHER_PATH, status,
		    status == 200
			    ? "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\"}}"
			    : "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"no\"}");
	f->n_done = 0;
	executor_start(f->w.executor, "strategy", "k0", &p, a, ended, f);
	loop_fake_settle(f->w.loop);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->codes[0] != 0, status != 200);
}

static void attempt(struct fixture *f, const char *value, int status)
{
	attempt_of(f, "v1", value, status);
}

/* "Plan Failed(422) Failed(422)+1": the entries, with what they say of others. */
static const char *told(struct fixture *f, struct strbuf *b)
{
	strbuf_clear(b);
	for (int64_t seq = 2; seq <= audit_last_seq(f->w.audit); seq++) {
		struct error err;
		CLEANUP(obj_unrefp) struct obj *row = NULL;
		assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
		int64_t more = obj_i64(row, "body.suppressed", 0);
		const char *op = obj_str(row, "op");
		strbuf_addf(b, "%s%s", b->len ? " " : "",
			    op ? obj_str(row, "reason") : obj_str(row, "type"));
		if (op)
			strbuf_addf(b, ":%s", op);
		if (more)
			strbuf_addf(b, "+%d", (int)more);
	}
	return b->buf;
}

static void serve_maps(struct fixture *f)
{
	fake_answer(f->w.transport, "GET", "/apis", 200,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":"
		    "\"x.example\"},\"versions\":[{\"version\":\"v1\",\"resources\":" MAP_RESOURCE
		    "}]}]}");
	fake_answer(f->w.transport, "GET", "/api", 200,
		    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":"
		    "[{\"version\":\"v1\",\"resources\":" MAP_RESOURCE "}]}]}");
}

static void test_executor__the_same_refusal_again_is_no_new_intent(void **state)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	struct fixture f;
	(void)state;
	setup_as(&f, false);
	serve_maps(&f);
	for (int i = 0; i < 9; i++)
		attempt(&f, "a", 422);
	const char *nine = "Plan Failed:2-0-1 Failed:2-0-2 Failed:2-0-4+1 Failed:2-0-8+3";
	assert_string_equal(told(&f, &b), nine);
	/* another way to fail, and the end of it: none is lost */
	attempt(&f, "a", 403);
	attempt(&f, "a", 200);
	assert_string_equal(told(&f, &b), "Plan Failed:2-0-1 Failed:2-0-2 Failed:2-0-4+1"
					  " Failed:2-0-8+3 Denied:2-0-10+1 Applied:2-0-11");
	/* after that, or of another content, it is a new plan */
	attempt(&f, "a", 422);
	attempt(&f, "b", 422);
	attempt(&f, "b", 422);
	assert_non_null(strstr(told(&f, &b), " Applied:2-0-11 Plan Failed:9-0-1 Plan"
					     " Failed:11-0-1 Failed:11-0-2"));
	teardown(&f);
}

/* The embedded server writes the entries of what is done; what it refused the executor tells. */
static void test_executor__a_refusal_of_the_own_server_has_an_entry(void **state)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4096);
	struct fixture f;
	(void)state;
	setup(&f);
	serve_maps(&f);
	attempt(&f, "a", 422);
	attempt(&f, "a", 200);
	assert_string_equal(told(&f, &b), "Plan Failed:2-0-1");
	teardown(&f);
}

/* Two groups may have kinds of one name, as that of Services is. */
static void test_executor__a_refusal_is_of_one_group(void **state)
{
	struct fixture f;
	(void)state;
	setup(&f);
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	const char *maps = refusal_id("", "ConfigMap", "n", "c", a);
	const char *others = refusal_id("x.example", "ConfigMap", "n", "c", a);
	serve_maps(&f);
	attempt(&f, "a", 422);
	assert_non_null(stash_get(f.w.stash, maps));
	assert_null(stash_get(f.w.stash, others));
	attempt_of(&f, "x.example/v1", "a", 200);
	assert_non_null(stash_get(f.w.stash, maps));
	attempt(&f, "a", 200);
	assert_null(stash_get(f.w.stash, maps));
	teardown(&f);
}

static enum run_result patch_answered(struct fixture *f, const char *answer)
{
	struct arena *a = arena_new((size_t)1 << 20);
	struct plan p;
	plan_init(&p, a);
	struct obj *live = obj_keep(a, meta_skeleton("v1", "ConfigMap", "n", "c")),
		   *patch = obj_map();
	obj_set_path(live, "metadata.resourceVersion", obj_string("7"));
	obj_set_path(patch, "data.key", obj_string("x"));
	p.as = "system:serviceaccount:alm-system:app-x";
	plan_patch(&p, live, patch);
	fake_answer(f->w.transport, "PATCH", MAP_PATH, 200, answer);
	f->n_done = 0;
	executor_start(f->w.executor, "strategy", "k0", &p, a, ended, f);
	loop_fake_settle(f->w.loop);
	assert_int_equal(f->n_done, 1);
	assert_int_equal(f->codes[0], 0);
	return f->results[0];
}

/* Or what a schema takes out would be written for ever. */
static void test_executor__a_patch_that_changed_nothing_asks_for_no_other_reconcile(void **state)
{
	struct fixture f;
	(void)state;
	setup(&f);
	serve_maps(&f);
	assert_int_equal(patch_answered(&f, "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\","
					    "\"resourceVersion\":\"7\"}}"),
			 RUN_UNCHANGED);
	assert_int_equal(patch_answered(&f, "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\","
					    "\"resourceVersion\":\"8\"}}"),
			 RUN_CHANGED);
	teardown(&f);
}

/* Of too many units each attempt has its entry; of what is remembered one way to fail each. */
static void test_executor__as_many_tries_as_are_remembered(void **state)
{
	struct tries *t = tries_new();
	int64_t more;
	char unit[16];
	(void)state;
	for (int i = 0; i <= TRIES_MAX; i++) {
		(void)snprintf(unit, sizeof(unit), "u%d", i);
		for (unsigned n = 1; n <= 3; n++) {
			bool told = tries_failed(t, unit, "d", 7, 0, "Failed 422", &more);
			assert_int_equal(told, n < 3 || i == TRIES_MAX);
		}
		assert_int_equal(tries_pending(t, unit, 0), i == TRIES_MAX ? 0 : 1);
	}
	tries_forget(t, "u0");
	assert_true(tries_failed(t, unit, "d", 8, 0, "Failed 422", &more));
	assert_true(tries_failed(t, unit, "d", 8, 1, "Failed 422", &more));
	assert_true(tries_failed(t, unit, "d", 8, 0, "Denied 403", &more));
	tries_free(t);
}

/* An attempt that ends before a write of it is refused, too: what it wrote has its op. */
static void test_executor__each_attempt_has_a_number_of_its_own(void **state)
{
	(void)state;
	CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
	struct plan p;
	char digest[SHA256_HEX];
	unsigned attempt = 0;
	int64_t more;
	plan_init(&p, a);
	p.as_caller = true;
	plan_create(&p, meta_skeleton("v1", "ConfigMap", "n", "c"));
	tries_digest(&p, digest);
	struct tries *t = tries_new();
	assert_int_equal(tries_again(t, "u", &p, &attempt), 0);
	assert_true(tries_failed(t, "u", digest, 7, 0, "Failed 422", &more));
	for (unsigned i = 2; i < 5; i++) {
		assert_int_equal(tries_again(t, "u", &p, &attempt), 7);
		assert_int_equal(attempt, i);
	}
	assert_true(tries_failed(t, "u", digest, 7, 0, "Failed 422", &more));
	assert_int_equal(tries_again(t, "u", &p, &attempt), 7);
	assert_int_equal(attempt, 5);
	tries_free(t);
}

/* --- the entries of a plan, against a model --- */

#define ABOUTS 3
#define CHAINS 2

/* What the log must have been told: the newest entry of a chain, keys and statuses of subjects. */
struct model {
	uint64_t seed;
	int64_t seq, heads[CHAINS];
	char keys[3][ABOUTS]; /* of Decision, Observe and Approval; 0: none */
	int64_t told[ABOUTS], n_told[ABOUTS];
};

struct wanted {
	const char *type, *reason, *actor, *trust;
	int about;
	char key;
	bool inputs;
	size_t message;
	int64_t cause, n, transition_seq, before; /* before: n of the status before */
};

static unsigned below(struct model *m, unsigned n)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(m->seed >> 33) % n;
}

/* What is only there in some entries. */
static void give_more(struct model *m, struct action *a, struct wanted *ret_row)
{
	static char message[1200];
	static const size_t lengths[] = {0, 1, 999, 1000, 1001, 1199};
	bool is_approval = cstr_eq(a->row_type, "Approval");
	size_t length = lengths[below(m, ARRAY_LEN(lengths))];
	if (cstr_eq(a->row_type, "Transition")) {
		memset(message, 'm', sizeof(message) - 1);
		a->message = length ? message + sizeof(message) - 1 - length : "";
		ret_row->message = length < 1000 ? length : 1000;
		return;
	}
	a->actor = ret_row->actor = below(m, 2) ? "ann" : NULL;
	ret_row->inputs = below(m, 2);
	a->inputs = ret_row->inputs ? a->body : NULL;
	if (!is_approval)
		return;
	a->actor_via = "kubectl";
	a->actor_known = a->actor && below(m, 2);
	ret_row->trust = a->actor_known ? "authenticated" : "managedFields";
	ret_row->actor = a->actor ? a->actor : "unknown";
}

/* What becomes of a row's chains, keys and statuses; false: it says nothing new. */
static bool is_new(struct model *m, const struct action *a, unsigned type, struct wanted *w)
{
	bool is_told = type == 3;
	int64_t *told = &m->told[w->about];
	if (is_told ? *told == w->n : w->key && m->keys[type][w->about] == w->key)
		return false;
	int64_t first = a->chain ? m->heads[a->chain[1] - '0'] : 0;
	int64_t other = a->also_chain ? m->heads[a->also_chain[1] - '0'] : 0;
	w->cause = first > other ? first : other;
	m->seq++;
	if (is_told) {
		w->before = *told;
		*told = w->n;
		w->transition_seq = ++m->n_told[w->about];
	} else if (w->key) {
		m->keys[type][w->about] = w->key;
	}
	if (a->advances && a->chain)
		m->heads[a->chain[1] - '0'] = m->seq;
	return true;
}

/* Adds an action; true if it must have an entry, which is the next. */
static bool next_row(struct model *m, struct plan *p, int64_t n, struct wanted *ret_row)
{
	static const char *const types[] = {"Decision", "Observe", "Approval", "Transition"};
	static const char *const reasons[] = {"Resolved", "SpecChanged", "Approved", "Applied"};
	static const char *const chains[CHAINS + 1] = {"x0", "x1"};
	unsigned type = below(m, 4), about = below(m, ABOUTS), key = below(m, 3);
	bool is_told = type == 3;
	struct obj *subject = obj_keep(p->a, obj_map()), *body = obj_map();
	obj_set_str(subject, "kind", "AppType");
	obj_set_path(subject, "metadata.name", obj_stringf("a%u", about));
	obj_set_path(subject, "metadata.uid", obj_stringf("u%u", about));
	n = is_told ? 1 + n % 2 : n;
	obj_set_int(body, "n", n);
	if (is_told)
		obj_set(body, "phase", obj_stringf("p%d", (int)n));
	struct action *a = is_told ? plan_told(p, subject, body, reasons[type], NULL)
				   : plan_row(p, types[type], subject, reasons[type],
					      key ? arena_fmt(p->a, "%u", key) : NULL, body);
	*ret_row = (struct wanted){
		.type = types[type], .reason = reasons[type], .about = (int)about, .n = n};
	ret_row->key = key && !is_told ? (char)('0' + key) : 0;
	a->chain = chains[below(m, CHAINS + 1)];
	a->also_chain = chains[below(m, CHAINS + 1)];
	a->advances = below(m, 2) && !is_told;
	give_more(m, a, ret_row);
	return is_new(m, a, type, ret_row);
}

/* NULL and "" are the same. */
static void assert_text(const struct obj *row, const char *path, const char *want)
{
	const char *s = obj_str(row, path);
	assert_string_equal(s ? s : "", want ? want : "");
}

static void check_told(const struct obj *row, const struct wanted *w)
{
	struct error err;
	char from[8] = "", to[8];
	CLEANUP(obj_unrefp) struct obj *status = NULL;
	const char *told = obj_str(row, "body.status"), *message = obj_str(row, "body.message");
	assert_non_null(told);
	assert_ok(json_parse(str_of(told), &status, &err), &err);
	assert_int_equal(obj_i64(status, "n", 0), w->n);
	assert_int_equal(obj_i64(status, "transitionSeq", 0), w->transition_seq);
	if (w->before)
		(void)snprintf(from, sizeof(from), "p%d", (int)w->before);
	(void)snprintf(to, sizeof(to), "p%d", (int)w->n);
	assert_text(row, "body.from", from);
	assert_text(row, "body.to", to);
	assert_int_equal(message != NULL, w->message > 0);
	assert_int_equal(message ? strlen(message) : 0, w->message);
}

static void check_row(struct fixture *f, int64_t seq, const struct wanted *w)
{
	struct error err;
	char text[8] = {w->key};
	CLEANUP(obj_unrefp) struct obj *row = NULL;
	assert_ok(audit_row_get(f->w.audit, seq, &row, &err), &err);
	assert_text(row, "type", w->type);
	assert_text(row, "reason", w->reason);
	assert_int_equal(obj_i64(row, "cause", 0), w->cause);
	assert_int_equal(obj_i64(row, "transitionSeq", 0), w->transition_seq);
	assert_text(row, "body.key", text);
	(void)snprintf(text, sizeof(text), "u%d", w->about);
	assert_text(row, "subject.uid", text);
	(void)snprintf(text, sizeof(text), "a%d", w->about);
	assert_text(row, "subject.name", text);
	assert_text(row, "subject.kind", "AppType");
	assert_text(row, "actor", w->actor);
	assert_text(row, "body.who.trust", w->trust);
	assert_text(row, "body.who.via", w->trust ? "kubectl" : NULL);
	if (w->transition_seq) {
		check_told(row, w);
		return;
	}
	assert_int_equal(obj_i64(row, "body.n", 0), w->n);
	const struct obj *inputs = obj_at(obj_path(row, "body.inputs"), 0);
	assert_int_equal(inputs != NULL, w->inputs);
	assert_text(inputs, "name", w->inputs ? "resolve" : NULL);
	assert_text(inputs, "version", w->inputs ? ALM_VERSION : NULL);
	assert_int_equal(obj_get(inputs, "digest") != NULL, w->inputs);
}

/* Each entry says all that it is given; what says nothing new has none; its cause is the newest of its chains. */
static void test_executor__entries_are_those_of_a_model(void **state)
{
	enum { PLANS = 150, ROWS = 4 };
	struct fixture f;
	(void)state;
	setup(&f);
	struct model m = {.seed = 17, .seq = audit_last_seq(f.w.audit)};
	for (int64_t i = 0; i < PLANS; i++) {
		struct arena *a = arena_new((size_t)1 << 20);
		struct wanted wanted[ROWS];
		struct plan p;
		size_t n = 0;
		plan_init(&p, a);
		int64_t before = m.seq;
		for (unsigned k = 1 + below(&m, ROWS); k > 0; k--)
			n += next_row(&m, &p, i, &wanted[n]);
		f.n_done = 0;
		executor_start(f.w.executor, "strategy", "k0", &p, a, ended, &f);
		loop_fake_settle(f.w.loop);
		assert_int_equal(f.n_done, 1);
		assert_int_equal(f.codes[0], 0);
		assert_int_equal(f.results[0] == RUN_CHANGED, n > 0);
		assert_int_equal(audit_last_seq(f.w.audit), m.seq);
		for (size_t k = 0; k < n; k++)
			check_row(&f, before + 1 + (int64_t)k, &wanted[k]);
	}
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor__one_render_over_the_bound_waits_for_room),
		cmocka_unit_test(test_executor__renders_end_with_it),
		cmocka_unit_test(test_executor__a_full_sandbox_is_no_failure_of_the_chart),
		cmocka_unit_test(test_executor__a_plan_forgets_what_is_used),
		cmocka_unit_test(test_executor__items_of_one_object_stay_as_they_are),
		cmocka_unit_test(test_executor__on_a_full_disk_everything_waits),
		cmocka_unit_test(test_executor__the_same_refusal_again_is_no_new_intent),
		cmocka_unit_test(test_executor__entries_are_those_of_a_model),
		cmocka_unit_test(test_executor__as_many_tries_as_are_remembered),
		cmocka_unit_test(test_executor__each_attempt_has_a_number_of_its_own),
		cmocka_unit_test(test_executor__a_refusal_of_the_own_server_has_an_entry),
		cmocka_unit_test(test_executor__a_refusal_is_of_one_group),
		cmocka_unit_test(
			test_executor__a_patch_that_changed_nothing_asks_for_no_other_reconcile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
